// Tests that a contract's answers are checked before Berth computes with them.
import { describe, expect, test } from "bun:test";
import { readDecimals } from "./token-contract.ts";

const answering = (decimals: number) => readDecimals({ readContract: async () => decimals }, `0x${"11".repeat(20)}`);

describe("a token's decimals", () => {
  test.each([0, 6, 18, 77])("of %d are used", async (decimals) => {
    expect(await answering(decimals)).toBe(decimals);
  });

  test.each([78, 42_500_000, 2 ** 53, -1, 0.5, Number.NaN])("of %d are refused", (decimals) => {
    expect(answering(decimals)).rejects.toThrow("decimals");
  });
});
