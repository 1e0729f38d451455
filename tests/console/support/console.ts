// Opens the console in Chromium by playwright-core, against the compiled binary: signed in, watched for blocked requests.

import { expect } from "bun:test";
import { mkdirSync } from "node:fs";
import { resolve } from "node:path";
import type { BrowserContext, Page } from "playwright-core";
import type { Language } from "../../../web/languages/languages.ts";
import type { Berth } from "../../support/berth.ts";
import type { Client } from "../../support/client.ts";
import { closeWindowsOfOthers, takeWindow } from "./windows.ts";

/** How a page is looked at. */
export interface View {
  theme: "light" | "dark";
  width: 390 | 1280;
  language?: Language;
  /** The browser's, such as "fr-FR". Default: one of the language. */
  locale?: string;
}

/** Both themes on a phone and a desktop; the dark ones in German. */
export const VIEWS: readonly View[] = (["light", "dark"] as const).flatMap((theme) =>
  ([390, 1280] as const).map((width) => ({
    theme,
    width,
    language: theme === "light" ? ("en" as const) : ("de" as const),
  })),
);

export interface Console extends AsyncDisposable {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Opens an address of the console and waits for its heading. */
  open(path: string): Promise<void>;
  /** What is wrong by now: errors of scripts, blocked or foreign requests. Tests expect none. */
  complaints(): string[];
  /** What axe finds on the page as it is now, and dialogs that scroll as a whole. */
  violations(): Promise<{ rule: string; elements: string[] }[]>;
  /** Writes a picture to the folder of BERTH_SHOTS, if that is set: for looking at it. */
  shoot(name: string): Promise<void>;
}

/**
 * Opens a window with the client's session; without a client, as a visitor. With `isCold` it has none of the console's files
 * yet; otherwise it may be one of an earlier test, emptied.
 */
export async function openConsole(
  berth: Pick<Berth, "web">,
  client?: Client,
  view: View = { theme: "light", width: 1280 },
  { isCold = false } = {},
): Promise<Console> {
  await closeWindowsOfOthers(berth.web);
  const options = {
    baseURL: berth.web,
    viewport: { width: view.width, height: view.width === 390 ? 844 : 900 },
    colorScheme: view.theme,
    locale: view.locale ?? (view.language === "de" ? "de-AT" : "en-GB"),
    timezoneId: "Europe/Vienna",
    reducedMotion: "reduce",
    // Proxies of tests sign their certificates themselves.
    ignoreHTTPSErrors: true,
  } as const;
  const window = await takeWindow(options, client ? cookiesOf(client, berth.web) : [], isCold);
  const { page, context } = window;
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("console", (message) => {
    if (/Content Security|Trusted|Refused|TypeError|ReferenceError|Warning:/.test(message.text()))
      complaints.push(message.text());
  });
  page.on("request", (request) => {
    const { protocol, origin } = new URL(request.url());
    if (protocol.startsWith("http") && origin !== new URL(berth.web).origin)
      complaints.push(`foreign: ${request.url()}`);
  });
  return {
    page,
    context,
    async open(path) {
      await page.goto(path, { waitUntil: "commit" });
      await page.locator("h1:visible").first().waitFor();
      await page
        .locator('[role="status"]:has-text("Loading…")')
        .waitFor({ state: "detached" })
        .catch(() => undefined);
    },
    complaints: () => complaints,
    violations: () => violationsOf(context, page),
    async shoot(name) {
      const folder = process.env.BERTH_SHOTS;
      if (!folder) return;
      mkdirSync(folder, { recursive: true });
      await page.screenshot({
        path: resolve(folder, `${name}-${view.theme}-${view.width}.png`),
        fullPage: view.width === 390,
      });
    },
    [Symbol.asyncDispose]: () => window.giveBack(),
  };
}

function cookiesOf(client: Client, url: string) {
  return client.cookie
    .split("; ")
    .filter(Boolean)
    .map((pair) => {
      const [name = "", ...value] = pair.split("=");
      return { name, value: value.join("="), url };
    });
}

const axe = resolve(import.meta.dir, "../../../node_modules/axe-core/axe.min.js");

/** What is in a dialog scrolls, and the dialog itself never: its title and buttons stay where they are. */
const SCROLLING_DIALOGS =
  "[...document.querySelectorAll('dialog[open]')].filter((one) => one.scrollHeight > one.clientHeight).map((one) => one.innerText.slice(0, 80))";

/** axe must go through the debugger: the pages' policy forbids other scripts. */
async function violationsOf(context: BrowserContext, page: Page): Promise<{ rule: string; elements: string[] }[]> {
  const session = await context.newCDPSession(page);
  try {
    if (!(await page.evaluate<boolean>("'axe' in globalThis")))
      await session.send("Runtime.evaluate", { expression: `${await Bun.file(axe).text()};undefined` });
    // Only what is wrong is described. Rules that need styles of other addresses are not there without `preload`; Berth has none.
    const { result } = await session.send("Runtime.evaluate", {
      expression: `axe.run({ resultTypes: ["violations"], preload: false, elementRef: false }).then(({ violations }) => JSON.stringify(violations.map(({ id, nodes }) =>
        ({ rule: id, elements: nodes.map(({ html, failureSummary }) => html.slice(0, 200) + " " + failureSummary.slice(0, 300)) }))))`,
      awaitPromise: true,
      returnByValue: true,
    });
    const found = JSON.parse(String(result.value)) as { rule: string; elements: string[] }[];
    const elements = await page.evaluate<string[]>(SCROLLING_DIALOGS);
    return elements.length > 0 ? [...found, { rule: "a dialog scrolls as a whole", elements }] : found;
  } finally {
    await session.detach();
  }
}

const IS_TOO_WIDE = "document.documentElement.scrollWidth > innerWidth";

/** Rotates through the views, so that a file's checks cover all of them. */
let checks = 0;

/**
 * Opens the page and expects that axe finds nothing, that it is not wider than the screen, and that nothing was blocked.
 * `prepare` brings it into a state, such as an open dialog. Each check takes the next of the four views; with
 * BERTH_ALL_VIEWS or BERTH_SHOTS each takes all of them, which takes four times as long.
 */
export async function expectAccessible(
  berth: Pick<Berth, "web">,
  client: Client | undefined,
  path: string,
  { name, prepare }: { name: string; prepare?: (page: Page, view: View) => Promise<void> },
): Promise<void> {
  const checksAll = process.env.BERTH_ALL_VIEWS || process.env.BERTH_SHOTS;
  const next = checks++ % VIEWS.length;
  for (const view of checksAll ? VIEWS : VIEWS.slice(next, next + 1)) {
    await using console = await openConsole(berth, client, view);
    await console.open(path);
    await prepare?.(console.page, view);
    await console.shoot(name);
    await expectAccessibleNow(console, path, view);
  }
}

async function expectAccessibleNow(console: Console, path: string, view: View): Promise<void> {
  expect({ path, view, found: await console.violations() }).toEqual({ path, view, found: [] });
  const isTooWide = await console.page.evaluate(IS_TOO_WIDE);
  expect({ path, view, isTooWide }).toEqual({ path, view, isTooWide: false });
  expect({ path, view, complaints: console.complaints().splice(0) }).toEqual({ path, view, complaints: [] });
}
