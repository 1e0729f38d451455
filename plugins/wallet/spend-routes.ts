// The web routes of spending: the policy, sends, trades and payments, the ledger, and approvals.
import { Elysia, type Static } from "elysia";
import { documentErrors } from "../../src/kernel/http/openapi/route-documentation.ts";
import { cutPage, readLimit, readOffset } from "../../src/kernel/http/paging.ts";
import type { Kernel, ServiceOf } from "../../src/kernel/plugin.ts";
import type { auth, Identity } from "../auth/index.ts";
import { createSpendItems } from "./spend-item.ts";
import {
  parsePolicyChange,
  payBody,
  payResponse,
  policyBody,
  policyResponse,
  sendBody,
  spendItem,
  spendList,
  spendQuery,
  spendResponse,
  toPayResponse,
  toPolicyResponse,
  toSpendResponse,
  tradeBody,
} from "./spend-model.ts";
import type { Ledger, Spend } from "./spending/ledger.ts";
import type { Pay } from "./spending/pay.ts";
import type { Policies } from "./spending/policy.ts";
import type { Send } from "./spending/send.ts";
import type { SpendContext, SpendingSteps } from "./spending/spending-steps.ts";
import type { Trade } from "./spending/trading.ts";
import { tags } from "./wallet-routes.ts";

const IDEMPOTENCY_ERRORS = ["IDEMPOTENCY_MISMATCH", "IDEMPOTENCY_IN_PROGRESS"];
const SPEND_ERRORS = {
  400: ["INSUFFICIENT_FUNDS", "SPEND_REFUSED", "FEES_TOO_HIGH"],
  403: "POLICY_DENIED",
  404: "NO_WALLET",
  409: [...IDEMPOTENCY_ERRORS, "TOO_MANY_SPENDS"],
  500: "CHAIN_UNAVAILABLE",
  502: "WALLET_PLATFORM_UNAVAILABLE",
};

interface Deps extends Pick<Kernel, "idempotency"> {
  identities: ServiceOf<typeof auth>["identities"];
  policies: Policies;
  ledger: Ledger;
  steps: SpendingSteps;
  send: Send;
  trade: Trade;
  pay: Pay;
  approve(userId: string, id: string): Promise<Spend>;
}

