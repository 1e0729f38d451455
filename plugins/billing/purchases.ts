// What people do: buy a plan or credits in Stripe's Checkout, change their plan, open the customer portal, and see invoices.

import type Stripe from "stripe";
import { AppError, invalidInput } from "../../src/kernel/errors.ts";
import type { Kernel } from "../../src/kernel/plugin.ts";
import type { Plan, PlanTable, User } from "../auth/index.ts";
import type { BillingRows } from "./payment-rows.ts";
import type { StripeClient } from "./stripe-client.ts";
import type { StripeEvents } from "./stripe-events.ts";

interface Deps extends Pick<Kernel, "database" | "config"> {
  stripe: StripeClient;
  rows: BillingRows;
  plans: PlanTable;
  events: Pick<StripeEvents, "sync">;
  creditPrice: { minorUnits: number; currency: string } | undefined;
}

export type Purchases = ReturnType<typeof createPurchases>;

const CREDITS_STEP = 100;
const MAX_CREDITS = 1_000_000;
const LIVE: readonly string[] = ["trialing", "active", "past_due"];

export function createPurchases({ database, config, stripe, rows, plans, events, creditPrice }: Deps) {
  const page = `${config.baseUrl}/account/plan`;

  /** The customer at Stripe; made with the first purchase. A repetition after a crash gets the same one. */
  async function requireCustomer({ id, email, name }: User): Promise<string> {
    const known = await rows.customerOf(id);
    if (known !== undefined) return known;
    const customer = await stripe.call((sdk) =>
      sdk.customers.create({ email, name, metadata: { berth_user: id } }, { idempotencyKey: `berth-customer-${id}` }),
    );
    await database.write([rows.customerStatement(id, customer.id)]);
    return (await rows.customerOf(id)) ?? customer.id;
  }

  async function checkout(user: User, session: Stripe.Checkout.SessionCreateParams): Promise<{ url: string }> {
    const customer = await requireCustomer(user);
    const { url } = await stripe.call((sdk) =>
      sdk.checkout.sessions.create({
        ...session,
        customer,
        client_reference_id: user.id,
        success_url: `${page}?paid=1`,
        cancel_url: page,
      }),
    );
    if (!url) throw new Error("Stripe made a checkout without an address.");
    return { url };
  }

  function requireSold(planId: string): Plan & { stripePrice: string } {
    const plan = plans.find(planId);
    const stripePrice = plan?.stripePrice;
    if (plan && stripePrice && !plan.hidden) return { ...plan, stripePrice };
    const sold = plans.plans.filter((one) => one.stripePrice && !one.hidden).map(({ id }) => id);
    throw invalidInput({ path: "plan", message: `This plan is not sold here. Plans: ${sold.join(", ") || "none"}.` });
  }

  /** Adds, replaces or takes away the item of the meter, whose use before stays billed. */
  async function meterChanges(
    subscriptionId: string,
    price: string | undefined,
  ): Promise<Stripe.SubscriptionUpdateParams.Item[]> {
    const meters = new Set(plans.plans.flatMap(({ stripeMeterPrice }) => stripeMeterPrice ?? []));
    if (meters.size === 0) return [];
    const { items } = await stripe.call((sdk) => sdk.subscriptions.retrieve(subscriptionId));
    const present = items.data.filter((item) => meters.has(item.price.id));
    const left = present.filter((item) => item.price.id !== price).map(({ id }) => ({ id, deleted: true }));
    const isThere = price === undefined || present.some((item) => item.price.id === price);
    return isThere ? left : [...left, { price }];
  }

  return {
    /** Opens Checkout; with a running subscription, changes it at once and charges or credits the difference. */
    async choosePlan(user: User, planId: string): Promise<{ url: string | null; changed: boolean }> {
      const { stripePrice, stripeMeterPrice, trialDays } = requireSold(planId);
      const customer = await rows.customerOf(user.id);
      // Its webhook may be on its way, and a second subscription must not begin.
      const running = customer === undefined ? undefined : await events.sync(customer);
      if (customer !== undefined && running && LIVE.includes(running.status)) {
        if (running.priceId === stripePrice && !running.cancels) return { url: null, changed: false };
        const meterItems = await meterChanges(running.subscriptionId, stripeMeterPrice);
        await stripe.call((sdk) =>
          sdk.subscriptions.update(running.subscriptionId, {
            items: [{ id: running.itemId, price: stripePrice }, ...meterItems],
            cancel_at_period_end: false,
            proration_behavior: "always_invoice",
            // Without the payment nothing changes.
            payment_behavior: "error_if_incomplete",
          }),
        );
        await events.sync(customer);
        return { url: null, changed: true };
      }
      // One trial for each account.
      const trial = trialDays > 0 && running === undefined;
      const { url } = await checkout(user, {
        mode: "subscription",
        line_items: [{ price: stripePrice, quantity: 1 }, ...(stripeMeterPrice ? [{ price: stripeMeterPrice }] : [])],
        subscription_data: {
          metadata: { berth_user: user.id },
          ...(trial && { trial_period_days: trialDays }),
        },
      });
      return { url, changed: false };
    },

    buyCredits(user: User, credits: number): Promise<{ url: string }> {
      if (!creditPrice) throw new AppError(404, "CREDITS_NOT_SOLD", "The operator of this service sells no credits.");
      if (credits < CREDITS_STEP || credits > MAX_CREDITS || credits % CREDITS_STEP !== 0)
        throw invalidInput({ path: "credits", message: `Credits are sold by the hundred, up to ${MAX_CREDITS}.` });
      const { currency, minorUnits } = creditPrice;
      const product = { name: `${CREDITS_STEP} credits` };
      return checkout(user, {
        mode: "payment",
        line_items: [
          {
            price_data: { currency, unit_amount: minorUnits, product_data: product },
            quantity: credits / CREDITS_STEP,
          },
        ],
        invoice_creation: { enabled: true },
        metadata: { berth_credits: String(credits) },
      });
    },

    async openPortal(user: User): Promise<{ url: string }> {
      const customer = await requireCustomer(user);
      const { url } = await stripe.call((sdk) => sdk.billingPortal.sessions.create({ customer, return_url: page }));
      return { url };
    },

    /** The newest first. */
    async listInvoices(user: User): Promise<Stripe.Invoice[]> {
      const customer = await rows.customerOf(user.id);
      if (customer === undefined) return [];
      return (await stripe.call((sdk) => sdk.invoices.list({ customer, limit: 24 }))).data;
    },

    /** Ends what would still be charged, before the account is deleted. */
    async endAll(userId: string): Promise<void> {
      const customer = await rows.customerOf(userId);
      if (customer === undefined) return;
      const { data } = await stripe.call((sdk) => sdk.subscriptions.list({ customer, status: "all", limit: 100 }));
      for (const { id, status } of data)
        if (LIVE.includes(status) || status === "unpaid" || status === "incomplete")
          await stripe.call((sdk) => sdk.subscriptions.cancel(id));
    },
  };
}
