// Tokens on a chain (ERC-20, EIP-3009): what they are asked, and what becomes of an answer that can't be one.
import type { Address, PublicClient } from "viem";
import type { Chain } from "../../src/chains.ts";
import { AppError } from "../../src/errors.ts";
import { decimalOf } from "./amounts.ts";

const view = { type: "function", stateMutability: "view" } as const;
const call = { type: "function", stateMutability: "nonpayable" } as const;
const of = <Type extends string>(type: Type) => ({ name: "", type }) as const;

/** EIP-20, and what EIP-3009 adds to find out whether an authorization was used. */
export const TOKEN = [
  { ...view, name: "decimals", inputs: [], outputs: [of("uint8")] },
  { ...view, name: "balanceOf", inputs: [of("address")], outputs: [of("uint256")] },
  { ...view, name: "authorizationState", inputs: [of("address"), of("bytes32")], outputs: [of("bool")] },
  { ...call, name: "transfer", inputs: [of("address"), of("uint256")], outputs: [of("bool")] },
  { ...call, name: "approve", inputs: [of("address"), of("uint256")], outputs: [of("bool")] },
  {
    type: "event",
    name: "AuthorizationUsed",
    inputs: [
      { name: "authorizer", type: "address", indexed: true },
      { name: "nonce", type: "bytes32", indexed: true },
    ],
  },
] as const;

/** Whether the chain says that a call was undone by the contract, which is an answer; any other error is none. EIP-1474's 3. */
export async function isReverted(error: unknown): Promise<boolean> {
  const { BaseError, RpcRequestError } = await import("viem");
  const said = error instanceof BaseError ? error.walk((inner) => inner instanceof RpcRequestError) : undefined;
  return said instanceof RpcRequestError && said.code === 3;
}

/**
 * Asks what must have an answer: a contract that reverts, or says what can't be read, is not what we take it for, and is
 * 500 `CHAIN_UNAVAILABLE` like a chain that is gone.
 */
export async function ask<T>(chain: Chain, question: (client: PublicClient) => Promise<T>): Promise<T> {
  try {
    return await chain.ask(question);
  } catch (error) {
    throw error instanceof AppError ? error : unusable(error);
  }
}

/** 500 `CHAIN_UNAVAILABLE`: there was an answer, but not one to build on. */
export function unusable(error: unknown): AppError {
  const short = error instanceof Error && "shortMessage" in error ? error.shortMessage : error;
  const cause = new Error(`A contract gave no usable answer: ${String(short)}`);
  return new AppError(500, "CHAIN_UNAVAILABLE", "The chain's answer can't be used. Try again later.", {}, { cause });
}

export interface Holding {
  decimals: number;
  balance: bigint;
  /** In wei, for fees. */
  ether: bigint;
}

/** What a wallet has of a token, and to pay for transactions. */
export const holdingOf = (chain: Chain, token: Address, owner: Address): Promise<Holding> =>
  ask(chain, async (client) => {
    const read = { address: token, abi: TOKEN } as const;
    const [decimals, balance, ether] = await Promise.all([
      client.readContract({ ...read, functionName: "decimals" }),
      client.readContract({ ...read, functionName: "balanceOf", args: [owner] }),
      client.getBalance({ address: owner }),
    ]);
    return { decimals, balance, ether };
  });

/** What a wallet is shown to have, as decimal texts: ether, and the stablecoin where the chain has such a token. */
export async function heldBy(chain: Chain, token: Address, owner: Address) {
  const read = { address: token, abi: TOKEN } as const;
  const [ether, decimals, units] = await ask(chain, (client) => {
    // A chain that gives no answer at all is an error all the same: `Chain.ask` sees to that.
    const none = () => undefined;
    return Promise.all([
      client.getBalance({ address: owner }),
      client.readContract({ ...read, functionName: "decimals" }).catch(none),
      client.readContract({ ...read, functionName: "balanceOf", args: [owner] }).catch(none),
    ]);
  });
  const stablecoin = decimals !== undefined && units !== undefined && { stablecoin: decimalOf(units, decimals) };
  return { balance: decimalOf(ether, 18), ...(stablecoin || {}) };
}
