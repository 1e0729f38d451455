// The chat in a frame, for sites that run no scripts of others; what the chat can't reach in a browser in which its owner is signed in;
// and how bubble and frame look, in both themes, on a phone and on a desktop.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { type Berth, startBerth } from "./support/berth.ts";
import type { Client } from "./support/client.ts";
import { eventually } from "./support/eventually.ts";
import { member, provision } from "./support/members.ts";
import { type Look, type Site, startSite, stylesOf, visit } from "./support/sites.ts";
import { startUpstream, type Upstream } from "./support/upstream.ts";

let upstream: Upstream;
let berth: Berth;
let ada: Client;
let site: Site;
let other: Site;
let id: string;
let subdomain: string;

beforeAll(async () => {
  upstream = await startUpstream();
  const env = { PROVIDER_3_BASE_URL: upstream.url, MODEL_A: "provider_3:fake-small", RATE_LIMITS: "off" };
  berth = await startBerth({ env });
  ada = await member(berth);
  [site, other] = [startSite(), startSite()];
  const embed = { origins: [site.origin], greeting: "Ahoy! Ask me about rope." };
  ({ id } = await provision(ada, "Harbour", { embed }));
  ({ subdomain } = (await ada.get<{ agent: { subdomain: string } }>(`/api/agents/${id}`)).body.agent);
});
afterAll(async () => {
  for (const one of [site, other]) await one?.[Symbol.asyncDispose]();
  await berth?.[Symbol.asyncDispose]();
  await upstream?.stop();
});
beforeEach(() => {
  upstream.reset();
  Object.assign(site, { headers: {}, lang: "en", body: "" });
});

const frameOf = (query = "") =>
  `<iframe src="${berth.web}/embed/${subdomain}${query}" title="Chat with Harbour" width="380" height="560"></iframe>`;
const script = (attributes = "") =>
  `<script src="${berth.web}/embed.js" data-agent="${subdomain}" ${attributes}></script>`;
const VIEWS: Required<Pick<Look, "theme" | "width">>[] = [
  { theme: "light", width: 1280 },
  { theme: "dark", width: 1280 },
  { theme: "light", width: 390 },
  { theme: "dark", width: 390 },
];

describe("a frame", () => {
  test("talks on a site that allows no script at all, and keeps the conversation, without a cookie", async () => {
    site.headers = { "content-security-policy": `default-src 'none'; frame-src ${berth.web}` };
    site.body = frameOf();
    await using visitor = await visit(site.origin);
    const frame = visitor.page.frameLocator("iframe");
    await frame.getByRole("heading", { name: "Harbour", level: 1 }).waitFor();
    await frame.getByText("Ahoy! Ask me about rope.").waitFor();
    await frame.getByLabel("Your message").fill("How thick is it?");
    await frame.getByRole("button", { name: "Send" }).click();
    await frame.getByRole("log").getByText("echo: How thick is it?", { exact: true }).waitFor();
    await visitor.page.reload();
    await frame.getByRole("log").getByText("echo: How thick is it?", { exact: true }).waitFor();
    await frame.getByLabel("Your message").fill("And how long?");
    await visitor.page.keyboard.press("Enter");
    await frame.getByRole("log").getByText("echo: And how long?", { exact: true }).waitFor();
    expect(JSON.stringify(upstream.chats.at(-1)?.messages)).toContain("How thick is it?");
    await frame.getByRole("button", { name: "Start over" }).click();
    expect(await frame.getByRole("log").getByText("And how long?").count()).toBe(0);
    expect(await visitor.context.cookies()).toEqual([]);
    expect(visitor.complaints()).toEqual([]);
  });

  test("stays empty on a site that the owner has not named", async () => {
    other.body = frameOf();
    await using visitor = await visit(other.origin);
    await eventually(() => visitor.complaints().some((one) => one.includes("frame-ancestors")));
    expect(await visitor.page.frameLocator("iframe").getByText("Ahoy").count()).toBe(0);
  });

  test("that is a sandbox without an origin of its own says that the chat can't be reached", async () => {
    site.body = frameOf().replace("<iframe", '<iframe sandbox="allow-scripts"');
    await using visitor = await visit(site.origin);
    const frame = visitor.page.frameLocator("iframe");
    await frame.getByLabel("Your message").fill("Hello?");
    await visitor.page.keyboard.press("Enter");
    await frame.getByText("The chat can't be reached right now").waitFor();
    expect(upstream.chats).toHaveLength(0);
  });

  test("takes language and theme from its address", async () => {
    site.body = frameOf("?lang=de&theme=dark&accent=%23ffcc00");
    await using visitor = await visit(site.origin);
    const frame = visitor.page.frameLocator("iframe");
    await frame.getByLabel("Deine Nachricht").waitFor();
    expect((await stylesOf(frame.locator(".send"))).backgroundColor).toBe("rgb(255, 204, 0)");
    expect(await frame.locator(".frame").getAttribute("data-theme")).toBe("dark");
  });
});

