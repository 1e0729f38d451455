// The documentation as people get it from the binary: its addresses and headers, and its pages in Chromium, without the internet.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { listedPages, nameOf } from "../../site/pages.ts";
import { openPage, violationsOf } from "../support/axe.ts";
import { type Berth, startBerth } from "../support/berth.ts";
import { openChromium, type Page } from "../support/chromium.ts";
import { eventually } from "../support/eventually.ts";

let berth: Berth;
let page: Page;
beforeAll(async () => {
  berth = await startBerth();
  page = await openChromium();
});
afterAll(async () => {
  await page?.[Symbol.asyncDispose]();
  await berth?.[Symbol.asyncDispose]();
});

const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(`${berth.web}${path}`, { headers, redirect: "manual" });
const addressOf = (path: string) => `/docs/${nameOf(path)}`.replace(/\/index$/, "/");

describe("addresses", () => {
  test("every page of the sidebar is there, and all its links lead to pages and files", async () => {
    const known = new Set<string>();
    for (const path of listedPages()) {
      const response = await get(addressOf(path));
      expect({ path, status: response.status }).toEqual({ path, status: 200 });
      for (const [, link = ""] of (await response.text()).matchAll(/(?:href|src)="(\/[^"#?]*)/g)) known.add(link);
    }
    const broken: string[] = [];
    for (const link of known) if ((await get(link)).status !== 200) broken.push(link);
    expect(broken).toEqual([]);
    expect([...known].filter((link) => !link.startsWith("/docs/"))).toEqual([]);
  });

  test("a page comes compressed with Brotli or as it is, and a client that has it gets 304", async () => {
    const plain = await get("/docs/memory", { "accept-encoding": "identity" });
    const compressed = await get("/docs/memory", { "accept-encoding": "gzip, br" });
    expect(compressed.headers.get("content-encoding")).toBe("br");
    expect(plain.headers.get("content-encoding")).toBeNull();
    expect(await plain.text()).toBe(await compressed.text());
    const etag = plain.headers.get("etag") ?? "";
    expect((await get("/docs/memory", { "if-none-match": `W/"other", ${etag}` })).status).toBe(304);
    expect((await get("/docs/memory", { "if-none-match": 'W/"other"' })).status).toBe(200);
  });

  test("scripts are kept for ever, because their names change with their content; pages are asked for again", async () => {
    const html = await (await get("/docs/")).text();
    const script = /src="(\/docs\/assets\/app[^"]+)"/.exec(html)?.[1] ?? "";
    expect((await get(script)).headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
    expect((await get("/docs/")).headers.get("cache-control")).toBe("no-cache");
  });

  test("links of the sources, and the address without a slash, lead to the pages", async () => {
    for (const [path, location] of [
      ["/docs", "/docs/"],
      ["/docs/memory.md", "/docs/memory"],
    ] as const) {
      const response = await get(path);
      expect([response.status, response.headers.get("location")]).toEqual([308, location]);
    }
  });

  test("an unknown page is a page for people and an error for programs", async () => {
    const forPeople = await get("/docs/nothing", { accept: "text/html" });
    expect([forPeople.status, forPeople.headers.get("content-type")]).toEqual([404, "text/html;charset=utf-8"]);
    const forPrograms = await get("/docs/nothing");
    expect([forPrograms.status, (await forPrograms.json()) as object]).toEqual([
      404,
      expect.objectContaining({ code: "NOT_FOUND" }),
    ]);
    expect((await get("/docs/constructor")).status).toBe(404);
  });

  test("nothing of it comes from another address, and no inline script runs but those that are known", async () => {
    const response = await get("/docs/");
    const policy = response.headers.get("content-security-policy") ?? "";
    expect(policy).toContain("default-src 'none'; script-src 'self' 'sha256-");
    expect(policy).not.toContain("unsafe");
    expect(await response.text()).not.toMatch(/(?:src|href)="(?:https?:)?\/\//);
  });

  test("DOCUMENTATION=off takes it away", async () => {
    await using silent = await startBerth({ env: { DOCUMENTATION: "off" } });
    for (const path of ["/docs", "/docs/", "/docs/memory"]) expect((await fetch(silent.web + path)).status).toBe(404);
  });
});

const views = (["light", "dark"] as const).flatMap((theme) =>
  [390, 1280].map((width) => ({ theme, width, language: "en" })),
);

describe.each(views)("$theme, $width wide", (view) => {
  test("pages are accessible, fit the screen, and nothing of them is blocked", async () => {
    await page.emulate(view);
    for (const path of [
      "/docs/",
      "/docs/concepts",
      "/docs/plugins",
      "/docs/configuration",
      "/docs/decisions/",
      "/docs/nothing",
    ]) {
      await openPage(page, berth.web + path);
      const serious = (await violationsOf(page)).filter(({ impact }) => impact === "serious" || impact === "critical");
      expect({ path, serious }).toEqual({ path, serious: [] });
      const width = await page.evaluate<number>("document.documentElement.scrollWidth - innerWidth");
      expect({ path, isTooWide: width > 0 }).toEqual({ path, isTooWide: false });
      const isDark = await page.evaluate<boolean>(`document.documentElement.classList.contains("dark")`);
      expect(isDark).toBe(view.theme === "dark");
    }
    const complaints = page
      .consoleEntries()
      .filter((text) => /Content Security|Refused|TypeError|Hydration/.test(text));
    expect(complaints).toEqual([]);
  });
});

test.each([
  ["a word on it", "BotFather", "/docs/telegram", ""],
  ["the name of a setting", "RTMP_PORT", "/docs/configuration", "#RTMP_PORT"],
  ["an error code", "ADDRESS_NOT_ALLOWED", "/docs/errors", "#ADDRESS_NOT_ALLOWED"],
])("the search finds a page by %s, first, and leads there", async (_, words, path, anchor) => {
  await page.emulate({ width: 1280, theme: "light", language: "en" });
  await openPage(page, `${berth.web}/docs/`);
  const click = (selector: string) => `document.querySelector(${JSON.stringify(selector)})?.click()`;
  await eventually(
    async () => {
      await page.evaluate(click(".DocSearch-Button"));
      return page.evaluate(`document.querySelector("#localsearch-input") !== null`);
    },
    { what: "the search opens" },
  );
  await page.evaluate(`(() => {
    const input = document.querySelector("#localsearch-input");
    input.value = ${JSON.stringify(words)};
    input.dispatchEvent(new Event("input", { bubbles: true }));
  })()`);
  const first = `.VPLocalSearchBox li:first-child a.result[href^="${path}${anchor}"]`;
  await eventually(() => page.evaluate(`document.querySelector(${JSON.stringify(first)}) !== null`), {
    what: `${path}${anchor} is the first result`,
  });
  await page.evaluate(click(first));
  const isThere = anchor === "" ? "true" : `document.getElementById(${JSON.stringify(anchor.slice(1))}) !== null`;
  await eventually(() => page.evaluate(`location.pathname === "${path}" && ${isThere}`), { what: "its page opens" });
});
