// What transactions cost, as the chain tells it and as it is raised.
import { expect, test } from "bun:test";
import { feeFromReceipt, maxCostOf, raiseCost } from "./fees.ts";

test.each<[string, object, bigint | undefined]>([
  ["a receipt", { gasUsed: 21_000n, effectiveGasPrice: 7n }, 147_000n],
  ["one of an OP Stack chain", { gasUsed: 21_000n, effectiveGasPrice: 7n, l1Fee: "0x10" }, 147_016n],
  ["one that viem has read", { gasUsed: 1n, effectiveGasPrice: 2n, l1Fee: 3n }, 5n],
  ["one with nonsense beside", { gasUsed: 1n, effectiveGasPrice: 2n, l1Fee: "much" }, 2n],
  ["one that does not tell", { gasUsed: 1n, effectiveGasPrice: null }, undefined],
])("%s says what was paid", (_, receipt, fee) => {
  expect(feeFromReceipt(receipt)).toBe(fee);
});

test("a rival offers a quarter more, or what the chain asks for by then", () => {
  const was = { gas: "50000", maxFeePerGas: "1000", maxPriorityFeePerGas: "10" };
  const calm = raiseCost(was, { maxFeePerGas: 900n, maxPriorityFeePerGas: 9n });
  expect(calm).toEqual({ gas: "50000", maxFeePerGas: "1251", maxPriorityFeePerGas: "13" });
  const busy = raiseCost(was, { maxFeePerGas: 5000n, maxPriorityFeePerGas: 12n });
  expect(busy).toEqual({ gas: "50000", maxFeePerGas: "5000", maxPriorityFeePerGas: "13" });
  expect(maxCostOf(busy)).toBe(250_000_000n);
});
