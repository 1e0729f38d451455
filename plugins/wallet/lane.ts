// One wallet on one chain: signs what is reserved, in order, and follows what is signed until the chain has settled it.
import type { Address } from "viem";
import type { Chain, ChainName } from "../../src/chains.ts";
import { AppError } from "../../src/errors.ts";
import { viewOf } from "./chain-view.ts";
import { ask, TOKEN } from "./contracts.ts";
import { costFrom, costOf, MOST_FEE, MOST_GAS } from "./fees.ts";
import { createFollowing, type FollowingDeps } from "./following.ts";
import { createGaps } from "./gaps.ts";
import type { Lane, Spend, Transaction } from "./lane-book.ts";
import { createPaymentWatch } from "./payment-watch.ts";
import { type Call, readPlan } from "./plan.ts";
import { transactionOf } from "./signing.ts";
import type { Wallet } from "./wallets.ts";

export interface LaneOptions {
  /** Milliseconds without being mined after which a transaction gets a rival with higher fees. Default 45,000. */
  stuckMs?: number;
  /** Milliseconds after which what was never signed is given up: prices and minds change. Default 10 minutes. */
  reservedMs?: number;
  /** Milliseconds for which a nonce must be known as used by somebody else until the spend is given up. Default 60,000. */
  foreignMs?: number;
  /** Blocks that a transaction must have, its own included, before it counts. Default 3 on the mainnet, 1 on the testnet. */
  confirmations?: number;
  /** Of one transaction. Default `MOST_GAS`. */
  mostGas?: bigint;
  /** In wei, for the gas of one transaction. Default `MOST_FEE`. */
  mostFee?: bigint;
  /** Blocks of one question for events. Default 2,000. */
  mostBlocks?: bigint;
  /** Epoch ms. */
  now?: () => number;
}

interface LaneDeps extends FollowingDeps {
  chainOf(lane: Lane): Chain;
}

/** Base's blocks are two seconds apart, and its sequencer takes hardly any back; a node may be a few behind. */
const CONFIRMATIONS: Readonly<Record<ChainName, number>> = { mainnet_chain: 3, testnet_chain: 1 };

