// What a transaction may cost: gas and fees per gas as the chain asks for them, capped, and raised for what is stuck.
import { maxBigInt } from "../amounts.ts";

/** Fees of a transaction, in wei, as text. */
export interface TransactionCost {
  gas: string;
  maxFeePerGas: string;
  maxPriorityFeePerGas: string;
}

export interface FeesPerGas {
  maxFeePerGas: bigint;
  maxPriorityFeePerGas: bigint;
}

/** Of one transaction: several times what a swap takes. A contract that wants more burns it. */
export const MAX_GAS = 1_000_000n;
/** In wei, for the gas of one transaction: 0.005 ether, a hundred times what Base asks on a busy day. */
export const MAX_FEE = 5_000_000_000_000_000n;

/** Reads a cost as `wallet_transactions` stores it. */
export const parseCost = (json: string) => JSON.parse(json) as TransactionCost;

/** In wei: what it takes at most. */
export const maxCostOf = ({ gas, maxFeePerGas }: TransactionCost): bigint => BigInt(gas) * BigInt(maxFeePerGas);

export const toTransactionCost = (
  gas: bigint,
  { maxFeePerGas, maxPriorityFeePerGas }: FeesPerGas,
): TransactionCost => ({
  gas: String(gas),
  maxFeePerGas: String(maxFeePerGas),
  maxPriorityFeePerGas: String(maxPriorityFeePerGas),
});

/** For a rival: a quarter more, or what the chain asks for now where that is more. Nodes want a tenth more at least. */
export function raiseCost(previous: TransactionCost, now: FeesPerGas): TransactionCost {
  const raise = (before: string, fee: bigint) => maxBigInt(fee, (BigInt(before) * 5n) / 4n + 1n);
  return toTransactionCost(BigInt(previous.gas), {
    maxFeePerGas: raise(previous.maxFeePerGas, now.maxFeePerGas),
    maxPriorityFeePerGas: raise(previous.maxPriorityFeePerGas, now.maxPriorityFeePerGas),
  });
}

/**
 * In wei: what a mined transaction took; on an OP Stack chain also for its place on the chain below (`l1Fee`).
 * Undefined where the receipt does not tell.
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
