// Reads a wallet's state from the chain: its nonce at the newest block, its ether, and checked transaction receipts.
import type { Address, Hex, TransactionReceipt } from "viem";
import type { Chain } from "../../chains/index.ts";
import { readChain } from "../../chains/index.ts";
import type { FeesPerGas } from "./fees.ts";

/** A wallet's state at one block. */
export interface AccountSnapshot {
  blockNumber: bigint;
  /** The block's time in seconds since 1970. */
  timestamp: number;
  /** The account's transaction count at this block, which is the first unused nonce. */
  accountNonce: number;
}

/** Reads the newest block, and the wallet's nonce at that same block. */
export const readAccountSnapshot = (chain: Chain, address: string): Promise<AccountSnapshot> =>
  readChain(chain, async (client) => {
    const { number, timestamp } = await client.getBlock();
    const accountNonce = await client.getTransactionCount({ address: address as Address, blockNumber: number });
    return { blockNumber: number, timestamp: Number(timestamp), accountNonce };
  });

/** The fees per gas that the chain asks for now, and the wallet's ether in wei. */
export const readFeesAndBalance = (chain: Chain, address: string): Promise<{ fees: FeesPerGas; ether: bigint }> =>
  readChain(chain, async (client) => ({
    fees: await client.estimateFeesPerGas(),
    ether: await client.getBalance({ address: address as Address }),
  }));

/**
 * The receipt of the one of these transactions that was mined; undefined if none was. Throws 500 `CHAIN_UNAVAILABLE`
 * for a receipt of another transaction, or without status or block; the caller reads it again later.
 */
export async function findReceipt(chain: Chain, hashes: readonly string[]): Promise<TransactionReceipt | undefined> {
  const { TransactionReceiptNotFoundError } = await import("viem");
  return readChain(chain, async (client) => {
    for (const hash of hashes) {
      try {
        const receipt = await client.getTransactionReceipt({ hash: hash as Hex });
        requireReceipt(receipt, hash);
        return receipt;
      } catch (error) {
        if (!(error instanceof TransactionReceiptNotFoundError)) throw error;
      }
    }
    return undefined;
  });
}

function requireReceipt({ transactionHash, status, blockNumber }: Partial<TransactionReceipt>, hash: string): void {
  if (transactionHash?.toLowerCase() !== hash.toLowerCase()) throw new Error("A receipt is of another transaction.");
  if (status !== "success" && status !== "reverted") throw new Error("A receipt has no status.");
  if (typeof blockNumber !== "bigint") throw new Error("A receipt has no block.");
}
