// Computes what a transaction may cost: gas and fees per gas, their limits, and the higher fees of a replacement.
import { maxBigInt } from "../amounts.ts";

/** Gas limit, and fees per gas in wei, of a transaction. As texts, since JSON has no bigints. */
export interface TransactionCost {
  gas: string;
  maxFeePerGas: string;
  maxPriorityFeePerGas: string;
}

export interface FeesPerGas {
  maxFeePerGas: bigint;
  maxPriorityFeePerGas: bigint;
}

/** Gas limit of one transaction, several times that of a swap. A contract that needs more would waste the fee. */
export const MAX_GAS = 1_000_000n;
/** Limit of the fee of one transaction in wei: 0.005 ether, a hundred times what Base takes on a busy day. */
export const MAX_FEE = 5_000_000_000_000_000n;

/** Reads a cost as `wallet_transactions` stores it. */
export const parseCost = (json: string) => JSON.parse(json) as TransactionCost;

/** The highest possible fee, in wei. */
export const maxCostOf = ({ gas, maxFeePerGas }: TransactionCost): bigint => BigInt(gas) * BigInt(maxFeePerGas);

export const toTransactionCost = (
  gas: bigint,
  { maxFeePerGas, maxPriorityFeePerGas }: FeesPerGas,
): TransactionCost => ({
  gas: String(gas),
  maxFeePerGas: String(maxFeePerGas),
  maxPriorityFeePerGas: String(maxPriorityFeePerGas),
});

/**
 * The cost of a replacement: fees a quarter higher, or the chain's fees if those are higher. Nodes require at least a
 * tenth.
 */
export function raiseCost(previous: TransactionCost, now: FeesPerGas): TransactionCost {
  const raise = (before: string, fee: bigint) => maxBigInt(fee, (BigInt(before) * 5n) / 4n + 1n);
  return toTransactionCost(BigInt(previous.gas), {
    maxFeePerGas: raise(previous.maxFeePerGas, now.maxFeePerGas),
    maxPriorityFeePerGas: raise(previous.maxPriorityFeePerGas, now.maxPriorityFeePerGas),
  });
}

/**
 * The fee that a mined transaction paid, in wei; on an OP Stack chain including the fee for layer 1 (`l1Fee`).
 * Undefined if the receipt lacks gas or price.
 */
export function feeFromReceipt(receipt: object): bigint | undefined {
  const [gas, price, l1Fee] = ["gasUsed", "effectiveGasPrice", "l1Fee"].map((name) =>
    toWei(Reflect.get(receipt, name)),
  );
  return gas === undefined || price === undefined ? undefined : gas * price + (l1Fee ?? 0n);
}

function toWei(value: unknown): bigint | undefined {
  if (typeof value === "bigint") return value;
  return typeof value === "string" && /^0x[0-9a-f]{1,64}$/i.test(value) ? BigInt(value) : undefined;
}
