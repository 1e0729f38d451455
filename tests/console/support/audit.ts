// Looks at pages as somebody with a keyboard does, or with large text: by a script in the page (in-page/audit.ts).

import { resolve } from "node:path";
import type { CDPSession, Page } from "playwright-core";
import type { Found, Layout, Mode } from "../in-page/found.ts";

const source = resolve(import.meta.dir, "../in-page/audit.ts");
/** More stops than any page has. */
const MOST_STOPS = 200;
const AT_ONCE = 10;
/** The bit of the Shift key in the debugger's protocol. */
const SHIFT = 8;

/** Adds the script to the pages that are opened from now on. */
export async function addAudit(page: Page): Promise<void> {
  const script = new Bun.Transpiler({ loader: "ts" }).transformSync(await Bun.file(source).text());
  await page.addInitScript(`(() => { ${script} })()`);
}

/** Goes to an address by the console's own router, and waits until it shows what it has. */
export async function goTo(page: Page, path: string): Promise<void> {
  await page.evaluate(`history.pushState(null, "", ${JSON.stringify(path)})`);
  await ready(page);
}

export const ready = (page: Page): Promise<void> => page.evaluate("audit.ready()");

export async function resize(page: Page, size: { width: number; height: number }): Promise<void> {
  await page.setViewportSize(size);
  await page.evaluate(`audit.resized(${size.width}, ${size.height})`);
}

/** Changes what the page's requests meet from now on. */
export const fail = (page: Page, mode: Mode): Promise<void> => page.evaluate(`audit.fail(${JSON.stringify(mode)})`);

const sessions = new WeakMap<Page, Promise<CDPSession>>();

/** Presses a key several times without waiting for each: the browser takes them one after the other. */
async function pressTimes(page: Page, key: "Tab" | "Shift+Tab", times: number): Promise<void> {
  const opened = sessions.get(page) ?? page.context().newCDPSession(page);
  sessions.set(page, opened);
  const session = await opened;
  const tab = { key: "Tab", code: "Tab", windowsVirtualKeyCode: 9, modifiers: key === "Tab" ? 0 : SHIFT };
  await Promise.all(
    Array.from({ length: times }, () => [
      session.send("Input.dispatchKeyEvent", { type: "rawKeyDown", ...tab }),
      session.send("Input.dispatchKeyEvent", { type: "keyUp", ...tab }),
    ]).flat(),
  );
}

/** Walks through the page with Tab, or back with Shift+Tab, until the focus leaves it. */
export async function walk(page: Page, key: "Tab" | "Shift+Tab" = "Tab"): Promise<Found> {
  await page.evaluate(`audit.start(${key === "Shift+Tab"})`);
  for (let stops = 0; stops < MOST_STOPS; stops += AT_ONCE) {
    await pressTimes(page, key, AT_ONCE);
    if (await page.evaluate<boolean>("audit.hasLeft()")) return page.evaluate<Found>("audit.end()");
  }
  throw new Error(`${page.url()} keeps the focus after ${MOST_STOPS} times ${key}.`);
}

/** What is chosen and open on the page. */
export const stateOf = (page: Page): Promise<string[]> => page.evaluate<string[]>("audit.state()");

export const layoutOf = (page: Page): Promise<Layout> => page.evaluate<Layout>("audit.layout()");
