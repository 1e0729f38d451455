// Tests that amounts convert exactly between decimal texts and smallest units.
import { describe, expect, test } from "bun:test";
import { formatDecimalUnits, parseDecimalUnits } from "./amounts.ts";

describe("an amount", () => {
  test.each<[string, number, bigint, string]>([
    ["1", 6, 1_000_000n, "1"],
    ["1.5", 6, 1_500_000n, "1.5"],
    ["0.000001", 6, 1n, "0.000001"],
    ["007.10", 6, 7_100_000n, "7.1"],
    ["3", 0, 3n, "3"],
    ["0", 18, 0n, "0"],
    [
      "115792089237316195423570985008687907853269984665640564039457",
      18,
      115792089237316195423570985008687907853269984665640564039457n * 10n ** 18n,
      "115792089237316195423570985008687907853269984665640564039457",
    ],
  ])("%s with %i decimals converts exactly in both directions", (text, decimals, units, shown) => {
    expect(parseDecimalUnits(text, decimals)).toBe(units);
    expect(formatDecimalUnits(units, decimals)).toBe(shown);
  });

  test.each(["", "-1", "+1", "1e3", ".5", "5.", "0x10", "1,5", "NaN", "Infinity", "1.0000001", "9".repeat(61)])(
    "%j is refused",
    (text) => expect(parseDecimalUnits(text, 6)).toBeUndefined(),
  );
});
