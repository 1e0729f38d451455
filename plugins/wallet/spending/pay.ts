// Pays for HTTP resources that require payment (x402 version 2), by a signed authorization (EIP-3009) that the seller
// settles on the chain.

import type { PaymentPayload, PaymentRequired, PaymentRequirements } from "@x402/core/types";
import type { Address, Hex } from "viem";
import { AppError, invalidInput } from "../../../src/kernel/errors.ts";
import type { Outbound, OutboundResponse } from "../../../src/kernel/security/outbound.ts";
import type { ChainName } from "../../chains/index.ts";
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
  /** USD as a decimal text. */
  maxAmount: string;
  from?: string | undefined;
}

/** The spend, if there was one, and the server's response. */
export interface PaymentResult {
  /** Undefined if the server requested no payment. */
  spend: Spend | undefined;
  /** Undefined for a repeated request, and if the payment was not signed. */
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

/** Networks in x402, as CAIP-2 ids. */
const NETWORKS: Readonly<Record<string, ChainName>> = {
  "eip155:8453": "mainnet_chain",
  "eip155:84532": "testnet_chain",
};
/** Seconds that a seller may take to settle. Options with more are refused, because the money is reserved meanwhile. */
const MAX_SETTLE_SECONDS = 600;

/**
 * Throws the errors of `Send`, 400 `PRICE_TOO_HIGH`, 400 `NO_PAYMENT_OPTION` if the seller accepts no payment of this
 * kind, 502 `PAYMENT_NOT_UNDERSTOOD` for a price that can't be read, and the errors of `Outbound.fetch`. The price
 * comes from the seller's first response, so it is checked against the limits of the caller and the policy.
 */
export function createPay({ steps, wallets, ledger, outbound, signerOf }: Deps): Pay {
  const { chainOf, stablecoinOf } = steps;

  /**
   * The first payment option that is supported: scheme `exact` by EIP-3009, on one of the chains, in the stablecoin.
   */
  function chooseOption({ accepts }: PaymentRequired): { option: PaymentRequirements; network: ChainName } {
    for (const option of accepts) {
      const network = NETWORKS[option.network];
      if (option.scheme !== "exact" || network === undefined) continue;
      if (typeof option.asset !== "string" || option.asset.toLowerCase() !== stablecoinOf(network).toLowerCase())
        continue;
      // The option is JSON from the seller, so its types are unknown. A time that is not a number would never expire.
      const { extra, maxTimeoutSeconds: seconds, payTo } = option as Partial<PaymentRequirements>;
      if (typeof extra?.name !== "string" || typeof extra.version !== "string" || typeof payTo !== "string") continue;
      if (!Number.isInteger(seconds) || seconds === undefined || seconds < 1 || seconds > MAX_SETTLE_SECONDS) continue;
      if ((extra.assetTransferMethod ?? "eip3009") !== "eip3009") continue;
      if (typeof option.amount === "string" && /^[1-9]\d{0,29}$/.test(option.amount)) return { option, network };
    }
    const text = "The seller accepts no payment by a signed authorization in the stablecoin on these chains.";
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
    // A redirect could lead to another seller's price, and plain HTTP could be changed on the way.
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
      const text = `The price is ${formatDecimalUnits(usd, USD_DECIMALS)} USD, which is more than maxAmount.`;
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
      throw policyDenied("This amount needs the owner's approval, and a payment can't wait for that.");
    }

    const payment = await signAuthorization(wallet, spend, required, option, Number(since));
    if (!payment) return { spend: await steps.waitForOutcome(spend), response: undefined };
    const headers = { ...init.headers, "PAYMENT-SIGNATURE": encodePaymentSignatureHeader(payment) };
    const response = await outbound.fetch(request.url, { ...init, ...strictFetch, headers, timeoutMs: 60_000 });
    // The seller's claims are ignored: the chain shows whether the authorization was used, and by which transaction.
    await steps.recheckPayment(spend);
    return { spend: await steps.waitForOutcome(spend), response: toResponse(response) };
  };

  /**
   * Signs the authorization, and stores it before the seller gets it; undefined if the spend may not be signed any
   * more.
   */
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

  /** A signer that throws if the platform's signature is not by the wallet's key. */
  async function verifyingSigner(wallet: Wallet) {
    const { recoverTypedDataAddress } = await import("viem");
    const { address, signTypedData } = await signerOf(wallet);
    return {
      address,
      async signTypedData(typedData: object) {
        const data = typedData as Parameters<Signer["signTypedData"]>[0];
        const signature = await signTypedData(data);
        const recovered = await recoverTypedDataAddress({ ...data, signature });
        if (recovered !== wallet.address)
          throw new Error(`The signature for wallet ${wallet.id} was made by another key.`);
        return signature;
      },
    };
  }
}

const toResponse = (response: OutboundResponse) => ({ status: response.status, body: response.text() });

function toRequestInit({ method, body }: PayRequest) {
  const httpMethod = (method ?? (body === undefined ? "GET" : "POST")).toUpperCase();
  if (body !== undefined && (httpMethod === "GET" || httpMethod === "HEAD")) {
    throw invalidInput({ path: "body", message: `A ${httpMethod} has no body.` });
  }
  const headers: Record<string, string> = body === undefined ? {} : { "content-type": "application/json" };
  return { method: httpMethod, headers, ...(body !== undefined && { body: JSON.stringify(body) }) };
}

function parsePrice<T>(read: () => T): T {
  try {
    return read();
  } catch (cause) {
    throw unreadablePrice(cause);
  }
}

const unreadablePrice = (cause?: unknown) =>
  new AppError(
    502,
    "PAYMENT_NOT_UNDERSTOOD",
    "The seller's price can't be read. Ask the seller to support x402 version 2.",
    {},
    { cause },
  );
const redirectRefused = () => {
  const text = "The URL redirects to another one, which is not followed. Pay that URL directly if you trust it.";
  return new AppError(502, "PAYMENT_NOT_UNDERSTOOD", text);
};
