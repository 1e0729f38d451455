// The frame of the console in Chromium: navigation, menu, palette, code panel, a lost connection, signing in again.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Locator, Page } from "playwright-core";
import { type Berth, startBerth } from "../support/berth.ts";
import type { Client } from "../support/client.ts";
import { member, provision } from "../support/members.ts";
import { expectAccessible, openConsole } from "./support/console.ts";

let berth: Berth;
let ada: Client;

beforeAll(async () => {
  berth = await startBerth();
  ada = await member(berth);
  await provision(ada, "Harbour");
});
afterAll(() => berth?.[Symbol.asyncDispose]());

describe("the files of the console", () => {
  const get = (path: string, headers: Record<string, string>) =>
    fetch(berth.web + path, { headers, redirect: "manual" });
  const browser = { accept: "text/html" };

  test("are hashed, compressed and kept for ever; the page is asked for each time", async () => {
    const page = await get("/", { ...browser, cookie: ada.cookie, "accept-encoding": "br" });
    expect(page.headers.get("cache-control")).toBe("no-cache");
    expect(page.headers.get("content-security-policy")).toContain("require-trusted-types-for 'script'");
    const html = await page.text();
    const [, script = ""] = /src="(\/assets\/[^"]+\.js)"/.exec(html) ?? [];
    for (const encoding of ["br", "gzip"]) {
      const { headers } = await get(script, { "accept-encoding": encoding });
      expect(headers.get("content-encoding")).toBe(encoding);
      expect(headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
      expect(headers.get("content-type")).toStartWith("text/javascript");
    }
    expect((await get(script, { "accept-encoding": "identity" })).headers.get("content-encoding")).toBeNull();
  });

  test("do not count against the rate limit of an address", async () => {
    const answers = await Promise.all(Array.from({ length: 700 }, () => get("/assets/index.html", {})));
    expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
  });

  test("are only those that were built", async () => {
    for (const name of ["nothing.js", "..%2f..%2fetc%2fpasswd", "__proto__", "assets.js"]) {
      expect((await get(`/assets/${name}`, {})).status).toBe(404);
    }
  });

  test("are for people with a session: others are led to the sign-in form, programs to JSON", async () => {
    const visitor = await get("/agents/x/chat?tab=1", browser);
    expect(visitor.status).toBe(302);
    expect(visitor.headers.get("location")).toBe("/login?next=%2Fagents%2Fx%2Fchat%3Ftab%3D1");
    expect((await get("/agents", { accept: "application/json" })).status).toBe(404);
    expect(await (await get("/", { cookie: ada.cookie })).json()).toMatchObject({ name: "Berth" });
  });
});

test("the rail leads to pages; back, reload and unknown addresses work", async () => {
  await using console = await openConsole(berth, ada);
  const { page } = console;
  await console.open("/");
  await page
    .getByRole("link", { name: /Harbour/ })
    .first()
    .click();
  await page.getByRole("heading", { name: "Harbour", level: 1 }).waitFor();
  await page.reload();
  await page.getByRole("heading", { name: "Harbour", level: 1 }).waitFor();
  await page.goBack();
  await page.getByRole("heading", { name: "Agents", level: 1 }).waitFor();
  await console.open("/agents/x/nothing-here/at-all");
  await console.open("/account/nothing-here");
  await page.getByRole("heading", { name: "There is no such page" }).waitFor();
  expect(console.complaints()).toEqual([]);
});

describe("the palette", () => {
  const openPalette = async (page: Page, typed = "") => {
    await page.keyboard.press("Control+k");
    const field = page.getByRole("combobox", { name: "Page, agent or action" });
    await field.fill(typed);
    return field;
  };
  /** Types, and chooses what is then offered first. */
  const choose = async (page: Page, typed: string, name: string) => {
    await openPalette(page, typed);
    await page.getByRole("option", { name, selected: true }).waitFor();
    await page.keyboard.press("Enter");
  };

  test("goes anywhere by keyboard alone, and gives the focus back", async () => {
    await using console = await openConsole(berth, ada);
    const { page } = console;
    await console.open("/");
    await choose(page, "harb", "Harbour Agent");
    await page.waitForURL(/\/agents\/[^/]+\/chat/);
    await choose(page, "harb log", "Harbour: Log Page");
    await page.waitForURL(/\/agents\/[^/]+\/logs/);
    await choose(page, "memory", "Harbour: Memory Page");
    await page.waitForURL(/\/agents\/[^/]+\/memory/);
    await choose(page, "two-factor", "Set up two-factor Action");
    await page.waitForURL(/\/account\/security/);
    await page.locator("#rail").getByRole("link", { name: "Usage" }).focus();
    const field = await openPalette(page);
    await page.keyboard.press("Escape");
    await field.waitFor({ state: "detached" });
    expect(await page.locator(":focus").textContent()).toBe("Usage");
    expect(console.complaints()).toEqual([]);
  });

  test("offers the pages of the open agent first, and scrolls to what the keys choose", async () => {
    await using console = await openConsole(berth, ada);
    const { page } = console;
    await console.open("/");
    await page
      .getByRole("link", { name: /Harbour/ })
      .first()
      .click();
    await page.getByRole("heading", { name: "Harbour", level: 1 }).waitFor();
    await openPalette(page);
    await page.getByRole("option", { name: "Harbour: Overview", selected: true }).waitFor();
    for (let n = 0; n < 25; n++) await page.keyboard.press("ArrowDown");
    await expectInView(page.getByRole("option", { selected: true }));
  });

  test("does things: stops and starts agents, opens dialogs, shows code, changes theme and language", async () => {
    await using console = await openConsole(berth, ada);
    const { page } = console;
    await console.open("/");
    await choose(page, "stop harb", "Harbour: Stop Action");
    await page.getByText("Harbour is stopped").waitFor();
    await choose(page, "start harb", "Harbour: Start Action");
    await page.getByText("Harbour runs").waitFor();
    await choose(page, "new agent", "New agent Action");
    await page.getByRole("dialog").getByRole("heading").first().waitFor();
    await page.keyboard.press("Escape");
    await choose(page, "new webhook", "New webhook Action");
    await page.getByRole("dialog").waitFor();
    await page.keyboard.press("Escape");
    await choose(page, "curl", "This page as code Action");
    await page.getByText(`${berth.web}/api/webhooks`).first().waitFor();
    await page.keyboard.press("Escape");
    await choose(page, "dark", "Dark theme Action");
    expect(await page.locator("html").getAttribute("data-theme")).toBe("dark");
    await choose(page, "deutsch", "Language: Deutsch Action");
    await page.getByRole("navigation", { name: "Seiten" }).waitFor();
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox").fill("guthaben");
    await page.getByRole("option", { name: "Verbrauch", selected: true }).waitFor();
    expect(console.complaints()).toEqual([]);
  });

  test("offers no page or action of admins to others", async () => {
    await using console = await openConsole(berth, ada);
    await console.open("/");
    await openPalette(console.page, "database copy");
    await console.page.getByText("Nothing has this name").waitFor();
    await openPalette(console.page, "audit");
    await console.page.getByText("Nothing has this name").waitFor();
  });
});

