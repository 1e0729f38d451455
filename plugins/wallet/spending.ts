// Spending: what a user or an agent wants is checked, priced and put down in the ledger; then the wallet's lane does it.
import type { Address } from "viem";
import type { Chain, ChainName } from "../../src/chains.ts";
import type { Config } from "../../src/config.ts";
import { AppError, invalid } from "../../src/errors.ts";
import type { Kernel } from "../../src/plugin.ts";
import { decimalOf, USD_DECIMALS, unitsOf } from "./amounts.ts";
import { type Holding, holdingOf, TOKEN } from "./contracts.ts";
import type { Lanes } from "./lanes.ts";
import { type Details, intentOf, type Lane, type Ledger, type NewSpend, type Spend } from "./ledger.ts";
import { type Plan, writePlan } from "./plan.ts";
import type { Intent } from "./policy.ts";
import { sameness } from "./same.ts";
import type { Wallet, Wallets } from "./wallets.ts";

/** Who spends, and what makes the same request the same. */
export interface Spender {
  userId: string;
  agentId?: string;
  requestKey: string | null;
  /** When the request came, epoch ms. */
  since: number;
  /** Waits for the owner's word, whatever the policy says. */
  ask?: boolean;
}

export interface SendRequest {
  to: string;
  amount: string;
  network?: ChainName | undefined;
  /** One of the user's wallets; the own one when left out. */
  from?: string | undefined;
}

/** What a spend needs beside its kind: found out, and not reserved yet. */
export interface Prepared {
  wallet: Wallet;
  network: ChainName;
  asset: Address;
  units: bigint;
  /** In millionths. */
  usd: number;
  amount: string;
  recipient: Address | null;
  details: Details;
  plan: Plan;
}

export interface Spending {
  /**
   * Sends stablecoin. Waits a while for the chain; what is not settled then goes on. Throws 400 `INVALID_INPUT` and
   * `INSUFFICIENT_FUNDS`, 403 `POLICY_DENIED`, 404 `NO_WALLET`, 409 `IDEMPOTENCY_MISMATCH`, 500 `CHAIN_UNAVAILABLE`.
   */
  send(spender: Spender, request: SendRequest): Promise<Spend>;
  /** What trades and payments are made of. */
  readonly steps: SpendingSteps;
}

export interface SpendingSteps {
  chainOf(network: ChainName): Chain;
  stablecoinOf(network: ChainName): Address;
  /** The spend of the same request, waited for; undefined for a new one. */
  again(spender: Spender, kind: Spend["kind"], request: object): Promise<Spend | undefined>;
  /** 400 `INSUFFICIENT_FUNDS` where what the wallet has, less what is under way, is too little. */
  requireFunds(lane: Lane, asset: Address, units: bigint, holding: Holding, fees: boolean): Promise<void>;
  /** 403 `POLICY_DENIED` where it could not be reserved now. */
  requirePolicy(userId: string, intent: Intent): Promise<void>;
  reserve(spender: Spender, kind: Spend["kind"], request: object, prepared: Prepared): Promise<Spend>;
  /** Its seller has answered: has its lane look at it now. */
  look(spend: Spend): Promise<void>;
  /** The spend once it is settled or waits for its owner, or as it is after a while. */
  settled(spend: Spend): Promise<Spend>;
}

/** Milliseconds that a request waits for the chain. */
const PATIENCE = 10_000;
/** More is no amount that anybody means, and would not fit the ledger's numbers. */
const MOST_USD = 1_000_000_000;
/** Gas of a transfer or a swap, with room, to know early whether there is ether for it. */
const USUAL_GAS = 100_000n;

type Deps = Pick<Kernel, "chains" | "database"> & {
  config: Pick<Config, "chains">;
  ledger: Ledger;
  wallets: Wallets;
  lanes: Lanes;
};

