// The gate: whether an address holds enough of one token, asked on the chain and remembered for a moment.
import type { Chain } from "../../src/chains.ts";
import type { Config } from "../../src/config.ts";
import { AppError } from "../../src/errors.ts";
import { createLine } from "./line.ts";

export interface Gate {
  /** False: no token is configured, and everyone passes. */
  readonly on: boolean;
  readonly terms: GateTerms;
  /**
   * Whether this address (0x and 40 hex digits, in any case) passes. Throws 500 `CHAIN_UNAVAILABLE` when the balance can't
   * be told, whatever the reason: an error never lets anybody in.
   */
  admits(address: string): Promise<boolean>;
}

/** What the gate asks for, as it is shown. */
export interface GateTerms {
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
const REMEMBERED_MS = 5_000;
const MOST_REMEMBERED = 10_000;
/** Questions to the chain at once, so that a slow one does not take all connections. */
const AT_ONCE = 32;
const PATIENCE_MS = 10_000;

interface Answer {
  passes: boolean;
  /** Epoch ms. */
  until: number;
}

export function createGate(
  { gating, chains }: Pick<Config, "gating" | "chains">,
  chain: Chain,
  { now = Date.now }: GateOptions = {},
): Gate {
  const { token, symbol, minBalance } = gating;
  /** The oldest first. Holds answers alone, never failures. */
  const answers = new Map<string, Answer>();
  const underWay = new Map<string, Promise<boolean>>();
  const busy = () => unavailable(new Error("Too many questions to the chain wait for an answer."));
  const inLine = createLine({ places: AT_ONCE, patienceMs: PATIENCE_MS, tooLong: busy });

  async function ask(contract: string, address: string): Promise<boolean> {
    const { balance, at } = await inLine(async () => ({
      at: now(),
      balance: await balanceOf(chain, contract, address),
    }));
    const passes = balance >= minBalance;
    answers.delete(address);
    makeRoom(at);
    answers.set(address, { passes, until: at + REMEMBERED_MS });
    return passes;
  }

  /** Each new answer sweeps out those that are too old, or the oldest when there are too many. */
  function makeRoom(time: number): void {
    for (const [address, { until }] of answers) {
      if (until > time && answers.size < MOST_REMEMBERED) return;
      answers.delete(address);
    }
  }

  return {
    on: token !== undefined,
    terms: {
      minBalance: String(minBalance),
      token: symbol,
      chain: chain.name,
      contractAddress: token ?? "",
      rpcEndpoint: new URL(chains.mainnet.rpcUrl).origin,
    },
    async admits(given) {
      if (token === undefined) return true;
      const address = given.toLowerCase();
      const known = answers.get(address);
      if (known && known.until > now()) return known.passes;
      // Who asks for the same at the same time gets the same answer.
      let question = underWay.get(address);
      if (!question) {
        question = ask(token, address).finally(() => underWay.delete(address));
        underWay.set(address, question);
      }
      return question;
    },
  };
}

/** Of `balanceOf(address)`, ERC-20. */
const BALANCE_OF = "0x70a08231";
const WORD = /^0x[0-9a-f]{64}$/i;

/** An ERC-20 balance in smallest units. What is not just one word of 32 bytes is no balance. */
async function balanceOf(chain: Chain, contract: string, address: string): Promise<bigint> {
  try {
    const data = await chain.ask(async (client) => {
      const call = { to: hex(contract.toLowerCase()), data: hex(BALANCE_OF + address.slice(2).padStart(64, "0")) };
      return (await client.call(call)).data;
    });
    if (typeof data !== "string" || !WORD.test(data)) throw new Error("The token's contract gave no balance.");
    return BigInt(data);
  } catch (error) {
    throw error instanceof AppError ? error : unavailable(error);
  }
}

const hex = (text: string): `0x${string}` => `0x${text.slice(2)}`;

const unavailable = (cause: unknown) =>
  new AppError(500, "CHAIN_UNAVAILABLE", "The chain can't be asked right now. Try again later.", {}, { cause });
