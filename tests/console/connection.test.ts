// The console while Berth is away, and after an update: what can't be loaded says so in its place and comes back by itself.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { type Berth, startBerth } from "../support/berth.ts";
import type { Client } from "../support/client.ts";
import { eventually } from "../support/eventually.ts";
import { member, provision } from "../support/members.ts";
import { serveAnotherBuild } from "./support/another-build.ts";
import { addAudit, resize } from "./support/audit.ts";
import { type Console, openConsole } from "./support/console.ts";
import { storeConversation } from "./support/conversations.ts";

let berth: Berth;
let ada: Client;
let agentId: string;
let conversationId: string;

beforeAll(async () => {
  berth = await startBerth({ env: { RATE_LIMITS: "off" } });
  ada = await member(berth);
  ({ id: agentId } = await provision(ada, "Harbour"));
  conversationId = await storeConversation(berth, { agentId, platform: "web", name: "Ada", messages: ["Ahoy"] });
});
afterAll(() => berth?.[Symbol.asyncDispose]());

const LOST = "The connection to Berth is lost.";
const UPDATED = "Berth was updated.";
const bannerOf = (page: Page) => page.locator("main > [role=status]");
const link = (page: Page, name: string) => page.locator("#rail").getByRole("link", { name, exact: true });
const heading = (page: Page, name: string) => page.getByRole("heading", { level: 1, name });
const messageField = (page: Page) => page.locator("main textarea");

/** A window at an address, whose clock goes on by hand: nothing waits for real seconds. */
async function openAt(path: string): Promise<Console> {
  const console = await openConsole(berth, ada);
  await addAudit(console.page);
  await console.page.clock.install();
  await console.open(path);
  return console;
}

