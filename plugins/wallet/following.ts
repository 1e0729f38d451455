// What becomes of a signed transaction: mined and deep enough, overtaken by another program, stuck, or lost on its way.
import type { Address, Hex, TransactionReceipt } from "viem";
import type { Chain } from "../../src/chains.ts";
import type { Kernel } from "../../src/plugin.ts";
import { receiptOf, type View } from "./chain-view.ts";
import { ask } from "./contracts.ts";
import { type Cost, costOf, feeOf, raised } from "./fees.ts";
import type { Lane, LaneBook, Spend, Transaction } from "./lane-book.ts";
import { readPlan } from "./plan.ts";
import type { Signer } from "./platform.ts";
import { transactionOf } from "./signing.ts";
import type { Wallet } from "./wallets.ts";

export interface FollowingDeps extends Pick<Kernel, "log"> {
  ledger: LaneBook;
  walletOf(id: string): Promise<Wallet | undefined>;
  signerOf(wallet: Wallet): Promise<Signer>;
}

export interface FollowingOptions {
  stuckMs: number;
  foreignMs: number;
  mostFee: bigint;
  now: () => number;
  confirmationsOf(lane: Lane): number;
}

export interface Following {
  /** Gives it to a node. One that is known there already, or can't be reached, is found out about by following it. */
  broadcast(chain: Chain, spend: Spend, transaction: Transaction): Promise<void>;
  /** Takes the step that there is to take, by what the chain says. */
  follow(chain: Chain, spend: Spend, view: View): Promise<void>;
}

/** Transactions with one nonce, at most; then the newest that can be paid for is sent again and again. */
const MOST_ATTEMPTS = 10;
/** Milliseconds between two sendings of the same. */
const RESEND = 10_000;

export function createFollowing(deps: FollowingDeps, options: FollowingOptions): Following {
  const { log, ledger, walletOf, signerOf } = deps;
  const { stuckMs, foreignMs, mostFee, now, confirmationsOf } = options;

  async function broadcast(chain: Chain, spend: Spend, { raw, hash }: Transaction): Promise<void> {
    try {
      await chain.ask((client) => client.request({ method: "eth_sendRawTransaction", params: [raw as Hex] }));
    } catch (error) {
      log.debug("A signed transaction was not taken; it will be sent again.", { spend: spend.id, error });
      return;
    }
    await ledger.sent(spend, hash);
  }

  async function follow(chain: Chain, spend: Spend, view: View): Promise<void> {
    const known = await ledger.transactionsOf(spend);
    const [newest] = known;
    if (!newest) throw new Error("A spend is signed, and has no transaction.");
    if (view.used > newest.nonce) return judge(chain, spend, known, view);
    if (spend.overtakenAt !== null) await ledger.overtaken(spend, null);
    const age = now() - newest.createdAt;
    const due = spend.state === "signed" || now() - spend.updatedAt > RESEND;
    if (age <= stuckMs && !due) return;
    // Switched off: what is out may still be mined, but nothing is done for it.
    if ((await ledger.hindrance(spend)) !== undefined) return;
    // One that has others before it is not helped by higher fees.
    if (age > stuckMs && newest.nonce === view.used && (await replaced(chain, spend, known))) return;
    if (due) await broadcast(chain, spend, await affordable(chain, spend, known));
  }

  /** Its nonce is used: by one of ours, or by another program with the same key, which was faster. */
  async function judge(chain: Chain, spend: Spend, known: Transaction[], view: View): Promise<void> {
    const hashes = known.map(({ hash }) => hash);
    const mined = await receiptOf(chain, hashes);
    if (mined) {
      if (spend.overtakenAt !== null) await ledger.overtaken(spend, null);
      const depth = view.block - mined.blockNumber + 1n;
      if (depth >= BigInt(confirmationsOf(spend))) await settle(spend, mined);
    } else if (spend.overtakenAt === null) {
      // A node that is behind may only not have the receipt yet: it is remembered, and looked at again for a while.
      await ledger.overtaken(spend, now());
    } else if (now() - spend.overtakenAt >= foreignMs) {
      await ledger.settled(spend, { state: "failed", reason: "NONCE_USED" });
    }
  }

  async function settle(spend: Spend, mined: TransactionReceipt): Promise<void> {
    const plan = readPlan(spend.plan);
    const { status, transactionHash: hash } = mined;
    const fee = feeOf(mined) ?? 0n;
    const more = "calls" in plan && spend.step + 1 < plan.calls.length;
    if (status !== "success") await ledger.settled(spend, { state: "failed", reason: "REVERTED", hash, fee });
    else if (more) await ledger.stepped(spend, fee);
    else await ledger.settled(spend, { state: "confirmed", hash, fee });
  }

  /** The same with higher fees, in its place; false where the wallet, or the cap, does not allow for higher ones. */
  async function replaced(chain: Chain, spend: Spend, known: Transaction[]): Promise<boolean> {
    const [stuck] = known;
    const plan = readPlan(spend.plan);
    const call = "calls" in plan ? plan.calls[spend.step] : undefined;
    const wallet = await walletOf(spend.walletId);
    if (!stuck || !wallet || !call) throw new Error("A spend has lost its wallet or its call.");
    if (known.length >= MOST_ATTEMPTS) return false;
    const { fees, ether } = await ask(chain, async (client) => ({
      fees: await client.estimateFeesPerGas(),
      ether: await client.getBalance({ address: spend.address as Address }),
    }));
    const cost = raised(readCost(stuck), fees);
    if (costOf(cost) > ether || costOf(cost) > mostFee) return false;
    const signer = await signerOf(wallet);
    const [{ nonce }, attempt] = [stuck, stuck.attempt + 1];
    const rival = await transactionOf({ chain, spend, signer, call, nonce, attempt, cost, at: now() });
    if (await ledger.replaced(spend, rival)) await broadcast(chain, spend, rival);
    return true;
  }

  /** The newest that the wallet can pay for: nodes take no other. */
  async function affordable(chain: Chain, spend: Spend, known: Transaction[]): Promise<Transaction> {
    const [newest] = known;
    const oldest = known.at(-1);
    if (!newest || !oldest) throw new Error("A spend is signed, and has no transaction.");
    if (newest === oldest) return newest;
    const ether = await ask(chain, (client) => client.getBalance({ address: spend.address as Address }));
    return known.find((transaction) => costOf(readCost(transaction)) <= ether) ?? oldest;
  }

  return { broadcast, follow };
}

const readCost = ({ cost }: Transaction) => JSON.parse(cost) as Cost;
