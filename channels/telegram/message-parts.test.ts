// Tests where a long reply is split, and that each part stays well-formed.
import { describe, expect, test } from "bun:test";
import { seeded } from "../../tests/support/eventually.ts";
import { MAX_TEXT_LENGTH, toMessageParts } from "./message-parts.ts";

const texts = (markdown: string, limit?: number) => toMessageParts(markdown, limit).map((part) => part.text);
const htmls = (markdown: string, limit?: number) => toMessageParts(markdown, limit).map((part) => part.html);

describe("a reply is split", () => {
  test("only if it is too long", () => {
    expect(texts("x".repeat(MAX_TEXT_LENGTH))).toEqual(["x".repeat(MAX_TEXT_LENGTH)]);
    expect(texts("x".repeat(MAX_TEXT_LENGTH + 1)).map((text) => text.length)).toEqual([MAX_TEXT_LENGTH, 1]);
  });

  test("by the length of the text without markup", () => {
    expect(toMessageParts("**a**".repeat(1000)).length).toBe(1);
    expect(toMessageParts("&".repeat(MAX_TEXT_LENGTH)).length).toBe(1);
  });

  test("at a paragraph, else a line, else a word", () => {
    expect(texts("one two three\n\nfour\nfive", 20)).toEqual(["one two three", "four\nfive"]);
    expect(texts("one two three\nfour five", 20)).toEqual(["one two three", "four five"]);
    expect(texts("one two three four", 10)).toEqual(["one two", "three four"]);
  });

  test("so that an address stays whole if possible", () => {
    expect(texts(`see https://x.org/${"a".repeat(20)}`, 37)).toEqual(["see", `https://x.org/${"a".repeat(20)}`]);
  });

  test("between characters if there is no better position", () => {
    expect(texts("👍".repeat(5), 5)).toEqual(["👍👍", "👍👍", "👍"]);
    expect(texts(`${"a".repeat(8)}e\u0301b`, 9)).toEqual(["a".repeat(8), "e\u0301b"]);
    expect(texts(`aaaa👩\u200d👧b`, 6)).toEqual(["aaaa", "👩\u200d👧b"]);
  });

  test("and its marks continue in the next part", () => {
    expect(htmls("**one two three**", 8)).toEqual(["<b>one two</b>", "<b>three</b>"]);
    expect(htmls("[one two](https://x.org)", 4)).toEqual([
      '<a href="https://x.org">one</a>',
      '<a href="https://x.org">two</a>',
    ]);
  });

  test("inside long code, which is opened again with its language and indentation", () => {
    expect(htmls("```py\nif a:\n    b()\n    c()\n```", 15)).toEqual([
      '<pre><code class="language-py">if a:\n    b()</code></pre>',
      '<pre><code class="language-py">    c()</code></pre>',
    ]);
  });

  test("before code that fits in the next part", () => {
    expect(htmls("some words\nmore\n```\na\nb\nc\n```", 18)).toEqual(["some words\nmore", "<pre>a\nb\nc</pre>"]);
  });

  test("into parts that are never empty", () => {
    expect(texts("")).toEqual([]);
    expect(texts(" \n\n \n")).toEqual([]);
    expect(texts("```\n```")).toEqual([]);
    expect(texts(`\`\`\`\na${"\n".repeat(50)}b\n\`\`\``, 10).map((text) => text.trim())).toEqual(["a", "b"]);
  });
});

test("a reply is always split the same way, within the limit, and loses only white space", () => {
  const random = seeded();
  const pieces = [
    "word ",
    "longer_word ",
    "\n",
    "\n\n",
    "```js\n",
    "\n```\n",
    "**b** ",
    "👩‍👩‍👧",
    "é",
    "`c d` ",
    "- ",
    "x".repeat(30),
  ];
  for (let round = 0; round < 1500; round += 1) {
    const markdown = Array.from({ length: random.integer(1, 120) }, () => random.pick(pieces)).join("");
    const limit = random.integer(12, 200);
    const note = `seed ${random.seed}, round ${round}`;
    const parts = texts(markdown, limit);
    const squeeze = (text: string) => text.replace(/\s+/g, "");
    expect(parts.join("") && squeeze(parts.join("")), note).toBe(squeeze(texts(markdown, 1_000_000).join("")));
    for (const part of parts) {
      expect(part.length, note).toBeLessThanOrEqual(limit);
      expect(part.isWellFormed(), note).toBe(true);
      expect(part.trim(), note).not.toBe("");
    }
    expect(texts(markdown, limit)).toEqual(parts);
  }
});