test("in the browser of its signed-in owner, a site can neither act as the owner nor read anything of them", async () => {
  site.body = script();
  await using visitor = await visit(site.origin);
  const [name = "", value = ""] = ada.cookie.split("; ")[0]?.split("=") ?? [];
  await visitor.context.addCookies([{ name, value, url: berth.web, sameSite: "Lax" }]);
  const { page } = visitor;
  // Ports share cookies, so the browser would send this one with each request that has credentials.
  const request = async (path: string, init: object) =>
    page.evaluate(
      `fetch(${JSON.stringify(berth.web + path)}, ${JSON.stringify({ credentials: "include", ...init })})
        .then(async (response) => response.status + " " + await response.text(), (error) => error.name)`,
    );
  const post = {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ message: "Hi" }),
  };
  for (const [path, init] of [
    ["/api/agents", {}],
    [`/api/agents/${id}/config`, {}],
    [`/api/agents/${id}`, { method: "DELETE" }],
    [`/api/agents/${id}/conversations`, post],
    [`/a/${subdomain}/messages`, post],
    // Even its own routes, if they are called with credentials: the browser hides the answers.
    [`/api/embed/${subdomain}`, {}],
    [`/api/embed/${subdomain}/messages`, post],
  ] as const) {
    expect({ path, answer: await request(path, init) }).toEqual({ path, answer: "TypeError" });
  }
  expect(await request(`/api/embed/${subdomain}`, { credentials: "omit" })).toStartWith("200 ");
  await page.getByRole("button", { name: "Chat with Harbour" }).click();
  await page.getByLabel("Your message").fill("Who am I?");
  await page.keyboard.press("Enter");
  await page.getByRole("log").getByText("echo: Who am I?", { exact: true }).waitFor();
  expect(JSON.stringify(upstream.chats.at(-1)?.messages)).toContain("this is a visitor, not your owner");
  expect((await ada.get(`/api/agents/${id}`)).status).toBe(200);
  expect(visitor.complaints().filter((one) => !one.includes("CORS"))).toEqual([]);
});

/** A talk with what replies can have, and one that failed. */
async function talk(page: Page | ReturnType<Page["frameLocator"]>): Promise<void> {
  upstream.script(
    "Yes, **three** kinds:\n\n1. hemp\n2. nylon, see [the list](https://www.example.com/rope)\n\n| Rope | Price |\n|---|---|\n| 8 mm | 2.30 |\n\n```\nknot --bowline\n```",
  );
  await page.getByLabel("Your message").fill("Do you sell rope?");
  await page.getByLabel("Your message").press("Enter");
  await page.getByRole("log").getByText("knot --bowline").waitFor();
  upstream.script({ status: 401, message: "no" });
  await page.getByLabel("Your message").fill("Which is the strongest?");
  await page.getByLabel("Your message").press("Enter");
  await page.getByRole("button", { name: "Try again" }).waitFor();
}

test.each(VIEWS)(
  "the bubble in %p: axe finds nothing serious, closed and open, and it covers no more than the screen",
  async (view) => {
    site.body = script();
    await using visitor = await visit(site.origin, view);
    const { page } = visitor;
    const opener = page.getByRole("button", { name: "Chat with Harbour" });
    await opener.waitFor();
    await visitor.shoot("embed-closed");
    expect(await visitor.seriousFindings()).toEqual([]);
    await opener.click();
    await talk(page);
    await visitor.shoot("embed-open");
    expect(await visitor.seriousFindings()).toEqual([]);
    const box = await page.getByRole("dialog").boundingBox();
    expect(box?.width).toBe(view.width === 390 ? 390 : 384);
    expect(box?.height).toBe(view.width === 390 ? 844 : 600);
    expect(await page.getByRole("dialog").getAttribute("aria-modal")).toBe(String(view.width === 390));
    expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
    const theme = page.locator(".frame");
    expect(await theme.getAttribute("data-theme")).toBe(view.theme);
    // The site's switch for its own theme.
    const opposite = view.theme === "dark" ? "light" : "dark";
    await page.evaluate(`document.querySelector("script[data-agent]").dataset.theme = "${opposite}"`);
    await page.locator(`.frame[data-theme=${opposite}]`).waitFor({ state: "attached" });
  },
);

test.each(VIEWS)("the frame's page in %p: axe finds nothing serious", async (view) => {
  await using visitor = await visit(`${berth.web}/embed/${subdomain}`, view);
  await talk(visitor.page);
  await visitor.shoot("embed-frame");
  expect(await visitor.seriousFindings()).toEqual([]);
  expect(await visitor.page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
  expect(visitor.complaints()).toEqual([]);
});

test("the script is compressed, kept for minutes, and checked by its hash", async () => {
  const get = (headers: Record<string, string>) => fetch(`${berth.web}/embed.js`, { headers, decompress: false });
  const br = await get({ "accept-encoding": "br" });
  expect(br.headers.get("content-encoding")).toBe("br");
  expect(br.headers.get("cache-control")).toStartWith("public, max-age=300");
  expect(br.headers.get("content-type")).toStartWith("text/javascript");
  expect(br.headers.get("cross-origin-resource-policy")).toBe("cross-origin");
  expect(br.headers.get("set-cookie")).toBeNull();
  const etag = br.headers.get("etag") ?? "";
  expect((await get({ "accept-encoding": "br", "if-none-match": etag })).status).toBe(304);
  expect((await get({ "accept-encoding": "br", "if-none-match": '"other"' })).status).toBe(200);
  const plain = await (await get({ "accept-encoding": "identity" })).text();
  const gzip = Bun.gunzipSync(await (await get({ "accept-encoding": "gzip" })).arrayBuffer());
  expect(new TextDecoder().decode(gzip)).toBe(plain);
  expect(plain.length).toBeGreaterThan((await br.bytes()).length);
});