async function expectInView(row: Locator): Promise<void> {
  const isInView = await row.evaluate((element) => {
    const [own, box] = [element.getBoundingClientRect(), element.parentElement?.getBoundingClientRect()];
    return box !== undefined && own.top >= box.top - 1 && own.bottom <= box.bottom + 1;
  });
  expect(isInView).toBe(true);
}

test("pages open at their heading, also those that are last in the navigation; its row shows their link", async () => {
  const { id } = await provision(ada, "Pier");
  await using console = await openConsole(berth, ada);
  const { page } = console;
  for (const size of [
    { width: 1200, height: 850 },
    { width: 1200, height: 480 },
    { width: 390, height: 600 },
  ]) {
    await page.setViewportSize(size);
    for (const path of [`/agents/${id}/people`, `/agents/${id}/verification`, "/account/appearance"]) {
      await console.open(path);
      const link = page.getByRole("navigation", { name: /^Pages of/ }).locator("[aria-current]");
      await link.waitFor();
      const { left, right } = await link.evaluate((element) => element.getBoundingClientRect());
      const scrolled = await page.evaluate("scrollY");
      expect({ path, size, scrolled, isShown: left >= 0 && right <= size.width }).toEqual({
        ...{ path, size, scrolled: 0, isShown: true },
      });
    }
  }
  expect(console.complaints()).toEqual([]);
});

test("a page shows its requests as code", async () => {
  await using console = await openConsole(berth, ada);
  const { page } = console;
  await console.open("/");
  await page.getByRole("button", { name: "This page as code" }).click();
  await page.getByText(`${berth.web}/api/agents`).first().waitFor();
  await page.getByText("TypeScript").click();
  await page.getByText("await fetch(").first().waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  expect(await page.locator(":focus").getAttribute("aria-label")).toBe("This page as code");
  expect(console.complaints()).toEqual([]);
});

test("an ended session leads to the sign-in form and back", async () => {
  const bob = await member(berth);
  await using console = await openConsole(berth, bob);
  await console.open("/");
  await bob.post("/api/auth/signout", {});
  await console.page.goto("/agents");
  await console.page.waitForURL(/\/login\?next=%2Fagents/);
});

test("the frame is accessible in both themes and sizes, with its menu, palette and code panel open", async () => {
  await expectAccessible(berth, ada, "/", { name: "frame" });
  await expectAccessible(berth, ada, "/", {
    name: "frame-menu",
    async prepare(page, { width, language }) {
      if (width === 390)
        await page.getByRole("button", { name: language === "de" ? "Menü öffnen" : "Open the menu" }).click();
      await page.locator("#rail [aria-haspopup=menu]").click();
      await page.getByRole("menu").waitFor();
    },
  });
  await expectAccessible(berth, ada, "/", {
    name: "frame-palette",
    async prepare(page) {
      await page.keyboard.press("Control+k");
      await page.getByRole("dialog").getByRole("option").first().waitFor();
    },
  });
});

test("a visitor sees no page of the console", async () => {
  await using console = await openConsole(berth);
  await console.page.goto("/admin");
  await console.page.waitForURL(/\/login\?next=%2Fadmin/);
});

test("can be put on a phone's home screen as an app", async () => {
  await using console = await openConsole(berth, ada, { theme: "light", width: 390 });
  await console.open("/");
  const session = await console.context.newCDPSession(console.page);
  const { url, errors, data } = await session.send("Page.getAppManifest");
  expect({ errors, path: new URL(url).pathname }).toEqual({
    errors: [],
    path: expect.stringMatching(/^\/assets\/app-\w+\.webmanifest$/),
  });
  expect(JSON.parse(data ?? "")).toMatchObject({ name: "Berth", start_url: "/", display: "standalone" });
  expect((await session.send("Page.getInstallabilityErrors")).installabilityErrors).toEqual([]);
  const touchIcon = await console.page.locator("link[rel=apple-touch-icon]").getAttribute("href");
  expect((await fetch(new URL(touchIcon ?? "", berth.web))).headers.get("content-type")).toBe("image/png");
  expect(console.complaints()).toEqual([]);
});
