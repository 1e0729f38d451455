import { describe, expect, test } from "bun:test";
import { parseMarkup } from "./telegram-markup.ts";

const html = (source: string) => parseMarkup(source, "HTML");
const markdown = (source: string) => parseMarkup(source, "MarkdownV2");

describe("HTML", () => {
  test("parses nested tags, with offsets in UTF-16 units", () => {
    expect(html('🙂 <b>bold <i>both</i></b> <a href="https://a.b/?x=1&amp;y=2">link</a>')).toEqual({
      text: "🙂 bold both link",
      entities: [
        { type: "bold", offset: 3, length: 9 },
        { type: "italic", offset: 8, length: 4 },
        { type: "text_link", offset: 13, length: 4, url: "https://a.b/?x=1&y=2" },
      ],
    });
  });

  test("parses code blocks, quotes and spoilers", () => {
    expect(html('<pre><code class="language-ts">a &lt; b</code></pre>').entities).toEqual([
      { type: "pre", offset: 0, length: 5, language: "ts" },
    ]);
    const source = '<blockquote expandable>q</blockquote><span class="tg-spoiler">s</span><tg-spoiler>t</tg-spoiler>';
    expect(html(source).entities.map(({ type }) => type)).toEqual(["expandable_blockquote", "spoiler", "spoiler"]);
  });

  test("knows only four named references, and trims white space", () => {
    expect(html("  &lt;&#65;&#x42;&nbsp;&copy; <b> x </b> ").text).toBe("<AB&nbsp;&copy;  x");
  });

  test.each([
    ["1 < 2", 'Unsupported start tag "" at byte offset 2'],
    ["é<br>", 'Unsupported start tag "br" at byte offset 2'],
    ["<b>x", `Can't find end tag corresponding to start tag "b"`],
    ["<b><i>x</b></i>", 'Unmatched end tag at byte offset 7, expected "</i>", found "</b>"'],
    ["x</b>", "Unexpected end tag at byte offset 1"],
    ["x <b", "Unclosed start tag at byte offset 2"],
    ['<a href="x', "Expected equal sign in declaration of an attribute"],
    ["<span>x</span>", 'Tag "span" must have class "tg-spoiler"'],
    ["<script>x</script>", 'Unsupported start tag "script"'],
  ])("%s is refused", (source, why) => {
    expect(() => html(source)).toThrow(why);
  });
});

describe("MarkdownV2", () => {
  test("parses every kind of entity, nested and escaped", () => {
    expect(markdown("*b _i_ __u__* ~s~ ||p|| `c\\`d` [l](https://a.b/\\)) 1\\.5")).toEqual({
      text: "b i u s p c`d l 1.5",
      entities: [
        { type: "bold", offset: 0, length: 5 },
        { type: "italic", offset: 2, length: 1 },
        { type: "underline", offset: 4, length: 1 },
        { type: "strikethrough", offset: 6, length: 1 },
        { type: "spoiler", offset: 8, length: 1 },
        { type: "code", offset: 10, length: 3 },
        { type: "text_link", offset: 14, length: 1, url: "https://a.b/)" },
      ],
    });
  });

  test("parses code blocks and quotes", () => {
    expect(markdown("```ts\na.b\n```\n>one\n>two\nthree")).toEqual({
      text: "a.b\n\none\ntwo\nthree",
      entities: [
        { type: "pre", offset: 0, length: 4, language: "ts" },
        { type: "blockquote", offset: 5, length: 7 },
      ],
    });
  });

  test.each([
    ["a.b", "Character '.' is reserved and must be escaped"],
    ["a-b", "Character '-' is reserved"],
    ["x > y", "Character '>' is reserved"],
    ["*x", "Can't find end of Bold entity at byte offset 0"],
    ["é_x", "Can't find end of Italic entity at byte offset 2"],
    ["```x", "Can't find end of Pre entity"],
    ["[x](y", "Can't find end of a URL at byte offset 2"],
  ])("%s is refused", (source, why) => {
    expect(() => markdown(source)).toThrow(why);
  });
});
