// Reads the two chains through viem, which is loaded at the first call. The chain's id is checked in every call.

import type { PublicClient } from "viem";
import type { Config } from "../../src/kernel/config/config.ts";
import { AppError } from "../../src/kernel/errors.ts";
import { chainSettings } from "./settings.ts";

/** The name of a chain in the API. */
export type ChainName = "mainnet_chain" | "testnet_chain";

export interface Chain {
  readonly name: ChainName;
  readonly id: number;
  /** Of a site for people that shows transactions below `/tx/` and addresses below `/address/`. */
  readonly explorerUrl: string;
  /**
   * Checks the chain's id, then runs the operation with a client, all within one time limit. Throws 500
   * `CHAIN_UNAVAILABLE` if any request of the operation got no response, even if viem turned that into a plain "no".
   * Errors of the chain itself (a call that reverts) reach the operation.
   *
   * @example const balance = await chain.withClient((client) => client.getBalance({ address }));
   */
  withClient<T>(operation: (client: PublicClient) => Promise<T>): Promise<T>;
}

export interface Chains {
  readonly mainnet: Chain;
  readonly testnet: Chain;
}

interface Addresses {
  id: number;
  rpcUrl: string;
  explorerUrl: string;
}

export interface ChainsOptions {
  /** The limit for one operation with all its requests, in ms. Default: 10 s. */
  timeoutMs?: number;
}

/** Opens no connection and loads nothing before the first operation. */
export function createChains(config: Pick<Config, "of">, { timeoutMs = 10_000 }: ChainsOptions = {}): Chains {
  const { mainnet, testnet } = config.of(chainSettings);
  const chain = (name: ChainName, { id, rpcUrl, explorerUrl }: Addresses): Chain => ({
    name,
    id,
    explorerUrl,
    async withClient(operation) {
      const { client, transportFailure } = await connect(name, id, rpcUrl, timeoutMs);
      const [outcome] = await Promise.allSettled([requireChainId(client, name, id).then(() => operation(client))]);
      const reason = transportFailure();
      // The operation may have turned a lost response into a result, which must not count.
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

/** JSON-RPC errors that are the outcome of a call: it reverted or could not be executed. Others mean "try again later". */
const EXECUTION_ERROR_CODES = new Set([3, -32_000, -32_015]);

/** A client for one operation, and the reason if one of its requests got no response. */
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

  /** The node's error about the call itself, without the address, whose path may be a key, and without the request. */
  const findExecutionError = (error: unknown): Error | undefined => {
    const rpcError = error instanceof BaseError && error.walk((inner) => inner instanceof RpcRequestError);
    if (!(rpcError instanceof RpcRequestError) || !EXECUTION_ERROR_CODES.has(rpcError.code)) return undefined;
    const { code, data, details: message } = rpcError;
    return new RpcRequestError({ body: {}, error: { code, data, message }, url: new URL(rpcUrl).origin });
  };
  const request = async (args: Parameters<typeof rpc.request>[0]) => {
    try {
      const result: unknown = await rpc.request(args);
      if (result === undefined) throw new BaseError("The response is not JSON-RPC.");
      return result;
    } catch (error) {
      const executionError = findExecutionError(error);
      if (executionError) throw executionError;
      // The error's long message contains the address, which may contain a key.
      transportFailure ??= error instanceof BaseError ? error.shortMessage : "it took too long";
      throw error;
    }
  };
  const client = createPublicClient({
    chain,
    transport: custom({ request }, { retryCount: 0 }),
    // A contract must not make us fetch addresses that it names (ERC-3668).
    ccipRead: false,
  });
  return { client, transportFailure: () => transportFailure };
}
