// Every page in Chromium: accessible in both themes and languages, on phones and desktops, with nothing blocked by its policy.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { openPage, violationsOf } from "./support/axe.ts";
import { type Berth, startBerth } from "./support/berth.ts";
import { openChromium, type Page } from "./support/chromium.ts";
import { eventually } from "./support/eventually.ts";
import { type AgentItem, member, provision } from "./support/members.ts";
import { createStream } from "./support/streams.ts";
import { startUpstream, type Upstream } from "./support/upstream.ts";

let upstream: Upstream;
let berth: Berth;
let page: Page;
let talking: string;
let silent: string;
let liveStreamId: string;

beforeAll(async () => {
  upstream = await startUpstream();
  berth = await startBerth({ env: { PROVIDER_3_BASE_URL: upstream.url, MODEL_A: "provider_3:fake-small" } });
  const ada = await member(berth);
  const subdomainOf = async ({ id }: AgentItem) =>
    (await ada.get<{ agent: { subdomain: string } }>(`/api/agents/${id}`)).body.agent.subdomain;
  const agent = await provision(ada);
  talking = await subdomainOf(agent);
  const greeting = "**Ahoy** from the [harbour](https://harbour.example/)";
  expect((await ada.put(`/api/agents/${agent.id}/public`, { enabled: true, greeting })).status).toBe(200);
  silent = await subdomainOf(await provision(ada, "Silent"));
  ({
    stream: { liveStreamId },
  } = await createStream(berth, ada, "Camera"));
  page = await openChromium();
});
afterAll(async () => {
  await page?.[Symbol.asyncDispose]();
  await berth?.[Symbol.asyncDispose]();
  await upstream?.stop();
});

const views = (["light", "dark"] as const).flatMap((theme) =>
  [390, 1280].map((width) => ({ theme, width, language: theme === "light" ? "en" : "de" })),
);

const pagePaths = () => [
  "/",
  "/nothing-here",
  "/login",
  "/login?error=STATE_INVALID",
  "/login#forgot",
  "/login?step=code",
  "/register?ref=friend",
  "/reset-password?token=t",
  "/verify-email",
  "/device",
  "/setup?token=t",
  "/claim?token=t",
  "/oauth/authorize?client_id=none",
  `/a/${talking}`,
  `/a/${silent}`,
  "/a/nobody-abcdef",
  `/live/${liveStreamId}`,
  "/live/00000000-0000-7000-8000-000000000000",
];

/** Texts of the console that tell of something missing or forbidden. The pages of unknown addresses are expected to be. */
const complaints = () =>
  page.consoleEntries().filter((text) => /Content Security|Trusted|Refused|TypeError|ReferenceError/.test(text));

/** Two views of each page, one in each theme; all of them with BERTH_ALL_VIEWS. The pages share their frame and styles. */
const isSeen = (path: number, view: number) =>
  process.env.BERTH_ALL_VIEWS !== undefined || (path + view + (view >> 1)) % 2 === 0;

describe.each(views)("$theme, $width wide, $language", (view) => {
  test("every page of the web is accessible and names its language", async () => {
    await page.emulate(view);
    for (const path of pagePaths().filter((_, place) => isSeen(place, views.indexOf(view)))) {
      await openPage(page, berth.web + path);
      expect({ path, language: await page.evaluate("document.documentElement.lang") }).toEqual({
        path,
        language: view.language,
      });
      expect({ path, found: await violationsOf(page) }).toEqual({ path, found: [] });
      expect({ path, isTooWide: await page.evaluate(IS_TOO_WIDE) }).toEqual({
        path,
        isTooWide: false,
      });
      expect({ path, faint: await page.evaluate(FAINT_BORDERS) }).toEqual({ path, faint: [] });
    }
    for (const path of ["/", "/nothing-here"]) {
      await openPage(page, berth.backend + path);
      expect({ path, found: await violationsOf(page) }).toEqual({ path, found: [] });
    }
    expect(complaints()).toEqual([]);
  });
});

const IS_TOO_WIDE = "document.documentElement.scrollWidth > innerWidth";

