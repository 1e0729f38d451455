// Reads contracts that answer every valid call, and treats a revert or an unreadable result like an unreachable chain.
import type { PublicClient } from "viem";
import { AppError } from "../../src/kernel/errors.ts";
import type { Chain } from "./chains.ts";

/**
 * Runs a read that must have a result. A contract that reverts, or whose result can't be decoded, is not the contract
 * that the configuration names, so that is 500 `CHAIN_UNAVAILABLE` too, never a result in favour of or against the
 * caller.
 */
export async function readChain<T>(chain: Chain, read: (client: PublicClient) => Promise<T>): Promise<T> {
  try {
    return await chain.withClient(read);
  } catch (error) {
    throw error instanceof AppError ? error : unusableResponse(error);
  }
}

/**
 * 500 `CHAIN_UNAVAILABLE` for a response that arrived but can't be used. The cause is for the log; it holds viem's
 * short message alone, because the long one contains the RPC's address, which may hold a key.
 */
export function unusableResponse(error: unknown): AppError {
  const short = error instanceof Error && "shortMessage" in error ? error.shortMessage : error;
  const cause = new Error(`A contract gave no usable answer: ${String(short)}`);
  return new AppError(500, "CHAIN_UNAVAILABLE", "The chain's answer can't be used. Try again later.", {}, { cause });
}
