// What becomes of a signed transaction: mined and deep enough, overtaken by another program, stuck, or lost on its way.
import type { Address, TransactionReceipt } from "viem";
import type { Chain } from "../../../src/kernel/chains/chains.ts";
import { readChain } from "../../../src/kernel/chains/read-chain.ts";
import type { Kernel } from "../../../src/kernel/plugin.ts";
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

export interface TransactionTrackerOptions {
  stuckMs: number;
  foreignNonceMs: number;
  maxFee: bigint;
  now: () => number;
  confirmationsOf(queue: NonceQueue): number;
}

export interface TransactionTracker {
  /** Gives it to a node. One that is known there already, or can't be reached, is found out about by following it. */
  broadcast(chain: Chain, spend: Spend, transaction: Transaction): Promise<void>;
  /** Takes the step that there is to take, by what the chain says. */
  track(chain: Chain, spend: Spend, snapshot: AccountSnapshot): Promise<void>;
}

/** Transactions with one nonce, at most; then the newest that can be paid for is sent again and again. */
const MAX_ATTEMPTS = 10;
/** Milliseconds between two sendings of the same. */
const RESEND_MS = 10_000;

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
    if (!newest) throw new Error("A spend is signed, and has no transaction.");
    if (snapshot.accountNonce > newest.nonce) return resolveUsedNonce(chain, spend, attempts, snapshot);
    if (spend.nonceUsedSince !== null) await ledger.setNonceUsedSince(spend, null);
    const age = now() - newest.createdAt;
    const isResendDue = spend.state === "signed" || now() - spend.updatedAt > RESEND_MS;
    if (age <= stuckMs && !isResendDue) return;
    // Switched off: what is out may still be mined, but nothing is done for it.
    if ((await ledger.findSigningRefusal(spend)) !== undefined) return;
    // One that has others before it is not helped by higher fees.
    if (age > stuckMs && newest.nonce === snapshot.accountNonce && (await replaceStuck(chain, spend, attempts))) return;
    if (isResendDue) await broadcast(chain, spend, await newestAffordable(chain, spend, attempts));
  }

  /** Its nonce is used: by one of ours, or by another program with the same key, which was faster. */
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
      // A node that is behind may only not have the receipt yet: it is remembered, and looked at again for a while.
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

  /** The same with higher fees, in its place; false where the wallet, or the cap, does not allow for higher ones. */
  async function replaceStuck(chain: Chain, spend: Spend, attempts: Transaction[]): Promise<boolean> {
    const [stuck] = attempts;
    const plan = parsePlan(spend.plan);
    const call = "calls" in plan ? plan.calls[spend.step] : undefined;
    const wallet = await walletOf(spend.walletId);
    if (!stuck || !wallet || !call) throw new Error("A spend has lost its wallet or its call.");
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

  /** The newest that the wallet can pay for: nodes take no other. */
  async function newestAffordable(chain: Chain, spend: Spend, attempts: Transaction[]): Promise<Transaction> {
    const [newest] = attempts;
    const oldest = attempts.at(-1);
    if (!newest || !oldest) throw new Error("A spend is signed, and has no transaction.");
    if (newest === oldest) return newest;
    const ether = await readChain(chain, (client) => client.getBalance({ address: spend.address as Address }));
    return attempts.find((transaction) => maxCostOf(parseCost(transaction.cost)) <= ether) ?? oldest;
  }

  return { broadcast, track };
}
