// Tests the messages that Discord gets for a reply, and where long ones are split.
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { toMessageParts } from "./message-parts.ts";

describe("Markdown", () => {
  test.each([
    ["what Discord reads itself stays", "# One\n**b** *i* ~~s~~ `c` ||x||\n- a\n  - b\n> q", undefined],
    ["deep headings are bold", "#### Deep ##", "**Deep**"],
    ["rules are a line", "a\n\n---\n\nb", "a\n\n———\n\nb"],
    ["tasks have boxes", "- [ ] do\n- [x] done", "- ☐ do\n- ☑ done"],
    ["pictures are links", "![a map](https://x.test/m.png)", "[a map](https://x.test/m.png)"],
    ["tables are columns", "| a | **bb** |\n|---|:-:|\n| 1 | 2 |", "```\na  bb\n1  2\n```"],
    ["other fences become Discord's", "~~~~py\n# x\n~~~~", "```py\n# x\n```"],
    ["a fence that is never closed is", "```js\nlet a;", "```js\nlet a;\n```"],
    ["what no message carries goes", "a\u0000b\r\nc", "ab\nc"],
  ])("%s", (_, markdown, shown) => {
    expect(toMessageParts(markdown)).toEqual([shown ?? markdown]);
  });

  test("an empty reply has no parts", () => {
    expect(toMessageParts("")).toEqual([]);
    expect(toMessageParts(" \n\n ")).toEqual([]);
  });
});

describe("a long reply", () => {
  test("is split at paragraphs, lines or words", () => {
    expect(toMessageParts(`${"a".repeat(60)}\n\n${"b".repeat(60)}`, 100)).toEqual(["a".repeat(60), "b".repeat(60)]);
    expect(toMessageParts(`${"word ".repeat(30)}end`, 100).every((part) => /^word|end$/.test(part))).toBe(true);
  });

  test("closes its code in each part and opens it in the next", () => {
    const lines = Array.from({ length: 100 }, (_, n) => `line ${n};`);
    const parts = toMessageParts(`Look:\n\n\`\`\`ts\n${lines.join("\n")}\n\`\`\`\n\nSo.`, 200);
    expect(parts.length).toBeGreaterThan(4);
    for (const part of parts) {
      expect(part.length).toBeLessThanOrEqual(200);
      expect((part.match(/```/g) ?? []).length % 2).toBe(0);
    }
    expect(parts.slice(1).every((part) => part.startsWith("```ts\n"))).toBe(true);
    const shownLines = parts.join("\n").split("\n");
    expect(shownLines.filter((line) => line.startsWith("line"))).toEqual(lines);
    expect(parts.at(-1)).toEndWith("```\n\nSo.");
  });

  test("splits no character", () => {
    for (const part of toMessageParts("👩‍👩‍👧‍👦é🇩🇪".repeat(50), 37)) expect(part.isWellFormed()).toBe(true);
  });
});

test("for random input every part fits, none is empty, blocks are closed, and no word is lost", () => {
  const piece = fc.oneof(
    fc.constantFrom(
      "\n```\n",
      "\n```ts\n",
      "\n~~~\n",
      "\n",
      "\n\n",
      "| a | b |\n|--|--|\n| 1 | 2 |\n",
      "#### h",
      "- [ ] t",
      "**",
      "`a` ",
    ),
    fc.stringMatching(/^[a-z]{1,12} $/),
    fc.string({ maxLength: 30, unit: "grapheme" }),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 80 }), fc.integer({ min: 60, max: 300 }), (pieces, limit) => {
      const parts = toMessageParts(pieces.join(""), limit);
      for (const part of parts) {
        expect(part.length).toBeLessThanOrEqual(limit);
        expect(part.trim()).not.toBe("");
        const fences = part.split("\n").filter((line) => /^```[\w+#.-]{0,32}$/.test(line)).length;
        expect(fences % 2).toBe(0);
      }
      const letters = (text: string) => text.replace(/[^a-z]/g, "").length;
      expect(letters(parts.join(""))).toBeGreaterThanOrEqual(letters(toMessageParts(pieces.join(""), 1e6).join("")));
    }),
    { numRuns: 500 },
  );
});
