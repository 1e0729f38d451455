// Tests the comparison of texts by lines.
import { describe, expect, test } from "bun:test";
import { diffLines, pairLines } from "./line-diff.ts";

const shown = (before: string, after: string) =>
  diffLines(before, after).map(({ kind, text }) => `${{ same: " ", removed: "-", added: "+" }[kind]}${text}`);

describe("the difference of two texts", () => {
  test("keeps common lines around and between changes", () => {
    expect(shown("a\nb\nc\nd", "a\nx\nc\ny\nd")).toEqual([" a", "-b", "+x", " c", "+y", " d"]);
    expect(shown("", "new")).toEqual(["+new"]);
    expect(shown("old", "")).toEqual(["-old"]);
    expect(shown("same", "same")).toEqual([" same"]);
  });

  test("numbers the lines of both sides", () => {
    expect(diffLines("a\nb", "x\na\nb").at(-1)).toEqual({ kind: "same", left: 2, right: 3, text: "b" });
  });

  test("restores both texts, whatever they are", () => {
    for (let seed = 0; seed < 50; seed++) {
      const text = (n: number) =>
        Array.from({ length: (seed * n) % 13 }, (_, i) => "abc"[(i * n + seed) % 3]).join("\n");
      const [before, after] = [text(7), text(5)];
      const lines = diffLines(before, after);
      const side = (without: string) => lines.flatMap(({ kind, text }) => (kind === without ? [] : [text])).join("\n");
      expect(side("added")).toBe(before);
      expect(side("removed")).toBe(after);
    }
  });

  test("of very long texts takes no long time", () => {
    const long = (prefix: string) => Array.from({ length: 20_000 }, (_, index) => `${prefix}${index}`).join("\n");
    const since = performance.now();
    expect(diffLines(long("a"), long("b"))).toHaveLength(40_000);
    expect(performance.now() - since).toBeLessThan(1_000);
  });
});

test("pairs changed lines for two columns", () => {
  const rows = pairLines(diffLines("a\nb\nc", "a\nx\ny\nc"));
  expect(rows.map(({ left, right }) => [left?.text, right?.text])).toEqual([
    ["a", "a"],
    ["b", "x"],
    [undefined, "y"],
    ["c", "c"],
  ]);
});
