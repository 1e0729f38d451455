// The chat on other people's pages, in Chromium: on a page with a strict policy and hostile styles, by keyboard, over broken
// connections, and never on a site that its owner has not named.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { testedBlocks } from "../site/tested-blocks.ts";
import { type Berth, startBerth } from "./support/berth.ts";
import type { Client } from "./support/client.ts";
import { focused, input, opener, panel, said, say } from "./support/embed-chat.ts";
import { eventually } from "./support/eventually.ts";
import { member, provision } from "./support/members.ts";
import { changed } from "./support/program.ts";
import { type Site, startSite, strictPolicy, stylesOf, visit } from "./support/sites.ts";
import { startUpstream, type Upstream } from "./support/upstream.ts";

let upstream: Upstream;
let berth: Berth;
let ada: Client;
let site: Site;

beforeAll(async () => {
  upstream = await startUpstream();
  // The prices of its models are not known, so that they count as dear ones.
  const models = { PROVIDER_5_BASE_URL: upstream.url, PROVIDER_5_API_KEY: "sk-test", MODEL_A: "provider_5:fake-small" };
  const budgets = { AI_PLAN_BUDGETS_USD_PER_MONTH: "free:500", AI_UNPAID_BUDGET_USD_PER_DAY: "500" };
  const env = { ...models, ...budgets, RATE_LIMITS: "off" };
  berth = await startBerth({ env });
  ada = await member(berth, "enterprise");
  site = startSite();
});
afterAll(async () => {
  await site?.[Symbol.asyncDispose]();
  await berth?.[Symbol.asyncDispose]();
  await upstream?.stop();
});
beforeEach(() => {
  upstream.reset();
  Object.assign(site, { headers: {}, lang: "en", body: "" });
});

async function embed(settings: object = {}, name = "Harbour"): Promise<{ id: string; subdomain: string }> {
  const { id } = await provision(ada, name, { embed: { origins: [site.origin], greeting: "Ahoy!", ...settings } });
  const { body } = await ada.get<{ agent: { subdomain: string } }>(`/api/agents/${id}`);
  return { id, subdomain: body.agent.subdomain };
}
const scriptOf = ({ subdomain }: { subdomain: string }, attributes = "") =>
  `<script src="${berth.web}/embed.js" data-agent="${subdomain}" ${attributes} defer></script>`;

describe("on a page with a strict policy and hostile styles", () => {
  test("it is opened, used and closed by keyboard, and announced; nothing is blocked, and no cookie is set", async () => {
    site.headers = { "content-security-policy": strictPolicy(berth.web) };
    site.body = `<link rel="stylesheet" href="/hostile.css">${scriptOf(await embed({ accent: "#ffcc00" }))}`;
    await using visitor = await visit(site.origin);
    const { page } = visitor;
    await opener(page).waitFor();
    expect(await page.evaluate("sessionStorage.length + localStorage.length")).toBe(0);
    await page.keyboard.press("Tab");
    expect(await focused(page)).toContain('class="opener"');
    await page.keyboard.press("Enter");
    await panel(page).getByText("Ahoy!").waitFor();
    expect(await focused(page)).toContain("<textarea");
    expect(await opener(page).getAttribute("aria-expanded")).toBe("true");
    // The page's rules have no effect: the colours are the owner's, with black on yellow, and sizes are its own.
    const look = await stylesOf(panel(page).getByRole("button", { name: "Send" }));
    expect(look).toEqual({
      ...{ backgroundColor: "rgb(255, 204, 0)", color: "rgb(0, 0, 0)", width: "42px" },
      ...{ opacity: "1", visibility: "visible" },
    });
    // What is really drawn: an empty picture of this size has some hundred bytes.
    const clip = (await panel(page).boundingBox()) ?? { x: 0, y: 0, width: 1, height: 1 };
    expect((await page.screenshot({ clip })).length).toBeGreaterThan(6_000);
    await visitor.shoot("embed-hostile-css");

    await page.keyboard.type("What is sold here?");
    await page.keyboard.press("Enter");
    await said(page, "echo: What is sold here?").waitFor();
    await panel(page).getByRole("status").getByText("Harbour: echo: What is sold here?").waitFor();
    expect(await input(page).inputValue()).toBe("");

    // Tab goes round in the dialog, both ways.
    const stops: unknown[] = [];
    for (let press = 0; press < 12; press++) {
      await page.keyboard.press(press < 6 ? "Tab" : "Shift+Tab");
      stops.push(await focused(page));
    }
    for (const stop of stops) expect(stop).not.toContain('class="opener"');
    expect(stops.filter((stop) => stop === "")).toEqual([]);
    await page.keyboard.press("Escape");
    await panel(page).waitFor({ state: "hidden" });
    expect(await focused(page)).toContain('class="opener"');

    // The visitor comes back on another page of the site.
    await page.goto(`${site.origin}/more`);
    await opener(page).click();
    await say(page, "And what did I ask?");
    await said(page, "echo: And what did I ask?").waitFor();
    expect(JSON.stringify(upstream.chats.at(-1)?.messages)).toContain("What is sold here?");
    expect(await visitor.context.cookies()).toEqual([]);
    expect(visitor.complaints()).toEqual([]);
  });

  test("keys that a visitor presses in the chat are not shortcuts of the page", async () => {
    site.body = `<script>addEventListener("keydown", () => { globalThis.pressed = true })</script>${scriptOf(await embed())}`;
    await using visitor = await visit(site.origin);
    await opener(visitor.page).click();
    await input(visitor.page).pressSequentially("/?gk");
    expect(await visitor.page.evaluate("globalThis.pressed ?? false")).toBe(false);
  });
});