/** Works on a lane once; true while there is something left to follow. Throws 500 `CHAIN_UNAVAILABLE`; nothing is lost then. */
export function createLaneWorker(deps: LaneDeps, options: LaneOptions = {}): (lane: Lane) => Promise<boolean> {
  const { chainOf, ledger, walletOf, signerOf } = deps;
  const { stuckMs = 45_000, reservedMs = 600_000, foreignMs = 60_000, now = Date.now } = options;
  const { mostGas = MOST_GAS, mostFee = MOST_FEE } = options;
  const confirmationsOf = ({ network }: Lane) => options.confirmations ?? CONFIRMATIONS[network];
  const { broadcast, follow } = createFollowing(deps, { stuckMs, foreignMs, mostFee, now, confirmationsOf });
  const fillGaps = createGaps(deps, { stuckMs, mostFee, now });
  const followPayments = createPaymentWatch({ ...deps, confirmationsOf, mostBlocks: options.mostBlocks });

  return async (lane) => {
    const chain = chainOf(lane);
    const open = await ledger.open(lane);
    const isFollowed = ({ state }: Spend) => state !== "reserved";
    const payments = open.filter((spend) => spend.kind === "pay" && isFollowed(spend));
    const others = open.filter((spend) => !payments.includes(spend));
    // A trade lets another contract take what it sells: a second one would take that away again, whichever is older.
    const begun = others.filter((spend) => spend.kind === "trade" && (isFollowed(spend) || spend.step > 0));
    const trading = new Map(begun.map(({ asset, id }) => [asset, id]));
    let view = others.some(isFollowed) ? await viewOf(chain, lane.address) : undefined;
    for (const spend of others) {
      if (spend.kind === "trade" && (trading.get(spend.asset) ?? spend.id) !== spend.id) continue;
      const left = await goOn(spend);
      if (spend.kind !== "trade") continue;
      if (left) trading.set(spend.asset, spend.id);
      else trading.delete(spend.asset);
    }
    if (view) await fillGaps(chain, lane, view);
    if (payments.length > 0) await followPayments(chain, lane, payments);
    return (await ledger.open(lane)).length > 0;

    /** Takes all the steps that can be taken now; true while it is open. */
    async function goOn(spend: Spend): Promise<boolean> {
      const signed = isFollowed(spend) ? spend : await begin(chain, spend);
      if (signed && signed !== spend) view = await viewOf(chain, lane.address);
      if (signed && view) await follow(chain, signed, view);
      const after = await ledger.find(spend.id);
      if (after?.state === "reserved" && after.step > spend.step) return goOn(after);
      return after?.state !== "confirmed" && after?.state !== "failed";
    }
  };

  /** The spend as it is when a node was given its transaction; undefined where there is none to follow. */
  async function begin(chain: Chain, spend: Spend): Promise<Spend | undefined> {
    const plan = readPlan(spend.plan);
    const wallet = await walletOf(spend.walletId);
    if (wallet?.userId !== spend.userId) return fail(spend, "CANCELLED");
    if (now() - spend.updatedAt > reservedMs) return fail(spend, "EXPIRED");
    // Whoever asked for a payment signs it; what they left behind gets too old.
    if (!("calls" in plan)) return undefined;
    if (plan.validUntil !== undefined && now() / 1000 > plan.validUntil) return fail(spend, "EXPIRED");
    const call = plan.calls[spend.step];
    if (!call) throw new Error("A plan in the ledger has fewer calls than steps.");
    const transaction = await sign(chain, spend, wallet, call);
    if (!transaction) return undefined;
    const signed: Spend = { ...spend, state: "signed", hash: transaction.hash, overtakenAt: null };
    await broadcast(chain, signed, transaction);
    return (await ledger.find(spend.id)) ?? signed;
  }

  /** The transaction, stored before anybody has it; undefined where there is none to be, or not yet. */
  async function sign(chain: Chain, spend: Spend, wallet: Wallet, call: Call): Promise<Transaction | undefined> {
    const lane = laneOf(spend);
    const needs = await estimate(chain, spend, call);
    if (needs === undefined) return undefined;
    const { gas, fees, ether, used } = needs;
    const cost = costFrom(gas, fees);
    if (gas > mostGas || costOf(cost) > mostFee) return fail(spend, "FEES_TOO_HIGH");
    if (ether < costOf(cost)) return fail(spend, "INSUFFICIENT_FUNDS");
    // What is under way takes its gas first; then it is seen what is left.
    if (ether < costOf(cost) + (await ledger.owed(lane))) return undefined;
    const nonce = Math.max(used, await ledger.nextNonce(lane));
    const signer = await signerOf(wallet);
    const transaction = await transactionOf({ chain, spend, signer, call, nonce, attempt: 0, cost, at: now() });
    if (await ledger.signed(spend, transaction)) return transaction;
    // Not open any more, or hindered; a spend that was hindered has had its chance.
    const hindrance = await ledger.hindrance(spend);
    return hindrance && fail(spend, hindrance);
  }

  async function estimate(chain: Chain, spend: Spend, { to, data }: Call) {
    const account = spend.address as Address;
    try {
      return await chain.ask(async (client) => {
        const [gas, fees, ether, used] = await Promise.all([
          client.estimateGas({ account, to, data }),
          client.estimateFeesPerGas(),
          client.getBalance({ address: account }),
          // As mined, and not what a node takes for pending: a wrong word there leaves a gap that nobody fills.
          client.getTransactionCount({ address: account }),
        ]);
        return { gas: (gas * 6n) / 5n, fees, ether, used };
      });
    } catch (error) {
      if (error instanceof AppError) throw error;
      // The chain says that this call fails.
      const read = { address: spend.asset as Address, abi: TOKEN, functionName: "balanceOf", args: [account] } as const;
      const balance = await ask(chain, (client) => client.readContract(read));
      return fail(spend, balance < BigInt(spend.units) ? "INSUFFICIENT_FUNDS" : "REFUSED");
    }
  }

  async function fail(spend: Spend, reason: string): Promise<undefined> {
    await ledger.settled(spend, { state: "failed", reason });
  }
}

const laneOf = ({ network, address }: Spend): Lane => ({ network, address });
