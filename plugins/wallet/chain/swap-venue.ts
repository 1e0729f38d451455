// Defines the port for a place that quotes and swaps tokens; uniswap.ts is its driver.
import type { Address } from "viem";
import type { ChainName } from "../../chains/index.ts";
import type { Call } from "./spend-plan.ts";

export interface Swap {
  network: ChainName;
  sell: Address;
  buy: Address;
  /** Amount of `sell` in its smallest unit. */
  units: bigint;
}

export interface Quote extends Swap {
  /** Amount of `buy` in its smallest unit. */
  out: bigint;
  /** The driver's own description of the route; opaque to callers. */
  route: string;
}

/** A place where tokens are traded. */
export interface SwapVenue {
  /** The best current quote; undefined if no pool trades these tokens. Throws 500 `CHAIN_UNAVAILABLE`. */
  quote(swap: Swap): Promise<Quote | undefined>;
  /**
   * The calls of a swap that buys at least `minOut`, or reverts. They are valid until `deadline` (seconds since 1970).
   */
  buildCalls(quote: Quote, terms: { owner: Address; minOut: bigint; deadline: number }): Promise<Call[]>;
}