test("the elements of docs/embed.md, under the policy that it shows, are a bubble and a frame", async () => {
  const [bubble, frame, policy] = testedBlocks(import.meta.path, "docs/embed.md", 3);
  const { subdomain } = await embed();
  const own = { "https://berth.example.com": berth.web };
  const directives = changed(policy.code, own);
  site.headers = {
    "content-security-policy": `default-src 'none'; ${directives}; require-trusted-types-for 'script'; trusted-types 'none'`,
  };
  site.body =
    changed(bubble.code, { ...own, 'data-agent="harbour"': `data-agent="${subdomain}"` }) +
    changed(frame.code, { ...own, "/embed/harbour": `/embed/${subdomain}` });
  await using visitor = await visit(site.origin);
  const { page } = visitor;
  await page.frameLocator('iframe[title="Chat with Harbour"]').getByText("Ahoy!").waitFor();
  await opener(page).click();
  await say(page, "Hello there");
  await said(page, "echo: Hello there").waitFor();
  expect(visitor.complaints()).toEqual([]);
});

test("a site that is not named shows nothing, and its console says why", async () => {
  const agent = await embed({ origins: ["https://www.example.com"] });
  site.body = scriptOf(agent);
  await using visitor = await visit(site.origin);
  await eventually(() => visitor.warnings().length > 0);
  expect(visitor.warnings().join()).toContain(`its owner has not allowed ${site.origin}`);
  const { status } = await fetch(`${berth.web}/api/embed/${agent.subdomain}`, { headers: { origin: site.origin } });
  expect(status).toBe(403);
  expect(await opener(visitor.page).count()).toBe(0);
  expect(await visitor.page.evaluate("document.querySelectorAll('body > div').length")).toBe(0);
});

test.each([
  [
    "a name that no agent has",
    { "data-agent": "harbor" },
    'no chat with "harbor": either no agent has this name (data-agent), or',
  ],
  ["a policy that blocks it", {}, "the policy of this page blocks it. Add connect-src http"],
  ["a server that is away", { src: "http://127.0.0.1:9/embed.js" }, "http://127.0.0.1:9 can't be reached."],
  ["a theme", { "data-theme": "darkk" }, 'data-theme="darkk" is ignored. Give light, dark or auto.'],
  ["a position", { "data-position": "top" }, 'data-position="top" is ignored. Give left or right.'],
  ["a colour", { "data-accent": "blue" }, 'data-accent="blue" is ignored. Give a colour as #0b6e8a or #07a.'],
])("the page's console says what is wrong with %s", async (_, attributes, warning) => {
  const script = Object.entries({ src: `${berth.web}/embed.js`, "data-agent": (await embed()).id, ...attributes });
  const body = await (await fetch(`${berth.web}/embed.js`)).text();
  if (warning.includes("blocks"))
    site.headers = { "content-security-policy": `script-src ${berth.web}; connect-src 'none'` };
  await using visitor = await visit("about:blank");
  // The script of a server that has gone away since is in the browser's cache.
  await visitor.page.route("http://127.0.0.1:9/embed.js", (route) =>
    route.fulfill({ contentType: "text/javascript", body }),
  );
  site.body = `<script ${script.map(([name, value]) => `${name}="${value}"`).join(" ")} defer></script>`;
  await visitor.page.goto(site.origin);
  await eventually(() => visitor.warnings().join().includes(warning));
  expect(visitor.warnings()).toHaveLength(1);
});

test("two agents on one page talk separately, one at a time", async () => {
  const [harbour, shop] = [await embed(), await embed({ greeting: "Rope?" }, "Ropes")];
  site.body = scriptOf(harbour) + scriptOf(shop) + scriptOf(harbour);
  await using visitor = await visit(site.origin);
  const { page } = visitor;
  await opener(page, "Ropes").waitFor();
  await opener(page).waitFor();
  expect(await page.getByRole("button", { name: /^Chat with/ }).count()).toBe(2);
  const [one, two] = [await opener(page).boundingBox(), await opener(page, "Ropes").boundingBox()];
  expect(Math.abs((one?.y ?? 0) - (two?.y ?? 0))).toBeGreaterThanOrEqual(60);
  await opener(page).click();
  await say(page, "To the harbour");
  await said(page, "echo: To the harbour").waitFor();
  await panel(page).getByRole("button", { name: "Close the chat" }).click();
  await opener(page, "Ropes").click();
  await page.getByRole("dialog", { name: "Ropes" }).getByText("Rope?").waitFor();
  expect(await page.getByRole("dialog").count()).toBe(1);
  await say(page, "To the shop");
  await said(page, "echo: To the shop").waitFor();
  expect(JSON.stringify(upstream.chats.at(-1)?.messages)).not.toContain("To the harbour");
});

