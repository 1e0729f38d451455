// Tests the statistics and the table of the benchmarks.

import { describe, expect, test } from "bun:test";
import { median, quantile, ratioOf, table } from "./figures.ts";

describe("a median", () => {
  test("is the middle value, in any order", () => {
    expect(median([9, 1, 5])).toBe(5);
  });

  test("is the mean of the two middle values of an even number", () => {
    expect(median([4, 1, 3, 2])).toBe(2.5);
  });

  test("of no values is an error", () => {
    expect(() => median([])).toThrow("no median");
  });
});

describe("a quantile", () => {
  test("is one of the measured values", () => {
    const values = Array.from({ length: 200 }, (_, n) => n);
    expect(quantile(values, 0.99)).toBe(198);
    expect(quantile(values, 1)).toBe(199);
  });
});

describe("a ratio", () => {
  test("is the median of those of the rounds, with their middle half", () => {
    // The machine was slow in the third round, for both.
    const found = ratioOf([10, 12, 40, 10, 11], [5, 6, 20, 4, 5]);
    expect(found).toEqual({ ratio: 2, spread: { low: 2, high: 2.2, rounds: 5 } });
  });
});

describe("the table", () => {
  const spread = { low: 1.4, high: 1.62, rounds: 15 };
  const lines = table([
    { what: "start", ratio: 1.5, spread, figure: "15 ms", baseline: "10 ms", goal: "≤ 20 ms", met: true },
    { what: "memory", ratio: 4, figure: "80 MiB", baseline: "20 MiB", goal: "≤ 64 MiB", met: false },
    { what: "beside", figure: "3", baseline: "4", goal: "" },
  ]).split("\n");

  test("shows the ratio first", () => {
    expect(lines[0]).toStartWith("ratio");
    expect(lines[2]).toStartWith("1.50×");
  });

  test("shows the middle half of the rounds beside it", () => {
    expect(lines[2]).toContain("1.40 to 1.62 of 15");
  });

  test("shows whether a goal was met, and nothing without a goal", () => {
    expect(lines[2]).toEndWith("met");
    expect(lines[3]).toEndWith("MISSED");
    expect(lines[4]).not.toMatch(/met|MISSED/);
  });
});
