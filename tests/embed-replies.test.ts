// What the chat on other people's pages makes of replies: a hostile one stays text, Markdown is shown, and long or endless texts
// hold nothing up. In Chromium, on a page whose policy reports whatever was blocked.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { HOSTILE_TEXTS } from "./console/support/hostile.ts";
import { type Berth, startBerth } from "./support/berth.ts";
import { member, provision } from "./support/members.ts";
import { type Site, startSite, strictPolicy, type Visit, visit } from "./support/sites.ts";
import { startUpstream, type Upstream } from "./support/upstream.ts";

let upstream: Upstream;
let berth: Berth;
let site: Site;
let visitor: Visit;

beforeAll(async () => {
  upstream = await startUpstream();
  const env = { PROVIDER_3_BASE_URL: upstream.url, MODEL_A: "provider_3:fake-small", RATE_LIMITS: "off" };
  berth = await startBerth({ env });
  site = startSite();
  const ada = await member(berth);
  const { id } = await provision(ada, `<img src=x onerror="hacked=1">`, {
    embed: { origins: [site.origin], greeting: `<script>hacked=1</script> **Ahoy**` },
  });
  site.headers = { "content-security-policy": strictPolicy(berth.web) };
  site.body = `<script src="${berth.web}/embed.js" data-agent="${id}"></script>`;
  visitor = await visit(site.origin);
  await visitor.page.getByRole("button", { name: /^Chat with/ }).click();
});
afterAll(async () => {
  await visitor?.[Symbol.asyncDispose]();
  await site?.[Symbol.asyncDispose]();
  await berth?.[Symbol.asyncDispose]();
  await upstream?.stop();
});

/** The last reply of the agent as elements, once it is whole. */
async function replyTo(reply: string): Promise<string> {
  upstream.script(reply);
  const { page } = visitor;
  const count = await page.locator(".line.agent:not(.busy)").count();
  await page.getByLabel("Your message").fill("Go on");
  await page.keyboard.press("Enter");
  await page.locator(".line.agent:not(.busy)").nth(count).waitFor();
  await page.locator(".send[data-does=send]").waitFor();
  return page.locator(".line.agent .text").last().innerHTML();
}

test("name and greeting of the owner are text, with its Markdown", async () => {
  const { page } = visitor;
  expect(await page.getByRole("dialog").getByRole("heading").textContent()).toBe(`<img src=x onerror="hacked=1">`);
  expect(await page.locator(".greeting .text").innerHTML()).toBe(
    "<p>&lt;script&gt;hacked=1&lt;/script&gt; <strong>Ahoy</strong></p>",
  );
});

test("a hostile reply becomes no markup, no script, no request, and no address that runs", async () => {
  const requests: string[] = [];
  visitor.page.on("request", (request) => requests.push(new URL(request.url()).pathname));
  const html = await replyTo(
    [
      `<img src="/stolen.png" onerror="hacked=1"><script>hacked=1</script><iframe src="/stolen"></iframe><svg onload="hacked=1">`,
      `![pixel](${site.origin}/stolen.png) [click](javascript:hacked=1) [data](data:text/html,<script>hacked=1</script>)`,
      `[good](https://www.example.com/a_(b)) <https://www.example.com> [\u202ereversed](vbscript:x) <a href="/stolen" onclick="hacked=1">x</a>`,
      `<style>*{display:none}</style><base href="https://evil.example">`,
      "```html\n<script>hacked=1</script>\n```",
      "| a | b |\n|---|---|\n| <img src=x> | [x](javascript:alert(1)) |",
    ].join("\n\n"),
  );
  expect(html).not.toMatch(/<(?:img|script|iframe|svg|style|base|form|input|object|embed)/i);
  expect(html).not.toMatch(/\son\w+=(?!.*&gt;)/);
  const links = await visitor.page
    .locator(".line.agent a")
    .evaluateAll((found) =>
      found.map((link) => [link.getAttribute("href"), link.getAttribute("rel"), link.getAttribute("target")]),
    );
  expect(links.map(([href]) => href)).toEqual([
    `${site.origin}/stolen.png`,
    "https://www.example.com/a_(b)",
    "https://www.example.com",
    // An address in a text is a link, whatever is around it.
    "https://evil.example",
  ]);
  for (const [, rel, target] of links) expect([rel, target]).toEqual(["noopener noreferrer nofollow", "_blank"]);
  expect(requests.filter((path) => path.includes("stolen"))).toEqual([]);
  expect(await visitor.page.evaluate("globalThis.hacked ?? false")).toBe(false);
  expect(visitor.complaints()).toEqual([]);
});

