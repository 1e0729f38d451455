// Every page of the console while its data can't be had: it says why and what to do next, and comes back.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page, Route } from "playwright-core";
import type { Failure } from "./in-page/found.ts";
import { addAudit, ready } from "./support/audit.ts";
import { type Console, openConsole } from "./support/console.ts";
import { addressesOf, ROUTES } from "./support/pages.ts";
import { startWorld, type World } from "./support/world.ts";

let world: World;
let console: Console;
let page: Page;
/** What the reads of the page meet. */
let failing: 403 | 429 | 503 | "offline" | undefined;
let refused: string[] = [];

/** Reads without which a page says less, and works. */
const ADDITIONS = ["/api/auth/providers", "/api/setup", "/api/models"];
/** Pages whose own buttons are called so, or whose data can't be had in this world: no chain can be reached. */
const BUTTONS: Readonly<Record<string, number>> = { "/admin/jobs": 1, "/wallet": 1 };
/** Of the frame, which a test of its own is about. */
const FRAME = [/^\/api\/(?:settings|events)$/, /^\/api\/agents\/[0-9a-f-]{36}$/];
const OFFLINE = "Berth can't be reached.";
const sentenceOf = (status: number) => `This is refused with ${status}.`;

beforeAll(async () => {
  world = await startWorld();
  console = await openConsole(world.berth, world.root);
  ({ page } = console);
  await addAudit(page);
  await page.clock.install();
  await page.route((url) => url.pathname.startsWith("/api/"), answer);
}, 60_000);
afterAll(async () => {
  await console?.[Symbol.asyncDispose]();
  await world?.[Symbol.asyncDispose]();
});

async function answer(route: Route): Promise<void> {
  const request = route.request();
  const { pathname } = new URL(request.url());
  if (failing === undefined || request.method() !== "GET" || FRAME.some((one) => one.test(pathname)))
    return route.fallback();
  refused.push(pathname);
  if (failing === "offline") return route.abort("connectionrefused");
  const error = sentenceOf(failing);
  const headers = failing === 429 ? { "retry-after": "1" } : {};
  await route.fulfill({ status: failing, headers, json: { error, message: error, code: "REFUSED" } });
}

const tryAgain = () => page.locator("main").getByRole("button", { name: /^Try again/ });

/** Presses all that tries again. */
async function pressTryAgain(): Promise<void> {
  const buttons = page.locator("main [role=alert]").getByRole("button", { name: "Try again", exact: true });
  await buttons.first().waitFor();
  // All at once, because one that is pressed may take others away.
  await buttons.evaluateAll((all: { click(): void }[]) => {
    for (const button of all) button.click();
  });
}

/** Lets the time of the console's own tries pass: at most this many, or until the words are there. */
async function passTries(most: number, words?: string): Promise<void> {
  for (let step = 0; step < most; step++) {
    if (words && (await page.getByText(words).first().isVisible())) return;
    await page.evaluate("audit.answered()");
    await page.clock.fastForward(1_000);
  }
}

async function expectSaid(words: string): Promise<void> {
  await page.getByText(words).first().waitFor();
  await page.evaluate("audit.answered()");
  const found = await page.evaluate<Failure>("audit.failure()");
  expect({ words, ...found }).toEqual({ words, waiting: [], helpless: [] });
}

describe.each(ROUTES)("%s", (route) => {
  test("says what is wrong, and comes back", async () => {
    for (const path of addressesOf(route, world)) {
      refused = [];
      failing = 403;
      await page.goto(path);
      await page.locator("h1").first().waitFor();
      await page.evaluate("audit.answered()");
      const isNeeded = refused.some((one) => route === "/welcome" || !ADDITIONS.includes(one));
      if (isNeeded) {
        await expectSaid(sentenceOf(403));

        failing = 429;
        await pressTryAgain();
        await page.getByRole("button", { name: "Try again in 1 s" }).first().waitFor();
        await page.clock.fastForward(1_000);
        await expectSaid(sentenceOf(429));

        failing = "offline";
        await pressTryAgain();
        await passTries(40, OFFLINE);
        await expectSaid(OFFLINE);

        failing = undefined;
        await pressTryAgain();
      }
      failing = undefined;
      await ready(page);
      expect(await tryAgain().count()).toBe(BUTTONS[route] ?? 0);
      const headings = await page.getByRole("heading").allTextContents();

      // What is there stays while it can't be read again.
      failing = 503;
      await page.evaluate("new BroadcastChannel('berth-tabs').postMessage({ type: 'changed' })");
      await page.clock.fastForward(1_000);
      await passTries(5);
      const stayed = await page.getByRole("heading").allTextContents();
      expect({ path, gone: headings.filter((heading) => !stayed.includes(heading)) }).toEqual({ path, gone: [] });
      expect(console.complaints().splice(0)).toEqual([]);
    }
  }, 60_000);
});