describe("code that can't be loaded", () => {
  test("is told in the place of a page, and comes when Berth is back", async () => {
    await using console = await openAt("/");
    const { page } = console;
    await berth.stop();
    try {
      await link(page, "Wallet").click();
      await heading(page, "No connection").waitFor();
      await page.getByRole("button", { name: "Try again" }).click();
      await heading(page, "No connection").waitFor();
      await link(page, "Usage").click();
      await heading(page, "No connection").waitFor();
      await page.clock.fastForward(3_000);
      await bannerOf(page).getByText(LOST).waitFor();
    } finally {
      await berth.restart({ keepPorts: true });
    }
    await page.clock.fastForward(2_000);
    await heading(page, "Usage").waitFor();
    await bannerOf(page).getByText(LOST).waitFor({ state: "detached" });
    await link(page, "Wallet").click();
    await heading(page, "Wallet").waitFor();
    expect(console.complaints()).toEqual([]);
  });

  test("is told in the place of an agent's page, below its name", async () => {
    await using console = await openAt(`/agents/${agentId}`);
    const { page, context } = console;
    await context.setOffline(true);
    await page.getByRole("navigation", { name: "Pages of this agent" }).getByRole("link", { name: "Memory" }).click();
    await page.locator("main [role=alert]").getByText("Berth can't be reached.").waitFor();
    await heading(page, "Harbour").waitFor();
    await context.setOffline(false);
    await page.getByRole("heading", { name: "Memory" }).waitFor();
    expect(console.complaints()).toEqual([]);
  });

  test("of a dialog or a menu is told where it would open, which keeps what was typed, and works later", async () => {
    await using console = await openAt(`/agents/${agentId}/chat`);
    const { page, context } = console;
    await messageField(page).fill("Half a thought");
    const note = page.getByRole("dialog", { name: "No connection" });
    await context.setOffline(true);
    await page.locator("#rail [aria-haspopup=menu]").click();
    await note.waitFor();
    expect(await console.violations()).toEqual([]);
    await page.keyboard.press("Escape");
    await note.waitFor({ state: "detached" });
    await page.keyboard.press("Control+k");
    await note.getByRole("button", { name: "Try again" }).click();
    await note.getByText("Berth can't be reached.").waitFor();
    await context.setOffline(false);
    await page.getByRole("combobox", { name: "Page, agent or action" }).waitFor();
    await page.keyboard.press("Escape");
    expect(await messageField(page).inputValue()).toBe("Half a thought");
    await page.locator("#rail [aria-haspopup=menu]").click();
    await page.getByRole("menu").waitFor();
    expect(console.complaints()).toEqual([]);
  });

  test("is asked for again after an answer that broke off, also when only a part of it had failed", async () => {
    await using console = await openAt("/");
    const { page } = console;
    const failing = new Set<string>();
    await page.route("**/assets/*.js", (route) => {
      // Each second file fails once.
      const url = route.request().url();
      if (route.request().method() === "HEAD" || failing.has(url)) return route.fallback();
      failing.add(url);
      return failing.size % 2 === 0 ? route.abort() : route.fallback();
    });
    await link(page, "Wallet").click();
    await heading(page, "No connection").waitFor();
    expect(failing.size).toBeGreaterThan(2);
    await page.unroute("**/assets/*.js");
    await page.getByRole("button", { name: "Try again" }).click();
    await heading(page, "Wallet").waitFor();
    expect(console.complaints()).toEqual([]);
  });

  test("is told in the place of the first page, which comes when Berth is back", async () => {
    await using console = await openConsole(berth, ada);
    const { page } = console;
    await addAudit(page);
    let lost = 0;
    await page.route("**/assets/*.js", async (route) => {
      const own = await page.locator("script[type=module]").getAttribute("src");
      if (own && route.request().url().endsWith(own)) return route.fallback();
      lost += 1;
      return route.abort();
    });
    await page.goto(`/agents/${agentId}/memory`);
    await heading(page, "No connection").waitFor();
    const before = lost;
    await page.getByRole("button", { name: "Try again" }).click();
    await eventually(() => lost > before);
    await heading(page, "No connection").waitFor();
    await page.unroute("**/assets/*.js");
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByRole("heading", { name: "Memory" }).waitFor();
    expect(console.complaints()).toEqual([]);
  });

  test("that the browser refuses to run loads the page anew once, and then says so", async () => {
    await using console = await openConsole(berth, ada);
    const { page } = console;
    let loads = 0;
    page.on("domcontentloaded", () => void loads++);
    await page.route("**/assets/*.js", async (route) => {
      const own = await page.locator("script[type=module]").getAttribute("src");
      const isScript = route.request().resourceType() === "script";
      return isScript && !(own && route.request().url().endsWith(own)) ? route.abort() : route.fallback();
    });
    await page.goto("/wallet");
    await heading(page, "This page is not complete").waitFor();
    await page.getByRole("button", { name: "Load again" }).waitFor();
    expect(loads).toBe(2);
    await page.unroute("**/assets/*.js");
    await page.getByRole("button", { name: "Load again" }).click();
    await heading(page, "Wallet").waitFor();
  });

  test("of the console itself is told by the page that has come", async () => {
    await using console = await openConsole(berth, ada);
    await console.page.route("**/assets/*", (route) => route.abort());
    await console.page.goto("/");
    await console.page.getByText("The console has not come yet.").waitFor();
    await console.page.unrouteAll();
    await console.page.reload();
    await heading(console.page, "Agents").waitFor();
  });
});