export function createSpending({ config, chains, database, ledger, wallets, lanes }: Deps): Spending {
  const sideOf = (network: ChainName) => (network === "mainnet_chain" ? "mainnet" : "testnet");
  const chainOf = (network: ChainName) => chains[sideOf(network)];
  const stablecoinOf = (network: ChainName) => config.chains[sideOf(network)].stablecoin as Address;

  const steps: SpendingSteps = {
    chainOf,
    stablecoinOf,

    async again({ userId, requestKey }, kind, request) {
      const known = await ledger.again(userId, requestKey, sameness(kind, request));
      return known && steps.settled(known);
    },

    async requireFunds(lane, asset, units, { balance, ether }, fees) {
      if (balance - (await ledger.pending(lane, asset)) < units)
        throw insufficient("The wallet has too little of this token.");
      if (!fees) return;
      const { maxFeePerGas } = await chainOf(lane.network).ask((client) => client.estimateFeesPerGas());
      if (ether < USUAL_GAS * maxFeePerGas)
        throw insufficient("The wallet has too little ether for the transaction's fee.");
    },

    requirePolicy: ledger.require,

    async reserve({ userId, agentId, requestKey, since, ask = false }, kind, request, prepared) {
      const { wallet, network, asset, units, usd, amount, recipient, details, plan } = prepared;
      const spend: NewSpend = {
        userId,
        agentId: agentId ?? null,
        walletId: wallet.id,
        requestKey,
        requestHash: sameness(kind, request),
        kind,
        network,
        address: wallet.address,
        asset,
        units: String(units),
        usd,
        amount,
        recipient,
        details: JSON.stringify(details),
        plan: writePlan(plan),
      };
      const intent = { ...intentOf({ kind, usd, recipient, details }), since };
      return ledger.reserve(spend, intent, [lanes.wake({ network, address: wallet.address })], ask);
    },

    async look(spend) {
      const { network, address } = spend;
      await database.write([ledger.answered(spend), lanes.wake({ network, address })]);
    },

    async settled(spend) {
      const end = Date.now() + PATIENCE;
      let now = spend;
      for (let ms = 20; ; ms = Math.min(ms * 2, 250)) {
        if (now.state === "waiting" || now.state === "confirmed" || now.state === "failed") return now;
        if (Date.now() > end) return now;
        await Bun.sleep(ms);
        now = (await ledger.find(spend.id)) ?? now;
      }
    },
  };

  return {
    steps,

    async send(spender, request) {
      const known = await steps.again(spender, "send", request);
      if (known) return known;
      const { encodeFunctionData } = await import("viem");
      const { network = "testnet_chain" } = request;
      const wallet = await wallets.require(spender.userId, request.from);
      const to = await requireAddress("to", request.to);
      const usd = requireUsd("amount", request.amount);
      const asset = await requireAddress("asset", stablecoinOf(network));
      const assets = [asset.toLowerCase()];
      await steps.requirePolicy(spender.userId, { usd: Number(usd), recipient: to.toLowerCase(), assets });

      const holding = await holdingOf(chainOf(network), asset, wallet.address as Address);
      const units = inUnits(usd, holding.decimals);
      await steps.requireFunds({ network, address: wallet.address }, asset, units, holding, true);
      const data = encodeFunctionData({ abi: TOKEN, functionName: "transfer", args: [to, units] });
      const spend = await steps.reserve(spender, "send", request, {
        wallet,
        network,
        asset,
        units,
        usd: Number(usd),
        amount: decimalOf(usd, USD_DECIMALS),
        recipient: to,
        details: { assets },
        plan: { calls: [{ to: asset, data }] },
      });
      return steps.settled(spend);
    },
  };
}

/** An address with its checksum; 400 for what is none, or can't be meant. */
export async function requireAddress(path: string, text: string): Promise<Address> {
  const { getAddress, isAddress, zeroAddress } = await import("viem");
  if (isAddress(text) && text !== zeroAddress) return getAddress(text);
  throw invalid({ path, message: "An address is 0x and 40 hex digits; with capitals, its checksum must be right." });
}

/** Millionths of a USD, more than none; 400 else. */
export function requireUsd(path: string, text: string): bigint {
  const usd = unitsOf(text, USD_DECIMALS);
  if (usd !== undefined && usd > 0n && usd <= BigInt(MOST_USD) * 10n ** BigInt(USD_DECIMALS)) return usd;
  throw invalid({ path, message: "An amount is a decimal text such as 1.50, more than 0, with at most 6 decimals." });
}

/** Of a stablecoin with these decimals. */
function inUnits(usd: bigint, decimals: number): bigint {
  const units = unitsOf(decimalOf(usd, USD_DECIMALS), decimals);
  if (units !== undefined) return units;
  throw invalid({ path: "amount", message: `The token has only ${decimals} decimals.` });
}

export const insufficient = (text: string) => new AppError(400, "INSUFFICIENT_FUNDS", text);
