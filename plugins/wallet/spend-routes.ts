// The web's routes of spending: the policy, what may be spent under it, and the ledger of what was.
import { Elysia, type Static } from "elysia";
import { mayAnswer } from "../../src/openapi/told.ts";
import { readLimit, readOffset } from "../../src/paging.ts";
import type { Kernel, ServiceOf } from "../../src/plugin.ts";
import type { auth, Identity } from "../auth/index.ts";
import type { Ledger, Spend } from "./ledger.ts";
import type { Pay } from "./pay.ts";
import type { Policies } from "./policy.ts";
import { tags } from "./routes.ts";
import {
  paging,
  paidAnswer,
  payBody,
  policyAnswer,
  policyBody,
  readPolicy,
  sendBody,
  spendAnswer,
  spendItem,
  spendList,
  toAnswer,
  toItem,
  toPaid,
  toPolicy,
  tradeBody,
} from "./spend-model.ts";
import type { Spender, Spending } from "./spending.ts";
import type { Trade } from "./trade.ts";

const KEPT_ANSWER = ["IDEMPOTENCY_MISMATCH", "IDEMPOTENCY_IN_PROGRESS"];
const SPEND_ERRORS = {
  400: ["INSUFFICIENT_FUNDS", "SPEND_REFUSED", "FEES_TOO_HIGH"],
  403: "POLICY_DENIED",
  404: "NO_WALLET",
  409: [...KEPT_ANSWER, "TOO_MANY_SPENDS"],
  500: "CHAIN_UNAVAILABLE",
  502: "WALLET_PLATFORM_UNAVAILABLE",
};

interface Deps extends Pick<Kernel, "idempotency"> {
  identities: ServiceOf<typeof auth>["identities"];
  policies: Policies;
  ledger: Ledger;
  spending: Spending;
  trade: Trade;
  pay: Pay;
  approve(userId: string, id: string): Promise<Spend>;
}

export function spendRoutes({ idempotency, identities, policies, ledger, spending, trade, pay, approve }: Deps) {
  /** The key is also the spend's own: it is found again even where a crash came before the answer. */
  const spend = (
    { identity: { user }, request }: { identity: Identity; request: Request },
    work: (spender: Spender) => Promise<Static<typeof spendAnswer> | Static<typeof paidAnswer>>,
    since = Date.now(),
  ) =>
    idempotency.respond({ request, userId: user.id }, async () => {
      const requestKey = request.headers.get("idempotency-key");
      const answer = await work({ userId: user.id, requestKey, since });
      return Response.json(answer, { status: answer.status === "waiting_approval" ? 202 : 200 });
    });

  return new Elysia({ name: "wallet.spending" })
    .use(identities.guards)
    .get("/api/wallet/policy", async ({ identity }) => toPolicy(await policies.of(identity.user.id)), {
      signedIn: "read",
      response: { 200: policyAnswer },
      detail: { tags, summary: "What may be spent from the caller's wallets" },
    })
    .put(
      "/api/wallet/policy",
      async ({ identity, body }) => toPolicy(await policies.set(identity.user.id, await readPolicy(body))),
      {
        // A key that got out must not widen what it may spend.
        ownSession: true,
        body: policyBody,
        response: { 200: policyAnswer },
        detail: {
          tags,
          summary: "Change the spending policy",
          description:
            "What is left out stays as it is. `enabled: false` ends all spending at once: nothing is signed after it.",
        },
      },
    )
    .post(
      "/api/wallet/send",
      ({ body, ...context }) => spend(context, async (spender) => toAnswer(await spending.send(spender, body))),
      {
        signedIn: "write",
        body: sendBody,
        response: { 200: spendAnswer, 202: spendAnswer },
        detail: {
          tags,
          summary: "Send stablecoin",
          description: "Within the policy. 202 where the owner has to approve it first.",
          ...mayAnswer(SPEND_ERRORS),
        },
      },
    )
    .post(
      "/api/wallet/trade",
      ({ body, ...context }) => spend(context, async (spender) => toAnswer(await trade(spender, body))),
      {
        signedIn: "write",
        body: tradeBody,
        response: { 200: spendAnswer, 202: spendAnswer },
        detail: {
          tags,
          summary: "Trade one token for another",
          description:
            "At the best price of Uniswap v3 now, and never worse than that by more than `slippageBps`. It counts in the policy for what is sold, in USD.",
          ...mayAnswer({ ...SPEND_ERRORS, 400: [...SPEND_ERRORS[400], "NO_ROUTE"] }),
        },
      },
    )
    .post(
      "/api/wallet/pay",
      ({ body, ...context }) => spend(context, async (spender) => toPaid(await pay(spender, body))),
      {
        signedIn: "write",
        body: payBody,
        response: { 200: paidAnswer, 202: paidAnswer },
        detail: {
          tags,
          summary: "Fetch what costs money, and pay for it (x402)",
          description:
            "By x402 version 2, scheme `exact` on either chain, in the stablecoin, up to `maxAmount`. Over https alone, and without following redirects. Nothing is paid where nothing is asked for.",
          ...mayAnswer({
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
        const { spends, total } = await ledger.list(
          identity.user.id,
          readLimit(query.limit, 50, 100),
          readOffset(query.offset),
        );
        return { spends: spends.map(toItem), count: total };
      },
      {
        signedIn: "read",
        query: paging,
        response: { 200: spendList },
        detail: { tags, summary: "The ledger, newest first" },
      },
    )
    .post(
      "/api/wallet/spends/:id/approve",
      async ({ identity, params: { id } }) => toAnswer(await approve(identity.user.id, id)),
      {
        ownSession: true,
        response: { 200: spendAnswer },
        detail: {
          tags,
          summary: "Approve a spend that waits for its owner",
          description:
            "A trade is made at today's price, and never for less than `atLeast`: 409 `PRICE_MOVED` where nobody gives that now; it goes on waiting then.",
          ...mayAnswer({
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
      async ({ identity, params: { id } }) => toItem(await ledger.reject(identity.user.id, id)),
      {
        ownSession: true,
        response: { 200: spendItem },
        detail: {
          tags,
          summary: "Refuse a spend that waits for its owner",
          ...mayAnswer({ 404: "SPEND_NOT_FOUND", 409: "SPEND_NOT_WAITING" }),
        },
      },
    );
}