describe("a lost connection", () => {
  const SIZES = [
    { width: 1280, height: 800 },
    { width: 390, height: 844 },
    { width: 320, height: 568 },
  ];

  test("is told within three seconds, beside which the field for messages stays; and is over within two", async () => {
    await using console = await openAt(`/agents/${agentId}/chat/${conversationId}`);
    const { page, context } = console;
    await messageField(page).waitFor();
    await context.setOffline(true);
    await page.clock.fastForward(3_000);
    await bannerOf(page).getByText(LOST).waitFor();
    for (const size of SIZES) {
      await resize(page, size);
      const box = await messageField(page).boundingBox();
      const banner = await bannerOf(page).boundingBox();
      const isInView = box && banner && box.y > banner.y + banner.height && box.y + box.height <= size.height;
      expect({ size, isInView }).toEqual({ size, isInView: true });
      expect(await page.evaluate("document.documentElement.scrollHeight")).toBe(size.height);
    }
    await context.setOffline(false);
    await page.clock.fastForward(2_000);
    await bannerOf(page).getByText(LOST).waitFor({ state: "detached" });
    expect(console.complaints()).toEqual([]);
  });

  test("is noticed by a broken stream of events and by a failed request, without a sign of the browser", async () => {
    await using console = await openAt("/usage");
    const { page } = console;
    await berth.stop();
    await page.clock.runFor(3_000);
    await bannerOf(page).getByText(LOST).waitFor();
    await berth.restart({ keepPorts: true });
    await page.clock.fastForward(2_000);
    await bannerOf(page).getByText(LOST).waitFor({ state: "detached" });

    await page.route("**/*", (route) => route.abort());
    await page.evaluate("new BroadcastChannel('berth-tabs').postMessage({ type: 'changed' })");
    await page.clock.runFor(5_000);
    await bannerOf(page).getByText(LOST).waitFor();
    await page.unroute("**/*");
    await page.evaluate("dispatchEvent(new Event('focus'))");
    await bannerOf(page).getByText(LOST).waitFor({ state: "detached" });
    expect(console.complaints()).toEqual([]);
  });

  test("is not told where only the stream of events is refused", async () => {
    await using console = await openConsole(berth, ada);
    const { page } = console;
    await page.clock.install();
    let tries = 0;
    await page.route("**/api/events", (route) => {
      tries += 1;
      return route.fulfill({ status: 429, json: { error: "Too many streams.", code: "TOO_MANY_STREAMS" } });
    });
    await console.open("/usage");
    for (let second = 0; second < 20; second++) {
      await page.clock.runFor(1_000);
      await page.evaluate("fetch('/assets/index.html')");
    }
    expect(await bannerOf(page).textContent()).toBe("");
    expect(tries).toBeGreaterThan(1);
  });
});

describe("an update of Berth under an open page", () => {
  test("is followed when somebody goes to another page", async () => {
    await using console = await openAt("/");
    const { page, context } = console;
    const build = await serveAnotherBuild(context);
    await berth.restart({ keepPorts: true });
    await page.clock.runFor(2_000);
    await bannerOf(page).getByText(UPDATED).waitFor();
    expect(build.loads()).toBe(0);
    await link(page, "Wallet").click();
    await heading(page, "Wallet").waitFor();
    expect(build.loads()).toBe(1);
    expect(await bannerOf(page).textContent()).toBe("");
    expect(console.complaints()).toEqual([]);
  });

  test("is followed by a page whose code is gone, without a sign before", async () => {
    await using console = await openAt("/");
    const { page, context } = console;
    const build = await serveAnotherBuild(context);
    await link(page, "Wallet").click();
    await heading(page, "Wallet").waitFor();
    expect(build.loads()).toBe(1);
  });

  test("waits for what is being typed, also where a dialog's code is gone", async () => {
    await using console = await openAt("/account");
    const { page, context } = console;
    const field = page.getByLabel("What mails and this console call you");
    await field.fill("Grace");
    const build = await serveAnotherBuild(context);
    await page.keyboard.press("Control+k");
    const note = page.getByRole("dialog", { name: "Berth was updated" });
    await note.getByRole("button", { name: "Load again" }).waitFor();
    await page.keyboard.press("Escape");
    await note.waitFor({ state: "detached" });
    expect(await field.inputValue()).toBe("Grace");
    await bannerOf(page).getByText(UPDATED).waitFor();
    expect(build.loads()).toBe(0);
    await bannerOf(page).getByRole("button", { name: "Load again" }).click();
    await field.waitFor();
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Page, agent or action" }).waitFor();
    expect(console.complaints()).toEqual([]);
  });
});
