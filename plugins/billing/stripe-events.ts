// Handles Stripe's events: each once, in any order. Those that no webhook has brought are read from Stripe's list.

import type Stripe from "stripe";
import { isUniqueViolation, type Statement } from "../../src/kernel/database/database.ts";
import type { Kernel, ServiceOf } from "../../src/kernel/plugin.ts";
import { createKeyedQueue } from "../../src/kernel/util/keyed-queue.ts";
import { SECOND } from "../../src/kernel/util/time.ts";
import type { auth } from "../auth/index.ts";
import type { CustomerState } from "./customer-state.ts";
import { type BillingRows, paymentStatements } from "./payment-rows.ts";
import type { StripeClient } from "./stripe-client.ts";

/** Those that a webhook at Stripe has to send. */
export const EVENT_TYPES = [
  "checkout.session.completed",
  "checkout.session.async_payment_succeeded",
  "customer.subscription.created",
  "customer.subscription.updated",
  "customer.subscription.deleted",
  "invoice.paid",
  "invoice.payment_failed",
] as const;

interface Deps extends Pick<Kernel, "database" | "log"> {
  stripe: StripeClient;
  rows: BillingRows;
  customers: CustomerState;
  users: Pick<ServiceOf<typeof auth>["users"], "byId" | "invalidate">;
  mails: Pick<ServiceOf<typeof auth>["mails"], "paymentFailedStatements">;
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
  const { database, log, stripe, rows, customers, users, mails, planName, now } = deps;
  const inCustomerQueue = createKeyedQueue();

  /** What belongs into the write that marks the event as handled. */
  async function effectsOf(event: Stripe.Event, customerId: string): Promise<Statement[]> {
    if (event.type === "checkout.session.completed" || event.type === "checkout.session.async_payment_succeeded")
      return creditStatements(event.data.object);
    const userId = await rows.userOf(customerId);
    const user = userId === undefined ? undefined : await users.byId(userId);
    if (!user) return [];
    if (event.type === "invoice.paid") return planPaymentStatements(event.data.object, user.id);
    if (event.type !== "invoice.payment_failed") return [];
    const subscription = await rows.subscriptionOf(user.id);
    if (!subscription || subscription.graceUntil === null) return [];
    return mails.paymentFailedStatements(user, planName(subscription.priceId), subscription.graceUntil);
  }

  function creditStatements(session: Stripe.Checkout.Session): Statement[] {
    const credits = Number(session.metadata?.berth_credits);
    const userId = session.client_reference_id;
    const isPaid = session.mode === "payment" && session.payment_status === "paid";
    if (!isPaid || !userId || !Number.isSafeInteger(credits) || credits <= 0) return [];
    const payment = {
      ...{ id: `stripe:${session.id}`, userId, kind: "credits" as const, credits },
      ...{ amount: session.amount_total ?? 0, currency: session.currency ?? "", at: session.created * SECOND },
    };
    return paymentStatements(payment, users.invalidate);
  }

  function planPaymentStatements(invoice: Stripe.Invoice, userId: string): Statement[] {
    // Invoices of bought credits are counted by their checkout.
    if (!invoice.billing_reason?.startsWith("subscription") || invoice.amount_paid <= 0) return [];
    const payment = {
      ...{ id: `stripe:${invoice.id}`, userId, kind: "plan" as const, credits: 0 },
      ...{ amount: invoice.amount_paid, currency: invoice.currency, at: invoice.created * SECOND },
    };
    return paymentStatements(payment, users.invalidate);
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
      const events = await stripe.call(async (sdk) => {
        const found: Stripe.Event[] = [];
        const query = { created: { gte: since }, types: [...EVENT_TYPES], limit: 100 };
        for await (const event of sdk.events.list(query)) found.push(event);
        return found.reverse();
      });
      let failed = 0;
      let missed = 0;
      for (const event of events) {
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
