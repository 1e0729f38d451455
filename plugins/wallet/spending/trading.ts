// Trades one token for another at the current quote, with a lower bound on the amount bought.
import type { Address } from "viem";
import { AppError, invalidInput } from "../../../src/kernel/errors.ts";
import { MINUTE, SECOND } from "../../../src/kernel/util/time.ts";
import type { ChainName } from "../../chains/index.ts";
import { readChain } from "../../chains/index.ts";
import { formatDecimalUnits, maxBigInt, parseDecimalUnits, toUsdCeil } from "../amounts.ts";
import { type SpendPlan, serializePlan } from "../chain/spend-plan.ts";
import type { Quote, Swap, SwapVenue } from "../chain/swap-venue.ts";
import { readDecimals, readWalletBalances } from "../chain/token-contract.ts";
import type { Wallets } from "../keys/wallets.ts";
import { parseDetails, type RepricedTrade, type Spend, type SpendDetails } from "./ledger.ts";
import { policyDenied } from "./policy.ts";
import { DEFAULT_SLIPPAGE_BPS } from "./request-hash.ts";
import { requireAddress, type SpendContext, type SpendingSteps } from "./spending-steps.ts";

export interface TradeRequest {
  /** `USDC` (the stablecoin of the configuration), `WETH`, or a token's address. */
  sell: string;
  buy: string;
  /** Amount of the token sold, as a decimal text. */
  amount: string;
  /** How much worse than the quote the price may get, in hundredths of a percent. Default 50. */
  slippageBps?: number | undefined;
  network?: ChainName | undefined;
  from?: string | undefined;
}

/** How long a swap is valid after its quote. */
const TRADE_VALIDITY_SECONDS = (10 * MINUTE) / SECOND;
/** WETH has this address on both chains: it is a predeploy of the OP Stack. */
export const WETH: Address = "0x4200000000000000000000000000000000000006";

export interface Trading {
  /**
   * Trades, and waits up to ten seconds for the outcome. The spend counts against the policy with its value in USD.
   * Throws the errors of `Send`, and 400 `NO_ROUTE` if no pool trades these tokens.
   */
  trade(spendContext: SpendContext, request: TradeRequest): Promise<Spend>;
  /**
   * Quotes a waiting trade again, with a new deadline. Throws 409 `PRICE_MOVED` if it would buy less than the owner was
   * shown, 400 `NO_ROUTE`.
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
    readChain(chainOf(network), (client) => readDecimals(client, address));

  const isStablecoin = (network: ChainName, token: Address) =>
    token.toLowerCase() === stablecoinOf(network).toLowerCase();

  /**
   * Value of the tokens sold in millionths of a USD, rounded up: by the stablecoin sold, bought, or quoted for them.
   */
  async function usdValueOf(quote: Quote): Promise<number> {
    const { network, sell, buy, units } = quote;
    const stablecoin = stablecoinOf(network);
    const direct = isStablecoin(network, sell) || isStablecoin(network, buy);
    const priced = direct ? quote : await venue.quote({ network, sell, buy: stablecoin, units });
    if (!priced) throw policyDenied("No pool gives a price in USD for this token.");
    const usd = toUsdCeil(isStablecoin(network, sell) ? units : priced.out, await decimalsOf(network, stablecoin));
    if (usd > BigInt(Number.MAX_SAFE_INTEGER)) throw policyDenied("Its value in USD is too large.");
    return Number(usd);
  }

  async function requireQuote(swap: Swap): Promise<Quote> {
    const quote = await venue.quote(swap);
    if (quote) return quote;
    throw new AppError(400, "NO_ROUTE", "No pool trades these tokens for each other.");
  }

  /** The calls to sign, which are valid for ten minutes. */
  async function buildPlan(quote: Quote, owner: Address, minOut: bigint): Promise<SpendPlan> {
    const deadline = Math.floor(Date.now() / 1000) + TRADE_VALIDITY_SECONDS;
    return { calls: await venue.buildCalls(quote, { owner, minOut, deadline }), validUntil: deadline };
  }

  return {
    async trade(spendContext, request) {
      const existing = await steps.findExisting(spendContext, "trade", request);
      if (existing) return existing;
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
      if (agreedMinimum === undefined) throw new Error("A trade in the ledger has no valid `atLeast`.");
      const quote = await requireQuote({ network, sell: from, buy: to, units: BigInt(spend.units) });
      if (quote.out < agreedMinimum) {
        const text = `The price has moved: the trade would buy ${formatDecimalUnits(quote.out, buyDecimals)} now, which is less than the ${atLeast} you were shown. Try again later, or reject the trade.`;
        throw new AppError(409, "PRICE_MOVED", text);
      }
      // If the price is better than shown, the bound is raised, so that the owner gets the difference.
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
