// Tracks signed transactions until they are final: resends lost ones, replaces stuck ones with higher fees, and detects
// nonces that another program used.
import type { Address, TransactionReceipt } from "viem";
import type { Kernel } from "../../../src/kernel/plugin.ts";
import { SECOND } from "../../../src/kernel/util/time.ts";
import type { Chain } from "../../chains/index.ts";
import { readChain } from "../../chains/index.ts";
import type { Signer } from "../keys/wallet-platform.ts";
import type { Wallet } from "../keys/wallets.ts";
import { type AccountSnapshot, findReceipt, readFeesAndBalance } from "./account-snapshot.ts";
import { broadcastTransaction } from "./broadcast.ts";
import { feeFromReceipt, maxCostOf, parseCost, raiseCost } from "./fees.ts";
import { createSignedTransaction } from "./signed-transaction.ts";
import { parsePlan } from "./spend-plan.ts";
import type { NonceQueue, Spend, SpendStore, Transaction } from "./spend-store.ts";

export interface TransactionTrackerDeps extends Pick<Kernel, "log"> {
  ledger: SpendStore;
  walletOf(id: string): Promise<Wallet | undefined>;
  signerOf(wallet: Wallet): Promise<Signer>;
}

/** See `NonceQueueOptions`. */
export interface TransactionTrackerOptions {
  stuckMs: number;
  foreignNonceMs: number;
  maxFee: bigint;
  now: () => number;
  confirmationsOf(queue: NonceQueue): number;
}

export interface TransactionTracker {
  /** Sends the transaction to a node. A rejected or lost one is found by `track`. */
  broadcast(chain: Chain, spend: Spend, transaction: Transaction): Promise<void>;
  /** Does what the state of the chain requires: settles, resends or replaces the spend's transaction, or nothing. */
  track(chain: Chain, spend: Spend, snapshot: AccountSnapshot): Promise<void>;
}

/** Attempts per nonce. After the last one, the newest that the wallet can pay for is resent. */
const MAX_ATTEMPTS = 10;
/** Time between two broadcasts of the same transaction. */
const RESEND_MS = 10 * SECOND;

export function createTransactionTracker(
  deps: TransactionTrackerDeps,
  options: TransactionTrackerOptions,
): TransactionTracker {
  const { log, ledger, walletOf, signerOf } = deps;
  const { stuckMs, foreignNonceMs, maxFee, now, confirmationsOf } = options;

  async function broadcast(chain: Chain, spend: Spend, transaction: Transaction): Promise<void> {
    if (await broadcastTransaction(chain, log, transaction)) await ledger.recordSent(spend, transaction.hash);
  }

  async function track(chain: Chain, spend: Spend, snapshot: AccountSnapshot): Promise<void> {
    const attempts = await ledger.listTransactions(spend);
    const [newest] = attempts;
    if (!newest) throw new Error("A signed spend in the ledger has no transaction.");
    if (snapshot.accountNonce > newest.nonce) return resolveUsedNonce(chain, spend, attempts, snapshot);
    if (spend.nonceUsedSince !== null) await ledger.setNonceUsedSince(spend, null);
    const age = now() - newest.createdAt;
    const isResendDue = spend.state === "signed" || now() - spend.updatedAt > RESEND_MS;
    if (age <= stuckMs && !isResendDue) return;
    // Spending is switched off or the account disabled: sent transactions may be mined, but none is resent or replaced.
    if ((await ledger.findSigningRefusal(spend)) !== undefined) return;
    // Higher fees help only the transaction with the next nonce to be mined.
    if (age > stuckMs && newest.nonce === snapshot.accountNonce && (await replaceStuck(chain, spend, attempts))) return;
    if (isResendDue) await broadcast(chain, spend, await newestAffordable(chain, spend, attempts));
  }

  /** The nonce is used: by one of the attempts, or by another program with the same key. */
  async function resolveUsedNonce(
    chain: Chain,
    spend: Spend,
    attempts: Transaction[],
    snapshot: AccountSnapshot,
  ): Promise<void> {
    const hashes = attempts.map(({ hash }) => hash);
    const receipt = await findReceipt(chain, hashes);
    if (receipt) {
      if (spend.nonceUsedSince !== null) await ledger.setNonceUsedSince(spend, null);
      const depth = snapshot.blockNumber - receipt.blockNumber + 1n;
      if (depth >= BigInt(confirmationsOf(spend))) await applyReceipt(spend, receipt);
    } else if (spend.nonceUsedSince === null) {
      // A lagging node may not have the receipt yet, so the spend fails only if this lasts for `foreignNonceMs`.
      await ledger.setNonceUsedSince(spend, now());
    } else if (now() - spend.nonceUsedSince >= foreignNonceMs) {
      await ledger.finish(spend, { state: "failed", reason: "NONCE_USED" });
    }
  }

  async function applyReceipt(spend: Spend, receipt: TransactionReceipt): Promise<void> {
    const plan = parsePlan(spend.plan);
    const { status, transactionHash: hash } = receipt;
    const fee = feeFromReceipt(receipt) ?? 0n;
    const hasNextStep = "calls" in plan && spend.step + 1 < plan.calls.length;
    if (status !== "success") await ledger.finish(spend, { state: "failed", reason: "REVERTED", hash, fee });
    else if (hasNextStep) await ledger.advanceStep(spend, fee);
    else await ledger.finish(spend, { state: "confirmed", hash, fee });
  }

  /** Replaces the transaction by one with higher fees; false if the limits or the wallet's ether do not allow that. */
  async function replaceStuck(chain: Chain, spend: Spend, attempts: Transaction[]): Promise<boolean> {
    const [stuck] = attempts;
    const plan = parsePlan(spend.plan);
    const call = "calls" in plan ? plan.calls[spend.step] : undefined;
    const wallet = await walletOf(spend.walletId);
    if (!stuck || !wallet || !call) throw new Error("A signed spend in the ledger has no wallet or no call.");
    if (attempts.length >= MAX_ATTEMPTS) return false;
    const { fees, ether } = await readFeesAndBalance(chain, spend.address);
    const cost = raiseCost(parseCost(stuck.cost), fees);
    if (maxCostOf(cost) > ether || maxCostOf(cost) > maxFee) return false;
    const signer = await signerOf(wallet);
    const [{ nonce }, attempt] = [stuck, stuck.attempt + 1];
    const replacement = await createSignedTransaction({
      chain,
      spend,
      signer,
      call,
      nonce,
      attempt,
      cost,
      signedAt: now(),
    });
    if (await ledger.recordReplacement(spend, replacement)) await broadcast(chain, spend, replacement);
    return true;
  }

  /** The newest attempt that the wallet can pay for: nodes reject others. The oldest one if it can pay for none. */
  async function newestAffordable(chain: Chain, spend: Spend, attempts: Transaction[]): Promise<Transaction> {
    const [newest] = attempts;
    const oldest = attempts.at(-1);
    if (!newest || !oldest) throw new Error("A signed spend in the ledger has no transaction.");
    if (newest === oldest) return newest;
    const ether = await readChain(chain, (client) => client.getBalance({ address: spend.address as Address }));
    return attempts.find((transaction) => maxCostOf(parseCost(transaction.cost)) <= ether) ?? oldest;
  }

  return { broadcast, track };
}
