// What a transaction may cost: gas and fees per gas as the chain asks for them, capped, and raised for what is stuck.
import { larger } from "./amounts.ts";

/** Fees of a transaction, in wei, as text. */
export interface Cost {
  gas: string;
  maxFeePerGas: string;
  maxPriorityFeePerGas: string;
}

export interface Fees {
  maxFeePerGas: bigint;
  maxPriorityFeePerGas: bigint;
}

/** Of one transaction: several times what a swap takes. A contract that wants more burns it. */
export const MOST_GAS = 1_000_000n;
/** In wei, for the gas of one transaction: 0.005 ether, a hundred times what Base asks on a busy day. */
export const MOST_FEE = 5_000_000_000_000_000n;

/** In wei: what it takes at most. */
export const costOf = ({ gas, maxFeePerGas }: Cost): bigint => BigInt(gas) * BigInt(maxFeePerGas);

export const costFrom = (gas: bigint, { maxFeePerGas, maxPriorityFeePerGas }: Fees): Cost => ({
  gas: String(gas),
  maxFeePerGas: String(maxFeePerGas),
  maxPriorityFeePerGas: String(maxPriorityFeePerGas),
});

/** For a rival: a quarter more, or what the chain asks for now where that is more. Nodes want a tenth more at least. */
export function raised(was: Cost, now: Fees): Cost {
  const more = (before: string, fee: bigint) => larger(fee, (BigInt(before) * 5n) / 4n + 1n);
  return costFrom(BigInt(was.gas), {
    maxFeePerGas: more(was.maxFeePerGas, now.maxFeePerGas),
    maxPriorityFeePerGas: more(was.maxPriorityFeePerGas, now.maxPriorityFeePerGas),
  });
}

/**
 * In wei: what a mined transaction took; on an OP Stack chain also for its place on the chain below (`l1Fee`).
 * Undefined where the receipt does not tell.
 */
export function feeOf(receipt: object): bigint | undefined {
  const [gas, price, below] = ["gasUsed", "effectiveGasPrice", "l1Fee"].map((name) => wei(Reflect.get(receipt, name)));
  return gas === undefined || price === undefined ? undefined : gas * price + (below ?? 0n);
}

function wei(value: unknown): bigint | undefined {
  if (typeof value === "bigint") return value;
  return typeof value === "string" && /^0x[0-9a-f]{1,64}$/i.test(value) ? BigInt(value) : undefined;
}
