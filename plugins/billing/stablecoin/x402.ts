// Sells credits by x402 version 2: names the price with 402, checks the signed authorization (EIP-3009), stores it, and settles
// it on the chain. The chain, not the settlement's answer, decides whether it was paid.

import type { PaymentPayload, PaymentRequirements } from "@x402/core/types";
import type { Address, Hex } from "viem";
import { AppError } from "../../../src/kernel/errors.ts";
import type { Kernel } from "../../../src/kernel/plugin.ts";
import { createKeyedQueue } from "../../../src/kernel/util/keyed-queue.ts";
import type { Chain } from "../../chains/index.ts";
import { type Payment, readPayment } from "./payment-header.ts";
import type { CreateSettler } from "./settler.ts";
import type { TokenFacts } from "./transfer-reader.ts";
import type { Authorization, TransferRow, TransferRows } from "./transfer-rows.ts";
import type { Transfers } from "./transfers.ts";

interface Deps extends Pick<Kernel, "database" | "log" | "config"> {
  chain: Chain;
  rows: TransferRows;
  transfers: Pick<Transfers, "lookUp">;
  createSettler: CreateSettler;
  token(): Promise<TokenFacts>;
  asset: Address;
  payTo: Address;
  /** Micro-USD of 100 credits. */
  price: number;
}

export interface X402Result {
  state: "pending" | "credited";
  transaction: string;
  credits: number | null;
  payer: string;
}

/** Seconds for which the buyer's authorization is to be valid: enough for a busy chain. */
const MAX_SECONDS = 300;
/** How long a request waits until the transfer is final. */
const WAIT_MS = 5_000;
const WAIT_POLL_MS = 500;

export type X402 = ReturnType<typeof createX402>;