/** The fields and outlined buttons whose border has a contrast below 3:1 to what is behind them. */
const FAINT_BORDERS = `(() => {
  const channels = (color) => color.match(/[\\d.]+/g).map(Number);
  const luminance = (color) => {
    const [red, green, blue] = channels(color).map((value) => value / 255).map((value) => value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const isOpaque = (color) => (channels(color)[3] ?? 1) === 1;
  const behind = (element) => {
    const color = getComputedStyle(element).backgroundColor;
    return isOpaque(color) || !element.parentElement ? color : behind(element.parentElement);
  };
  const contrast = (one, other) => {
    const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b);
    return (light + 0.05) / (dark + 0.05);
  };
  return [...document.querySelectorAll("input, textarea, button, .button")].filter((element) => {
    if (!element.checkVisibility() || element.closest("[aria-hidden]")) return false;
    const { borderTopColor, backgroundColor } = getComputedStyle(element);
    const edge = isOpaque(borderTopColor) ? borderTopColor : backgroundColor;
    return contrast(edge, behind(element.parentElement)) < 3;
  }).map(({ outerHTML }) => outerHTML);
})()`;

describe("the public chat", () => {
  const log = (expression: string) =>
    page.evaluate<string>(`(() => { const log = document.getElementById("log"); return ${expression}; })()`);
  /** Sends a message to which the model replies with the text; returns the HTML of the reply. */
  const hear = async (reply: string) => {
    upstream.script(reply);
    await page.evaluate(
      `document.getElementById("input").value = "Hello"; document.getElementById("composer").requestSubmit()`,
    );
    await eventually(() => page.evaluate(`!document.getElementById("send").disabled`), {
      what: "the reply is complete",
    });
    return log("log.lastElementChild.innerHTML");
  };
  const open = async (path = `/a/${talking}`) => {
    await page.emulate({ theme: "light", width: 390, language: "en" });
    await openPage(page, berth.web + path);
    await page.evaluate("sessionStorage.clear()");
    await page.load(berth.web + path);
  };

  test("shows Markdown as elements", async () => {
    await open();
    expect(await log("log.firstElementChild.innerHTML")).toBe(
      '<p><strong><span>Ahoy</span></strong><span> from the </span><a href="https://harbour.example/" target="_blank" rel="noopener noreferrer nofollow"><span>harbour</span></a></p>',
    );
    const shown = await hear(
      "# Boats\n\n1. *red*\n2. `a < b`\n\n- [x] done\n\n```js\nconst a = '&amp;';\n```\n\n| a | b |\n|---|---|\n| 1 | ~~2~~ |\n\n> so &amp; so",
    );
    const plain = shown.replaceAll(/<\/?span>/g, "");
    expect(plain).toContain('<h2 data-depth="1">Boats</h2>');
    expect(plain).toContain('<ol start="1"><li><em>red</em></li><li><code>a &lt; b</code></li></ol>');
    expect(plain).toContain('<li class="task">☑ done</li>');
    expect(plain).toContain(`<pre tabindex="0"><code>const a = '&amp;amp;';</code></pre>`);
    expect(plain).toContain(
      "<thead><tr><th>a</th><th>b</th></tr></thead><tbody><tr><td>1</td><td><del>2</del></td></tr></tbody>",
    );
    expect(plain).toContain("<blockquote><p>so &amp; so</p></blockquote>");
    expect(await violationsOf(page)).toEqual([]);
  });

  test("fits a phone whatever a reply holds", async () => {
    await open();
    const long = "x".repeat(300);
    await hear(
      `${long}\n\n\`\`\`\n${long}\n\`\`\`\n\n| ${"a | ".repeat(30)}\n|${"---|".repeat(30)}\n| ${"b | ".repeat(30)}`,
    );
    expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
    expect(await log("String(log.scrollWidth <= log.clientWidth)")).toBe("true");
    expect(await violationsOf(page)).toEqual([]);
  });

  test("makes no markup, request or script of what a model writes", async () => {
    await open();
    const before = await page.evaluate<number>(`performance.getEntriesByType("resource").length`);
    const shown = await hear(
      [
        "<script>document.title = 'hacked'</script>",
        "<img src=x onerror=\"document.title = 'hacked'\"> <iframe src=/login></iframe>",
        `![pixel](${berth.web}/pixel.png?secret=1)`,
        "[one](javascript:document.title='hacked') [two](data:text/html,x) [three](//evil.example/) [four](JAVASCRIPT:1) <javascript:1>",
        "[five](vbscript:1) [six]( java\tscript:1) [seven][ref] ![eight][ref]",
        "[ref]: javascript:alert(1)",
        '[nine](https://a.example/"onmouseover="1) <style>*{display:none}</style>',
      ].join("\n\n"),
    );
    const elements = JSON.parse(
      await log(`JSON.stringify([...log.lastElementChild.querySelectorAll("*")].map(({ localName }) => localName))`),
    ) as string[];
    expect(elements.filter((name) => !["p", "span", "a", "br"].includes(name))).toEqual([]);
    const links = JSON.parse(
      await log(`JSON.stringify([...log.lastElementChild.querySelectorAll("a")].map(({ href }) => href))`),
    ) as string[];
    expect(links.every((href) => href.startsWith("http"))).toBe(true);
    expect(links).toContain(`${berth.web}/pixel.png?secret=1`);
    expect(shown).toContain("&lt;script&gt;");
    expect(await page.evaluate<string>("document.title")).toBe("Harbour · Berth");
    // The only new request is the message itself.
    expect(await page.evaluate<number>(`performance.getEntriesByType("resource").length`)).toBe(before + 1);
    expect(complaints()).toEqual([]);
  });

  test("shows a text that is nested too deeply, or too long, as plain text", async () => {
    await open();
    for (const text of [">".repeat(15_000), "*a* ".repeat(6_000)]) {
      await hear(text);
      expect(await log("log.lastElementChild.childElementCount + log.lastElementChild.className")).toBe("0plain");
      expect(await log("log.lastElementChild.textContent")).toBe(text.trim());
    }
  });

  test("links a reference whose definition arrives last", async () => {
    await open();
    expect(await hear("See [the chart][1].\n\nIt is new.\n\n[1]: https://chart.example/")).toContain(
      '<a href="https://chart.example/"',
    );
  });

  test("keeps messages over a reload, begins in the field, and its log can be reached by keyboard", async () => {
    await open();
    expect(await page.evaluate<string>("document.activeElement.id")).toBe("input");
    await hear("**bold**");
    await openPage(page, `${berth.web}/a/${talking}`);
    expect(await log("log.lastElementChild.innerHTML")).toBe("<p><strong><span>bold</span></strong></p>");
    await page.evaluate(`document.getElementById("log").focus()`);
    expect(await page.evaluate<string>("document.activeElement.id")).toBe("log");
  });

  test("shows plain text if the reader of Markdown could not be loaded", async () => {
    await open();
    await page.evaluate("delete globalThis.marked");
    expect(await hear("**bold**")).toBe("**bold**");
  });

  test.each([
    ["en", "This is taking longer than usual; the reply appears here when it is ready."],
    ["de", "Das dauert länger als sonst; die Antwort erscheint hier, sobald sie fertig ist."],
  ])("says once that a reply takes longer, until it begins (%s)", async (language, sentence) => {
    await page.emulate({ theme: "light", width: 390, language });
    await openPage(page, `${berth.web}/a/${talking}`);
    const busy = `String(log.lastElementChild.ariaBusy)`;
    expect(await log("log.dataset.slowAfter")).toBe("10000");
    expect(await hear("quick")).toBe("<p><span>quick</span></p>");
    await log("log.dataset.slowAfter = 50");
    upstream.script({ text: "at last", delayMs: 1_500 });
    await page.evaluate(
      `document.getElementById("input").value = "Hello"; document.getElementById("composer").requestSubmit()`,
    );
    // Screen readers don't announce what is inside a busy element.
    expect(await log(busy)).toBe("true");
    await eventually(async () => (await log("log.lastElementChild.textContent")) === `…${sentence}`, {
      what: "the page says that the reply takes longer",
    });
    expect(await log(busy)).toBe("null");
    expect(await log("log.lastElementChild.lastElementChild.lang")).toBe(language);
    expect(await violationsOf(page)).toEqual([]);
    await eventually(() => page.evaluate(`!document.getElementById("send").disabled`));
    expect(await log("log.lastElementChild.innerHTML")).toBe("<p><span>at last</span></p>");
    await page.load(`${berth.web}/a/${talking}`);
    expect(await log("log.textContent")).not.toContain(sentence);
  });

  test("says in the visitor's language why there is no reply", async () => {
    await page.emulate({ theme: "dark", width: 390, language: "de" });
    await openPage(page, `${berth.web}/a/${talking}`);
    upstream.failNext(20, { status: 500 });
    await hear("unheard");
    expect(await log("log.lastElementChild.firstChild.textContent")).toBe(
      "Der Agent kann gerade nicht antworten. Versuch es gleich noch einmal.",
    );
    expect(await log("log.lastElementChild.querySelector('button').textContent")).toBe("Noch einmal versuchen");
    expect(await log("log.lastElementChild.lang")).toBe("de");
    expect(await violationsOf(page)).toEqual([]);
    upstream.reset();
  });
});
