// Tests the HTML that Telegram gets for a Markdown reply.
import { describe, expect, test } from "bun:test";
import { parseMarkdown } from "../../src/kernel/util/markdown/markdown.ts";
import { seeded } from "../../tests/support/eventually.ts";
import { parseMarkup } from "../../tests/support/telegram-markup.ts";
import { toHtml } from "./html.ts";
import { toMessageParts } from "./message-parts.ts";

const html = (markdown: string) => toHtml(parseMarkdown(markdown));

/** The text that Telegram reads from the HTML; throws if Telegram would refuse it. */
const read = (source: string) => parseMarkup(source, "HTML").text;

describe("inside a line", () => {
  test.each([
    ["**bold** and __bold__", "<b>bold</b> and <b>bold</b>"],
    ["*italic* and _italic_", "<i>italic</i> and <i>italic</i>"],
    ["***both***", "<i><b>both</b></i>"],
    ["**bold *and italic* in it**", "<b>bold <i>and italic</i> in it</b>"],
    ["~~gone~~ but ~kept~", "<s>gone</s> but ~kept~"],
    ["`a < b && c`", "<code>a &lt; b &amp;&amp; c</code>"],
    ["`` a`b ``", "<code>a`b</code>"],
    ["`**not bold**`", "<code>**not bold**</code>"],
    ["**重要：**文本", "<b>重要：</b>文本"],
    ['**"so"**, he said', '<b>"so"</b>, he said'],
    ["over\n**two\nlines**", "over\n<b>two\nlines</b>"],
    ["a <b>tag</b> & more", "a &lt;b&gt;tag&lt;/b&gt; &amp; more"],
    ["one<br>two<br/>three", "one\ntwo\nthree"],
    ["\\*as\\_is\\* \\q", "*as_is* \\q"],
  ])("%s", (markdown, expected) => {
    expect(html(markdown)).toBe(expected);
  });

  test.each([
    "2 * 3 * 4",
    "snake_case_name and __init",
    "**open",
    "*.ts and *.js",
    "`open",
    "a ** b",
    "[open](",
    "[open](http://x",
    "[just brackets]",
    "!important",
    "a **** b",
    "5 ~ 6",
  ])("%s stays as it is", (markdown) => {
    expect(html(markdown)).toBe(markdown);
  });
});

describe("links", () => {
  test.each([
    ["[a](https://x.org/?a=1&b=2)", '<a href="https://x.org/?a=1&amp;b=2">a</a>'],
    ['[a](https://x.org "title")', '<a href="https://x.org">a</a>'],
    ["[a](<https://x.org/a b>)", '<a href="https://x.org/a b">a</a>'],
    ["[a](https://x.org/w_(b))", '<a href="https://x.org/w_(b)">a</a>'],
    ["[**a** b](tg://user?id=1)", '<a href="tg://user?id=1"><b>a</b> b</a>'],
    ['[a](https://x.org/"onclick=)', '<a href="https://x.org/&quot;onclick=">a</a>'],
    ["![picture](https://x.org/p.png)", '<a href="https://x.org/p.png">picture</a>'],
    ["![](https://x.org/p.png)", '<a href="https://x.org/p.png">https://x.org/p.png</a>'],
    ["[![badge](https://x.org/b.svg)](https://x.org)", '<a href="https://x.org">badge</a>'],
    ["<https://x.org>", "https://x.org"],
    ["https://x.org/a_b_c", "https://x.org/a_b_c"],
  ])("%s", (markdown, expected) => {
    expect(html(markdown)).toBe(expected);
  });

  test("an address that Telegram does not link is shown as text", () => {
    expect(html("[here](javascript:alert)")).toBe("here (javascript:alert)");
    expect(html("[here](./readme.md)")).toBe("here (./readme.md)");
  });
});

