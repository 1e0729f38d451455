// Spending: what a user or an agent wants is checked, priced and put down in the ledger; then the wallet's lane does it.
import type { Address } from "viem";
import type { Chain, ChainName } from "../../../src/kernel/chains/chains.ts";
import type { Config } from "../../../src/kernel/config/config.ts";
import { AppError, invalidInput } from "../../../src/kernel/errors.ts";
import type { Kernel } from "../../../src/kernel/plugin.ts";
import { formatDecimalUnits, parseDecimalUnits, USD_DECIMALS } from "../amounts.ts";
import type { NonceQueues } from "../chain/nonce-queues.ts";
import { type SpendPlan, serializePlan } from "../chain/spend-plan.ts";
import { readWalletBalances, TOKEN_ABI, type WalletBalances } from "../chain/token-contract.ts";
import type { Wallet, Wallets } from "../keys/wallets.ts";
import { type Ledger, type NewSpend, type NonceQueue, type Spend, type SpendDetails, toIntent } from "./ledger.ts";
import type { Intent } from "./policy.ts";
import { hashRequest } from "./request-hash.ts";

/** Who spends, and what makes the same request the same. */
export interface SpendContext {
  userId: string;
  agentId?: string;
  requestKey: string | null;
  /** When the request came, epoch ms. */
  requestedAt: number;
  /** Waits for the owner's word, whatever the policy says. */
  requireApproval?: boolean;
}

export interface SendRequest {
  to: string;
  amount: string;
  network?: ChainName | undefined;
  /** One of the user's wallets; the own one when left out. */
  from?: string | undefined;
}

/** What a spend needs beside its kind: found out, and not reserved yet. */
export interface PreparedSpend {
  wallet: Wallet;
  network: ChainName;
  asset: Address;
  units: bigint;
  /** In millionths. */
  usd: number;
  amount: string;
  recipient: Address | null;
  details: SpendDetails;
  plan: SpendPlan;
}

export interface Spending {
  /**
   * Sends stablecoin. Waits a while for the chain; what is not settled then goes on. Throws 400 `INVALID_INPUT` and
   * `INSUFFICIENT_FUNDS`, 403 `POLICY_DENIED`, 404 `NO_WALLET`, 409 `IDEMPOTENCY_MISMATCH`, 500 `CHAIN_UNAVAILABLE`.
   */
  send(spendContext: SpendContext, request: SendRequest): Promise<Spend>;
  /** What trades and payments are made of. */
  readonly steps: SpendingSteps;
}

export interface SpendingSteps {
  chainOf(network: ChainName): Chain;
  stablecoinOf(network: ChainName): Address;
  /** The spend of the same request, waited for; undefined for a new one. */
  findExisting(spendContext: SpendContext, kind: Spend["kind"], request: object): Promise<Spend | undefined>;
  /** 400 `INSUFFICIENT_FUNDS` where what the wallet has, less what is under way, is too little. */
  requireFunds(
    queue: NonceQueue,
    asset: Address,
    units: bigint,
    balances: WalletBalances,
    fees: boolean,
  ): Promise<void>;
  /** 403 `POLICY_DENIED` where it could not be reserved now. */
  requirePolicy(userId: string, intent: Intent): Promise<void>;
  reserve(spendContext: SpendContext, kind: Spend["kind"], request: object, prepared: PreparedSpend): Promise<Spend>;
  /** Its seller has answered: has its lane look at it now. */
  recheckPayment(spend: Spend): Promise<void>;
  /** The spend once it is settled or waits for its owner, or as it is after a while. */
  waitForOutcome(spend: Spend): Promise<Spend>;
}

/** Milliseconds that a request waits for the chain. */
const OUTCOME_TIMEOUT_MS = 10_000;
/** More is no amount that anybody means, and would not fit the ledger's numbers. */
const MAX_USD = 1_000_000_000;
/** Gas of a transfer or a swap, with room, to know early whether there is ether for it. */
const ESTIMATED_GAS = 100_000n;

type Deps = Pick<Kernel, "chains" | "database"> & {
  config: Pick<Config, "chains">;
  ledger: Ledger;
  wallets: Wallets;
  nonceQueues: NonceQueues;
};

