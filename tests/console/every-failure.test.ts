// Every page of the console while its code or data can't be had: it says why and what to do next, and comes back.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import type { Failure, Progress } from "./in-page/found.ts";
import { addAudit, fail, ready } from "./support/audit.ts";
import { type Console, openConsole } from "./support/console.ts";
import { addressesOf, half } from "./support/pages.ts";
import { startWorld, type World } from "./support/world.ts";

let world: World;
let console: Console;
let page: Page;

/** Reads without which a page says less, and works. */
const ADDITIONS = ["/api/auth/providers", "/api/setup", "/api/models"];
/** Pages whose own buttons are called so, or whose data can't be had in this world: no chain can be reached. */
const BUTTONS: Readonly<Record<string, number>> = { "/admin/jobs": 1, "/wallet": 1 };
const OFFLINE = "Berth can't be reached.";
const sentenceOf = (status: number) => `This is refused with ${status}.`;

beforeAll(async () => {
  world = await startWorld();
  console = await openConsole(world.berth, world.root);
  ({ page } = console);
  await addAudit(page);
  await page.clock.install();
});
afterAll(async () => {
  await console?.[Symbol.asyncDispose]();
  await world?.[Symbol.asyncDispose]();
});

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
    await page.clock.fastForward(2_000);
  }
}

async function expectSaid(words: string): Promise<void> {
  await page.getByText(words).first().waitFor();
  await page.evaluate("audit.answered()");
  const found = await page.evaluate<Failure>("audit.failure()");
  expect({ words, ...found }).toEqual({ words, waiting: [], helpless: [] });
}

/** Comes to a page from another one while Berth is away: neither its code nor its data is there. */
async function comeWhileAway(path: string): Promise<void> {
  await page.goto(path.startsWith("/account") ? "/approvals" : "/account/plan");
  await ready(page);
  await fail(page, "away");
  await page.evaluate(`history.pushState(null, "", ${JSON.stringify(path)})`);
  await expectSaid(OFFLINE);
}

/** Lets the code come, but not the data yet. */
async function expectProgress(path: string): Promise<Progress> {
  await fail(page, "slow");
  await pressTryAgain();
  await page.locator("main [role=alert]").getByText(OFFLINE).first().waitFor({ state: "detached" });
  await page.evaluate("audit.holding()");
  await page.clock.fastForward(3_000);
  const progress = await page.evaluate<Progress>("audit.progress()");
  expect({ path, isBlank: progress.isBlank, isTold: progress.isTold || !progress.isHeld }).toEqual({
    ...{ path, isBlank: false, isTold: true },
  });
  return progress;
}

/** What the reads of a page meet after 403: one of these, because all pages read by the same hook and show the same part. */
const FAILURES = [429, "offline", 404, 409, 401, 500] as const;
let pagesSeen = 0;

async function expectEachFailure(): Promise<void> {
  await expectSaid(sentenceOf(403));
  const status = FAILURES[pagesSeen++ % FAILURES.length] ?? 500;
  await fail(page, status);
  await pressTryAgain();
  if (status === 401) {
    const signIn = page.getByRole("dialog", { name: "Your session has ended" });
    await signIn.waitFor();
    await fail(page, 403);
    await signIn.getByRole("button", { name: "Go on" }).press("Enter");
    await signIn.waitFor({ state: "detached" });
  } else if (status === 429) {
    await page.getByRole("button", { name: "Try again in 1 s" }).first().waitFor();
    await page.clock.fastForward(1_000);
    await expectSaid(sentenceOf(status));
  } else {
    const words = status === "offline" ? OFFLINE : sentenceOf(status);
    await passTries(40, words);
    await expectSaid(words);
  }
  await fail(page, undefined);
  await pressTryAgain();
}

describe.each(half(1))("%s", (route) => {
  test("shows that it loads, says what is wrong, and comes back", async () => {
    for (const path of addressesOf(route, world)) {
      await comeWhileAway(path);
      const { headingTop } = await expectProgress(path);
      await page.evaluate("audit.takeRefused()");
      await fail(page, 403);
      await page.locator("h1").first().waitFor();
      await page.evaluate("audit.answered()");
      const { headingTop: top } = await page.evaluate<Progress>("audit.progress()");
      expect({ path, top: headingTop === undefined ? undefined : top }).toEqual({ path, top: headingTop });
      const refused = await page.evaluate<string[]>("audit.takeRefused()");
      if (refused.some((one) => route === "/welcome" || !ADDITIONS.includes(one))) await expectEachFailure();
      await fail(page, undefined);
      await ready(page);
      // A read that waited for its next try when it was asked for again goes on with that.
      const left = BUTTONS[route] ?? 0;
      for (let tries = 0; tries < 5 && (await tryAgain().count()) > left; tries++) {
        await passTries(1);
        if ((await tryAgain().count()) > left) await pressTryAgain();
        await ready(page);
      }
      expect(await tryAgain().count()).toBe(left);
      const headings = await page.getByRole("heading").allTextContents();

      // What is there stays while it can't be read again.
      await fail(page, 503);
      await page.evaluate("new BroadcastChannel('berth-tabs').postMessage({ type: 'changed' })");
      await page.clock.fastForward(1_000);
      await passTries(5);
      const stayed = await page.getByRole("heading").allTextContents();
      expect({ path, gone: headings.filter((heading) => !stayed.includes(heading)) }).toEqual({ path, gone: [] });
      expect(console.complaints().splice(0)).toEqual([]);
    }
  });
});
