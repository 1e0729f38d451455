// Payments for what a server asks money for (x402 v2): by a signed authorization (EIP-3009) that the seller settles on the chain.
import type { PaymentPayload, PaymentRequired, PaymentRequirements } from "@x402/core/types";
import type { Address, Hex } from "viem";
import type { ChainName } from "../../../src/kernel/chains/chains.ts";
import { AppError, invalidInput } from "../../../src/kernel/errors.ts";
import type { Outbound, OutboundResponse } from "../../../src/kernel/security/outbound.ts";
import { formatDecimalUnits, toUsdCeil, USD_DECIMALS } from "../amounts.ts";
import { serializePlan } from "../chain/spend-plan.ts";
import { readWalletBalances } from "../chain/token-contract.ts";
import type { Signer } from "../keys/wallet-platform.ts";
import type { Wallet, Wallets } from "../keys/wallets.ts";
import type { Ledger, Spend } from "./ledger.ts";
import { policyDenied } from "./policy.ts";
import { requireAddress, requireUsd, type SpendContext, type SpendingSteps } from "./spending-steps.ts";

export interface PayRequest {
  url: string;
  method?: string | undefined;
  /** Sent as JSON. */
  body?: unknown;
  /** USD. */
  maxAmount: string;
  from?: string | undefined;
}

/** What came of it; `response` is what was paid for, or what came without a price. */
export interface PaymentResult {
  /** Undefined where nothing was asked for. */
  spend: Spend | undefined;
  response: { status: number; body: string } | undefined;
}

export type Pay = (spendContext: SpendContext, request: PayRequest) => Promise<PaymentResult>;

interface Deps {
  steps: SpendingSteps;
  wallets: Wallets;
  ledger: Ledger;
  outbound: Pick<Outbound, "fetch">;
  signerOf(wallet: Wallet): Promise<Signer>;
}

/** CAIP-2. */
const NETWORKS: Readonly<Record<string, ChainName>> = {
  "eip155:8453": "mainnet_chain",
  "eip155:84532": "testnet_chain",
};
/** Seconds that a seller may take to settle; one who wants more holds the money too long. */
const MAX_SETTLE_SECONDS = 600;

/**
 * Throws what `send` does, and 400 `PRICE_TOO_HIGH` or `NO_PAYMENT_OPTION` where the seller asks for more or otherwise, 502
 * `PAYMENT_NOT_UNDERSTOOD` for a price that can't be read, and what `Outbound.fetch` throws. What goes out comes from
 * outside: the price is taken from the first answer, and checked against what the caller and the policy allow.
 */
