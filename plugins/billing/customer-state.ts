// Makes an account's subscription what it is at Stripe now. Events only say that something has changed, so that their order,
// repetitions and gaps don't matter.

import type Stripe from "stripe";
import type { Kernel, ServiceOf } from "../../src/kernel/plugin.ts";
import { DAY, HOUR, SECOND } from "../../src/kernel/util/time.ts";
import type { AuditRecorder, auth, PlanTable } from "../auth/index.ts";
import type { BillingRows, StripeSubscription } from "./payment-rows.ts";
import type { StripeClient } from "./stripe-client.ts";

interface Deps extends Pick<Kernel, "database" | "log"> {
  stripe: StripeClient;
  rows: BillingRows;
  plans: PlanTable;
  users: Pick<ServiceOf<typeof auth>["users"], "byId">;
  administration: Pick<ServiceOf<typeof auth>["administration"], "setSubscription" | "removeSubscription">;
  audit: AuditRecorder;
  graceDays: number;
  now: () => number;
}

/** Stripe renews a subscription within an hour of its end; the plan stays in force until the event of that has come. */
const RENEWAL_MS = 6 * HOUR;
const LIVE: readonly string[] = ["trialing", "active", "past_due"];

export type CustomerState = ReturnType<typeof createCustomerState>;

export function createCustomerState(deps: Deps) {
  const { database, log, stripe, rows, plans, users, administration, audit, graceDays, now } = deps;
  const planOf = (priceId: string) => plans.plans.find(({ stripePrice }) => stripePrice === priceId);

  function toRow(subscription: Stripe.Subscription): StripeSubscription | undefined {
    const { data } = subscription.items;
    // Another item may be that of the meter.
    const item = data.find(({ price }) => planOf(price.id)) ?? data[0];
    if (!item) return undefined;
    return {
      subscriptionId: subscription.id,
      itemId: item.id,
      status: subscription.status,
      priceId: item.price.id,
      periodEnd: item.current_period_end * SECOND,
      // The period whose invoice is not paid began when the payment was due.
      graceUntil: subscription.status === "past_due" ? item.current_period_start * SECOND + graceDays * DAY : null,
      cancels: subscription.cancel_at_period_end || subscription.cancel_at !== null,
    };
  }

  /** The newest live subscription to one of the plans; others of the customer are ended, with their rest refunded to it. */
  async function current(customer: string): Promise<{ live?: StripeSubscription; last?: StripeSubscription }> {
    const all = await stripe.call((sdk) => sdk.subscriptions.list({ customer, status: "all", limit: 100 }));
    const own = all.data
      .toSorted((a, b) => b.created - a.created || b.id.localeCompare(a.id))
      .flatMap((one) => toRow(one) ?? [])
      .filter(({ priceId, subscriptionId }) => {
        const known = planOf(priceId) !== undefined;
        if (!known) log.warn("a subscription at Stripe has a price that no plan has", { subscriptionId, priceId });
        return known;
      });
    const [live, ...doubles] = own.filter(({ status }) => LIVE.includes(status));
    for (const { subscriptionId } of doubles) {
      log.warn("a second subscription of a customer at Stripe is ended", { subscriptionId });
      await stripe.call((sdk) => sdk.subscriptions.cancel(subscriptionId, { prorate: true, invoice_now: true }));
    }
    const last = own[0];
    return { ...(live && { live }), ...(last && { last }) };
  }

  return {
    /** Returns the state that it has written; undefined for a customer without an account or subscription. */
    async sync(customerId: string): Promise<StripeSubscription | undefined> {
      const userId = await rows.userOf(customerId);
      const user = userId === undefined ? undefined : await users.byId(userId);
      if (!user) return undefined;
      const { live, last } = await current(customerId);
      const before = await rows.subscriptionOf(user.id);
      const plan = live && planOf(live.priceId);
      if (live && plan) {
        const isLate = live.graceUntil !== null && live.graceUntil <= now();
        const wanted = {
          plan: plan.id,
          status: isLate
            ? ("past_due" as const)
            : live.status === "trialing"
              ? ("trialing" as const)
              : ("active" as const),
          currentPeriodEnd: live.graceUntil ?? live.periodEnd + (live.cancels ? 0 : RENEWAL_MS),
        };
        const { subscription } = user;
        const isSame =
          subscription?.plan === wanted.plan &&
          subscription.status === wanted.status &&
          subscription.currentPeriodEnd === wanted.currentPeriodEnd;
        if (!isSame) await administration.setSubscription(user.id, wanted, audit);
      } else if (before && LIVE.includes(before.status) && user.subscription) {
        // What an admin has given to somebody who never paid stays.
        await administration.removeSubscription(user.id, audit);
      }
      const row = live ?? last;
      if (row) await database.write([rows.subscriptionStatement(user.id, row)]);
      return row;
    },
  };
}
