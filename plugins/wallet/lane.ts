// One wallet on one chain: signs what is reserved, in order, and follows what is signed until the chain has settled it.
import type { Address, Hex } from "viem";
import type { Chain } from "../../src/chains.ts";
import { AppError } from "../../src/errors.ts";
import type { Kernel } from "../../src/plugin.ts";
import { ask, TOKEN } from "./contracts.ts";
import type { Lane, Ledger, Spend, Transaction } from "./ledger.ts";
import { type Call, readPlan } from "./plan.ts";
import type { Signer } from "./platform.ts";
import type { Wallet } from "./wallets.ts";

export interface LaneOptions {
  /** Milliseconds without being mined after which a transaction gets a rival with higher fees. Default 45,000. */
  stuckMs?: number;
  /** Milliseconds after which what was never signed is given up: prices and minds change. Default 10 minutes. */
  reservedMs?: number;
  /** Milliseconds for which a nonce must be known as used by somebody else until the spend is given up. Default 60,000. */
  foreignMs?: number;
}

interface Deps extends Pick<Kernel, "log"> {
  chainOf(lane: Lane): Chain;
  ledger: Ledger;
  walletOf(id: string): Promise<Wallet | undefined>;
  signerOf(wallet: Wallet): Promise<Signer>;
}

/** Fees of a transaction, in wei, as text. */
interface Cost {
  gas: string;
  maxFeePerGas: string;
  maxPriorityFeePerGas: string;
}

/** Transactions with one nonce, at most; then the newest is sent again and again. */
const MOST_ATTEMPTS = 10;
/** Seconds that nodes behind one address may be apart. */
const MARGIN = 60;
/** Milliseconds between two sendings of the same. */
const RESEND = 10_000;

