// Tests the fee read from a receipt, and the fees of a replacement transaction.
import { expect, test } from "bun:test";
import { feeFromReceipt, maxCostOf, raiseCost } from "./fees.ts";

test.each<[string, object, bigint | undefined]>([
  ["a receipt", { gasUsed: 21_000n, effectiveGasPrice: 7n }, 147_000n],
  ["a receipt of an OP Stack chain", { gasUsed: 21_000n, effectiveGasPrice: 7n, l1Fee: "0x10" }, 147_016n],
  ["a receipt parsed by viem", { gasUsed: 1n, effectiveGasPrice: 2n, l1Fee: 3n }, 5n],
  ["a receipt with an invalid l1Fee", { gasUsed: 1n, effectiveGasPrice: 2n, l1Fee: "much" }, 2n],
  ["a receipt without a gas price", { gasUsed: 1n, effectiveGasPrice: null }, undefined],
])("the fee of %s", (_, receipt, fee) => {
  expect(feeFromReceipt(receipt)).toBe(fee);
});

test("a replacement raises fees by a quarter, or to the chain's fees if those are higher", () => {
  const previous = { gas: "50000", maxFeePerGas: "1000", maxPriorityFeePerGas: "10" };
  const calm = raiseCost(previous, { maxFeePerGas: 900n, maxPriorityFeePerGas: 9n });
  expect(calm).toEqual({ gas: "50000", maxFeePerGas: "1251", maxPriorityFeePerGas: "13" });
  const busy = raiseCost(previous, { maxFeePerGas: 5000n, maxPriorityFeePerGas: 12n });
  expect(busy).toEqual({ gas: "50000", maxFeePerGas: "5000", maxPriorityFeePerGas: "13" });
  expect(maxCostOf(busy)).toBe(250_000_000n);
});