export function createPay({ steps, wallets, ledger, outbound, signerOf }: Deps): Pay {
  const { chainOf, stablecoinOf } = steps;

  /** The first way of paying that is ours: this scheme, these chains, the stablecoin. */
  function chooseOption({ accepts }: PaymentRequired): { option: PaymentRequirements; network: ChainName } {
    for (const option of accepts) {
      const network = NETWORKS[option.network];
      if (option.scheme !== "exact" || network === undefined) continue;
      if (typeof option.asset !== "string" || option.asset.toLowerCase() !== stablecoinOf(network).toLowerCase())
        continue;
      // It came from outside as JSON: none of its types is certain, and a time in text would never end.
      const { extra, maxTimeoutSeconds: seconds, payTo } = option as Partial<PaymentRequirements>;
      if (typeof extra?.name !== "string" || typeof extra.version !== "string" || typeof payTo !== "string") continue;
      if (!Number.isInteger(seconds) || seconds === undefined || seconds < 1 || seconds > MAX_SETTLE_SECONDS) continue;
      if ((extra.assetTransferMethod ?? "eip3009") !== "eip3009") continue;
      if (typeof option.amount === "string" && /^[1-9]\d{0,29}$/.test(option.amount)) return { option, network };
    }
    const text = "The seller takes no payment in the stablecoin by a signed authorization on these chains.";
    throw new AppError(400, "NO_PAYMENT_OPTION", text);
  }

  return async (spendContext, request) => {
    const existing = await steps.findExisting(spendContext, "pay", request);
    if (existing) return { spend: existing, response: undefined };
    const maxUsd = requireUsd("maxAmount", request.maxAmount);
    const wallet = await wallets.require(spendContext.userId, request.from);
    const owner = wallet.address as Address;
    const { decodePaymentRequiredHeader, encodePaymentSignatureHeader } = await import("@x402/core/http");
    const init = toRequestInit(request);
    // Who redirects could name another's price; and in the clear anybody on the way could change it.
    const strictFetch = { maxRedirects: 0, httpsOnly: true } as const;
    const priceResponse = await outbound.fetch(request.url, { ...init, ...strictFetch });
    if (priceResponse.status >= 300 && priceResponse.status < 400) throw redirectRefused();
    if (priceResponse.status !== 402) return { spend: undefined, response: toResponse(priceResponse) };

    const required = parsePrice(() => decodePaymentRequiredHeader(priceResponse.headers.get("payment-required") ?? ""));
    if (required.x402Version !== 2 || !Array.isArray(required.accepts)) throw unreadablePrice();
    const { option, network } = chooseOption(required);
    const chain = chainOf(network);
    const asset = await requireAddress("asset", option.asset);
    const recipient = await requireAddress("payTo", option.payTo);
    const units = BigInt(option.amount);
    const [balances, since] = await Promise.all([
      readWalletBalances(chain, asset, owner),
      chain.withClient((client) => client.getBlockNumber()),
    ]);
    const usd = toUsdCeil(units, balances.decimals);
    if (usd > maxUsd) {
      const text = `The seller asks for ${formatDecimalUnits(usd, USD_DECIMALS)} USD, which is more than maxAmount.`;
      throw new AppError(400, "PRICE_TOO_HIGH", text);
    }
    const assets = [asset.toLowerCase()];
    await steps.requirePolicy(spendContext.userId, { usd: Number(usd), recipient: recipient.toLowerCase(), assets });
    await steps.requireFunds({ network, address: owner }, asset, units, balances, false);
    const spend = await steps.reserve(spendContext, "pay", request, {
      wallet,
      network,
      asset,
      units,
      usd: Number(usd),
      amount: formatDecimalUnits(usd, USD_DECIMALS),
      recipient,
      details: { assets, url: request.url },
      plan: { payment: {} },
    });
    if (spend.state === "waiting") {
      await ledger.reject(spendContext.userId, spend.id);
      throw policyDenied("So much needs its owner's approval, and the seller's price does not wait for that.");
    }

    const payment = await signAuthorization(wallet, spend, required, option, Number(since));
    if (!payment) return { spend: await steps.waitForOutcome(spend), response: undefined };
    const headers = { ...init.headers, "PAYMENT-SIGNATURE": encodePaymentSignatureHeader(payment) };
    const response = await outbound.fetch(request.url, { ...init, ...strictFetch, headers, timeoutMs: 60_000 });
    // Whatever the seller says of it: what happened, and in which transaction, the chain says.
    await steps.recheckPayment(spend);
    return { spend: await steps.waitForOutcome(spend), response: toResponse(response) };
  };

  /** The signed authorization, noted before the seller has it; undefined where it may not be signed any more. */
  async function signAuthorization(
    wallet: Wallet,
    spend: Spend,
    { resource, x402Version, extensions }: PaymentRequired,
    option: PaymentRequirements,
    since: number,
  ): Promise<PaymentPayload | undefined> {
    const { ExactEvmScheme } = await import("@x402/evm/exact/client");
    const signer = await verifyingSigner(wallet);
    const { payload } = await new ExactEvmScheme(signer).createPaymentPayload(x402Version, option);
    const { nonce, validBefore } = (payload as { authorization: { nonce: Hex; validBefore: string } }).authorization;
    const plan = serializePlan({ payment: { nonce, validBefore: Number(validBefore), since } });
    if (!(await ledger.recordAuthorization(spend, plan))) {
      await ledger.finish(spend, { state: "failed", reason: (await ledger.findSigningRefusal(spend)) ?? "EXPIRED" });
      return undefined;
    }
    return { x402Version, resource, accepted: option, payload, ...(extensions && { extensions }) };
  }

  /** Throws where what comes back is not the wallet's own signature: a platform's answer is from outside. */
  async function verifyingSigner(wallet: Wallet) {
    const { recoverTypedDataAddress } = await import("viem");
    const { address, signTypedData } = await signerOf(wallet);
    return {
      address,
      async signTypedData(given: object) {
        const data = given as Parameters<Signer["signTypedData"]>[0];
        const signature = await signTypedData(data);
        const recovered = await recoverTypedDataAddress({ ...data, signature });
        if (recovered !== wallet.address) throw new Error(`Wallet ${wallet.id} was signed for by another key.`);
        return signature;
      },
    };
  }
}

const toResponse = (response: OutboundResponse) => ({ status: response.status, body: response.text() });

function toRequestInit({ method, body }: PayRequest) {
  const verb = (method ?? (body === undefined ? "GET" : "POST")).toUpperCase();
  if (body !== undefined && (verb === "GET" || verb === "HEAD")) {
    throw invalidInput({ path: "body", message: `A ${verb} has no body.` });
  }
  const headers: Record<string, string> = body === undefined ? {} : { "content-type": "application/json" };
  return { method: verb, headers, ...(body !== undefined && { body: JSON.stringify(body) }) };
}

function parsePrice<T>(read: () => T): T {
  try {
    return read();
  } catch (cause) {
    throw unreadablePrice(cause);
  }
}

const unreadablePrice = (cause?: unknown) =>
  new AppError(502, "PAYMENT_NOT_UNDERSTOOD", "The seller's price can't be read.", {}, { cause });
const redirectRefused = () => {
  const text = "The address redirects to another. Ask for that one itself, if it is the one you mean to pay.";
  return new AppError(502, "PAYMENT_NOT_UNDERSTOOD", text);
};
