// Handles Stripe's events: each once, in any order. Those that no webhook has brought are read from Stripe's list.

import type Stripe from "stripe";
import { isUniqueViolation, type Statement } from "../../src/kernel/database/database.ts";
import type { Kernel, ServiceOf } from "../../src/kernel/plugin.ts";
import { createKeyedQueue } from "../../src/kernel/util/keyed-queue.ts";
import { SECOND } from "../../src/kernel/util/time.ts";
import type { auth } from "../auth/index.ts";
import type { CustomerState } from "./customer-state.ts";
import type { PaymentNews } from "./payment-news.ts";
import { type BillingRows, type Payment, paymentStatements } from "./payment-rows.ts";
import { createReturnedCharges } from "./returned-charges.ts";
import type { StripeClient } from "./stripe-client.ts";

/** Those that a webhook at Stripe has to send. */
export const EVENT_TYPES = [
  "checkout.session.completed",
  "checkout.session.async_payment_succeeded",
  "customer.subscription.created",
  "customer.subscription.updated",
  "customer.subscription.deleted",
  "customer.subscription.trial_will_end",
  "invoice.paid",
  "invoice.payment_failed",
  "charge.refunded",
  "charge.dispute.created",
  "charge.dispute.closed",
] as const;

interface Deps extends Pick<Kernel, "database" | "log" | "events"> {
  stripe: StripeClient;
  rows: BillingRows;
  customers: CustomerState;
  users: Pick<ServiceOf<typeof auth>["users"], "byId" | "invalidate">;
  mails: Pick<ServiceOf<typeof auth>["mails"], "paymentFailedStatements" | "trialEndingStatements">;
  news: PaymentNews;
  planName(priceId: string): string;
  now: () => number;
}

/** Events may get into the list later than others that happened after them. */
const OVERLAP_SECONDS = 3_600;
/** Stripe's list goes back 30 days; an event is remembered longer. */
const REMEMBER_SECONDS = 60 * 86_400;
const FIRST_SECONDS = 3 * 86_400;

export type StripeEvents = ReturnType<typeof createStripeEvents>;