test("it stays when a site replaces its body, or runs the script again", async () => {
  site.body = scriptOf(await embed());
  await using visitor = await visit(site.origin);
  const { page } = visitor;
  await opener(page).click();
  await say(page, "Before");
  await said(page, "echo: Before").waitFor();
  await page.evaluate(`history.pushState(null, "", "/next"); document.body.innerHTML = "<h1>Next</h1>"`);
  await said(page, "echo: Before").waitFor();
  await page.evaluate(`{
    const body = document.createElement("body");
    const script = document.createElement("script");
    Object.assign(script, { src: ${JSON.stringify(`${berth.web}/embed.js`)} });
    script.dataset.agent = new URLSearchParams(location.search).get("agent") ?? ${JSON.stringify(/data-agent="([^"]+)/.exec(site.body)?.[1])};
    body.append(script);
    document.body.replaceWith(body);
    globalThis.again = new Promise((done) => { script.onload = done });
  }`);
  await page.evaluate("globalThis.again.then(() => undefined)");
  await said(page, "echo: Before").waitFor();
  expect(await page.getByRole("button", { name: /^Chat with/ }).count()).toBe(1);
  await say(page, "After");
  await said(page, "echo: After").waitFor();
});

describe("while the connection is broken", () => {
  test("what was typed is kept, says so, and is sent when the network is back", async () => {
    site.body = scriptOf(await embed());
    await using visitor = await visit(site.origin, { width: 390 });
    const { page } = visitor;
    await opener(page).click();
    await visitor.context.setOffline(true);
    await say(page, "Is anybody there?");
    await panel(page).getByText("You are offline. Your message is kept").waitFor();
    await visitor.shoot("embed-offline");
    await visitor.context.setOffline(false);
    await said(page, "echo: Is anybody there?").waitFor();
    expect(await panel(page).getByText("You are offline").count()).toBe(0);
    expect(await panel(page).getByRole("log").getByText("Is anybody there?", { exact: true }).count()).toBe(1);
    expect(upstream.chats).toHaveLength(1);
  });

  test("it is sent again when the server is back, also if the page was left in between", async () => {
    site.body = scriptOf(await embed());
    await using visitor = await visit(site.origin);
    const { page } = visitor;
    await opener(page).click();
    await berth.stop();
    await say(page, "Are you back?");
    await panel(page).getByText("The chat can't be reached right now").waitFor();
    await berth.restart({ keepPorts: true });
    await page.reload();
    await opener(page).click();
    await said(page, "echo: Are you back?").waitFor();
    expect(upstream.chats).toHaveLength(1);
  });
});

test("an agent that sleeps, or has spent its budget, says so in a friendly sentence, in the language of the page", async () => {
  const [asleep, poor] = [
    await embed({}, "Asleep"),
    await provision(ada, "Poor", { embed: { origins: [site.origin] }, budget: { usdPerDay: 0 } }),
  ];
  await ada.post(`/api/agents/${asleep.id}/stop`, {});
  site.lang = "de-AT";
  site.body = scriptOf(asleep) + scriptOf({ subdomain: poor.id });
  await using visitor = await visit(site.origin);
  const { page } = visitor;
  for (const [name, words] of [
    ["Asleep", "Dieser Agent schläft. Komm später wieder."],
    ["Poor", "Dieser Agent kann vorerst nicht mehr antworten. Komm später wieder."],
  ]) {
    await page.getByRole("button", { name: `Chat mit ${name}` }).click();
    await panel(page).getByLabel("Deine Nachricht").fill("Hallo?");
    await page.keyboard.press("Enter");
    await panel(page)
      .getByRole("log")
      .getByText(words ?? "")
      .waitFor();
    await panel(page).getByRole("button", { name: "Noch einmal versuchen" }).waitFor();
    await page.keyboard.press("Escape");
  }
});

test("the language is the script's, else the page's, else the browser's, else English", async () => {
  const agent = await embed();
  for (const [attributes, lang, locale, words] of [
    ['data-lang="en"', "de", "de-AT", "Chat with Harbour"],
    ["", "de", "en-GB", "Chat mit Harbour"],
    ["", "fr", "de-AT", "Chat mit Harbour"],
    ["", "fr", "it-IT", "Chat with Harbour"],
  ] as const) {
    Object.assign(site, { lang, body: scriptOf(agent, attributes) });
    await using visitor = await visit(site.origin, { locale });
    await visitor.page.getByRole("button", { name: words }).waitFor();
  }
});
