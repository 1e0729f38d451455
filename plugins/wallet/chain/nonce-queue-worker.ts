// Works on the nonce queue of one wallet on one chain: signs reserved spends in order, and tracks signed ones until the
// chain has settled them.
import type { Address } from "viem";
import { AppError } from "../../../src/kernel/errors.ts";
import { MINUTE, SECOND } from "../../../src/kernel/util/time.ts";
import type { Chain, ChainName } from "../../chains/index.ts";
import { readChain } from "../../chains/index.ts";
import type { Wallet } from "../keys/wallets.ts";
import { readAccountSnapshot } from "./account-snapshot.ts";
import { MAX_FEE, MAX_GAS, maxCostOf, toTransactionCost } from "./fees.ts";
import { createNonceGapFiller } from "./nonce-gaps.ts";
import { createPaymentWatcher } from "./payment-watcher.ts";
import { createSignedTransaction } from "./signed-transaction.ts";
import { type Call, parsePlan } from "./spend-plan.ts";
import type { NonceQueue, Spend, Transaction } from "./spend-store.ts";
import { TOKEN_ABI } from "./token-contract.ts";
import { createTransactionTracker, type TransactionTrackerDeps } from "./transaction-tracker.ts";

export interface NonceQueueOptions {
  /** Age in milliseconds at which an unmined transaction is replaced by one with higher fees. Default 45,000. */
  stuckMs?: number;
  /**
   * Milliseconds after which an unsigned spend fails as `EXPIRED`: its price or purpose may have changed. Default 10
   * minutes.
   */
  reservationTtlMs?: number;
  /** Milliseconds for which a nonce must be used without a receipt of ours before the spend fails. Default 60,000. */
  foreignNonceMs?: number;
  /** Blocks, including its own, after which a transaction is final. Default 3 on the mainnet, 1 on the testnet. */
  confirmations?: number;
  /** Gas limit of one transaction. Default `MAX_GAS`. */
  maxGas?: bigint;
  /** Limit of the fee of one transaction in wei. Default `MAX_FEE`. */
  maxFee?: bigint;
  /** Blocks per query for events. Default 2,000. */
  maxBlocks?: bigint;
  /** The current time in epoch ms. */
  now?: () => number;
}

interface NonceQueueWorkerDeps extends TransactionTrackerDeps {
  chainOf(queue: NonceQueue): Chain;
}

/** Base has a block every two seconds, and its sequencer rarely reverts one. A node may be a few blocks behind. */
const CONFIRMATIONS: Readonly<Record<ChainName, number>> = { mainnet_chain: 3, testnet_chain: 1 };

/**
 * Returns a function that works on a queue once; true while open spends are left. It may throw 500 `CHAIN_UNAVAILABLE`:
 * retry then.
 */
