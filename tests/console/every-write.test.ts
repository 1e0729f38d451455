// What is changed on every page of the console: each failure is told and loses nothing, and other tabs follow.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page, Route } from "playwright-core";
import { addAudit, goTo, layoutOf, ready, resize, walk } from "./support/audit.ts";
import { type Console, openConsole } from "./support/console.ts";
import { addressesOf, ROUTES } from "./support/pages.ts";
import { startWorld, type World } from "./support/world.ts";
import { WRITES } from "./support/writes.ts";

let world: World;
let console: Console;
let page: Page;
let other: Page;

beforeAll(async () => {
  world = await startWorld();
  console = await openConsole(world.berth, world.root);
  ({ page } = console);
  other = await console.context.newPage();
  for (const tab of [page, other]) {
    await addAudit(tab);
    await tab.goto("/");
    await ready(tab);
  }
});
afterAll(async () => {
  await console?.[Symbol.asyncDispose]();
  await world?.[Symbol.asyncDispose]();
});

const FAILURES = [
  { status: 403, code: "FORBIDDEN" },
  { status: 409, code: "OPERATION_IN_PROGRESS" },
  { status: 429, code: "RATE_LIMITED" },
  { status: 500, code: "INTERNAL_ERROR" },
  { status: 503, code: "UNAVAILABLE" },
] as const;
const ANSWERS = [...FAILURES.map(({ status }) => status), "offline"] as const;
const OFFLINE = "Berth can't be reached.";
const sentenceOf = (status: number) => `This is refused with ${status}.`;

/** Resolves when no button waits for an answer: until then it ignores keys. */
const idle = () => page.locator("button[aria-disabled=true]").first().waitFor({ state: "detached" });

/** Answers the write with a failure; without one it goes through. */
let failing: number | "offline" | undefined;

async function fail(route: Route): Promise<void> {
  if (failing === undefined) return route.continue();
  if (failing === "offline") return route.abort("connectionrefused");
  const error = sentenceOf(failing);
  const code = FAILURES.find(({ status }) => status === failing)?.code ?? "UNAUTHORIZED";
  await route.fulfill({ status: failing, json: { error, message: error, code } });
}

/** Rotates through sizes and failures, because all forms and dialogs are the same parts. */
let writes = 0;

/** On a phone, or on a desktop at twice the size. */
async function expectUsableDialog(): Promise<void> {
  const size = writes % 2 === 0 ? { width: 320, height: 568 } : { width: 640, height: 360 };
  await resize(page, size);
  const { reached, ...found } = await walk(page);
  const wrong = { ...found, ...(await layoutOf(page)) };
  const nothing = { missed: [], unseen: [], pointerOnly: [], stuck: [], cut: [], moving: [] };
  expect({ size, ...wrong }).toEqual({ size, ...nothing });
  expect(reached).toBeGreaterThan(1);
  await resize(page, { width: 1280, height: 900 });
}

describe.each(ROUTES.filter((route) => WRITES[route]))("%s", (route) => {
  test("tells each failure, keeps what was typed, and then changes every tab", async () => {
    const write = WRITES[route];
    const [address = ""] = addressesOf(route, world);
    if (!write) return;
    await write.prepare?.(world);
    const { request, fill, send, typed, done } = write;
    await page.route(
      (url) => url.pathname.startsWith("/api/"),
      (one) => {
        const { pathname } = new URL(one.request().url());
        return request.test(`${one.request().method()} ${pathname}`) ? fail(one) : one.fallback();
      },
    );
    await goTo(page, address + (write.query ?? ""));
    await goTo(other, address + (write.query ?? ""));
    await fill?.(page);
    if (await page.locator("dialog[open]").isVisible()) await expectUsableDialog();
    const before = await typed?.(page).inputValue();

    const tried = process.env.BERTH_ALL_VIEWS ? ANSWERS : ANSWERS.slice(writes % ANSWERS.length).slice(0, 1);
    writes += 1;
    for (failing of tried) {
      await idle();
      await send(page);
      await page
        .getByText(failing === "offline" ? OFFLINE : sentenceOf(failing))
        .first()
        .waitFor();
      if (typed && before)
        expect({ failing, typed: await typed(page).inputValue() }).toEqual({ failing, typed: before });
    }

    failing = 401;
    await idle();
    await send(page);
    const signIn = page.getByRole("dialog", { name: "Your session has ended" });
    await signIn.waitFor();
    await signIn.getByRole("button", { name: "Go on" }).press("Enter");
    await signIn.waitFor({ state: "detached" });
    if (typed && before) expect(await typed(page).inputValue()).toBe(before);

    failing = undefined;
    if (done) {
      await idle();
      await send(page);
      await done(page);
      await (write.doneElsewhere ?? done)(other);
    }
    await page.unrouteAll();
    expect(console.complaints().splice(0)).toEqual([]);
  });
});
