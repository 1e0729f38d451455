// The swap venue for Uniswap v3, which is deployed on both chains: quotes every direct pool, and swaps at the best one.

import type { Address } from "viem";
import type { Config } from "../../../src/kernel/config/config.ts";
import { AppError } from "../../../src/kernel/errors.ts";
import type { Chain, ChainName } from "../../chains/index.ts";
import { unusableResponse } from "../../chains/index.ts";
import { walletSettings } from "../settings.ts";
import type { Swap, SwapVenue } from "./swap-venue.ts";
import { isReverted, TOKEN_ABI } from "./token-contract.ts";

/** The fees of pools in hundredths of a basis point (Uniswap v3, `UniswapV3Factory`). */
const POOL_FEES = [100, 500, 3000, 10_000] as const;

const uint = <Name extends string>(name: Name) => ({ name, type: "uint256" }) as const;
const address = <Name extends string>(name: Name) => ({ name, type: "address" }) as const;

/** `IQuoterV2.sol`. Not a view in Solidity, but meant for calls only, so it is declared as one. */
const QUOTER = [
  {
    type: "function",
    stateMutability: "view",
    name: "quoteExactInputSingle",
    inputs: [
      {
        name: "params",
        type: "tuple",
        components: [
          address("tokenIn"),
          address("tokenOut"),
          uint("amountIn"),
          { name: "fee", type: "uint24" },
          { name: "sqrtPriceLimitX96", type: "uint160" },
        ],
      },
    ],
    outputs: [
      uint("amountOut"),
      { name: "sqrtPriceX96After", type: "uint160" },
      { name: "initializedTicksCrossed", type: "uint32" },
      uint("gasEstimate"),
    ],
  },
] as const;

/**
 * `IV3SwapRouter.sol` and `IMulticallExtended.sol` of SwapRouter02, whose swaps have a deadline only inside a
 * multicall.
 */
const ROUTER = [
  {
    type: "function",
    stateMutability: "payable",
    name: "exactInputSingle",
    inputs: [
      {
        name: "params",
        type: "tuple",
        components: [
          address("tokenIn"),
          address("tokenOut"),
          { name: "fee", type: "uint24" },
          address("recipient"),
          uint("amountIn"),
          uint("amountOutMinimum"),
          { name: "sqrtPriceLimitX96", type: "uint160" },
        ],
      },
    ],
    outputs: [uint("amountOut")],
  },
  {
    type: "function",
    stateMutability: "payable",
    name: "multicall",
    inputs: [uint("deadline"), { name: "data", type: "bytes[]" }],
    outputs: [{ name: "results", type: "bytes[]" }],
  },
] as const;

interface Deps {
  config: Pick<Config, "of">;
  chainOf(network: ChainName): Chain;
}

export function createUniswapVenue({ config, chainOf }: Deps): SwapVenue {
  const { contracts } = config.of(walletSettings);
  const contractsOf = (network: ChainName) => {
    const { swapRouter, swapQuoter } = contracts[network === "mainnet_chain" ? "mainnet" : "testnet"];
    return { router: swapRouter as Address, quoter: swapQuoter as Address };
  };

  /** The amount that one pool gives; undefined if the pool does not exist or has too little liquidity. */
  async function quotePool({ network, sell, buy, units }: Swap, fee: number): Promise<bigint | undefined> {
    const params = { tokenIn: sell, tokenOut: buy, amountIn: units, fee, sqrtPriceLimitX96: 0n };
    const read = { address: contractsOf(network).quoter, abi: QUOTER, functionName: "quoteExactInputSingle" } as const;
    try {
      const [out] = await chainOf(network).withClient((client) => client.readContract({ ...read, args: [params] }));
      return out;
    } catch (error) {
      if (error instanceof AppError) throw error;
      // A revert means that this pool can't trade. Any other error says nothing about it, and must not look like one.
      if (await isReverted(error)) return undefined;
      throw unusableResponse(error);
    }
  }

  return {
    async quote(swap) {
      const quotes = await Promise.all(
        POOL_FEES.map(async (fee) => ({ fee, out: (await quotePool(swap, fee)) ?? 0n })),
      );
      const best = quotes.reduce((one, other) => (other.out > one.out ? other : one));
      return best.out > 0n ? { ...swap, out: best.out, route: String(best.fee) } : undefined;
    },

    async buildCalls({ network, sell, buy, units, route }, { owner, minOut, deadline }) {
      const { encodeFunctionData } = await import("viem");
      const { router } = contractsOf(network);
      const params = {
        tokenIn: sell,
        tokenOut: buy,
        fee: Number(route),
        recipient: owner,
        amountIn: units,
        amountOutMinimum: minOut,
        sqrtPriceLimitX96: 0n,
      };
      const swap = encodeFunctionData({ abi: ROUTER, functionName: "exactInputSingle", args: [params] });
      const data = encodeFunctionData({ abi: ROUTER, functionName: "multicall", args: [BigInt(deadline), [swap]] });
      // The allowance is exactly what the swap takes, so none is left afterwards.
      const approve = encodeFunctionData({ abi: TOKEN_ABI, functionName: "approve", args: [router, units] });
      return [
        { to: sell, data: approve },
        { to: router, data },
      ];
    },
  };
}
