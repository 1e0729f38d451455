// Reads the two configured EVM chains, for the plugins that check balances, names and signatures or send transactions.
import { plugin } from "../../src/kernel/plugin.ts";
import { createChains } from "./chains.ts";

export type { Chain, ChainName, Chains } from "./chains.ts";
export { createChains } from "./chains.ts";
export { readChain, unusableResponse } from "./read-chain.ts";

export const chains = plugin("chains", ({ kernel }) => ({ service: createChains(kernel.config) }));