/** Works on a lane once; true while there is something left to follow. Throws 500 `CHAIN_UNAVAILABLE`; nothing is lost then. */
export function createLaneWorker(deps: Deps, options: LaneOptions = {}): (lane: Lane) => Promise<boolean> {
  const { log, chainOf, ledger, walletOf, signerOf } = deps;
  const { stuckMs = 45_000, reservedMs = 600_000, foreignMs = 60_000 } = options;

  return async (lane) => {
    const chain = chainOf(lane);
    const traded = new Set<string>();
    for (const spend of await ledger.open(lane)) {
      // A trade lets another contract take what it sells: a second one would take that away again.
      if (spend.kind === "trade" && spend.state === "reserved" && traded.has(spend.asset)) continue;
      const left = await goOn(chain, spend);
      if (left && spend.kind === "trade") traded.add(spend.asset);
    }
    return (await ledger.open(lane)).length > 0;
  };

  /** Takes all the steps that can be taken now; true while it is open. */
  async function goOn(chain: Chain, spend: Spend): Promise<boolean> {
    if (spend.state === "reserved") await begin(chain, spend);
    else await follow(chain, spend);
    const now = await ledger.find(spend.id);
    if (now?.state === "reserved" && now.step > spend.step) return goOn(chain, now);
    return now?.state !== "confirmed" && now?.state !== "failed";
  }

  async function begin(chain: Chain, spend: Spend): Promise<void> {
    const plan = readPlan(spend.plan);
    const tooOld = Date.now() - spend.updatedAt > reservedMs;
    const wallet = await walletOf(spend.walletId);
    if (wallet?.userId !== spend.userId) return fail(spend, "CANCELLED");
    if (tooOld) return fail(spend, "EXPIRED");
    // Whoever asked for a payment signs it; what they left behind gets too old.
    if (!("calls" in plan)) return;
    const call = plan.calls[spend.step];
    if (!call) throw new Error("A plan in the ledger has fewer calls than steps.");
    const signed = await sign(chain, spend, wallet, call);
    if (!signed) return;
    await broadcast(chain, { ...spend, state: "signed" }, signed);
    await follow(chain, { ...spend, state: "signed", hash: signed.hash });
  }

  /** The transaction, stored before anybody has it; undefined where there is none to be. */
  async function sign(chain: Chain, spend: Spend, wallet: Wallet, call: Call): Promise<Transaction | undefined> {
    const needs = await estimate(chain, spend, call);
    if (needs === undefined) return undefined;
    const { gas, fees, ether, used } = needs;
    if (ether < gas * fees.maxFeePerGas) {
      await fail(spend, "INSUFFICIENT_FUNDS");
      return undefined;
    }
    const nonce = Math.max(used, await ledger.nextNonce(laneOf(spend)));
    const cost = { gas: String(gas), ...texts(fees) };
    const transaction = await transactionOf(chain, spend, wallet, call, { nonce, attempt: 0, cost });
    if (await ledger.signed(spend, transaction)) return transaction;
    // Switched off, or not open any more; a spend that was switched off has had its chance.
    const now = await ledger.find(spend.id);
    if (now?.state === "reserved" && now.step === spend.step) await fail(spend, "POLICY_DENIED");
    return undefined;
  }

  async function estimate(chain: Chain, spend: Spend, { to, data }: Call) {
    const account = spend.address as Address;
    try {
      return await chain.ask(async (client) => {
        const [gas, fees, ether, used] = await Promise.all([
          client.estimateGas({ account, to, data }),
          client.estimateFeesPerGas(),
          client.getBalance({ address: account }),
          client.getTransactionCount({ address: account, blockTag: "pending" }),
        ]);
        return { gas: (gas * 6n) / 5n, fees, ether, used };
      });
    } catch (error) {
      if (error instanceof AppError) throw error;
      // The chain says that this call fails.
      const read = { address: spend.asset as Address, abi: TOKEN, functionName: "balanceOf", args: [account] } as const;
      const balance = await ask(chain, (client) => client.readContract(read));
      await fail(spend, balance < BigInt(spend.units) ? "INSUFFICIENT_FUNDS" : "REFUSED");
      return undefined;
    }
  }

  async function transactionOf(
    chain: Chain,
    spend: Spend,
    wallet: Wallet,
    { to, data }: Call,
    { nonce, attempt, cost }: { nonce: number; attempt: number; cost: Cost },
  ): Promise<Transaction> {
    const { keccak256, recoverTransactionAddress } = await import("viem");
    const { address, signTransaction } = await signerOf(wallet);
    const fees = { maxFeePerGas: BigInt(cost.maxFeePerGas), maxPriorityFeePerGas: BigInt(cost.maxPriorityFeePerGas) };
    const raw = await signTransaction({
      type: "eip1559",
      chainId: chain.id,
      to,
      data,
      nonce,
      gas: BigInt(cost.gas),
      ...fees,
    });
    const by = await recoverTransactionAddress({ serializedTransaction: raw as `0x02${string}` });
    if (by !== spend.address || address !== by) throw new Error(`Wallet ${wallet.id} was signed for by another key.`);
    const row = {
      spendId: spend.id,
      step: spend.step,
      ...laneOf(spend),
      nonce,
      attempt,
      raw,
      cost: JSON.stringify(cost),
    };
    return { ...row, hash: keccak256(raw), open: true, createdAt: Date.now() };
  }

  /** Gives it to a node. One that is known there already, or can't be reached, is found out about by following it. */
  async function broadcast(chain: Chain, spend: Spend, { raw, hash }: Transaction): Promise<void> {
    try {
      await chain.ask((client) => client.request({ method: "eth_sendRawTransaction", params: [raw as Hex] }));
    } catch (error) {
      log.debug("A signed transaction was not taken; it will be sent again.", { spend: spend.id, error });
      return;
    }
    await ledger.sent(spend, hash);
  }

  async function follow(chain: Chain, spend: Spend): Promise<void> {
    const plan = readPlan(spend.plan);
    if (!("calls" in plan)) return followPayment(chain, spend, plan.payment);
    const known = await ledger.transactionsOf(spend);
    const [newest] = known;
    if (!newest) throw new Error("A spend is signed, and has no transaction.");
    const { mined, used } = await whatBecameOf(chain, spend, known);
    const age = Date.now() - newest.createdAt;
    if (mined) {
      const { status, transactionHash: hash } = mined;
      if (status !== "success") await ledger.settled(spend, { state: "failed", reason: "REVERTED", hash });
      else if (spend.step + 1 < plan.calls.length) await ledger.stepped(spend);
      else await ledger.settled(spend, { state: "confirmed", hash });
    } else if (used > newest.nonce) {
      // The same key is used elsewhere, and was faster: none of ours can be mined any more.
      if (age > foreignMs) await fail(spend, "NONCE_USED");
    } else if (age > stuckMs && known.length < MOST_ATTEMPTS) {
      await replace(chain, spend, newest, plan.calls[spend.step]);
    } else if (spend.state === "signed" || Date.now() - spend.updatedAt > RESEND) {
      await broadcast(chain, spend, newest);
    }
  }

  async function whatBecameOf(chain: Chain, { address }: Spend, known: Transaction[]) {
    const { TransactionReceiptNotFoundError } = await import("viem");
    return chain.ask(async (client) => {
      // In this order: what was mined after the count is missed by neither.
      const used = await client.getTransactionCount({ address: address as Address });
      for (const { hash } of known) {
        try {
          return { used, mined: await client.getTransactionReceipt({ hash: hash as Hex }) };
        } catch (error) {
          if (!(error instanceof TransactionReceiptNotFoundError)) throw error;
        }
      }
      return { used, mined: undefined };
    });
  }

  /** The same with higher fees, in its place: nodes want at least a tenth more. */
  async function replace(chain: Chain, spend: Spend, stuck: Transaction, call: Call | undefined): Promise<void> {
    const wallet = await walletOf(spend.walletId);
    if (!wallet || !call) throw new Error("A spend has lost its wallet or its call.");
    const was = JSON.parse(stuck.cost) as Cost;
    const now = await ask(chain, (client) => client.estimateFeesPerGas());
    const raised = (before: string, fee: bigint) => {
      const least = (BigInt(before) * 5n) / 4n + 1n;
      return String(fee > least ? fee : least);
    };
    const cost = {
      gas: was.gas,
      maxFeePerGas: raised(was.maxFeePerGas, now.maxFeePerGas),
      maxPriorityFeePerGas: raised(was.maxPriorityFeePerGas, now.maxPriorityFeePerGas),
    };
    const { nonce, attempt } = stuck;
    const rival = await transactionOf(chain, spend, wallet, call, { nonce, attempt: attempt + 1, cost });
    await ledger.replaced(spend, rival);
    await broadcast(chain, spend, rival);
  }

  /** A signed authorization is with the seller, or was to be: the token says whether it was used, until it can't be any more. */
  async function followPayment(
    chain: Chain,
    spend: Spend,
    { nonce, validBefore = 0 }: { nonce?: Hex; validBefore?: number },
  ) {
    if (nonce === undefined) throw new Error("A payment is signed, and has no nonce.");
    const args = [spend.address as Address, nonce] as const;
    const { used, time } = await ask(chain, async (client) => {
      // In this order: a block's time that is past the limit was read before the state is.
      const { timestamp } = await client.getBlock();
      const read = { address: spend.asset as Address, abi: TOKEN, functionName: "authorizationState", args } as const;
      return { time: Number(timestamp), used: await client.readContract(read) };
    });
    if (used) await ledger.settled(spend, { state: "confirmed" });
    else if (time >= validBefore + MARGIN) await fail(spend, "EXPIRED");
  }

  async function fail(spend: Spend, reason: string): Promise<void> {
    await ledger.settled(spend, { state: "failed", reason });
  }
}

const laneOf = ({ network, address }: Spend): Lane => ({ network, address });
const texts = ({ maxFeePerGas, maxPriorityFeePerGas }: { maxFeePerGas: bigint; maxPriorityFeePerGas: bigint }) => ({
  maxFeePerGas: String(maxFeePerGas),
  maxPriorityFeePerGas: String(maxPriorityFeePerGas),
});
