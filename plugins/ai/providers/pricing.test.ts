// Tests that costs are exact for every price and number of tokens.
import { expect, test } from "bun:test";
import { costMicroUsd, costOfTokens, costUsd, dearestOf, fromUsdPerMillion, fromUsdPerToken } from "./pricing.ts";
import { builtInProviders } from "./registry.ts";

/** The same by hand: decimal text to integers of 1e-12 USD, and back. */
function byHand(inputUsd: number, outputUsd: number, input: bigint, output: bigint): string {
  const scaled = (usd: number) => {
    const [whole = "0", fraction = ""] = String(usd).split(".");
    return BigInt(whole + fraction.padEnd(6, "0"));
  };
  const nano = (scaled(inputUsd) * input + scaled(outputUsd) * output + 500n) / 1000n;
  return `${nano / 1_000_000_000n}.${String(nano % 1_000_000_000n).padStart(9, "0")}`;
}

test("costs are exact for every built-in model, from one token to 2^53", () => {
  const counts = [0, 1, 7, 999, 1_000_000, 123_456_789, Number.MAX_SAFE_INTEGER];
  for (const [id, , , input, output] of builtInProviders.flatMap(({ models }) => models)) {
    const pricing = { input: fromUsdPerMillion(input), output: fromUsdPerMillion(output) };
    for (const first of counts) {
      for (const second of counts) {
        const expected = Number(byHand(input, output, BigInt(first), BigInt(second)));
        expect([id, first, second, costUsd(pricing, first, second)]).toEqual([id, first, second, expected]);
      }
    }
  }
});

test("known sums are computed", () => {
  const sonnet = { input: fromUsdPerMillion(3), output: fromUsdPerMillion(15) };
  expect(costUsd(sonnet, 1_000_000, 1_000_000)).toBe(18);
  expect(costUsd(sonnet, 1, 0)).toBe(0.000003);
  expect(costUsd({ input: fromUsdPerMillion(0.098), output: 0 }, 1, 0)).toBe(0.000000098);
  expect(costMicroUsd(sonnet, 1_000, 500)).toBe(10_500);
  expect(costMicroUsd({ input: fromUsdPerMillion(0.1), output: 0 }, 5, 0)).toBe(1);
  expect(costMicroUsd({ input: fromUsdPerMillion(0.1), output: 0 }, 4, 0)).toBe(0);
  expect(costMicroUsd(sonnet, Number.MAX_SAFE_INTEGER, 0)).toBe(Number(27_021_597_764_222_973n));
});

test("the dearest price is no lower than any known one, in any kind of token, picture or call", () => {
  const plain = { input: 10_000_000, output: 50_000_000 };
  const special = {
    input: 1_000_000,
    output: 2_000_000,
    cacheRead: 100_000,
    audioInput: 900_000_000,
    imageOutput: 60_000_000,
  };
  const fees = { input: 0, output: 0, image: 4_000_000, request: 7_000_000 };
  const dearest = dearestOf([plain, special, fees]);
  expect(dearest).toMatchObject({
    ...plain,
    audioInput: 900_000_000,
    imageOutput: 60_000_000,
    image: 4_000_000,
    request: 7_000_000,
  });
  // A cheap model's low price of cache reads is no price of the dearest.
  const reads = { inputTokens: 1_000_000, outputTokens: 0, cacheReadTokens: 1_000_000 };
  expect(costOfTokens({ ...dearest, request: 0 }, reads)).toBe(10_000_000);
  expect(dearestOf([])).toEqual({ input: 5_000_000, output: 25_000_000 });
});

test("prices per token in the format of OpenRouter are converted; invalid ones are undefined", () => {
  expect(fromUsdPerToken("0.000003")).toBe(3_000_000);
  expect(fromUsdPerToken("0.0000000375")).toBe(37_500);
  expect(fromUsdPerToken("0")).toBe(0);
  expect([
    fromUsdPerToken("-1"),
    fromUsdPerToken(""),
    fromUsdPerToken("free"),
    fromUsdPerToken(null),
    fromUsdPerToken(undefined),
  ]).toEqual([undefined, undefined, undefined, undefined, undefined]);
});