export function spendRoutes({ idempotency, identities, policies, ledger, steps, send, trade, pay, approve }: Deps) {
  const toSpendItem = createSpendItems(steps);

  /**
   * The Idempotency-Key is stored with the spend too, so a retry finds the spend even after a crash before the
   * response.
   */
  const respondToSpend = (
    { identity: { user }, request }: { identity: Identity; request: Request },
    work: (spendContext: SpendContext) => Promise<Static<typeof spendResponse> | Static<typeof payResponse>>,
    requestedAt = Date.now(),
  ) =>
    idempotency.respond({ request, userId: user.id }, async () => {
      const requestKey = request.headers.get("idempotency-key");
      const result = await work({ userId: user.id, requestKey, requestedAt });
      return Response.json(result, { status: result.status === "waiting_approval" ? 202 : 200 });
    });

  return new Elysia({ name: "wallet.spending" })
    .use(identities.guards)
    .get("/api/wallet/policy", async ({ identity }) => toPolicyResponse(await policies.get(identity.user.id)), {
      signedIn: "read",
      response: { 200: policyResponse },
      detail: {
        tags,
        summary: "Get the spending policy",
        description:
          "Limits per transaction and day, allowed recipients and assets, and the amount above which the owner must approve.",
        operationId: "getSpendingPolicy",
      },
    })
    .put(
      "/api/wallet/policy",
      async ({ identity, body }) =>
        toPolicyResponse(await policies.update(identity.user.id, await parsePolicyChange(body))),
      {
        // A leaked API key must not be able to raise its own limits.
        ownSession: true,
        body: policyBody,
        response: { 200: policyResponse },
        detail: {
          tags,
          summary: "Change the spending policy",
          operationId: "setSpendingPolicy",
          description:
            "Fields that are left out stay unchanged. `enabled: false` stops all spending at once: nothing is signed after it.",
        },
      },
    )
    .post(
      "/api/wallet/send",
      ({ body, ...context }) =>
        respondToSpend(context, async (spendContext) => toSpendResponse(await send(spendContext, body))),
      {
        signedIn: "write",
        body: sendBody,
        response: { 200: spendResponse, 202: spendResponse },
        detail: {
          tags,
          summary: "Send stablecoin",
          operationId: "sendStablecoin",
          description: "Must be within the policy. 202 if the owner has to approve it first.",
          ...documentErrors(SPEND_ERRORS),
        },
      },
    )
    .post(
      "/api/wallet/trade",
      ({ body, ...context }) =>
        respondToSpend(context, async (spendContext) => toSpendResponse(await trade(spendContext, body))),
      {
        signedIn: "write",
        body: tradeBody,
        response: { 200: spendResponse, 202: spendResponse },
        detail: {
          tags,
          summary: "Trade one token for another",
          operationId: "tradeTokens",
          description:
            "Trades at the best current price of Uniswap v3, and at most `slippageBps` worse. The USD value of the token sold counts against the policy.",
          ...documentErrors({ ...SPEND_ERRORS, 400: [...SPEND_ERRORS[400], "NO_ROUTE"] }),
        },
      },
    )
    .post(
      "/api/wallet/pay",
      ({ body, ...context }) =>
        respondToSpend(context, async (spendContext) => toPayResponse(await pay(spendContext, body))),
      {
        signedIn: "write",
        body: payBody,
        response: { 200: payResponse },
        detail: {
          tags,
          summary: "Fetch a URL, and pay for it if required (x402)",
          operationId: "payForUrl",
          description:
            "Pays by x402 version 2, scheme `exact` on either chain, in the stablecoin, up to `maxAmount`. Uses https only, and follows no redirects. Pays nothing if the server requests no payment.",
          ...documentErrors({
            ...SPEND_ERRORS,
            400: [
              ...SPEND_ERRORS[400],
              "PRICE_TOO_HIGH",
              "NO_PAYMENT_OPTION",
              "INVALID_ADDRESS",
              "ADDRESS_NOT_ALLOWED",
            ],
            502: [SPEND_ERRORS[502], "PAYMENT_NOT_UNDERSTOOD", "UPSTREAM_UNREACHABLE", "UPSTREAM_TOO_LARGE"],
            504: "UPSTREAM_TIMEOUT",
          }),
        },
      },
    )
    .get(
      "/api/wallet/spends",
      async ({ identity, query }) => {
        const limit = readLimit(query.limit, 50, 100);
        const range = { limit: limit + 1, offset: readOffset(query.offset), cursor: query.cursor };
        const { spends, total } = await ledger.list(identity.user.id, range, { agentId: query.agentId });
        const { page, nextCursor } = cutPage(spends, limit, ({ id }) => id);
        return { spends: page.map(toSpendItem), count: total, nextCursor };
      },
      {
        signedIn: "read",
        query: spendQuery,
        response: { 200: spendList },
        detail: {
          tags,
          summary: "List spends, newest first",
          description:
            "Transfers, trades and payments of the account and its agents, those that wait for an approval included.",
          operationId: "listSpends",
        },
      },
    )
    .post(
      "/api/wallet/spends/:id/approve",
      async ({ identity, params: { id } }) => toSpendResponse(await approve(identity.user.id, id)),
      {
        ownSession: true,
        response: { 200: spendResponse },
        detail: {
          tags,
          summary: "Approve a spend that waits for approval",
          operationId: "approveSpend",
          description:
            "A trade is executed at the current price, and never for less than `atLeast`. If the price is lower now, the answer is 409 `PRICE_MOVED` and the trade keeps waiting.",
          ...documentErrors({
            ...SPEND_ERRORS,
            400: [...SPEND_ERRORS[400], "NO_ROUTE"],
            404: "SPEND_NOT_FOUND",
            409: ["SPEND_NOT_WAITING", "PRICE_MOVED"],
          }),
        },
      },
    )
    .post(
      "/api/wallet/spends/:id/reject",
      async ({ identity, params: { id } }) => toSpendItem(await ledger.reject(identity.user.id, id)),
      {
        ownSession: true,
        response: { 200: spendItem },
        detail: {
          tags,
          summary: "Reject a spend that waits for approval",
          description: "Only the account's own session decides, never a key or an agent.",
          operationId: "rejectSpend",
          ...documentErrors({ 404: "SPEND_NOT_FOUND", 409: "SPEND_NOT_WAITING" }),
        },
      },
    );
}
