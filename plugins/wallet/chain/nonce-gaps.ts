// Fills nonce gaps. If a node reported too high a nonce, a spend was signed with it and waits for the unused nonces
// before it, so those are used by transactions that do nothing.
import type { Hex } from "viem";
import type { Chain } from "../../chains/index.ts";
import { type AccountSnapshot, readFeesAndBalance } from "./account-snapshot.ts";
import { broadcastTransaction } from "./broadcast.ts";
import { maxCostOf, parseCost, raiseCost, toTransactionCost } from "./fees.ts";
import { createSignedTransaction } from "./signed-transaction.ts";
import type { NonceQueue, Spend, Transaction } from "./spend-store.ts";
import type { TransactionTrackerDeps } from "./transaction-tracker.ts";

interface Options {
  stuckMs: number;
  maxFee: bigint;
  now: () => number;
}

/** Nonces of a gap that is filled. A larger gap is not a node's brief lag; the operator has to look at it. */
const MAX_GAP = 16;
/** Gas of a transfer of 0 ether. */
const TRANSFER_GAS = 21_000n;

/**
 * Fills the first missing nonce with a transfer of 0 ether to the wallet itself, because signing the spend again with
 * that nonce could pay twice. The filler is stored with the spend that waits, and closed with it.
 */
export function createNonceGapFiller(
  { log, ledger, walletOf, signerOf }: TransactionTrackerDeps,
  { stuckMs, maxFee, now }: Options,
) {
  return async (chain: Chain, queue: NonceQueue, { accountNonce }: AccountSnapshot): Promise<void> => {
    const first = await ledger.findFirstOpenTransaction(queue);
    if (!first || accountNonce >= first.nonce || now() - first.createdAt <= stuckMs) return;
    if (first.nonce - accountNonce > MAX_GAP) {
      log.warn("Nonce gap too large to fill; a wallet's spends wait for it.", {
        ...queue,
        accountNonce,
        next: first.nonce,
      });
      return;
    }
    const spend = await ledger.find(first.spendId);
    if (!spend || (await ledger.findSigningRefusal(spend)) !== undefined) return;
    const existing = await ledger.findFiller(queue, accountNonce);
    if (existing && now() - existing.createdAt <= stuckMs) {
      await broadcastTransaction(chain, log, existing);
      return;
    }
    const filler = await signFiller(chain, spend, accountNonce, existing);
    if (filler) await ledger.recordFiller(filler);
    const transaction = filler ?? existing;
    if (transaction) await broadcastTransaction(chain, log, transaction);
  };

  /** Undefined if the fee is above the limit or above the wallet's ether. */
  async function signFiller(chain: Chain, spend: Spend, nonce: number, previous: Transaction | undefined) {
    const wallet = await walletOf(spend.walletId);
    if (!wallet) return undefined;
    const to = wallet.address as Hex;
    const { fees, ether } = await readFeesAndBalance(chain, to);
    const cost = previous ? raiseCost(parseCost(previous.cost), fees) : toTransactionCost(TRANSFER_GAS, fees);
    if (maxCostOf(cost) > maxFee || maxCostOf(cost) > ether) return undefined;
    const signer = await signerOf(wallet);
    const attempt = previous ? previous.attempt + 1 : 0;
    const call = { to, data: "0x" } as const;
    const filler = await createSignedTransaction({ chain, spend, signer, call, nonce, attempt, cost, signedAt: now() });
    log.warn("Filling a nonce gap.", { network: spend.network, address: spend.address, nonce });
    return filler;
  }
}
