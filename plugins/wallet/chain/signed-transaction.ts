// Has a transaction signed, and checks that the signature is by the wallet's key and of the requested transaction.
import type { Hex, TransactionSerializableEIP1559 } from "viem";
import type { Chain } from "../../chains/index.ts";
import type { Signer } from "../keys/wallet-platform.ts";
import type { TransactionCost } from "./fees.ts";
import type { Call } from "./spend-plan.ts";
import type { Spend, Transaction } from "./spend-store.ts";

export interface SigningRequest {
  chain: Chain;
  spend: Spend;
  signer: Signer;
  call: Call;
  nonce: number;
  attempt: number;
  cost: TransactionCost;
  /** Epoch ms. */
  signedAt: number;
}

/** The row of the signed transaction. Throws if the platform signed with another key, or signed another transaction. */
export async function createSignedTransaction({
  chain,
  spend,
  signer,
  call,
  ...rest
}: SigningRequest): Promise<Transaction> {
  const { keccak256, recoverTransactionAddress } = await import("viem");
  const { nonce, attempt, cost, signedAt } = rest;
  const requested = {
    type: "eip1559",
    chainId: chain.id,
    to: call.to,
    data: call.data,
    nonce,
    gas: BigInt(cost.gas),
    maxFeePerGas: BigInt(cost.maxFeePerGas),
    maxPriorityFeePerGas: BigInt(cost.maxPriorityFeePerGas),
  } as const;
  const raw = await signer.signTransaction(requested);
  const recoveredAddress = await recoverTransactionAddress({ serializedTransaction: raw as `0x02${string}` });
  if (recoveredAddress !== spend.address || signer.address !== recoveredAddress) {
    throw new Error(`The transaction of wallet ${spend.walletId} was signed by another key.`);
  }
  await requireSameTransaction(raw, requested);
  const { id: spendId, step, network, address } = spend;
  const row = { spendId, step, network, address, nonce, attempt, raw, cost: JSON.stringify(cost) };
  return { ...row, hash: keccak256(raw), open: true, createdAt: signedAt };
}

async function requireSameTransaction(raw: Hex, requested: TransactionSerializableEIP1559): Promise<void> {
  const { parseTransaction } = await import("viem");
  const signed = parseTransaction(raw);
  const fingerprint = (transaction: TransactionSerializableEIP1559) =>
    [
      transaction.type,
      transaction.chainId,
      transaction.to?.toLowerCase(),
      transaction.data ?? "0x",
      transaction.value ?? 0n,
      transaction.nonce ?? 0,
      transaction.gas ?? 0n,
      transaction.maxFeePerGas ?? 0n,
      transaction.maxPriorityFeePerGas ?? 0n,
      transaction.accessList?.length ?? 0,
    ].join(" ");
  if (signed.type !== "eip1559" || fingerprint(signed) !== fingerprint(requested)) {
    throw new Error("The signed transaction is not the transaction that was requested.");
  }
}
