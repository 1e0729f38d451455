// A nonce that nobody used before one that was signed: by a wrong word of a node. What was signed waits for it for ever, so it is filled.
import type { Hex } from "viem";
import type { Chain } from "../../src/chains.ts";
import type { View } from "./chain-view.ts";
import { ask } from "./contracts.ts";
import { type Cost, costFrom, costOf, raised } from "./fees.ts";
import type { FollowingDeps } from "./following.ts";
import type { Lane, Spend, Transaction } from "./lane-book.ts";
import { transactionOf } from "./signing.ts";

interface Options {
  stuckMs: number;
  mostFee: bigint;
  now: () => number;
}

/** Nonces of one gap that are filled; more is no mistake of a moment, and the operator has to look at it. */
const MOST_MISSING = 16;
/** Of a transaction that does nothing. */
const GAS = 21_000n;

/**
 * Fills the first missing nonce with a transaction of nothing to the wallet itself: signing the spend anew under that nonce
 * could pay twice. It belongs to the spend that waits, and is closed with it.
 */
export function createGaps({ log, ledger, walletOf, signerOf }: FollowingDeps, { stuckMs, mostFee, now }: Options) {
  return async (chain: Chain, lane: Lane, { used }: View): Promise<void> => {
    const first = await ledger.firstUnderWay(lane);
    if (!first || used >= first.nonce || now() - first.createdAt <= stuckMs) return;
    if (first.nonce - used > MOST_MISSING) {
      log.warn("A wallet's spends wait for nonces that nobody used.", { ...lane, used, next: first.nonce });
      return;
    }
    const spend = await ledger.find(first.spendId);
    if (!spend || (await ledger.hindrance(spend)) !== undefined) return;
    const known = await ledger.fillerAt(lane, used);
    if (known && now() - known.createdAt <= stuckMs) return send(chain, known);
    const filler = await sign(chain, spend, used, known);
    if (filler) await ledger.filled(filler);
    const transaction = filler ?? known;
    if (transaction) await send(chain, transaction);
  };

  /** Undefined where the wallet, or the cap, does not allow for it. */
  async function sign(chain: Chain, spend: Spend, nonce: number, was: Transaction | undefined) {
    const wallet = await walletOf(spend.walletId);
    if (!wallet) return undefined;
    const to = wallet.address as Hex;
    const { fees, ether } = await ask(chain, async (client) => ({
      fees: await client.estimateFeesPerGas(),
      ether: await client.getBalance({ address: to }),
    }));
    const cost = was ? raised(JSON.parse(was.cost) as Cost, fees) : costFrom(GAS, fees);
    if (costOf(cost) > mostFee || costOf(cost) > ether) return undefined;
    const signer = await signerOf(wallet);
    const attempt = was ? was.attempt + 1 : 0;
    const call = { to, data: "0x" } as const;
    const made = await transactionOf({ chain, spend, signer, call, nonce, attempt, cost, at: now() });
    log.warn("A nonce that nobody used is filled.", { network: spend.network, address: spend.address, nonce });
    return made;
  }

  async function send(chain: Chain, { raw, spendId }: Transaction): Promise<void> {
    try {
      await chain.ask((client) => client.request({ method: "eth_sendRawTransaction", params: [raw as Hex] }));
    } catch (error) {
      log.debug("A filler was not taken; it will be sent again.", { spend: spendId, error });
    }
  }
}
