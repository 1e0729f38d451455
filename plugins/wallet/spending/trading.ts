// Trades: one token for another at a price that is quoted now, bounded by how much worse it may get.
import type { Address } from "viem";
import type { ChainName } from "../../../src/kernel/chains/chains.ts";
import { readChain } from "../../../src/kernel/chains/read-chain.ts";
import { AppError, invalidInput } from "../../../src/kernel/errors.ts";
import { formatDecimalUnits, maxBigInt, parseDecimalUnits, toUsdCeil } from "../amounts.ts";
import { type SpendPlan, serializePlan } from "../chain/spend-plan.ts";
import type { Quote, Swap, SwapVenue } from "../chain/swap-venue.ts";
import { readWalletBalances, TOKEN_ABI } from "../chain/token-contract.ts";
import type { Wallets } from "../keys/wallets.ts";
import { parseDetails, type RepricedTrade, type Spend, type SpendDetails } from "./ledger.ts";
import { policyDenied } from "./policy.ts";
import { DEFAULT_SLIPPAGE_BPS } from "./request-hash.ts";
import { requireAddress, type SpendContext, type SpendingSteps } from "./spending-steps.ts";

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
const TRADE_VALIDITY_SECONDS = 600;
/** Of both chains: a predeploy of the OP Stack. */
const WETH: Address = "0x4200000000000000000000000000000000000006";

export interface Trading {
  /**
   * Trades as part of the spending: reserved at what it is worth in USD, signed by the wallet's lane. Throws what `send`
   * does, and 400 `NO_ROUTE` where nobody trades these tokens.
   */
  trade(spendContext: SpendContext, request: TradeRequest): Promise<Spend>;
  /**
   * A trade that waits for its owner, at today's price and for another while. 409 `PRICE_MOVED` where it would give less
   * than its owner is asked to agree to, 400 `NO_ROUTE`.
   */
  reprice(spend: Spend): Promise<RepricedTrade>;
}
export type Trade = Trading["trade"];

export function createTrading({
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
    readChain(chainOf(network), (client) => client.readContract({ address, abi: TOKEN_ABI, functionName: "decimals" }));

  const isStablecoin = (network: ChainName, token: Address) =>
    token.toLowerCase() === stablecoinOf(network).toLowerCase();

  /** What is sold, in millionths of a USD, rounded up: the stablecoin itself, what is got for it, or what would be. */
  async function usdValueOf(quote: Quote): Promise<number> {
    const { network, sell, buy, units } = quote;
    const stablecoin = stablecoinOf(network);
    const direct = isStablecoin(network, sell) || isStablecoin(network, buy);
    const priced = direct ? quote : await venue.quote({ network, sell, buy: stablecoin, units });
    if (!priced) throw policyDenied("Nobody says what this token is worth in USD.");
    const usd = toUsdCeil(isStablecoin(network, sell) ? units : priced.out, await decimalsOf(network, stablecoin));
    if (usd > BigInt(Number.MAX_SAFE_INTEGER)) throw policyDenied("It is worth more than can be spent.");
    return Number(usd);
  }

  async function requireQuote(swap: Swap): Promise<Quote> {
    const quote = await venue.quote(swap);
    if (quote) return quote;
    throw new AppError(400, "NO_ROUTE", "Nobody trades these tokens for each other.");
  }

  /** What is to be signed, good for a while. */
  async function buildPlan(quote: Quote, owner: Address, minOut: bigint): Promise<SpendPlan> {
    const deadline = Math.floor(Date.now() / 1000) + TRADE_VALIDITY_SECONDS;
    return { calls: await venue.buildCalls(quote, { owner, minOut, deadline }), validUntil: deadline };
  }

  return {
    async trade(spendContext, request) {
      const known = await steps.findExisting(spendContext, "trade", request);
      if (known) return known;
      const { network = "testnet_chain", slippageBps = DEFAULT_SLIPPAGE_BPS } = request;
      const wallet = await wallets.require(spendContext.userId, request.from);
      const owner = wallet.address as Address;
      const [sell, buy] = [await tokenOf("sell", request.sell, network), await tokenOf("buy", request.buy, network)];
      if (sell === buy) throw invalidInput({ path: "buy", message: "Buy another token than you sell." });
      const balances = await readWalletBalances(chainOf(network), sell, owner);
      const units = parseDecimalUnits(request.amount, balances.decimals);
      if (units === undefined || units === 0n) {
        const message = `An amount is a decimal text, more than 0, with at most ${balances.decimals} decimals.`;
        throw invalidInput({ path: "amount", message });
      }

      const quote = await requireQuote({ network, sell, buy, units });
      const usd = await usdValueOf(quote);
      const assets = [sell.toLowerCase(), buy.toLowerCase()];
      const isKnown = isStablecoin(network, sell) || sell === WETH;
      await steps.requirePolicy(spendContext.userId, { usd, recipient: null, assets, trade: { known: isKnown } });
      await steps.requireFunds({ network, address: owner }, sell, units, balances, true);
      const minOut = minOutOf(quote.out, slippageBps);
      const buyDecimals = await decimalsOf(network, buy);
      const details: SpendDetails = {
        assets,
        known: isKnown,
        sell,
        buy,
        quoted: formatDecimalUnits(quote.out, buyDecimals),
        atLeast: formatDecimalUnits(minOut, buyDecimals),
        slippageBps,
      };
      const spend = await steps.reserve(spendContext, "trade", request, {
        wallet,
        network,
        asset: sell,
        units,
        usd,
        amount: formatDecimalUnits(units, balances.decimals),
        recipient: null,
        details,
        plan: await buildPlan(quote, owner, minOut),
      });
      return steps.waitForOutcome(spend);
    },

    async reprice(spend) {
      const { network, address } = spend;
      const details = parseDetails(spend);
      const { sell = "", buy = "", atLeast = "", slippageBps = DEFAULT_SLIPPAGE_BPS } = details;
      const [from, to] = [sell as Address, buy as Address];
      const buyDecimals = await decimalsOf(network, to);
      const agreedMinimum = parseDecimalUnits(atLeast, buyDecimals);
      if (agreedMinimum === undefined) throw new Error("A trade in the ledger does not say what it gives at least.");
      const quote = await requireQuote({ network, sell: from, buy: to, units: BigInt(spend.units) });
      if (quote.out < agreedMinimum) {
        const text = `The price has moved: it would give ${formatDecimalUnits(quote.out, buyDecimals)} now, and you are asked to agree to ${atLeast} at least. Try again later, or reject it.`;
        throw new AppError(409, "PRICE_MOVED", text);
      }
      // A better price than was shown is the owner's.
      const minOut = maxBigInt(minOutOf(quote.out, slippageBps), agreedMinimum);
      const repricedDetails: SpendDetails = {
        ...details,
        quoted: formatDecimalUnits(quote.out, buyDecimals),
        atLeast: formatDecimalUnits(minOut, buyDecimals),
      };
      const plan = await buildPlan(quote, address as Address, minOut);
      return { plan: serializePlan(plan), usd: await usdValueOf(quote), details: JSON.stringify(repricedDetails) };
    },
  };
}

const minOutOf = (out: bigint, slippageBps: number) => (out * BigInt(10_000 - slippageBps)) / 10_000n;
