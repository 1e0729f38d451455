// Serves pages of other people's sites, each from an origin of its own, and opens them in Chromium as their visitors do.

import { mkdirSync } from "node:fs";
import { resolve } from "node:path";
import type { BrowserContext, Locator, Page } from "playwright-core";
import { startBrowser } from "../console/support/windows.ts";

export interface Site extends AsyncDisposable {
  readonly origin: string;
  /** What every page of the site shows from now on. */
  body: string;
  /** Replaces the headers of every page. */
  headers: Record<string, string>;
  /** The language of the pages. */
  lang: string;
}

/** Rules of a page that would spoil whatever it shows. */
export const HOSTILE_CSS = `
  html { font-size: 62.5%; transform: none }
  * { all: unset !important; visibility: hidden !important; opacity: 0 !important; font-size: 70px !important;
    transform: rotate(180deg) !important; filter: invert(1) !important; pointer-events: none !important; --accent: red !important }
  div, aside, section, button { display: none !important; position: static !important; width: 0 !important; z-index: -1 !important }
  button { background: red !important } textarea { width: 1px !important }`;

export function startSite(body = "", headers: Record<string, string> = {}): Site {
  const site = { body, headers, lang: "en" };
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch({ url }) {
      const { pathname } = new URL(url);
      if (pathname === "/hostile.css") return new Response(HOSTILE_CSS, { headers: { "content-type": "text/css" } });
      if (pathname === "/favicon.ico") return new Response(null, { status: 404 });
      const html = `<!doctype html><html lang="${site.lang}"><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Pier shop</title><main><h1>Pier shop</h1><p>Rope, paint and <a href="/more">more</a>.</p></main>${site.body}</html>`;
      return new Response(html, { headers: { "content-type": "text/html;charset=utf-8", ...site.headers } });
    },
  });
  return Object.assign(site, {
    origin: `http://127.0.0.1:${server.port}`,
    [Symbol.asyncDispose]: async () => void (await server.stop(true)),
  });
}

type Styles = Readonly<Record<"backgroundColor" | "color" | "width" | "opacity" | "visibility", string>>;

/** What the browser has made of all rules for an element. */
export const stylesOf = (locator: Locator): Promise<Styles> =>
  locator.evaluate((element) => {
    const stylesOf = Reflect.get(globalThis, "getComputedStyle") as (element: unknown) => Styles;
    const { backgroundColor, color, width, opacity, visibility } = stylesOf(element);
    return { backgroundColor, color, width, opacity, visibility };
  });

/** The strictest policy with which a site can show the bubble of this Berth. */
export const strictPolicy = (berth: string): string =>
  [
    "default-src 'none'",
    `script-src ${berth}`,
    `connect-src ${berth}`,
    "style-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join("; ");

export interface Look {
  theme?: "light" | "dark";
  width?: 390 | 1280;
  locale?: string;
  /** Nothing there can point without touching. */
  isPhone?: boolean;
}

export interface Visit extends AsyncDisposable {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Errors of scripts and what a policy has blocked. */
  complaints(): string[];
  /** Warnings of scripts. */
  warnings(): string[];
  /** What axe finds of serious or critical impact. */
  seriousFindings(): Promise<unknown[]>;
  /** Writes a picture to the folder of BERTH_SHOTS, if that is set. */
  shoot(name: string): Promise<void>;
}

const axe = resolve(import.meta.dir, "../../node_modules/axe-core/axe.min.js");

/** Opens a window of a new visitor. */
export async function visit(
  url: string,
  { theme = "light", width = 1280, locale = "en-GB", isPhone = false }: Look = {},
): Promise<Visit> {
  const context = await (await startBrowser()).newContext({
    viewport: { width, height: width === 390 ? 844 : 900 },
    colorScheme: theme,
    locale,
    reducedMotion: "reduce",
    hasTouch: width === 390,
    isMobile: isPhone,
  });
  context.setDefaultTimeout(60_000);
  const page = await context.newPage();
  const complaints: string[] = [];
  const warnings: string[] = [];
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("console", (message) => {
    if (/Content Security|Trusted|Refused|TypeError/.test(message.text())) complaints.push(message.text());
    if (message.type() === "warning") warnings.push(message.text());
  });
  await page.goto(url);
  return {
    page,
    context,
    complaints: () => complaints,
    warnings: () => warnings,
    async seriousFindings() {
      // By the debugger: the page's policy forbids other scripts.
      const session = await context.newCDPSession(page);
      await session.send("Runtime.evaluate", { expression: `${await Bun.file(axe).text()};undefined` });
      const { result } = await session.send("Runtime.evaluate", {
        expression: `axe.run({ resultTypes: ["violations"], elementRef: false }).then(({ violations }) => JSON.stringify(violations
          .filter(({ impact }) => impact === "serious" || impact === "critical")
          .map(({ id, nodes }) => ({ id, nodes: nodes.map(({ html, failureSummary }) => html.slice(0, 200) + " " + failureSummary.slice(0, 300)) }))))`,
        awaitPromise: true,
        returnByValue: true,
      });
      await session.detach();
      return JSON.parse(String(result.value)) as unknown[];
    },
    async shoot(name) {
      const folder = process.env.BERTH_SHOTS;
      if (!folder) return;
      mkdirSync(folder, { recursive: true });
      await page.screenshot({ path: resolve(folder, `${name}-${theme}-${width}.png`) });
    },
    [Symbol.asyncDispose]: () => context.close(),
  };
}