describe("blocks", () => {
  test("headings are bold", () => {
    expect(html("# One\n\ntext\n### Two ##")).toBe("<b>One</b>\n\ntext\n<b>Two</b>");
  });

  test("lists keep their order and depth", () => {
    expect(html("- one\n  - *two*\n* three\n\n1. first\n2. second\n\n- [ ] open\n- [x] done")).toBe(
      "• one\n  ◦ <i>two</i>\n• three\n\n1. first\n2. second\n\n☐ open\n☑ done",
    );
  });

  test("right-to-left text and nested lists keep their order", () => {
    expect(html("**שלום** _مرحبا_ \u200f[קישור](https://x.org)")).toBe(
      '<b>שלום</b> <i>مرحبا</i> \u200f<a href="https://x.org">קישור</a>',
    );
    expect(html("1. one\n   - two\n     1. three\n   - four")).toBe("1. one\n   ◦ two\n     1. three\n   ◦ four");
  });

  test("code keeps every character and names its language", () => {
    expect(html("```ts\nconst a = b<c>(1) && **d**;\n\n  x\n```\nafter")).toBe(
      '<pre><code class="language-ts">const a = b&lt;c&gt;(1) &amp;&amp; **d**;\n\n  x</code></pre>\nafter',
    );
    expect(html("~~~\n```\n~~~")).toBe("<pre>```</pre>");
    expect(html("1. step\n   ```sh\n   ls\n   ```")).toBe('1. step\n<pre><code class="language-sh">ls</code></pre>');
  });

  test("a language can't leave its attribute", () => {
    expect(html('```"><b\nx\n```')).toBe("<pre>x</pre>");
  });

  test("an unfinished code block counts as code", () => {
    expect(html("see\n```py\nprint(1)")).toBe('see\n<pre><code class="language-py">print(1)</code></pre>');
  });

  test("nested quotes become one level", () => {
    expect(html("> one\n> **two**\n>> three\n\nafter")).toBe(
      "<blockquote>one\n<b>two</b>\nthree</blockquote>\n\nafter",
    );
  });

  test("the columns of tables are aligned", () => {
    expect(html("| Name | n |\n|---|--:|\n| a `b` | 1 |\n| longer | 22 |")).toBe(
      "<pre>Name    n\na b     1\nlonger  22</pre>",
    );
    expect(html("a | b\nno table")).toBe("a | b\nno table");
  });

  test("rules, blank lines and line ends are normalised", () => {
    expect(html("a\r\n\r\n\r\n\r\nb\n---\nc\n* * *")).toBe("a\n\nb\n———\nc\n———");
  });

  test("characters that Telegram rejects are left out", () => {
    expect(html("a\u0000b\u001fc\ud800d")).toBe("abc\ufffdd");
  });
});

describe("random input", () => {
  const pieces =
    '*|**|***|_|__|~~|`|``|```|\n```\n|\n|\n\n|# |> |- |1. | |[|](|]|)|(|!|<|>|&|\\|https://x.org|tg://x|"|a|word|é|שלום|مرحبا|\u202e|\u200f|🇩🇪|  - |   1) |```ts\n|👩‍👩‍👧|\ud83d|| x |\n|-|-|\n|<b>|</b>|&lt;|<br>|    |\t|x_y'.split(
      "|",
    );

  test("becomes valid HTML, whole and split", () => {
    const random = seeded();
    for (let round = 0; round < 4000; round += 1) {
      const markdown = Array.from({ length: random.integer(1, 40) }, () => random.pick(pieces)).join("");
      const note = `seed ${random.seed}, round ${round}: ${JSON.stringify(markdown)}`;
      const { text } = parseMarkdown(markdown);
      try {
        expect(read(html(markdown))).toBe(text.trim());
        for (const part of toMessageParts(markdown, random.integer(4, 60)))
          expect(read(part.html)).toBe(part.text.trim());
      } catch (cause) {
        throw new Error(note, { cause });
      }
    }
  });

  test.each([
    ["[".repeat(50_000)],
    ["[a](".repeat(20_000)],
    ["*a _b ".repeat(20_000)],
    ["**".repeat(50_000)],
    ["*_".repeat(50_000)],
    [Array.from({ length: 400 }, (_, n) => "`".repeat(n + 1)).join(" ")],
    [`# a${" ".repeat(100_000)}b`],
    [`\`\`\`${" ".repeat(100_000)}\``],
    [`a|b\n|-${" ".repeat(100_000)}x`],
    [`[a](${" ".repeat(100_000)}`],
    [">".repeat(20_000)],
    ["> ".repeat(2_000)],
    [`|${"a|".repeat(50_000)}\n|-|`],
    ["\\".repeat(100_000)],
    ["<http://".repeat(20_000)],
  ])("hostile input %# takes no time", (markdown) => {
    const started = performance.now();
    toMessageParts(markdown);
    expect(performance.now() - started).toBeLessThan(5_000);
  });
});
