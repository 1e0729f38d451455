// Web routes by which accounts buy credits with a stablecoin: where to transfer it, a transfer by its hash, and x402.
import { Elysia, type Static } from "elysia";
import type { Hex } from "viem";
import { AppError, forbidden } from "../../../src/kernel/errors.ts";
import { documentErrors } from "../../../src/kernel/http/openapi/route-documentation.ts";
import type { Kernel, ServiceOf } from "../../../src/kernel/plugin.ts";
import type { auth } from "../../auth/index.ts";
import { formatDecimalUnits, USD_DECIMALS } from "../../wallet/index.ts";
import type { ActiveStablecoin } from "./active.ts";
import { stablecoinState, transactionBody, transferResult, x402Body, x402Result } from "./model.ts";
import type { TransferRow } from "./transfer-rows.ts";

interface Deps extends Pick<Kernel, "limits"> {
  identities: ServiceOf<typeof auth>["identities"];
  /** Undefined without an address that receives it. */
  stablecoin: ActiveStablecoin | undefined;
}

/** Each asks the chain several times. */
export const LIMIT = "buy-by-chain";

const usd = (microUsd: number) => formatDecimalUnits(BigInt(microUsd), USD_DECIMALS);

export function stablecoinRoutes({ identities, limits, stablecoin }: Deps) {
  const tags = ["Billing"];
  const require = (): ActiveStablecoin => {
    if (stablecoin) return stablecoin;
    throw new AppError(404, "BILLING_OFF", "No credits are sold for stablecoin here. Ask the operator for credits.");
  };
  const toTransfer = (row: TransferRow): Static<typeof transferResult> => ({
    transaction: row.hash,
    link: require().linkOf(row.hash),
    state: row.state === "seen" ? "pending" : row.state,
    from: row.payer,
    usd: usd(row.microUsd),
    credits: row.state === "credited" ? row.credits : null,
    at: new Date(row.at).toISOString(),
  });

  return new Elysia({ name: "billing.stablecoin" })
    .use(identities.guards)
    .get(
      "/api/billing/stablecoin",
      async ({ identity: { user } }): Promise<Static<typeof stablecoinState>> => {
        if (!stablecoin) return { enabled: false, payment: null, transfers: [] };
        const { known, price, restMicroUsd, ...how } = await stablecoin.describe(user.id);
        const prices = { usdPer100Credits: usd(price), restUsd: usd(restMicroUsd) };
        const payment = { ...how, ...prices, x402: stablecoin.x402 !== undefined };
        return { enabled: true, payment, transfers: known.map(toTransfer) };
      },
      {
        signedIn: "read",
        response: { 200: stablecoinState },
        detail: {
          tags,
          summary: "How to buy credits with stablecoin",
          description:
            "Transfer any amount from a wallet that is linked to the account; it is credited once its block is deep enough.",
          operationId: "getStablecoinPayments",
        },
      },
    )
    .post(
      "/api/billing/stablecoin",
      async ({ identity: { user }, body: { transaction } }) => {
        const { find } = require();
        await limits.takeOrThrow(LIMIT, user.id);
        const row = await find(user.id, transaction as Hex);
        if (!row || (row.state === "unclaimed" && row.userId === null)) {
          const text =
            "This transfer came from a wallet that is not linked to your account. Link the wallet in the settings, then try again.";
          throw forbidden("FOREIGN_WALLET", text);
        }
        return toTransfer(row);
      },
      {
        signedIn: "write",
        body: transactionBody,
        response: { 200: transferResult },
        detail: {
          tags,
          summary: "Find a transfer of stablecoin by its transaction",
          description:
            "For a transfer that was not seen yet, or was made before its wallet was linked. Repeat it at will.",
          operationId: "findStablecoinTransfer",
          ...documentErrors({
            400: "NO_TRANSFER",
            403: "FOREIGN_WALLET",
            404: ["BILLING_OFF", "TRANSACTION_NOT_FOUND"],
            500: "CHAIN_UNAVAILABLE",
          }),
        },
      },
    )
    .post(
      "/api/billing/credits/x402",
      async ({ identity: { user }, body: { credits }, request, set }) => {
        const { x402 } = require();
        if (!x402)
          throw new AppError(404, "BILLING_OFF", "No credits are sold by x402 here. Transfer stablecoin instead.");
        const header = request.headers.get("payment-signature") ?? request.headers.get("x-payment");
        if (header !== null) await limits.takeOrThrow(LIMIT, user.id);
        const { payer, ...result } = await x402.buy(user.id, credits, header);
        const { encodePaymentResponseHeader } = await import("@x402/core/http");
        const { network } = x402;
        const receipt = { success: true, transaction: result.transaction, network, payer };
        set.headers["payment-response"] = encodePaymentResponseHeader(receipt);
        return result;
      },
      {
        signedIn: "write",
        body: x402Body,
        response: { 200: x402Result },
        detail: {
          tags,
          summary: "Buy credits by x402",
          description:
            "Without a payment the answer is 402 with the price, in the body and as `PAYMENT-REQUIRED`. Send the same request with the signed authorization as `PAYMENT-SIGNATURE` or `X-PAYMENT` (x402 version 2, scheme `exact`). Any wallet may pay. The same payment counts once, however often it is sent.",
          operationId: "payForCredits",
          ...documentErrors({
            402: ["PAYMENT_REQUIRED", "PAYMENT_INVALID"],
            404: "BILLING_OFF",
            409: "PAYMENT_USED",
            500: "CHAIN_UNAVAILABLE",
          }),
        },
      },
    );
}
