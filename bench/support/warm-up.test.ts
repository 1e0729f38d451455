// Tests when a service counts as compiled.

import { describe, expect, test } from "bun:test";
import { shareOf } from "./warm-up.ts";

describe("the compiler's share", () => {
  test("is what its threads took, those that began in between among them", () => {
    const before = new Map([["11", 400]]);
    expect(
      shareOf(
        before,
        new Map([
          ["11", 420],
          ["12", 30],
        ]),
        1_000,
      ),
    ).toBeCloseTo(0.05);
  });

  test("is unknown if a thread ended, whose time is gone with it", () => {
    const before = new Map([
      ["11", 400],
      ["12", 900],
    ]);
    expect(shareOf(before, new Map([["11", 500]]), 1_000)).toBeUndefined();
  });
});
