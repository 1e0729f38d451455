// Trades: one token for another at a price that is quoted now, bounded by how much worse it may get.
import type { Address } from "viem";
import type { ChainName } from "../../src/chains.ts";
import { AppError, invalid } from "../../src/errors.ts";
import { decimalOf, USD_DECIMALS, unitsOf } from "./amounts.ts";
import { ask, holdingOf, TOKEN } from "./contracts.ts";
import type { Spend } from "./ledger.ts";
import { denied } from "./policy.ts";
import { requireAddress, type Spender, type SpendingSteps } from "./spending.ts";
import type { Quote, SwapVenue } from "./swap.ts";
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

/** Half a percent. */
const SLIPPAGE = 50;
/** Seconds that a trade is good for. */
const GOOD_FOR = 600;
/** Of both chains: a predeploy of the OP Stack. */
const WETH: Address = "0x4200000000000000000000000000000000000006";

export type Trade = (spender: Spender, request: TradeRequest) => Promise<Spend>;

/**
 * Trades as part of the spending: reserved at what it is worth in USD, signed by the wallet's lane. Throws what `send` does,
 * and 400 `NO_ROUTE` where nobody trades these tokens.
 */
export function createTrade({
  steps,
  wallets,
  venue,
}: {
  steps: SpendingSteps;
  wallets: Wallets;
  venue: SwapVenue;
}): Trade {
  const { chainOf, stablecoinOf } = steps;

  async function tokenOf(path: string, text: string, network: ChainName): Promise<Address> {
    const name = text.trim().toUpperCase();
    if (name === "USDC" || name === "STABLECOIN") return requireAddress(path, stablecoinOf(network));
    return name === "WETH" ? WETH : requireAddress(path, text.trim());
  }

  const decimalsOf = (network: ChainName, address: Address) =>
    ask(chainOf(network), (client) => client.readContract({ address, abi: TOKEN, functionName: "decimals" }));

  /** What is sold, in millionths of a USD, rounded up: the stablecoin itself, what is got for it, or what would be. */
  async function worthOf(quote: Quote): Promise<number> {
    const { network, sell, buy, units } = quote;
    const stablecoin = stablecoinOf(network);
    const same = (token: Address) => token.toLowerCase() === stablecoin.toLowerCase();
    const priced = same(sell) || same(buy) ? quote : await venue.quote({ network, sell, buy: stablecoin, units });
    if (!priced) throw denied("Nobody says what this token is worth in USD.");
    const scaled = (same(sell) ? units : priced.out) * 10n ** BigInt(USD_DECIMALS);
    const one = 10n ** BigInt(await decimalsOf(network, stablecoin));
    const usd = (scaled + one - 1n) / one;
    if (usd > BigInt(Number.MAX_SAFE_INTEGER)) throw denied("It is worth more than can be spent.");
    return Number(usd);
  }

  return async (spender, request) => {
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

    const quote = await venue.quote({ network, sell, buy, units });
    if (!quote) throw new AppError(400, "NO_ROUTE", "Nobody trades these tokens for each other.");
    const usd = await worthOf(quote);
    const assets = [sell.toLowerCase(), buy.toLowerCase()];
    await steps.requirePolicy(spender.userId, { usd, recipient: null, assets });
    await steps.requireFunds({ network, address: owner }, sell, units, holding, true);
    const least = (quote.out * BigInt(10_000 - slippageBps)) / 10_000n;
    const deadline = Math.floor(Date.now() / 1000) + GOOD_FOR;
    const calls = await venue.calls(quote, { owner, least, deadline });
    const [quoted, atLeast] = [quote.out, least].map(String);
    const spend = await steps.reserve(spender, "trade", request, {
      wallet,
      network,
      asset: sell,
      units,
      usd,
      amount: decimalOf(units, holding.decimals),
      recipient: null,
      assets,
      details: { sell, buy, quoted: quoted ?? "", atLeast: atLeast ?? "" },
      plan: { calls },
    });
    return steps.settled(spend);
  };
}