export function createNonceQueueWorker(
  deps: NonceQueueWorkerDeps,
  options: NonceQueueOptions = {},
): (queue: NonceQueue) => Promise<boolean> {
  const { chainOf, ledger, walletOf, signerOf } = deps;
  const { stuckMs = 45 * SECOND, reservationTtlMs = 10 * MINUTE, foreignNonceMs = MINUTE, now = Date.now } = options;
  const { maxGas = MAX_GAS, maxFee = MAX_FEE } = options;
  const confirmationsOf = ({ network }: NonceQueue) => options.confirmations ?? CONFIRMATIONS[network];
  const { broadcast, track } = createTransactionTracker(deps, {
    stuckMs,
    foreignNonceMs,
    maxFee,
    now,
    confirmationsOf,
  });
  const fillNonceGaps = createNonceGapFiller(deps, { stuckMs, maxFee, now });
  const checkPayments = createPaymentWatcher({ ...deps, confirmationsOf, maxBlocks: options.maxBlocks });

  return async (queue) => {
    const chain = chainOf(queue);
    const open = await ledger.listOpen(queue);
    const isSigned = ({ state }: Spend) => state !== "reserved";
    const payments = open.filter((spend) => spend.kind === "pay" && isSigned(spend));
    const transactionSpends = open.filter((spend) => !payments.includes(spend));
    // A trade sets the router's allowance for its token. A second trade of that token would overwrite it, so it waits.
    const startedTrades = transactionSpends.filter(
      (spend) => spend.kind === "trade" && (isSigned(spend) || spend.step > 0),
    );
    const tradeByAsset = new Map(startedTrades.map(({ asset, id }) => [asset, id]));
    let snapshot = transactionSpends.some(isSigned) ? await readAccountSnapshot(chain, queue.address) : undefined;
    for (const spend of transactionSpends) {
      if (spend.kind === "trade" && (tradeByAsset.get(spend.asset) ?? spend.id) !== spend.id) continue;
      const isUnfinished = await advance(spend);
      if (spend.kind !== "trade") continue;
      if (isUnfinished) tradeByAsset.set(spend.asset, spend.id);
      else tradeByAsset.delete(spend.asset);
    }
    if (snapshot) await fillNonceGaps(chain, queue, snapshot);
    if (payments.length > 0) await checkPayments(chain, queue, payments);
    return (await ledger.listOpen(queue)).length > 0;

    /** Takes all the steps of the spend that can be taken now; true while it is open. */
    async function advance(spend: Spend): Promise<boolean> {
      const signed = isSigned(spend) ? spend : await signAndBroadcast(chain, spend);
      if (signed && signed !== spend) snapshot = await readAccountSnapshot(chain, queue.address);
      if (signed && snapshot) await track(chain, signed, snapshot);
      const after = await ledger.find(spend.id);
      if (after?.state === "reserved" && after.step > spend.step) return advance(after);
      return after?.state !== "confirmed" && after?.state !== "failed";
    }
  };

  /** Signs the spend's transaction and sends it. The updated spend, or undefined if nothing was signed. */
  async function signAndBroadcast(chain: Chain, spend: Spend): Promise<Spend | undefined> {
    const plan = parsePlan(spend.plan);
    const wallet = await walletOf(spend.walletId);
    if (wallet?.userId !== spend.userId) return fail(spend, "CANCELLED");
    if (now() - spend.updatedAt > reservationTtlMs) return fail(spend, "EXPIRED");
    // A payment is signed by the request that made it, not here. If that request died, the payment expires.
    if (!("calls" in plan)) return undefined;
    if (plan.validUntil !== undefined && now() / 1000 > plan.validUntil) return fail(spend, "EXPIRED");
    const call = plan.calls[spend.step];
    if (!call) throw new Error("A plan in the ledger has fewer calls than steps.");
    const transaction = await sign(chain, spend, wallet, call);
    if (!transaction) return undefined;
    const signed: Spend = { ...spend, state: "signed", hash: transaction.hash, nonceUsedSince: null };
    await broadcast(chain, signed, transaction);
    return (await ledger.find(spend.id)) ?? signed;
  }

  /** Signs the transaction, and stores it before any node gets it; undefined if it can't be signed, or not yet. */
  async function sign(chain: Chain, spend: Spend, wallet: Wallet, call: Call): Promise<Transaction | undefined> {
    const queue = queueOf(spend);
    const estimated = await estimate(chain, spend, call);
    if (estimated === undefined) return undefined;
    const { gas, fees, ether, accountNonce } = estimated;
    const cost = toTransactionCost(gas, fees);
    if (gas > maxGas || maxCostOf(cost) > maxFee) return fail(spend, "FEES_TOO_HIGH");
    if (ether < maxCostOf(cost)) return fail(spend, "INSUFFICIENT_FUNDS");
    // Ether that open transactions may still need is not available; the spend is tried again when they are settled.
    if (ether < maxCostOf(cost) + (await ledger.openGasCost(queue))) return undefined;
    const nonce = Math.max(accountNonce, await ledger.nextNonce(queue));
    const signer = await signerOf(wallet);
    const transaction = await createSignedTransaction({
      chain,
      spend,
      signer,
      call,
      nonce,
      attempt: 0,
      cost,
      signedAt: now(),
    });
    if (await ledger.recordSigned(spend, transaction)) return transaction;
    // The spend is not reserved any more, or may not be signed. If it may not be signed, it fails for good.
    const refusal = await ledger.findSigningRefusal(spend);
    return refusal && fail(spend, refusal);
  }

  async function estimate(chain: Chain, spend: Spend, { to, data }: Call) {
    const account = spend.address as Address;
    try {
      return await chain.withClient(async (client) => {
        const [gas, fees, ether, accountNonce] = await Promise.all([
          client.estimateGas({ account, to, data }),
          client.estimateFeesPerGas(),
          client.getBalance({ address: account }),
          // The mined count, not the pending one: a wrong pending count would leave a nonce gap.
          client.getTransactionCount({ address: account }),
        ]);
        return { gas: (gas * 6n) / 5n, fees, ether, accountNonce };
      });
    } catch (error) {
      if (error instanceof AppError) throw error;
      // The node simulated the call, and it failed.
      const read = {
        address: spend.asset as Address,
        abi: TOKEN_ABI,
        functionName: "balanceOf",
        args: [account],
      } as const;
      const balance = await readChain(chain, (client) => client.readContract(read));
      return fail(spend, balance < BigInt(spend.units) ? "INSUFFICIENT_FUNDS" : "REFUSED");
    }
  }

  async function fail(spend: Spend, reason: string): Promise<undefined> {
    await ledger.finish(spend, { state: "failed", reason });
  }
}

const queueOf = ({ network, address }: Spend): NonceQueue => ({ network, address });
