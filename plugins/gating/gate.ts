// The gate reads an address's balance of one ERC-20 token from the chain, compares it with the minimum, and caches the
// result for five seconds.

import type { Config } from "../../src/kernel/config/config.ts";
import { AppError } from "../../src/kernel/errors.ts";
import { createSemaphore } from "../../src/kernel/util/semaphore.ts";
import { SECOND } from "../../src/kernel/util/time.ts";
import type { Chain } from "../chains/index.ts";
import { chainSettings } from "../chains/settings.ts";
import { gatingSettings } from "./settings.ts";

export interface Gate {
  /** False if no token is configured; then every address passes. */
  readonly enabled: boolean;
  readonly requirement: GateRequirement;
  /**
   * Whether this address (0x and 40 hex digits, in any case) holds the minimum. Throws 500 `CHAIN_UNAVAILABLE` if the
   * balance can't be read, for whatever reason: an error never grants access.
   */
  hasAccess(address: string): Promise<boolean>;
}

/** The requirement as the API shows it. */
export interface GateRequirement {
  /** In the token's smallest unit. */
  minBalance: string;
  /** The token's symbol. */
  token: string;
  chain: string;
  /** Empty while the gate is off. */
  contractAddress: string;
  /** Origin of the operator's RPC URL; path and query are left out because they may hold a key. */
  rpcEndpoint: string;
}

export interface GateOptions {
  /** The current time in epoch ms. */
  now?: () => number;
}

/** Two and a half blocks of Base. */
const CACHE_TTL_MS = 5 * SECOND;
const CACHE_MAX_ENTRIES = 10_000;
/** Concurrent reads, so that a slow RPC does not occupy all connections. */
const MAX_CONCURRENT_READS = 32;
/** How long a read waits for one of those places before it fails. */
const QUEUE_TIMEOUT_MS = 10 * SECOND;

interface CachedAccess {
  passes: boolean;
  /** Epoch ms. */
  expiresAt: number;
}

export function createGate(config: Pick<Config, "of">, chain: Chain, { now = Date.now }: GateOptions = {}): Gate {
  const { token, symbol, minBalance } = config.of(gatingSettings);
  const { rpcUrl } = config.of(chainSettings).mainnet;
  /** In order of insertion, so the oldest entry comes first. Failures are never cached. */
  const cache = new Map<string, CachedAccess>();
  const inFlight = new Map<string, Promise<boolean>>();
  const reads = createSemaphore(MAX_CONCURRENT_READS);
  const queueTimeout = {
    ms: QUEUE_TIMEOUT_MS,
    error: () => chainUnavailable(new Error("Too many balance reads are waiting for the chain.")),
  };

  async function checkBalance(contract: string, address: string): Promise<boolean> {
    const { balance, at } = await reads.run(
      async () => ({ at: now(), balance: await balanceOf(chain, contract, address) }),
      { timeout: queueTimeout },
    );
    const passes = balance >= minBalance;
    cache.delete(address);
    evict(at);
    cache.set(address, { passes, expiresAt: at + CACHE_TTL_MS });
    return passes;
  }

  /** Removes expired entries, and the oldest ones while the cache is full. */
  function evict(time: number): void {
    for (const [address, { expiresAt }] of cache) {
      if (expiresAt > time && cache.size < CACHE_MAX_ENTRIES) return;
      cache.delete(address);
    }
  }

  return {
    enabled: token !== undefined,
    requirement: {
      minBalance: String(minBalance),
      token: symbol,
      chain: chain.name,
      contractAddress: token ?? "",
      rpcEndpoint: new URL(rpcUrl).origin,
    },
    async hasAccess(input) {
      if (token === undefined) return true;
      const address = input.toLowerCase();
      const cached = cache.get(address);
      if (cached && cached.expiresAt > now()) return cached.passes;
      // Concurrent calls for the same address share one read.
      let check = inFlight.get(address);
      if (!check) {
        check = checkBalance(token, address).finally(() => inFlight.delete(address));
        inFlight.set(address, check);
      }
      return check;
    },
  };
}

/** Function selector of `balanceOf(address)` (ERC-20). */
const BALANCE_OF = "0x70a08231";
const UINT256_HEX = /^0x[0-9a-f]{64}$/i;

/**
 * An ERC-20 balance in smallest units. The call is encoded by hand: viem's ABI code stays unloaded, and a result that
 * is not exactly one 32-byte word is rejected.
 */
async function balanceOf(chain: Chain, contract: string, address: string): Promise<bigint> {
  try {
    const data = await chain.withClient(async (client) => {
      const call = { to: toHex(contract.toLowerCase()), data: toHex(BALANCE_OF + address.slice(2).padStart(64, "0")) };
      return (await client.call(call)).data;
    });
    if (typeof data !== "string" || !UINT256_HEX.test(data))
      throw new Error("The token contract did not return one 32-byte word.");
    return BigInt(data);
  } catch (error) {
    throw error instanceof AppError ? error : chainUnavailable(error);
  }
}

const toHex = (text: string): `0x${string}` => `0x${text.slice(2)}`;

const chainUnavailable = (cause: unknown) =>
  new AppError(500, "CHAIN_UNAVAILABLE", "The chain can't be reached right now. Try again later.", {}, { cause });