export function createX402(deps: Deps) {
  const { database, log, config, chain, rows, transfers, createSettler, token, asset, payTo, price } = deps;
  const inOrder = createKeyedQueue();
  const network = `eip155:${chain.id}` as const;
  const resource = { url: `${config.baseUrl}/api/billing/credits/x402`, description: "Credits" };

  async function requirementsOf(credits: number): Promise<PaymentRequirements> {
    const { name, version, decimals } = await token();
    const microUsd = (BigInt(credits) * BigInt(price) + 99n) / 100n;
    const amount = (microUsd * 10n ** BigInt(decimals) + 999_999n) / 1_000_000n;
    const extra = { name, version };
    return {
      ...{ scheme: "exact", network, asset, amount: String(amount), payTo, extra },
      maxTimeoutSeconds: MAX_SECONDS,
    };
  }

  async function refusal(code: string, text: string, accepts: PaymentRequirements, reason?: string): Promise<AppError> {
    const { encodePaymentRequiredHeader } = await import("@x402/core/http");
    const required = { x402Version: 2, resource, accepts: [accepts], ...(reason && { error: reason }) };
    const headers = { "payment-required": encodePaymentRequiredHeader(required) };
    const { error: _, ...body } = { error: "", ...required };
    return new AppError(402, code, text, { ...body, ...(reason && { reason }) }, { headers });
  }

  /** Waits until the transfer is final; returns what is known then: `failed` if the transaction moved nothing. */
  async function outcomeOf({ payer }: Payment, hash: Hex): Promise<X402Result | "failed" | undefined> {
    for (const end = Date.now() + WAIT_MS; ; await Bun.sleep(WAIT_POLL_MS)) {
      const found = await transfers.lookUp(hash).catch((error: unknown) => {
        if (error instanceof AppError && error.code === "NO_TRANSFER") return "failed" as const;
        if (error instanceof AppError && error.code === "TRANSACTION_NOT_FOUND") return [];
        throw error;
      });
      if (found === "failed") return found;
      const row = found.find((one) => one.payer === payer);
      if (row?.state === "credited" || Date.now() > end) return row && toResult(row);
    }
  }

  /** Signs and sends the transfer, after the authorization is stored. Returns the reason why it did not happen. */
  async function settle(
    payment: Payment,
    authorization: Omit<Authorization, "hash" | "transferId">,
    accepts: PaymentRequirements,
  ): Promise<{ hash?: Hex; reason?: string }> {
    const { ExactEvmScheme } = await import("@x402/evm/exact/facilitator");
    let hash: Hex | undefined;
    const { signer, throwFailure } = await createSettler(async (signed) => {
      hash = signed;
      await database.write([rows.signedStatement(authorization, signed)]);
    });
    const scheme = new ExactEvmScheme(signer);
    const payload: PaymentPayload = { x402Version: 2, accepted: accepts, payload: payment.payload };
    const verified = await scheme.verify(payload, accepts);
    throwFailure();
    if (!verified.isValid) return { reason: verified.invalidReason ?? "invalid" };
    await database.write([rows.authorizationStatement(authorization)]);
    // Another account may have been faster with the same one.
    if ((await rows.authorization(authorization))?.userId !== authorization.userId) throw usedElsewhere();
    const settled = await scheme.settle(payload, accepts);
    if (hash) return { hash };
    throwFailure();
    log.warn("a payment by x402 can't be settled", { payer: payment.payer, reason: settled.errorReason });
    return { reason: settled.errorReason ?? "not settled" };
  }

  async function buyWith(userId: string, payment: Payment, accepts: PaymentRequirements): Promise<X402Result> {
    const invalid = (reason: string) =>
      refusal("PAYMENT_INVALID", `This payment can't be used: ${reason}. Nothing was paid.`, accepts, reason);
    const { payer, nonce, validBefore } = payment;
    const known = await rows.authorization({ payer, nonce });
    if (known && (known.userId !== userId || String(known.units) !== accepts.amount)) throw usedElsewhere();
    const paid = known?.transferId ? await rows.find(known.transferId) : undefined;
    if (paid) return toResult(paid);
    // It was signed before, perhaps just before a crash: the chain may have it.
    const earlier = known?.hash ? await outcomeOf(payment, known.hash as Hex) : undefined;
    if (earlier && earlier !== "failed") return earlier;
    const authorization = { payer, nonce, userId, units: BigInt(accepts.amount), validBefore };
    const { hash, reason } = await settle(payment, authorization, accepts);
    if (!hash) throw await invalid(reason ?? "not_settled");
    const outcome = await outcomeOf(payment, hash);
    if (outcome === "failed") throw await invalid("transaction_failed");
    return outcome ?? { state: "pending", transaction: hash, credits: null, payer };
  }

  return {
    network,
    /**
     * Throws 402 `PAYMENT_REQUIRED` without a payment, 402 `PAYMENT_INVALID` for one that can't be used, 409
     * `PAYMENT_USED` for one of another account or amount, and 500 `CHAIN_UNAVAILABLE`. The same payment may be sent again.
     */
    async buy(userId: string, credits: number, header: string | null): Promise<X402Result> {
      const accepts = await requirementsOf(credits);
      if (header === null) {
        const text = "Pay by x402: sign one of `accepts`, and send it as PAYMENT-SIGNATURE with the same request.";
        throw await refusal("PAYMENT_REQUIRED", text, accepts);
      }
      const payment = readPayment(header);
      const reason = payment ? unfitting(payment) : "invalid_payload";
      if (payment && reason === undefined)
        return inOrder(`${payment.payer} ${payment.nonce}`, () => buyWith(userId, payment, accepts));
      throw await refusal(
        "PAYMENT_INVALID",
        `This payment can't be used: ${reason}. Nothing was paid.`,
        accepts,
        reason,
      );
    },
  };

  function unfitting({ network: onNetwork, asset: inAsset, payer }: Payment): string | undefined {
    if (onNetwork !== network) return "invalid_network";
    if (inAsset.toLowerCase() !== asset.toLowerCase()) return "invalid_asset";
    // What the address sends to itself costs nothing.
    return payer === payTo.toLowerCase() ? "invalid_payer" : undefined;
  }
}

const toResult = ({ state, hash, credits, payer }: TransferRow): X402Result => ({
  state: state === "credited" ? "credited" : "pending",
  transaction: hash,
  credits: state === "credited" ? credits : null,
  payer,
});

const usedElsewhere = () =>
  new AppError(
    409,
    "PAYMENT_USED",
    "This payment was given for another purchase. Sign a new one, with a nonce of its own.",
  );
