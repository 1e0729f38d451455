// Trades: one token for another at a price that is quoted now, bounded by how much worse it may get.
import type { Address } from "viem";
import type { ChainName } from "../../src/chains.ts";
import { AppError, invalid } from "../../src/errors.ts";
import { decimalOf, larger, USD_DECIMALS, unitsOf } from "./amounts.ts";
import { ask, holdingOf, TOKEN } from "./contracts.ts";
import { type Details, type Renewed, readDetails, type Spend } from "./ledger.ts";
import { type Plan, writePlan } from "./plan.ts";
import { denied } from "./policy.ts";
import { SLIPPAGE } from "./same.ts";
import { requireAddress, type Spender, type SpendingSteps } from "./spending.ts";
import type { Quote, Swap, SwapVenue } from "./swap.ts";
import type { Wallets } from "./wallets.ts";

export interface TradeRequest {
  /** `USDC` (the stablecoin of the configuration), `WETH`, or a token's address. */
  sell: string;
  buy: string;
  /** Of what is sold. */
  amount: string;
  slippageBps?: number | undefined;
  network?: ChainName | undefined;
  from?: string | undefined;
}

/** Seconds that a trade is good for. */
const GOOD_FOR = 600;
/** Of both chains: a predeploy of the OP Stack. */
const WETH: Address = "0x4200000000000000000000000000000000000006";

export interface Trading {
  /**
   * Trades as part of the spending: reserved at what it is worth in USD, signed by the wallet's lane. Throws what `send`
   * does, and 400 `NO_ROUTE` where nobody trades these tokens.
   */
  trade(spender: Spender, request: TradeRequest): Promise<Spend>;
  /**
   * A trade that waits for its owner, at today's price and for another while. 409 `PRICE_MOVED` where it would give less
   * than its owner is asked to agree to, 400 `NO_ROUTE`.
   */
  renewed(spend: Spend): Promise<Renewed>;
}
export type Trade = Trading["trade"];

export function createTrade({
  steps,
  wallets,
  venue,
}: {
  steps: SpendingSteps;
  wallets: Wallets;
  venue: SwapVenue;
}): Trading {
  const { chainOf, stablecoinOf } = steps;

  async function tokenOf(path: string, text: string, network: ChainName): Promise<Address> {
    const name = text.trim().toUpperCase();
    if (name === "USDC" || name === "STABLECOIN") return requireAddress(path, stablecoinOf(network));
    return name === "WETH" ? WETH : requireAddress(path, text.trim());
  }

  const decimalsOf = (network: ChainName, address: Address) =>
    ask(chainOf(network), (client) => client.readContract({ address, abi: TOKEN, functionName: "decimals" }));

  const isStablecoin = (network: ChainName, token: Address) =>
    token.toLowerCase() === stablecoinOf(network).toLowerCase();

  /** What is sold, in millionths of a USD, rounded up: the stablecoin itself, what is got for it, or what would be. */
  async function worthOf(quote: Quote): Promise<number> {
    const { network, sell, buy, units } = quote;
    const stablecoin = stablecoinOf(network);
    const direct = isStablecoin(network, sell) || isStablecoin(network, buy);
    const priced = direct ? quote : await venue.quote({ network, sell, buy: stablecoin, units });
    if (!priced) throw denied("Nobody says what this token is worth in USD.");
    const scaled = (isStablecoin(network, sell) ? units : priced.out) * 10n ** BigInt(USD_DECIMALS);
    const one = 10n ** BigInt(await decimalsOf(network, stablecoin));
    const usd = (scaled + one - 1n) / one;
    if (usd > BigInt(Number.MAX_SAFE_INTEGER)) throw denied("It is worth more than can be spent.");
    return Number(usd);
  }

  async function quoted(swap: Swap): Promise<Quote> {
    const quote = await venue.quote(swap);
    if (quote) return quote;
    throw new AppError(400, "NO_ROUTE", "Nobody trades these tokens for each other.");
  }

  /** What is to be signed, good for a while. */
  async function planOf(quote: Quote, owner: Address, least: bigint): Promise<Plan> {
    const deadline = Math.floor(Date.now() / 1000) + GOOD_FOR;
    return { calls: await venue.calls(quote, { owner, least, deadline }), validUntil: deadline };
  }

  return {
    async trade(spender, request) {
      const known = await steps.again(spender, "trade", request);
      if (known) return known;
      const { network = "testnet_chain", slippageBps = SLIPPAGE } = request;
      const wallet = await wallets.require(spender.userId, request.from);
      const owner = wallet.address as Address;
      const [sell, buy] = [await tokenOf("sell", request.sell, network), await tokenOf("buy", request.buy, network)];
      if (sell === buy) throw invalid({ path: "buy", message: "Buy another token than you sell." });
      const holding = await holdingOf(chainOf(network), sell, owner);
      const units = unitsOf(request.amount, holding.decimals);
      if (units === undefined || units === 0n) {
        const message = `An amount is a decimal text, more than 0, with at most ${holding.decimals} decimals.`;
        throw invalid({ path: "amount", message });
      }

      const quote = await quoted({ network, sell, buy, units });
      const usd = await worthOf(quote);
      const assets = [sell.toLowerCase(), buy.toLowerCase()];
      const isKnown = isStablecoin(network, sell) || sell === WETH;
      await steps.requirePolicy(spender.userId, { usd, recipient: null, assets, trade: { known: isKnown } });
      await steps.requireFunds({ network, address: owner }, sell, units, holding, true);
      const least = worst(quote.out, slippageBps);
      const bought = await decimalsOf(network, buy);
      const details: Details = {
        assets,
        known: isKnown,
        sell,
        buy,
        quoted: decimalOf(quote.out, bought),
        atLeast: decimalOf(least, bought),
        slippageBps,
      };
      const spend = await steps.reserve(spender, "trade", request, {
        wallet,
        network,
        asset: sell,
        units,
        usd,
        amount: decimalOf(units, holding.decimals),
        recipient: null,
        details,
        plan: await planOf(quote, owner, least),
      });
      return steps.settled(spend);
    },

    async renewed(spend) {
      const { network, address } = spend;
      const details = readDetails(spend);
      const { sell = "", buy = "", atLeast = "", slippageBps = SLIPPAGE } = details;
      const [from, to] = [sell as Address, buy as Address];
      const bought = await decimalsOf(network, to);
      const agreed = unitsOf(atLeast, bought);
      if (agreed === undefined) throw new Error("A trade in the ledger does not say what it gives at least.");
      const quote = await quoted({ network, sell: from, buy: to, units: BigInt(spend.units) });
      if (quote.out < agreed) {
        const text = `The price has moved: it would give ${decimalOf(quote.out, bought)} now, and you are asked to agree to ${atLeast} at least. Try again later, or reject it.`;
        throw new AppError(409, "PRICE_MOVED", text);
      }
      // A better price than was shown is the owner's.
      const least = larger(worst(quote.out, slippageBps), agreed);
      const shown: Details = {
        ...details,
        quoted: decimalOf(quote.out, bought),
        atLeast: decimalOf(least, bought),
      };
      const plan = await planOf(quote, address as Address, least);
      return { plan: writePlan(plan), usd: await worthOf(quote), details: JSON.stringify(shown) };
    },
  };
}

const worst = (out: bigint, slippageBps: number) => (out * BigInt(10_000 - slippageBps)) / 10_000n;
