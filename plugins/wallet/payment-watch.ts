// Signed payments (EIP-3009) that a seller has, or was to have: the token's events say which were used, and by which transaction.
import type { Address, Hex } from "viem";
import type { Chain } from "../../src/chains.ts";
import { AppError } from "../../src/errors.ts";
import { viewOf } from "./chain-view.ts";
import { ask, TOKEN } from "./contracts.ts";
import type { FollowingDeps } from "./following.ts";
import type { Lane, LaneBook, Spend } from "./lane-book.ts";
import { type Payment, readPlan } from "./plan.ts";

interface Deps extends Pick<FollowingDeps, "log"> {
  ledger: LaneBook;
  confirmationsOf(lane: Lane): number;
  /** Of one question for events. Default `MOST_BLOCKS`. */
  mostBlocks?: bigint | undefined;
}

/** Seconds that nodes behind one address may be apart. */
const MARGIN = 60;
/** Blocks of one question for events: what public nodes take, and more than a payment is good for. */
const MOST_BLOCKS = 2_000n;
/** Questions for events at a time, and payments that the token is asked about one by one. The rest has its turn later. */
const AT_ONCE = 10;

interface Watched {
  spend: Spend;
  nonce: Hex;
  validBefore: number;
  since: bigint;
}

/** Where an authorization was used. */
interface Used {
  hash: Hex;
  block: bigint;
}

/** Settles those of a lane's payments that are decided; the questions to the chain don't grow with their number. */
export function createPaymentWatch({ log, ledger, confirmationsOf, mostBlocks = MOST_BLOCKS }: Deps) {
  return async (chain: Chain, lane: Lane, spends: readonly Spend[]): Promise<void> => {
    const { block, time } = await viewOf(chain, lane.address);
    const all = spends.map((spend) => watched(spend, block));
    for (const [asset, payments] of Map.groupBy(all, ({ spend }) => spend.asset)) {
      const used = await usedOf(chain, asset as Address, lane.address as Address, payments, block);
      const left: Watched[] = [];
      for (const payment of payments) {
        const found = used?.get(payment.nonce);
        if (!found) left.push(payment);
        else if (block - found.block + 1n >= BigInt(confirmationsOf(lane))) {
          await ledger.settled(payment.spend, { state: "confirmed", hash: found.hash });
        }
      }
      // Where there are no events to read, the token's word has to do; and its word is the last, when the time is over.
      const isOver = ({ validBefore }: Watched) => time >= validBefore + MARGIN;
      const others = used
        ? []
        : turned(
            left.filter((payment) => !isOver(payment)),
            Number(block),
          );
      for (const payment of [...left.filter(isOver), ...others].slice(0, AT_ONCE)) {
        await settleByState(chain, payment, isOver(payment));
      }
    }
  };

  /** By nonce; undefined where this node tells no events. */
  async function usedOf(chain: Chain, asset: Address, owner: Address, payments: readonly Watched[], head: bigint) {
    const nonces = payments.map(({ nonce }) => nonce);
    const used = new Map<Hex, Used>();
    let [from = head] = payments.map(({ since }) => since).sort((one, other) => Number(one - other));
    try {
      for (let time = 0; time < AT_ONCE && from <= head; time++, from += mostBlocks) {
        const [fromBlock, last] = [from, from + mostBlocks - 1n];
        const logs = await ask(chain, (client) =>
          client.getContractEvents({
            address: asset,
            abi: TOKEN,
            eventName: "AuthorizationUsed",
            args: { authorizer: owner, nonce: nonces },
            fromBlock,
            toBlock: last < head ? last : head,
            strict: true,
          }),
        );
        for (const { address, args, transactionHash: hash, blockNumber } of logs) {
          // Whose, and of which nonces, viem has seen to.
          if (address.toLowerCase() === asset.toLowerCase()) used.set(args.nonce, { hash, block: blockNumber });
        }
      }
      return used;
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      log.debug("A chain tells no events; payments are asked about one by one.", { asset, error });
      return undefined;
    }
  }

  async function settleByState(chain: Chain, { spend, nonce }: Watched, over: boolean): Promise<void> {
    const args = [spend.address as Address, nonce] as const;
    const read = { address: spend.asset as Address, abi: TOKEN, functionName: "authorizationState", args } as const;
    if (await ask(chain, (client) => client.readContract(read))) await ledger.settled(spend, { state: "confirmed" });
    // The block's time was read before the state: nobody can use it any more.
    else if (over) await ledger.settled(spend, { state: "failed", reason: "EXPIRED" });
  }
}

function watched(spend: Spend, head: bigint): Watched {
  const plan = readPlan(spend.plan);
  const { nonce, validBefore = 0, since }: Payment = "payment" in plan ? plan.payment : {};
  if (nonce === undefined) throw new Error("A payment is signed, and has no nonce.");
  return { spend, nonce, validBefore, since: since === undefined ? oldest(head) : BigInt(since) };
}

/** Begins elsewhere at each block, so that none waits for ever behind others. */
function turned<T>(list: readonly T[], by: number): T[] {
  const at = list.length === 0 ? 0 : (by * AT_ONCE) % list.length;
  return [...list.slice(at), ...list.slice(0, at)];
}

const oldest = (head: bigint) => (head > MOST_BLOCKS ? head - MOST_BLOCKS : 0n);
