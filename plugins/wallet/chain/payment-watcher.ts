// Signed payments (EIP-3009) that a seller has, or was to have: the token's events say which were used, and by which transaction.
import type { Address, Hex } from "viem";
import type { Chain } from "../../../src/kernel/chains/chains.ts";
import { readChain } from "../../../src/kernel/chains/read-chain.ts";
import { AppError } from "../../../src/kernel/errors.ts";
import { readAccountSnapshot } from "./account-snapshot.ts";
import { type PaymentAuthorization, parsePlan } from "./spend-plan.ts";
import type { NonceQueue, Spend, SpendStore } from "./spend-store.ts";
import { TOKEN_ABI } from "./token-contract.ts";
import type { TransactionTrackerDeps } from "./transaction-tracker.ts";

interface Deps extends Pick<TransactionTrackerDeps, "log"> {
  ledger: SpendStore;
  confirmationsOf(queue: NonceQueue): number;
  /** Of one question for events. Default `MOST_BLOCKS`. */
  maxBlocks?: bigint | undefined;
}

/** Seconds that nodes behind one address may be apart. */
const CLOCK_MARGIN_SECONDS = 60;
/** Blocks of one question for events: what public nodes take, and more than a payment is good for. */
const MAX_BLOCKS_PER_QUERY = 2_000n;
/** Questions for events at a time, and payments that the token is asked about one by one. The rest has its turn later. */
const MAX_QUERIES = 10;

interface WatchedPayment {
  spend: Spend;
  nonce: Hex;
  validBefore: number;
  since: bigint;
}

/** Where an authorization was used. */
interface AuthorizationUse {
  hash: Hex;
  block: bigint;
}

/** Settles those of a lane's payments that are decided; the questions to the chain don't grow with their number. */
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
      // Where there are no events to read, the token's word has to do; and its word is the last, when the time is over.
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

  /** By nonce; undefined where this node tells no events. */
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
          // Whose, and of which nonces, viem has seen to.
          if (address.toLowerCase() === asset.toLowerCase()) uses.set(args.nonce, { hash, block: blockNumber });
        }
      }
      return uses;
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      log.debug("A chain tells no events; payments are asked about one by one.", { asset, error });
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
    // The block's time was read before the state: nobody can use it any more.
    else if (expired) await ledger.finish(spend, { state: "failed", reason: "EXPIRED" });
  }
}

function toWatchedPayment(spend: Spend, head: bigint): WatchedPayment {
  const plan = parsePlan(spend.plan);
  const { nonce, validBefore = 0, since }: PaymentAuthorization = "payment" in plan ? plan.payment : {};
  if (nonce === undefined) throw new Error("A payment is signed, and has no nonce.");
  return { spend, nonce, validBefore, since: since === undefined ? earliestBlock(head) : BigInt(since) };
}

/** Begins elsewhere at each block, so that none waits for ever behind others. */
function rotate<T>(list: readonly T[], by: number): T[] {
  const at = list.length === 0 ? 0 : (by * MAX_QUERIES) % list.length;
  return [...list.slice(at), ...list.slice(0, at)];
}

const earliestBlock = (head: bigint) => (head > MAX_BLOCKS_PER_QUERY ? head - MAX_BLOCKS_PER_QUERY : 0n);
