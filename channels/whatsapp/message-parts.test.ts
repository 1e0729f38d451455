// Tests the messages that WhatsApp gets for a Markdown reply, and where a long one is split.
import { describe, expect, test } from "bun:test";
import { seeded } from "../../tests/support/eventually.ts";
import { MAX_TEXT_LENGTH, toMessageParts } from "./message-parts.ts";

const shown = (markdown: string) => toMessageParts(markdown).join("\n---\n");

describe("a reply has WhatsApp's marks:", () => {
  test.each([
    ["**bold**, __bold__", "*bold*, *bold*"],
    ["*italic*, _italic_", "_italic_, _italic_"],
    ["***both***", "_*both*_"],
    ["~~gone~~", "~gone~"],
    ["`a*b`", "`a*b`"],
    ["# Title", "*Title*"],
    ["# A **strong** title", "*A strong title*"],
    ["**two\nlines**", "*two*\n*lines*"],
    ["in**side**words", "insidewords"],
    ["**重要：**文本", "重要：文本"],
    ["- one\n  - two\n1. three", "• one\n  ◦ two\n1. three"],
    ["> quoted\n> **twice**", "> quoted\n> *twice*"],
    ["```ts\nconst a = 1;\n```", "```const a = 1;```"],
    ["| a | b |\n|---|---|\n| 1 | 22 |", "```a  b\n1  22```"],
    ["[a name](https://x.org/a)", "a name (https://x.org/a)"],
    ["**[a name](https://x.org/a)** and *more*", "*a name* (https://x.org/a) and _more_"],
    [
      "**see [a](https://x.org/a) and [b](https://x.org/b) too**",
      "*see a (https://x.org/a) and b (https://x.org/b) too*",
    ],
    ["<https://x.org>, https://y.org", "https://x.org, https://y.org"],
    ["2 * 3 * 4 and a_b_c", "2 * 3 * 4 and a_b_c"],
  ])("%j", (markdown, expected) => {
    expect(shown(markdown)).toBe(expected);
  });
});

describe("a long reply is split", () => {
  test("by its length with marks and addresses", () => {
    expect(toMessageParts("a".repeat(MAX_TEXT_LENGTH)).length).toBe(1);
    expect(toMessageParts("**b** ".repeat(1400)).every((part) => part.length <= MAX_TEXT_LENGTH)).toBe(true);
    const links = Array.from({ length: 200 }, (_, n) => `[link ${n}](https://x.org/${"y".repeat(20)}/${n})`).join("\n");
    const parts = toMessageParts(links);
    expect(parts.every((part) => part.length <= MAX_TEXT_LENGTH)).toBe(true);
    expect(parts.join("\n").split("\n").length).toBe(200);
  });

  test("into parts that are never empty", () => {
    expect(toMessageParts("")).toEqual([]);
    expect(toMessageParts(" \n\n ")).toEqual([]);
  });

  test("the same way each time, within the limit, without losing a word", () => {
    const random = seeded();
    const pieces = [
      "word ",
      "\n",
      "\n\n",
      "```\n",
      "**b** ",
      "_i_ ",
      "[n](https://x.org/abc) ",
      "> ",
      "- ",
      "👩‍👧",
      "| a | b |\n|---|---|\n",
    ];
    for (let round = 0; round < 800; round += 1) {
      const markdown = Array.from({ length: random.integer(1, 80) }, () => random.pick(pieces)).join("");
      const note = `seed ${random.seed}, round ${round}`;
      const parts = toMessageParts(markdown, random.integer(40, 200));
      const words = (text: string) => text.split("word").length;
      expect(words(parts.join(" ")), note).toBe(words(markdown));
      for (const part of parts) expect(part.isWellFormed() && part.trim() !== "", note).toBe(true);
    }
    const limited = toMessageParts("**bold words** ".repeat(50), 60);
    expect(limited).toEqual(toMessageParts("**bold words** ".repeat(50), 60));
    for (const part of limited) expect(part.length).toBeLessThanOrEqual(60);
  });
});
