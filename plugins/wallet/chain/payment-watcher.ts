// Watches signed payments (EIP-3009): the token's events show which authorizations were used, and by which transaction.
import type { Address, Hex } from "viem";
import { AppError } from "../../../src/kernel/errors.ts";
import type { Chain } from "../../chains/index.ts";
import { readChain } from "../../chains/index.ts";
import { readAccountSnapshot } from "./account-snapshot.ts";
import { type PaymentAuthorization, parsePlan } from "./spend-plan.ts";
import type { NonceQueue, Spend, SpendStore } from "./spend-store.ts";
import { TOKEN_ABI } from "./token-contract.ts";
import type { TransactionTrackerDeps } from "./transaction-tracker.ts";

interface Deps extends Pick<TransactionTrackerDeps, "log"> {
  ledger: SpendStore;
  confirmationsOf(queue: NonceQueue): number;
  /** Blocks per query for events. Default `MAX_BLOCKS_PER_QUERY`. */
  maxBlocks?: bigint | undefined;
}

/** Seconds by which the nodes behind one RPC address may differ. */
const CLOCK_MARGIN_SECONDS = 60;
/** Blocks per query for events: public nodes allow that many, and a payment expires within fewer. */
const MAX_BLOCKS_PER_QUERY = 2_000n;
/** Queries for events, and reads of single authorizations, per check. The rest follows in later checks. */
const MAX_QUERIES = 10;

interface WatchedPayment {
  spend: Spend;
  nonce: Hex;
  /** Seconds since 1970. */
  validBefore: number;
  /** The block from which its event can occur. */
  since: bigint;
}

/** The transaction that used an authorization. */
interface AuthorizationUse {
  hash: Hex;
  block: bigint;
}

/**
 * Finishes the payments of a queue that were used or have expired. The number of chain queries does not grow with
 * theirs.
 */
export function createPaymentWatcher({ log, ledger, confirmationsOf, maxBlocks = MAX_BLOCKS_PER_QUERY }: Deps) {
  return async (chain: Chain, queue: NonceQueue, spends: readonly Spend[]): Promise<void> => {
    const { blockNumber, timestamp } = await readAccountSnapshot(chain, queue.address);
    const watchedPayments = spends.map((spend) => toWatchedPayment(spend, blockNumber));
    for (const [asset, payments] of Map.groupBy(watchedPayments, ({ spend }) => spend.asset)) {
      const uses = await findAuthorizationUses(
        chain,
        asset as Address,
        queue.address as Address,
        payments,
        blockNumber,
      );
      const unresolved: WatchedPayment[] = [];
      for (const payment of payments) {
        const found = uses?.get(payment.nonce);
        if (!found) unresolved.push(payment);
        else if (blockNumber - found.block + 1n >= BigInt(confirmationsOf(queue))) {
          await ledger.finish(payment.spend, { state: "confirmed", hash: found.hash });
        }
      }
      // If the node gives no events, or the payment has expired, `authorizationState` of the token decides.
      const isExpired = ({ validBefore }: WatchedPayment) => timestamp >= validBefore + CLOCK_MARGIN_SECONDS;
      const others = uses
        ? []
        : rotate(
            unresolved.filter((payment) => !isExpired(payment)),
            Number(blockNumber),
          );
      for (const payment of [...unresolved.filter(isExpired), ...others].slice(0, MAX_QUERIES)) {
        await finishByAuthorizationState(chain, payment, isExpired(payment));
      }
    }
  };

  /** Uses by nonce; undefined if the node gives no events. */
  async function findAuthorizationUses(
    chain: Chain,
    asset: Address,
    owner: Address,
    payments: readonly WatchedPayment[],
    head: bigint,
  ) {
    const nonces = payments.map(({ nonce }) => nonce);
    const uses = new Map<Hex, AuthorizationUse>();
    let [from = head] = payments.map(({ since }) => since).sort((one, other) => Number(one - other));
    try {
      for (let time = 0; time < MAX_QUERIES && from <= head; time++, from += maxBlocks) {
        const [fromBlock, last] = [from, from + maxBlocks - 1n];
        const logs = await readChain(chain, (client) =>
          client.getContractEvents({
            address: asset,
            abi: TOKEN_ABI,
            eventName: "AuthorizationUsed",
            args: { authorizer: owner, nonce: nonces },
            fromBlock,
            toBlock: last < head ? last : head,
            strict: true,
          }),
        );
        for (const { address, args, transactionHash: hash, blockNumber } of logs) {
          // viem has checked authorizer and nonces (`strict`), but not the contract.
          if (address.toLowerCase() === asset.toLowerCase()) uses.set(args.nonce, { hash, block: blockNumber });
        }
      }
      return uses;
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      log.debug("Reading events failed; checking payments one by one.", { asset, error });
      return undefined;
    }
  }

  async function finishByAuthorizationState(
    chain: Chain,
    { spend, nonce }: WatchedPayment,
    expired: boolean,
  ): Promise<void> {
    const args = [spend.address as Address, nonce] as const;
    const read = { address: spend.asset as Address, abi: TOKEN_ABI, functionName: "authorizationState", args } as const;
    if (await readChain(chain, (client) => client.readContract(read)))
      await ledger.finish(spend, { state: "confirmed" });
    // The block time was read before the state, and was past the deadline: the authorization can't be used any more.
    else if (expired) await ledger.finish(spend, { state: "failed", reason: "EXPIRED" });
  }
}

function toWatchedPayment(spend: Spend, head: bigint): WatchedPayment {
  const plan = parsePlan(spend.plan);
  const { nonce, validBefore = 0, since }: PaymentAuthorization = "payment" in plan ? plan.payment : {};
  if (nonce === undefined) throw new Error("A signed payment in the ledger has no nonce.");
  return { spend, nonce, validBefore, since: since === undefined ? earliestBlock(head) : BigInt(since) };
}

/** Starts at another element for each block, so that every payment is checked at some time. */
function rotate<T>(list: readonly T[], by: number): T[] {
  const at = list.length === 0 ? 0 : (by * MAX_QUERIES) % list.length;
  return [...list.slice(at), ...list.slice(0, at)];
}

const earliestBlock = (head: bigint) => (head > MAX_BLOCKS_PER_QUERY ? head - MAX_BLOCKS_PER_QUERY : 0n);
