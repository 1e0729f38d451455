// Defines the port for a place that quotes and swaps tokens; uniswap.ts is its driver.
import type { Address } from "viem";
import type { ChainName } from "../../../src/kernel/chains/chains.ts";
import type { Call } from "./spend-plan.ts";

export interface Swap {
  network: ChainName;
  sell: Address;
  buy: Address;
  /** Of what is sold, in smallest units. */
  units: bigint;
}

export interface Quote extends Swap {
  /** Of what is bought, in smallest units. */
  out: bigint;
  /** What the driver needs to do just this. */
  route: string;
}

/** A place where tokens are traded. */
export interface SwapVenue {
  /** The best price now; undefined where nobody trades these. Throws 500 `CHAIN_UNAVAILABLE`. */
  quote(swap: Swap): Promise<Quote | undefined>;
  /** What the owner signs to get at least `least`, and nothing otherwise, until the deadline (seconds since 1970). */
  buildCalls(quote: Quote, terms: { owner: Address; minOut: bigint; deadline: number }): Promise<Call[]>;
}
