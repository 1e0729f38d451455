// Every page of the console: by keyboard alone, at twice the size, without motion.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { eventually } from "../support/eventually.ts";
import { addAudit, goTo, layoutOf, ready, resize, stateOf, walk } from "./support/audit.ts";
import { type Console, openConsole } from "./support/console.ts";
import { addressesOf, half, PLACES, ROUTES } from "./support/pages.ts";
import { startWorld, type World } from "./support/world.ts";

let world: World;
let console: Console;
let page: Page;

beforeAll(async () => {
  world = await startWorld();
  console = await openConsole(world.berth, world.root);
  ({ page } = console);
  await addAudit(page);
  await console.open("/");
  await ready(page);
});
afterAll(async () => {
  await console?.[Symbol.asyncDispose]();
  await world?.[Symbol.asyncDispose]();
});

/** 320 px is what a phone has at twice the size, 640 px a desktop (WCAG 2.2, 1.4.10). */
const WIDTHS = [1280, 640, 320];
/** Rotates through the ways to walk: forwards on a phone, backwards on a desktop. */
let walks = 0;

describe.each(half(0))("%s", (route) => {
  test("is used by keyboard, at any size", async () => {
    for (const path of addressesOf(route, world)) {
      const [first, key] = walks++ % 2 === 0 ? ([320, "Tab"] as const) : ([1280, "Shift+Tab"] as const);
      await resize(page, { width: first, height: 800 });
      await goTo(page, path);
      const { reached, ...found } = await walk(page, key);
      const nothing = { missed: [], unseen: [], pointerOnly: [], stuck: [] };
      expect({ path, first, ...found }).toEqual({ path, first, ...nothing });
      expect(reached).toBeGreaterThan(0);
      for (const width of [first, ...WIDTHS.filter((width) => width !== first)]) {
        await resize(page, { width, height: 800 });
        expect({ path, width, ...(await layoutOf(page)) }).toEqual({ path, width, cut: [], moving: [] });
      }
      expect(console.complaints().splice(0)).toEqual([]);
    }
  });
});

async function expectState(place: string, state: string[]): Promise<void> {
  await eventually(async () => {
    expect({ place, state: await stateOf(page) }).toEqual({ place, state });
    return true;
  });
}

describe.each(Object.keys(PLACES))("%s", (route) => {
  test("comes back by reload and by Back as its address says", async () => {
    await resize(page, { width: 1280, height: 800 });
    const [path = ""] = addressesOf(route, world);
    await goTo(page, path);
    const plain = await stateOf(page);
    for (const place of PLACES[route] ?? []) {
      await goTo(page, path + place);
      // A dialog's code may come after the page.
      await eventually(async () => !Bun.deepEquals(await stateOf(page), plain));
      await ready(page);
      const state = await stateOf(page);
      await page.reload();
      await ready(page);
      await expectState(place, state);
      await goTo(page, "/account/plan");
      await page.goBack();
      await ready(page);
      await expectState(place, state);
    }
    expect(console.complaints().splice(0)).toEqual([]);
  });
});

test("every place of an address belongs to a page", () => {
  expect(Object.keys(PLACES).filter((route) => !ROUTES.includes(route))).toEqual([]);
});
