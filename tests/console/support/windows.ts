// Keeps windows of Chromium after their tests, without what these left behind: a new one costs a process, and compiles the
// console's scripts again.

import { type BrowserContext, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { chromiumPath, SPARING } from "../../support/chromium.ts";

export type WindowOptions = BrowserContextOptions & Required<Pick<BrowserContextOptions, "baseURL">>;

export interface Window {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Keeps the window for the next one who asks for the same, or closes it. */
  giveBack(): Promise<void>;
}

type Cookies = Parameters<BrowserContext["addCookies"]>[0];

let browser: ReturnType<typeof chromium.launch> | undefined;

/**
 * Starts the one browser of this process, unless it runs. The first window does it too; a benchmark starts the browser before,
 * as people have it.
 */
export function startBrowser({ asPeopleHaveIt = false } = {}): ReturnType<typeof chromium.launch> {
  browser ??= (async () => {
    const args = ["--no-sandbox", ...(asPeopleHaveIt ? [] : SPARING)];
    return chromium.launch({ executablePath: chromiumPath(), args, timeout: 60_000 });
  })();
  return browser;
}

/** Ends the browser, for programs that go on; the files that a test's process runs share it. */
export async function closeBrowser(): Promise<void> {
  kept.clear();
  await (await browser)?.close();
  browser = undefined;
}

/** Of the same options; few tests have more windows at once. */
const MOST_KEPT = 2;

/** Windows that wait for their next test, by their options. */
const kept = new Map<string, Window[]>();

/** Returns a window that has these cookies, and nothing else of a user. */
export async function takeWindow(options: WindowOptions, cookies: Cookies, isNew = false): Promise<Window> {
  const key = JSON.stringify(options);
  const window = (isNew ? undefined : kept.get(key)?.pop()) ?? (await openWindow(options, key));
  await window.context.addCookies(cookies);
  return window;
}

/** Closes those of services of earlier files, which never come back. */
export async function closeWindowsOfOthers(baseURL: string): Promise<void> {
  for (const [key, windows] of kept) {
    if ((JSON.parse(key) as WindowOptions).baseURL === baseURL) continue;
    kept.delete(key);
    for (const { context } of windows) await context.close();
  }
}

async function openWindow(options: WindowOptions, key: string): Promise<Window> {
  const context = await (await startBrowser()).newContext(options);
  context.setDefaultTimeout(60_000);
  const page = await context.newPage();
  let isSpent = false;
  const spend = () => {
    isSpent = true;
  };
  // A page keeps these for good.
  for (const owner of [context, page]) {
    callBefore(owner, "addInitScript", spend);
    callBefore(owner, "exposeFunction", spend);
    callBefore(owner, "exposeBinding", spend);
  }
  callBefore(page.clock, "install", spend);
  const window: Window = {
    page,
    context,
    async giveBack() {
      const others = kept.get(key) ?? [];
      const isReusable = !isSpent && !page.isClosed() && context.pages().length === 1 && others.length < MOST_KEPT;
      if (!isReusable || !(await cleaned(context, page, options).catch(() => false))) return context.close();
      kept.set(key, [...(kept.get(key) ?? []), window]);
    },
  };
  return window;
}

/** Calls `note` before each call of the method. */
function callBefore<Owner extends object, Name extends keyof Owner>(owner: Owner, name: Name, note: () => void): void {
  const method = owner[name];
  if (typeof method !== "function") return;
  owner[name] = new Proxy(method, {
    apply(target, self, args) {
      note();
      return Reflect.apply(target, self, args);
    },
  });
}

const EVENTS = ["console", "dialog", "domcontentloaded", "download", "filechooser", "pageerror", "request", "response"];
const FORGET = "localStorage.clear(); sessionStorage.clear(); true";

/** The policy is that of the console: the browser takes another process for a page with another one. */
const EMPTY_PAGE = { contentType: "text/html", headers: { "cross-origin-opener-policy": "same-origin" }, body: "" };

/** Takes from the window what a test has added, and leaves it at an empty page of the same site, so that its process stays. */
async function cleaned(context: BrowserContext, page: Page, { viewport }: WindowOptions): Promise<boolean> {
  for (const event of EVENTS) page.removeAllListeners(event);
  await unroute(context, page);
  await context.setOffline(false);
  await page.route("**/empty", (route) => route.fulfill(EMPTY_PAGE));
  await page.goto("/empty", { waitUntil: "commit", timeout: 5_000 });
  await unroute(context, page);
  await Promise.all([context.clearCookies(), context.clearPermissions()]);
  if (viewport) await page.setViewportSize(viewport);
  return page.evaluate<boolean>(FORGET);
}

async function unroute(...owners: readonly (BrowserContext | Page)[]): Promise<void> {
  for (const owner of owners) await owner.unrouteAll({ behavior: "ignoreErrors" });
}
