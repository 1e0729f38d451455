// Web routes of billing: what people buy, and the webhook by which Stripe says what has happened.
import { Elysia, type Static } from "elysia";
import { AppError } from "../../src/kernel/errors.ts";
import { decodeBody, readFileBody } from "../../src/kernel/http/body/json-body.ts";
import { documentErrors, documentGuard } from "../../src/kernel/http/openapi/route-documentation.ts";
import { contextOf } from "../../src/kernel/http/request-context.ts";
import type { ServiceOf } from "../../src/kernel/plugin.ts";
import { SECOND } from "../../src/kernel/util/time.ts";
import type { auth, PlanTable } from "../auth/index.ts";
import type { ActiveBilling } from "./active.ts";
import { billingState, checkoutResult, creditsBody, invoiceList, planBody, planResult, received } from "./model.ts";

interface Deps {
  identities: ServiceOf<typeof auth>["identities"];
  /** Undefined without a key of Stripe. */
  billing: ActiveBilling | undefined;
  plans: PlanTable;
  creditPrice: { minorUnits: number; currency: string } | undefined;
}

const OFF = { 404: ["BILLING_OFF"] };
const FAILURES = { ...OFF, 502: ["STRIPE_UNAVAILABLE"] };
const iso = (time: number) => new Date(time).toISOString();

export function billingRoutes({ identities, billing, plans, creditPrice }: Deps) {
  const tags = ["Billing"];
  const require = (): ActiveBilling => {
    if (billing) return billing;
    throw new AppError(404, "BILLING_OFF", "Nothing is paid through this service. Ask its operator for a plan.");
  };

  return new Elysia({ name: "billing.web" })
    .use(identities.guards)
    .get(
      "/api/billing",
      async ({ identity: { user } }): Promise<Static<typeof billingState>> => {
        if (!billing) return { enabled: false, creditPrice: null, plans: [], subscription: null };
        const row = await billing.rows.subscriptionOf(user.id);
        const plan = row && plans.plans.find(({ stripePrice }) => stripePrice === row.priceId);
        return {
          enabled: true,
          creditPrice: creditPrice ?? null,
          plans: plans.plans.filter(({ stripePrice, hidden }) => stripePrice && !hidden).map(({ id }) => id),
          subscription: row
            ? {
                ...{ status: row.status, plan: plan?.id ?? null, periodEnd: iso(row.periodEnd), endsThen: row.cancels },
                graceUntil: row.graceUntil === null ? null : iso(row.graceUntil),
              }
            : null,
        };
      },
      {
        signedIn: "read",
        response: { 200: billingState },
        detail: {
          tags,
          summary: "What is paid, and what can be bought",
          description: "Without a key of Stripe `enabled` is false, and the other routes of billing answer 404.",
          operationId: "getBilling",
        },
      },
    )
    .post("/api/billing/plan", ({ identity: { user }, body: { plan } }) => require().purchases.choosePlan(user, plan), {
      ownSession: true,
      body: planBody,
      response: { 200: planResult },
      detail: {
        tags,
        summary: "Take a plan, or change to it",
        description:
          "The first time the answer has the address of Stripe's Checkout. A running subscription is changed at once: what is left of the old plan is credited, and the difference is charged.",
        operationId: "choosePlan",
        ...documentErrors({ ...FAILURES, 402: "PAYMENT_FAILED" }),
      },
    })
    .post(
      "/api/billing/credits",
      ({ identity: { user }, body: { credits } }) => require().purchases.buyCredits(user, credits),
      {
        ownSession: true,
        body: creditsBody,
        response: { 200: checkoutResult },
        detail: {
          tags,
          summary: "Buy credits",
          description: "By the hundred, in Stripe's Checkout. They are there when Stripe has received the payment.",
          operationId: "buyCredits",
          ...documentErrors({ ...FAILURES, 404: ["BILLING_OFF", "CREDITS_NOT_SOLD"] }),
        },
      },
    )
    .post("/api/billing/portal", ({ identity: { user } }) => require().purchases.openPortal(user), {
      ownSession: true,
      response: { 200: checkoutResult },
      detail: {
        tags,
        summary: "Open the customer portal",
        description: "There people change their card, cancel, and find invoices. The address is for one visit.",
        operationId: "openBillingPortal",
        ...documentErrors(FAILURES),
      },
    })
    .get(
      "/api/billing/invoices",
      async ({ identity: { user } }) => {
        const invoices = (await require().purchases.listInvoices(user)).map((invoice) => ({
          id: invoice.id,
          number: invoice.number,
          at: iso(invoice.created * SECOND),
          amount: { minorUnits: invoice.total, currency: invoice.currency },
          status: invoice.status,
          url: invoice.hosted_invoice_url ?? null,
        }));
        return { invoices, count: invoices.length };
      },
      {
        signedIn: "read",
        response: { 200: invoiceList },
        detail: {
          tags,
          summary: "The account's invoices",
          description: "As Stripe has them.",
          operationId: "listInvoices",
          ...documentErrors(FAILURES),
        },
      },
    )
    .post(
      "/api/billing/stripe",
      async ({ request }) => {
        const { stripe, events } = require();
        await readFileBody({ request });
        const body = decodeBody(contextOf(request).bodyBytes ?? new Uint8Array());
        const event = await stripe.readEvent(body, request.headers.get("stripe-signature") ?? "");
        if (!event) {
          const text = "This event is not signed with STRIPE_WEBHOOK_SECRET, or it is older than five minutes.";
          throw new AppError(400, "INVALID_SIGNATURE", text);
        }
        await events.handle(event);
        return { received: true as const };
      },
      {
        // Read as it is: the signature is over the bytes.
        parse: "none",
        response: { 200: received },
        detail: {
          tags,
          ...documentGuard([]),
          ...documentErrors({ 400: "INVALID_SIGNATURE", ...FAILURES }),
          requestBody: { description: "An event of Stripe", content: { "application/json": { schema: {} } } },
          summary: "Receive an event of Stripe",
          description: "For the webhook at Stripe. Each event counts once, in whatever order they come.",
          operationId: "receiveStripeEvent",
        },
      },
    );
}
