// The gate: whether an address holds enough of one token, asked on the chain and remembered for a moment.
import type { Chain } from "../../src/kernel/chains/chains.ts";
import type { Config } from "../../src/kernel/config/config.ts";
import { AppError } from "../../src/kernel/errors.ts";
import { createSemaphore } from "./semaphore.ts";

export interface Gate {
  /** False: no token is configured, and everyone passes. */
  readonly enabled: boolean;
  readonly requirement: GateRequirement;
  /**
   * Whether this address (0x and 40 hex digits, in any case) passes. Throws 500 `CHAIN_UNAVAILABLE` when the balance can't
   * be told, whatever the reason: an error never lets anybody in.
   */
  hasAccess(address: string): Promise<boolean>;
}

/** What the gate asks for, as it is shown. */
export interface GateRequirement {
  /** In the token's smallest unit. */
  minBalance: string;
  /** The token's symbol. */
  token: string;
  chain: string;
  /** Empty while the gate is off. */
  contractAddress: string;
  /** Of the operator's RPC, without path and query, which may hold a key. */
  rpcEndpoint: string;
}

export interface GateOptions {
  /** Epoch ms. */
  now?: () => number;
}

/** Two blocks and a half of Base. */
const CACHE_TTL_MS = 5_000;
const CACHE_MAX_ENTRIES = 10_000;
/** Questions to the chain at once, so that a slow one does not take all connections. */
const MAX_CONCURRENT_READS = 32;
const QUEUE_TIMEOUT_MS = 10_000;

interface CachedAccess {
  passes: boolean;
  /** Epoch ms. */
  expiresAt: number;
}

export function createGate(
  { gating, chains }: Pick<Config, "gating" | "chains">,
  chain: Chain,
  { now = Date.now }: GateOptions = {},
): Gate {
  const { token, symbol, minBalance } = gating;
  /** The oldest first. Holds answers alone, never failures. */
  const cache = new Map<string, CachedAccess>();
  const inFlight = new Map<string, Promise<boolean>>();
  const tooBusy = () => chainUnavailable(new Error("Too many questions to the chain wait for an answer."));
  const withPermit = createSemaphore({
    permits: MAX_CONCURRENT_READS,
    timeoutMs: QUEUE_TIMEOUT_MS,
    timeoutError: tooBusy,
  });

  async function checkBalance(contract: string, address: string): Promise<boolean> {
    const { balance, at } = await withPermit(async () => ({
      at: now(),
      balance: await balanceOf(chain, contract, address),
    }));
    const passes = balance >= minBalance;
    cache.delete(address);
    evict(at);
    cache.set(address, { passes, expiresAt: at + CACHE_TTL_MS });
    return passes;
  }

  /** Each new answer sweeps out those that are too old, or the oldest when there are too many. */
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
      rpcEndpoint: new URL(chains.mainnet.rpcUrl).origin,
    },
    async hasAccess(input) {
      if (token === undefined) return true;
      const address = input.toLowerCase();
      const cached = cache.get(address);
      if (cached && cached.expiresAt > now()) return cached.passes;
      // Who asks for the same at the same time gets the same answer.
      let check = inFlight.get(address);
      if (!check) {
        check = checkBalance(token, address).finally(() => inFlight.delete(address));
        inFlight.set(address, check);
      }
      return check;
    },
  };
}

/** Of `balanceOf(address)`, ERC-20. */
const BALANCE_OF = "0x70a08231";
const UINT256_HEX = /^0x[0-9a-f]{64}$/i;

/** An ERC-20 balance in smallest units. What is not just one word of 32 bytes is no balance. */
async function balanceOf(chain: Chain, contract: string, address: string): Promise<bigint> {
  try {
    const data = await chain.withClient(async (client) => {
      const call = { to: toHex(contract.toLowerCase()), data: toHex(BALANCE_OF + address.slice(2).padStart(64, "0")) };
      return (await client.call(call)).data;
    });
    if (typeof data !== "string" || !UINT256_HEX.test(data)) throw new Error("The token's contract gave no balance.");
    return BigInt(data);
  } catch (error) {
    throw error instanceof AppError ? error : chainUnavailable(error);
  }
}

const toHex = (text: string): `0x${string}` => `0x${text.slice(2)}`;

const chainUnavailable = (cause: unknown) =>
  new AppError(500, "CHAIN_UNAVAILABLE", "The chain can't be asked right now. Try again later.", {}, { cause });
