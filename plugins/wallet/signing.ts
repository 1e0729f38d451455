// A transaction as the ledger keeps it: signed by the wallet itself, and for just what was asked.
import type { Hex, TransactionSerializableEIP1559 } from "viem";
import type { Chain } from "../../src/chains.ts";
import type { Cost } from "./fees.ts";
import type { Spend, Transaction } from "./lane-book.ts";
import type { Call } from "./plan.ts";
import type { Signer } from "./platform.ts";

export interface ToSign {
  chain: Chain;
  spend: Spend;
  signer: Signer;
  call: Call;
  nonce: number;
  attempt: number;
  cost: Cost;
  /** Epoch ms. */
  at: number;
}

/** Throws where what comes back was signed by another key, or says something else: a platform's answer is from outside. */
export async function transactionOf({ chain, spend, signer, call, ...rest }: ToSign): Promise<Transaction> {
  const { keccak256, recoverTransactionAddress } = await import("viem");
  const { nonce, attempt, cost, at } = rest;
  const asked = {
    type: "eip1559",
    chainId: chain.id,
    to: call.to,
    data: call.data,
    nonce,
    gas: BigInt(cost.gas),
    maxFeePerGas: BigInt(cost.maxFeePerGas),
    maxPriorityFeePerGas: BigInt(cost.maxPriorityFeePerGas),
  } as const;
  const raw = await signer.signTransaction(asked);
  const by = await recoverTransactionAddress({ serializedTransaction: raw as `0x02${string}` });
  if (by !== spend.address || signer.address !== by) {
    throw new Error(`Wallet ${spend.walletId} was signed for by another key.`);
  }
  await requireSame(raw, asked);
  const { id: spendId, step, network, address } = spend;
  const row = { spendId, step, network, address, nonce, attempt, raw, cost: JSON.stringify(cost) };
  return { ...row, hash: keccak256(raw), open: true, createdAt: at };
}

async function requireSame(raw: Hex, asked: TransactionSerializableEIP1559): Promise<void> {
  const { parseTransaction } = await import("viem");
  const signed = parseTransaction(raw);
  const told = (of: TransactionSerializableEIP1559) =>
    [
      of.type,
      of.chainId,
      of.to?.toLowerCase(),
      of.data ?? "0x",
      of.value ?? 0n,
      of.nonce ?? 0,
      of.gas ?? 0n,
      of.maxFeePerGas ?? 0n,
      of.maxPriorityFeePerGas ?? 0n,
      of.accessList?.length ?? 0,
    ].join(" ");
  if (signed.type !== "eip1559" || told(signed) !== told(asked)) {
    throw new Error("What was signed is not the transaction that was asked for.");
  }
}