test("Markdown is shown", async () => {
  const reply = [
    "# Rope #",
    "Strong **and *both***, ~~old~~, snake_case_name, 2 * 3 * 4, `a*b`, \\*plain\\*,",
    "next line<br>third. See https://www.example.com/rope?a=1&b=2.",
    "",
    "3. three",
    "4. four",
    "   - nested",
    "     more of it",
    "",
    "- [x] done",
    "- [ ] open",
    "",
    "> quoted **words**",
    "> again",
    "",
    "| Rope | Price |",
    "|:-----|------:|",
    "| 8 mm | 2 \\| 3 |",
    "",
    "---",
    "```js",
    "const rope = `a\\b`;",
    "```",
  ].join("\n");
  expect(await replyTo(reply)).toBe(
    [
      `<p class="heading">Rope</p>`,
      "<p>Strong <strong>and <em>both</em></strong>, <del>old</del>, snake_case_name, 2 * 3 * 4, <code>a*b</code>, *plain*,",
      `<br>next line<br>third. See <a href="https://www.example.com/rope?a=1&amp;b=2" target="_blank" rel="noopener noreferrer nofollow">https://www.example.com/rope?a=1&amp;b=2</a>.</p>`,
      `<ol start="3"><li>three</li><li>four<ul><li>nested<br>more of it</li></ul></li></ol>`,
      "<ul><li>☑ done</li><li>☐ open</li></ul>",
      "<blockquote><p>quoted <strong>words</strong><br>again</p></blockquote>",
      `<div class="wide" tabindex="0"><table><thead><tr><th>Rope</th><th>Price</th></tr></thead><tbody><tr><td>8 mm</td><td>2 | 3</td></tr></tbody></table></div>`,
      `<hr><pre tabindex="0"><code>const rope = \`a\\b\`;</code></pre>`,
    ].join(""),
  );
});

test.each([
  ["stars", "*a **b ".repeat(2_500)],
  ["brackets", "[".repeat(19_000)],
  ["links", "[a](".repeat(4_500)],
  ["far links", `${"[ ".repeat(9_000)}](x`],
  ["closing brackets", `http://a${")".repeat(19_000)}x`],
  ["hashes", `# ${"#".repeat(19_000)}x`],
  ["spaces", `a|b\n-${" ".repeat(19_000)}x`],
  ["quotes", ">".repeat(19_000)],
  ["nested lists", Array.from({ length: 180 }, (_, depth) => `${" ".repeat(depth)}- a`).join("\n")],
  ["backticks", "`a``b```c ".repeat(1_900)],
  ["a long line", "x".repeat(60_000)],
])("hostile %s are shown within a second", async (_, text) => {
  const started = performance.now();
  const html = await replyTo(text);
  expect(html.length).toBeGreaterThan(20);
  const millis = await visitor.page.evaluate<number>(`new Promise((done) => {
    const began = performance.now();
    requestAnimationFrame(() => setTimeout(() => done(performance.now() - began)));
  })`);
  expect(millis).toBeLessThan(1_000);
  expect(performance.now() - started).toBeLessThan(10_000);
});

test("texts that have broken other programs are shown as they are", async () => {
  for (const text of HOSTILE_TEXTS.filter(({ length }) => length < 2_000).slice(0, 12)) await replyTo(`x ${text}`);
  expect(await visitor.page.evaluate("globalThis.hacked ?? false")).toBe(false);
  expect(visitor.complaints()).toEqual([]);
});
