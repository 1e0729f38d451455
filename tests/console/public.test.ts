// The settings of the public page in Chromium: opened, greeted, embedded in another site, and closed again.

import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { type Berth, startBerth } from "../support/berth.ts";
import type { Client } from "../support/client.ts";
import { member, provision } from "../support/members.ts";
import { expectAccessible, openConsole } from "./support/console.ts";
import { scanQr } from "./support/qr.ts";

const HOSTILE = '<img src=x onerror="alert(1)"> [click](javascript:alert(1)) \u202egnp.exe';

let berth: Berth;
let ada: Client;
beforeAll(async () => {
  berth = await startBerth();
  ada = await member(berth, "enterprise");
});
afterAll(() => berth?.[Symbol.asyncDispose]());

const settings = async (id: string) =>
  (
    await ada.get<{ enabled: boolean; greeting: string; embedOrigins: string[]; url: string }>(
      `/api/agents/${id}/public`,
    )
  ).body;

test("the page is opened, greets, and is what the preview shows", async () => {
  const { id } = await provision(ada, "Harbour");
  await using console = await openConsole(berth, ada);
  const { page } = console;
  await console.open(`/agents/${id}/public`);
  await page.getByText("It does not talk to visitors here").waitFor();
  await page.getByRole("switch", { name: "Visitors may talk to it" }).click();
  await page.getByRole("link", { name: "Open the page" }).waitFor();
  await page.getByLabel("The first thing visitors read").fill(HOSTILE);
  await page.locator("figure").getByText("[click](javascript:alert(1))").waitFor();
  expect(await page.locator("main img, a[href^=javascript]").count()).toBe(0);
  await page.getByRole("button", { name: "Save the greeting" }).click();
  await page.getByText("The greeting is saved").waitFor();
  const { enabled, greeting, url } = await settings(id);
  expect({ enabled, greeting }).toEqual({ enabled: true, greeting: HOSTILE });
  expect(await page.getByRole("link", { name: "Open the page" }).getAttribute("href")).toBe(url);
  await page.reload();
  await page.getByRole("switch", { checked: true }).click();
  await page.getByText("The page is closed").waitFor();
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByRole("switch", { checked: true }).waitFor();
  expect(console.complaints()).toEqual([]);
});

test("a site that is allowed can really show the page, another one can't", async () => {
  const { id } = await provision(ada, "Harbour");
  await ada.put(`/api/agents/${id}/public`, { enabled: true, greeting: "Ahoy from the frame" });
  const { url } = await settings(id);
  const sites = ["allowed", "other"].map(() =>
    Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: () =>
        new Response(`<iframe src="${url}" title="chat"></iframe>`, { headers: { "content-type": "text/html" } }),
    }),
  );
  const [allowed = "", other = ""] = sites.map(({ port }) => `http://127.0.0.1:${port}`);
  await using console = await openConsole(berth, ada);
  const { page } = console;
  await console.open(`/agents/${id}/public`);
  await page.getByLabel("Address of a site").fill("https://www.example.com/path");
  await page.getByRole("button", { name: "Allow this site" }).click();
  await page.getByText("Give the address of a site with https").waitFor();
  await page.getByLabel("Address of a site").fill(allowed);
  await page.getByRole("button", { name: "Allow this site" }).click();
  await page.getByText("<iframe src=").waitFor();
  await page.getByRole("list", { name: "Sites that may show the page" }).getByText(allowed).waitFor();
  await page.goto(allowed);
  await page.frameLocator("iframe").getByText("Ahoy from the frame").waitFor();
  await page.goto(other);
  expect(await page.frameLocator("iframe").getByText("Ahoy from the frame").count()).toBe(0);
  await console.open(`/agents/${id}/public`);
  await page.getByRole("button", { name: `Remove ${allowed}` }).click();
  await page.getByText(`${allowed} is removed`).waitFor();
  expect((await settings(id)).embedOrigins).toEqual([]);
  for (const site of sites) await site.stop(true);
});

test("the code that the page gives out embeds a chat that answers, on a phone; the QR code leads to the same page", async () => {
  const { id } = await provision(ada, "Harbour");
  await ada.put(`/api/agents/${id}/public`, { enabled: true, greeting: "Ahoy from the frame" });
  await using console = await openConsole(berth, ada);
  const { page } = console;
  let snippet = "";
  const site = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: () =>
      new Response(`<!doctype html><meta name="viewport" content="width=device-width"><h1>Pier</h1>${snippet}`, {
        headers: { "content-type": "text/html" },
      }),
  });
  try {
    await console.open(`/agents/${id}/public`);
    expect(await scanQr(page.getByRole("img", { name: "The address of the page, for a phone" }))).toBe(
      (await settings(id)).url,
    );
    await page.getByLabel("Address of a site").fill(site.url.origin);
    await page.getByRole("button", { name: "Allow this site" }).click();
    await page.getByText("<iframe src=").waitFor();
    snippet = (await page.locator("pre", { hasText: "<iframe src=" }).textContent()) ?? "";

    await using visitor = await openConsole({ web: site.url.origin }, undefined, { theme: "light", width: 390 });
    await visitor.page.goto("/");
    const frame = visitor.page.frameLocator("iframe");
    await frame.getByText("Ahoy from the frame").waitFor();
    await frame.getByLabel("Your message").fill("What is 6 × 7?");
    await frame.getByRole("button", { name: "Send" }).click();
    await frame.getByRole("log").getByText("42").waitFor();
    await visitor.shoot("public-embedded");
    expect(await visitor.page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
    // A visitor who comes back finds the talk again.
    await visitor.page.reload();
    await frame.getByRole("log").getByText("What is 6 × 7?").waitFor();
  } finally {
    await site.stop(true);
  }
});

test("a visitor whose message did not arrive sends it again with one click", async () => {
  const { id } = await provision(ada, "Lighthouse keeper of the western pier and all of its visitors");
  await ada.put(`/api/agents/${id}/public`, { enabled: true, greeting: "Ahoy" });
  await using console = await openConsole(berth, undefined, { theme: "light", width: 390 });
  const { page } = console;
  await console.open(new URL((await settings(id)).url).pathname);
  // A long name leaves room for the talk.
  expect((await page.locator("header").boundingBox())?.height).toBeLessThan(140);
  await page.context().setOffline(true);
  await page.getByLabel("Your message").fill("What is 6 × 7?");
  await page.keyboard.press("Enter");
  await page.getByText("The agent could not be reached.").waitFor();
  await page.context().setOffline(false);
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByRole("log").getByText("42").waitFor();
  expect(await page.getByRole("log").getByText("What is 6 × 7?").count()).toBe(1);
  expect(await page.getByText("The agent could not be reached.").count()).toBe(0);
  expect(console.complaints()).toEqual([]);
});

const loaded = (page: Page) => page.locator("main h2").first().waitFor();

test("is accessible, closed and open, with sites", async () => {
  const closed = await provision(ada, "Closed");
  await expectAccessible(berth, ada, `/agents/${closed.id}/public`, { name: "public-closed", prepare: loaded });
  const open = await provision(ada, "Harbour desk");
  const embedOrigins = ["https://www.example.com"];
  const greeting = "Ahoy! Ask me about the harbour, berths and opening hours.";
  await ada.put(`/api/agents/${open.id}/public`, { enabled: true, greeting, embedOrigins });
  await expectAccessible(berth, ada, `/agents/${open.id}/public`, { name: "public", prepare: loaded });
});