export function createStripeEvents(deps: Deps) {
  const { database, log, events, stripe, rows, customers, users, mails, news, planName, now } = deps;
  const inCustomerQueue = createKeyedQueue();
  const readReturned = createReturnedCharges({ stripe, rows });

  /** What belongs into the write that marks the event as handled. */
  async function effectsOf(event: Stripe.Event, customerId: string): Promise<Statement[]> {
    switch (event.type) {
      case "checkout.session.completed":
      case "checkout.session.async_payment_succeeded":
        return recorded(creditPayment(event.data.object));
      case "charge.refunded":
        return returnStatements(event.data.object.id, event.created);
      case "charge.dispute.created":
      case "charge.dispute.closed": {
        const { charge } = event.data.object;
        return returnStatements(typeof charge === "string" ? charge : charge.id, event.created);
      }
    }
    const userId = await rows.userOf(customerId);
    const user = userId === undefined ? undefined : await users.byId(userId);
    if (!user) return [];
    if (event.type === "invoice.paid") return recorded(planPayment(event.data.object, user.id));
    const subscription = await rows.subscriptionOf(user.id);
    if (!subscription) return [];
    const plan = planName(subscription.priceId);
    if (event.type === "invoice.payment_failed" && subscription.graceUntil !== null)
      return mails.paymentFailedStatements(user, plan, subscription.graceUntil);
    // A trial that is cancelled meanwhile costs nothing when it ends.
    const isCharged = subscription.status === "trialing" && !subscription.cancels;
    if (event.type === "customer.subscription.trial_will_end" && isCharged) {
      const data = { plan, endsAt: new Date(subscription.periodEnd).toISOString() };
      return [
        ...mails.trialEndingStatements(user, plan, subscription.periodEnd),
        events.recordStatement("trial.ending", { userId: user.id, data }),
      ];
    }
    return [];
  }

  async function recorded(payment: Payment | undefined): Promise<Statement[]> {
    if (!payment || (await rows.isRecorded(payment.id))) return [];
    const user = await users.byId(payment.userId);
    return [...paymentStatements(payment, users.invalidate), ...(user ? news(user, payment) : [])];
  }

  async function returnStatements(chargeId: string, at: number): Promise<Statement[]> {
    const { session, change } = await readReturned(chargeId, at);
    // What goes back must have come in before.
    return [...(await recorded(session && creditPayment(session))), ...(await recorded(change))];
  }

  function creditPayment(session: Stripe.Checkout.Session): Payment | undefined {
    const credits = Number(session.metadata?.berth_credits);
    const userId = session.client_reference_id;
    const isPaid = session.mode === "payment" && session.payment_status === "paid";
    if (!isPaid || !userId || !Number.isSafeInteger(credits) || credits <= 0) return undefined;
    return {
      ...{ id: `stripe:${session.id}`, userId, kind: "credits", credits },
      ...{ amount: session.amount_total ?? 0, currency: session.currency ?? "", at: session.created * SECOND },
    };
  }

  function planPayment(invoice: Stripe.Invoice, userId: string): Payment | undefined {
    // Invoices of bought credits are counted by their checkout.
    if (!invoice.billing_reason?.startsWith("subscription") || invoice.amount_paid <= 0) return undefined;
    return {
      ...{ id: `stripe:${invoice.id}`, userId, kind: "plan", credits: 0 },
      ...{ amount: invoice.amount_paid, currency: invoice.currency, at: invoice.created * SECOND },
    };
  }

  async function handleNow(event: Stripe.Event, customerId: string): Promise<void> {
    if (await rows.isHandled(event.id)) return;
    if (customerId !== "") await customers.sync(customerId);
    const effects = await effectsOf(event, customerId);
    try {
      await database.write([rows.handledStatement(event.id, event.created), ...effects]);
    } catch (error) {
      // Another process has handled it meanwhile.
      if (!isUniqueViolation(error, "stripe_events.id")) throw error;
    }
  }

  /** Resolves when the event and its effects are written; a repeated one changes nothing. */
  function handle(event: Stripe.Event): Promise<void> {
    const customerId = customerOf(event);
    return inCustomerQueue(customerId, () => handleNow(event, customerId));
  }

  return {
    handle,
    /** Changes to a customer that this program makes itself; they wait for its events. */
    sync: (customerId: string) => inCustomerQueue(customerId, () => customers.sync(customerId)),
    /** Handles the events since the last time that no webhook has brought. */
    async reconcile(): Promise<number> {
      const startedAt = Math.floor(now() / SECOND);
      const since = (await rows.progress()) ?? startedAt - FIRST_SECONDS;
      const missing = await stripe.call(async (sdk) => {
        const found: Stripe.Event[] = [];
        const query = { created: { gte: since }, types: [...EVENT_TYPES], limit: 100 };
        for await (const event of sdk.events.list(query)) found.push(event);
        return found.reverse();
      });
      let failed = 0;
      let missed = 0;
      for (const event of missing) {
        if (await rows.isHandled(event.id)) continue;
        missed++;
        await handle(event).catch((error: unknown) => {
          failed++;
          log.error("an event of Stripe can't be handled; it is tried again", {
            event: event.id,
            type: event.type,
            error,
          });
        });
      }
      if (missed > 0) log.info("events of Stripe that no webhook brought are handled", { events: missed - failed });
      if (failed === 0)
        await database.write(rows.progressStatements(startedAt - OVERLAP_SECONDS, startedAt - REMEMBER_SECONDS));
      return missed - failed;
    },
  };
}

function customerOf({ data: { object } }: Stripe.Event): string {
  const customer = "customer" in object ? object.customer : undefined;
  return typeof customer === "string" ? customer : (customer?.id ?? "");
}
