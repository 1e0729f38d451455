// Tests the statistics and the table of the benchmarks.

import { describe, expect, test } from "bun:test";
import { median, quantile, table } from "./figures.ts";

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

describe("the table", () => {
  const lines = table([
    { what: "start", ratio: 1.5, figure: "15 ms", baseline: "10 ms", goal: "≤ 20 ms", met: true },
    { what: "memory", ratio: 4, figure: "80 MiB", baseline: "20 MiB", goal: "≤ 64 MiB", met: false },
    { what: "beside", figure: "3", baseline: "4", goal: "" },
  ]).split("\n");

  test("shows the ratio first", () => {
    expect(lines[0]).toStartWith("ratio");
    expect(lines[2]).toStartWith("1.50×");
  });

  test("shows whether a goal was met, and nothing without a goal", () => {
    expect(lines[2]).toEndWith("met");
    expect(lines[3]).toEndWith("MISSED");
    expect(lines[4]).not.toMatch(/met|MISSED/);
  });
});
