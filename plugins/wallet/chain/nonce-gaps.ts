// A nonce that nobody used before one that was signed: by a wrong word of a node. What was signed waits for it for ever, so it is filled.
import type { Hex } from "viem";
import type { Chain } from "../../../src/kernel/chains/chains.ts";
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

/** Nonces of one gap that are filled; more is no mistake of a moment, and the operator has to look at it. */
const MAX_GAP = 16;
/** Of a transaction that does nothing. */
const TRANSFER_GAS = 21_000n;

/**
 * Fills the first missing nonce with a transaction of nothing to the wallet itself: signing the spend anew under that nonce
 * could pay twice. It belongs to the spend that waits, and is closed with it.
 */
export function createNonceGapFiller(
  { log, ledger, walletOf, signerOf }: TransactionTrackerDeps,
  { stuckMs, maxFee, now }: Options,
) {
  return async (chain: Chain, queue: NonceQueue, { accountNonce }: AccountSnapshot): Promise<void> => {
    const first = await ledger.findFirstOpenTransaction(queue);
    if (!first || accountNonce >= first.nonce || now() - first.createdAt <= stuckMs) return;
    if (first.nonce - accountNonce > MAX_GAP) {
      log.warn("A wallet's spends wait for nonces that nobody used.", { ...queue, accountNonce, next: first.nonce });
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

  /** Undefined where the wallet, or the cap, does not allow for it. */
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
    log.warn("A nonce that nobody used is filled.", { network: spend.network, address: spend.address, nonce });
    return filler;
  }
}
