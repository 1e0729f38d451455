// The two chains Berth reads: asked through viem, which is loaded at the first question, and never taken for another.

import type { PublicClient } from "viem";
import type { Config } from "../../src/kernel/config/config.ts";
import { AppError } from "../../src/kernel/errors.ts";
import { chainSettings } from "./settings.ts";

/** The name of a chain in the API. */
export type ChainName = "mainnet_chain" | "testnet_chain";

export interface Chain {
  readonly name: ChainName;
  readonly id: number;
  /**
   * Asks the chain something, once it has said that it is the right one; all of it within the time a chain has.
   * Throws 500 `CHAIN_UNAVAILABLE` when any request of the question stayed without an answer, even where viem made
   * a plain "no" of that. What the chain itself refuses (a call that reverts) is for the question to deal with.
   *
   * @example const balance = await chain.ask((client) => client.getBalance({ address }));
   */
  withClient<T>(operation: (client: PublicClient) => Promise<T>): Promise<T>;
}

export interface Chains {
  readonly mainnet: Chain;
  readonly testnet: Chain;
}

export interface ChainsOptions {
  /** For one question with all its requests. Default 10 s. */
  timeoutMs?: number;
}

/** Makes no connection, and loads nothing, before the first question. */
export function createChains(config: Pick<Config, "of">, { timeoutMs = 10_000 }: ChainsOptions = {}): Chains {
  const { mainnet, testnet } = config.of(chainSettings);
  const chain = (name: ChainName, { id, rpcUrl }: { id: number; rpcUrl: string }): Chain => ({
    name,
    id,
    async withClient(operation) {
      const { client, transportFailure } = await connect(name, id, rpcUrl, timeoutMs);
      const [outcome] = await Promise.allSettled([requireChainId(client, name, id).then(() => operation(client))]);
      const reason = transportFailure();
      // Whatever was made of a lost answer rests on nothing.
      if (reason !== undefined) throw chainUnavailable(`The RPC of ${name} gave no answer: ${reason}`);
      if (outcome.status === "rejected") throw outcome.reason;
      return outcome.value;
    },
  });
  return { mainnet: chain("mainnet_chain", mainnet), testnet: chain("testnet_chain", testnet) };
}

async function requireChainId(client: PublicClient, name: ChainName, id: number): Promise<void> {
  const actualId = await client.getChainId();
  if (actualId !== id) throw chainUnavailable(`The RPC of ${name} is on chain ${actualId}, and should be on ${id}.`);
}

function chainUnavailable(reason: string): AppError {
  const text = "The chain can't be asked right now. Try again later.";
  return new AppError(500, "CHAIN_UNAVAILABLE", text, {}, { cause: new Error(reason) });
}

/** JSON-RPC errors that say what came of a call: it reverted, or could not be carried out. Others mean "not now". */
const EXECUTION_ERROR_CODES = new Set([3, -32_000, -32_015]);

/** A client for one question, and why one of its requests stayed without an answer, if one did. */
async function connect(name: ChainName, id: number, rpcUrl: string, timeoutMs: number) {
  const { BaseError, createPublicClient, custom, http, RpcRequestError } = await import("viem");
  const chain = {
    id,
    name,
    nativeCurrency: { name: "Ether", symbol: "ETH", decimals: 18 },
    rpcUrls: { default: { http: [rpcUrl] } },
  };
  const fetchOptions = { signal: AbortSignal.timeout(timeoutMs) };
  const rpc = http(rpcUrl, { timeout: timeoutMs, retryCount: 1, fetchOptions })({ chain });
  let transportFailure: string | undefined;

  /** What the node said of the call itself; without the address, whose path may be a key, and without what was asked. */
  const findExecutionError = (error: unknown): Error | undefined => {
    const rpcError = error instanceof BaseError && error.walk((inner) => inner instanceof RpcRequestError);
    if (!(rpcError instanceof RpcRequestError) || !EXECUTION_ERROR_CODES.has(rpcError.code)) return undefined;
    const { code, data, details: message } = rpcError;
    return new RpcRequestError({ body: {}, error: { code, data, message }, url: new URL(rpcUrl).origin });
  };
  const request = async (args: Parameters<typeof rpc.request>[0]) => {
    try {
      const result: unknown = await rpc.request(args);
      if (result === undefined) throw new BaseError("What came is no JSON-RPC answer.");
      return result;
    } catch (error) {
      const executionError = findExecutionError(error);
      if (executionError) throw executionError;
      // The error's long text holds the address, which may hold a key.
      transportFailure ??= error instanceof BaseError ? error.shortMessage : "it took too long";
      throw error;
    }
  };
  const client = createPublicClient({
    chain,
    transport: custom({ request }, { retryCount: 0 }),
    // A contract must not be able to name addresses for us to fetch (ERC-3668).
    ccipRead: false,
  });
  return { client, transportFailure: () => transportFailure };
}
