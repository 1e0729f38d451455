// The steps that sends, trades and payments share: find an earlier spend of the same request, check funds and policy,
// reserve in the ledger, and wait for the nonce queue to sign and settle the spend.

import type { Address } from "viem";
import type { Config } from "../../../src/kernel/config/config.ts";
import { AppError, invalidInput } from "../../../src/kernel/errors.ts";
import type { Kernel } from "../../../src/kernel/plugin.ts";
import { SECOND } from "../../../src/kernel/util/time.ts";
import type { Chain, ChainName, Chains } from "../../chains/index.ts";
import { parseDecimalUnits, USD_DECIMALS } from "../amounts.ts";
import type { NonceQueues } from "../chain/nonce-queues.ts";
import { type SpendPlan, serializePlan } from "../chain/spend-plan.ts";
import type { WalletBalances } from "../chain/token-contract.ts";
import type { Wallet } from "../keys/wallets.ts";
import { walletSettings } from "../settings.ts";
import { type Ledger, type NewSpend, type NonceQueue, type Spend, type SpendDetails, toIntent } from "./ledger.ts";
import type { Intent } from "./policy.ts";
import { hashRequest } from "./request-hash.ts";

/** The user who spends, and the key that identifies a repeated request. */
export interface SpendContext {
  userId: string;
  /** Set if an agent spends for the user. */
  agentId?: string;
  /** Requests with the same key are one spend; null: every request is a new one. */
  requestKey: string | null;
  /** When the request arrived; epoch ms. */
  requestedAt: number;
}

/** The values of a spend that is checked but not reserved yet. */
export interface PreparedSpend {
  wallet: Wallet;
  network: ChainName;
  asset: Address;
  /** Amount of the asset in its smallest unit. */
  units: bigint;
  /** Value in millionths of a USD. */
  usd: number;
  /** The amount as it is shown: a decimal text. */
  amount: string;
  recipient: Address | null;
  details: SpendDetails;
  plan: SpendPlan;
}

export interface SpendingSteps {
  chainOf(network: ChainName): Chain;
  stablecoinOf(network: ChainName): Address;
  /**
   * The earlier spend of the same request, with its outcome if there is one within ten seconds; undefined for a new
   * request.
   */
  findExisting(spendContext: SpendContext, kind: Spend["kind"], request: object): Promise<Spend | undefined>;
  /**
   * Throws 400 `INSUFFICIENT_FUNDS` if the balance, less what open spends may still take, is too small. With `fees`,
   * the wallet also needs ether for a transaction.
   */
  requireFunds(
    queue: NonceQueue,
    asset: Address,
    units: bigint,
    balances: WalletBalances,
    fees: boolean,
  ): Promise<void>;
  /** Throws 403 `POLICY_DENIED` if the policy does not allow the spend now. */
  requirePolicy(userId: string, intent: Intent): Promise<void>;
  /** Stores the spend, and wakes its nonce queue. Throws as `Ledger.reserve` does. */
  reserve(spendContext: SpendContext, kind: Spend["kind"], request: object, prepared: PreparedSpend): Promise<Spend>;
  /** Has the nonce queue check a payment now, because its seller has responded. */
  recheckPayment(spend: Spend): Promise<void>;
  /** The spend once it is settled or waits for approval, or its state after ten seconds. */
  waitForOutcome(spend: Spend): Promise<Spend>;
}

/** How long a request waits for the chain. */
const OUTCOME_TIMEOUT_MS = 10 * SECOND;
/** In USD. Larger amounts are mistakes, and would not fit the ledger's integers. */
const MAX_USD = 1_000_000_000;
/** Gas of a transfer or a swap, generously estimated: finds out early whether the wallet has ether for the fee. */
const ESTIMATED_GAS = 100_000n;

type Deps = Pick<Kernel, "database"> & {
  chains: Chains;
  config: Pick<Config, "of">;
  ledger: Ledger;
  nonceQueues: Pick<NonceQueues, "wakeStatement">;
};

export function createSpendingSteps({ config, chains, database, ledger, nonceQueues }: Deps): SpendingSteps {
  const { contracts } = config.of(walletSettings);
  const chainKey = (network: ChainName) => (network === "mainnet_chain" ? "mainnet" : "testnet");
  const chainOf = (network: ChainName) => chains[chainKey(network)];
  const stablecoinOf = (network: ChainName) => contracts[chainKey(network)].stablecoin as Address;

  const steps: SpendingSteps = {
    chainOf,
    stablecoinOf,

    async findExisting({ userId, requestKey }, kind, request) {
      const existing = await ledger.findByRequestKey(userId, requestKey, hashRequest(kind, request));
      return existing && steps.waitForOutcome(existing);
    },

    async requireFunds(queue, asset, units, { balance, ether }, fees) {
      if (balance - (await ledger.pendingUnits(queue, asset)) < units)
        throw insufficientFunds("The wallet has too little of this token. Add funds, or spend less.");
      if (!fees) return;
      const { maxFeePerGas } = await chainOf(queue.network).withClient((client) => client.estimateFeesPerGas());
      if (ether < ESTIMATED_GAS * maxFeePerGas)
        throw insufficientFunds("The wallet has too little ether for the transaction's fee. Add some ether.");
    },

    requirePolicy: ledger.requirePolicy,

    async reserve({ userId, agentId, requestKey, requestedAt }, kind, request, prepared) {
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
      return ledger.reserve(spend, intent, [nonceQueues.wakeStatement({ network, address: wallet.address })]);
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

  return steps;
}

/** The address with its checksum. Throws 400 for text that is not an address, and for the zero address. */
export async function requireAddress(path: string, text: string): Promise<Address> {
  const { getAddress, isAddress, zeroAddress } = await import("viem");
  if (isAddress(text) && text !== zeroAddress) return getAddress(text);
  throw invalidInput({
    path,
    message: "An address is 0x and 40 hex digits; with capitals, its checksum must be right.",
  });
}

/** The amount in millionths of a USD. Throws 400 unless it is a decimal text above 0 and at most a billion USD. */
export function requireUsd(path: string, text: string): bigint {
  const usd = parseDecimalUnits(text, USD_DECIMALS);
  if (usd !== undefined && usd > 0n && usd <= BigInt(MAX_USD) * 10n ** BigInt(USD_DECIMALS)) return usd;
  throw invalidInput({
    path,
    message: "An amount is a decimal text such as 1.50, more than 0, with at most 6 decimals.",
  });
}

export const insufficientFunds = (text: string) => new AppError(400, "INSUFFICIENT_FUNDS", text);