export function createSpending({ config, chains, database, ledger, wallets, nonceQueues }: Deps): Spending {
  const chainKey = (network: ChainName) => (network === "mainnet_chain" ? "mainnet" : "testnet");
  const chainOf = (network: ChainName) => chains[chainKey(network)];
  const stablecoinOf = (network: ChainName) => config.chains[chainKey(network)].stablecoin as Address;

  const steps: SpendingSteps = {
    chainOf,
    stablecoinOf,

    async findExisting({ userId, requestKey }, kind, request) {
      const existing = await ledger.findByRequestKey(userId, requestKey, hashRequest(kind, request));
      return existing && steps.waitForOutcome(existing);
    },

    async requireFunds(queue, asset, units, { balance, ether }, fees) {
      if (balance - (await ledger.pendingUnits(queue, asset)) < units)
        throw insufficientFunds("The wallet has too little of this token.");
      if (!fees) return;
      const { maxFeePerGas } = await chainOf(queue.network).withClient((client) => client.estimateFeesPerGas());
      if (ether < ESTIMATED_GAS * maxFeePerGas)
        throw insufficientFunds("The wallet has too little ether for the transaction's fee.");
    },

    requirePolicy: ledger.requirePolicy,

    async reserve({ userId, agentId, requestKey, requestedAt, requireApproval = false }, kind, request, prepared) {
      const { wallet, network, asset, units, usd, amount, recipient, details, plan } = prepared;
      const spend: NewSpend = {
        userId,
        agentId: agentId ?? null,
        walletId: wallet.id,
        requestKey,
        requestHash: hashRequest(kind, request),
        kind,
        network,
        address: wallet.address,
        asset,
        units: String(units),
        usd,
        amount,
        recipient,
        details: JSON.stringify(details),
        plan: serializePlan(plan),
      };
      const intent = { ...toIntent({ kind, usd, recipient, details }), requestedAt };
      return ledger.reserve(
        spend,
        intent,
        [nonceQueues.wakeStatement({ network, address: wallet.address })],
        requireApproval,
      );
    },

    async recheckPayment(spend) {
      const { network, address } = spend;
      await database.write([
        ledger.recordSellerResponseStatement(spend),
        nonceQueues.wakeStatement({ network, address }),
      ]);
    },

    async waitForOutcome(spend) {
      const end = Date.now() + OUTCOME_TIMEOUT_MS;
      let current = spend;
      for (let ms = 20; ; ms = Math.min(ms * 2, 250)) {
        if (current.state === "waiting" || current.state === "confirmed" || current.state === "failed") return current;
        if (Date.now() > end) return current;
        await Bun.sleep(ms);
        current = (await ledger.find(spend.id)) ?? current;
      }
    },
  };

  return {
    steps,

    async send(spendContext, request) {
      const existing = await steps.findExisting(spendContext, "send", request);
      if (existing) return existing;
      const { encodeFunctionData } = await import("viem");
      const { network = "testnet_chain" } = request;
      const wallet = await wallets.require(spendContext.userId, request.from);
      const to = await requireAddress("to", request.to);
      const usd = requireUsd("amount", request.amount);
      const asset = await requireAddress("asset", stablecoinOf(network));
      const assets = [asset.toLowerCase()];
      await steps.requirePolicy(spendContext.userId, { usd: Number(usd), recipient: to.toLowerCase(), assets });

      const balances = await readWalletBalances(chainOf(network), asset, wallet.address as Address);
      const units = toTokenUnits(usd, balances.decimals);
      await steps.requireFunds({ network, address: wallet.address }, asset, units, balances, true);
      const data = encodeFunctionData({ abi: TOKEN_ABI, functionName: "transfer", args: [to, units] });
      const spend = await steps.reserve(spendContext, "send", request, {
        wallet,
        network,
        asset,
        units,
        usd: Number(usd),
        amount: formatDecimalUnits(usd, USD_DECIMALS),
        recipient: to,
        details: { assets },
        plan: { calls: [{ to: asset, data }] },
      });
      return steps.waitForOutcome(spend);
    },
  };
}

/** An address with its checksum; 400 for what is none, or can't be meant. */
export async function requireAddress(path: string, text: string): Promise<Address> {
  const { getAddress, isAddress, zeroAddress } = await import("viem");
  if (isAddress(text) && text !== zeroAddress) return getAddress(text);
  throw invalidInput({
    path,
    message: "An address is 0x and 40 hex digits; with capitals, its checksum must be right.",
  });
}

/** Millionths of a USD, more than none; 400 else. */
export function requireUsd(path: string, text: string): bigint {
  const usd = parseDecimalUnits(text, USD_DECIMALS);
  if (usd !== undefined && usd > 0n && usd <= BigInt(MAX_USD) * 10n ** BigInt(USD_DECIMALS)) return usd;
  throw invalidInput({
    path,
    message: "An amount is a decimal text such as 1.50, more than 0, with at most 6 decimals.",
  });
}

/** Of a stablecoin with these decimals. */
function toTokenUnits(usd: bigint, decimals: number): bigint {
  const units = parseDecimalUnits(formatDecimalUnits(usd, USD_DECIMALS), decimals);
  if (units !== undefined) return units;
  throw invalidInput({ path: "amount", message: `The token has only ${decimals} decimals.` });
}

export const insufficientFunds = (text: string) => new AppError(400, "INSUFFICIENT_FUNDS", text);
