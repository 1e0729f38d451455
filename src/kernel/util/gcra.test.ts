import { describe, expect, test } from "bun:test";
import { gcraBlock, gcraTake, gcraWait } from "./gcra.ts";

const rule = { every: 100, burst: 3 };

describe("the generic cell rate algorithm", () => {
  test("lets the burst through at once, then one use per interval", () => {
    let state = 0;
    const waits: number[] = [];
    for (let use = 0; use < 5; use += 1) {
      waits.push(gcraWait(state, rule, 1_000));
      state = gcraTake(state, rule, 1_000);
    }
    expect(waits).toEqual([0, 0, 0, 100, 200]);
    expect(gcraWait(state, rule, 1_300)).toBe(0);
  });

  test("keeps uses in reserve", () => {
    const state = gcraTake(0, rule, 0);
    expect(gcraWait(state, rule, 0, 1)).toBe(0);
    expect(gcraWait(state, rule, 0, 2)).toBe(100);
  });

  test("counts several uses at once", () => {
    expect(gcraWait(gcraTake(0, rule, 0, 10), rule, 0)).toBe(800);
  });

  test("blocks for the given time", () => {
    expect(gcraWait(gcraBlock(rule, 50, 700), rule, 50)).toBe(700);
  });
});
