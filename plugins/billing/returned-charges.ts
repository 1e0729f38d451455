// Takes credits back when their payment goes back: refunds and disputes of a charge, as they are at Stripe now.

import type Stripe from "stripe";
import { SECOND } from "../../src/kernel/util/time.ts";
import type { BillingRows, Payment } from "./payment-rows.ts";
import type { StripeClient } from "./stripe-client.ts";

interface Deps {
  stripe: StripeClient;
  rows: BillingRows;
}

/** Money that a bank has taken back, or may. An inquiry (`warning_…`) has not, and a dispute that was won gives it back. */
const TAKEN: readonly string[] = ["needs_response", "under_review", "lost"];

export interface ReturnedCharge {
  /** The checkout of the credits, if it sold some. Its own event may still be on its way. */
  session: Stripe.Checkout.Session | undefined;
  /** What changed since the last time; undefined if nothing did, or if the payer is nobody here. */
  change: Payment | undefined;
}

export function createReturnedCharges({ stripe, rows }: Deps) {
  async function sessionOf({ payment_intent: intent }: Stripe.Charge): Promise<Stripe.Checkout.Session | undefined> {
    const id = typeof intent === "string" ? intent : intent?.id;
    if (id === undefined) return undefined;
    const { data } = await stripe.call((sdk) => sdk.checkout.sessions.list({ payment_intent: id, limit: 1 }));
    return data.find(({ mode, metadata }) => mode === "payment" && metadata?.berth_credits !== undefined);
  }

  /** @param at epoch seconds */
  return async (chargeId: string, at: number): Promise<ReturnedCharge> => {
    const charge = await stripe.call((sdk) => sdk.charges.retrieve(chargeId));
    const disputes = charge.disputed
      ? (await stripe.call((sdk) => sdk.disputes.list({ charge: chargeId, limit: 100 }))).data
      : [];
    const disputed = disputes
      .filter(({ status }) => TAKEN.includes(status))
      .reduce((sum, { amount }) => sum + amount, 0);
    const returned = Math.min(charge.amount, charge.amount_refunded + disputed);
    const session = await sessionOf(charge);
    const customer = typeof charge.customer === "string" ? charge.customer : charge.customer?.id;
    const userId = session?.client_reference_id ?? (customer === undefined ? undefined : await rows.userOf(customer));
    if (!userId) return { session, change: undefined };
    const sold = Number(session?.metadata?.berth_credits ?? 0);
    const before = await rows.returnedOf(chargeId);
    const credits = Math.round((sold * returned) / charge.amount) - before.credits;
    const amount = returned - before.amount;
    if (amount === 0 && credits === 0) return { session, change: undefined };
    const change: Payment = {
      ...{ id: `stripe:${chargeId}:${before.steps + 1}`, userId, kind: "refund", at: at * SECOND },
      // Not -0, which the database can't store as a whole number.
      ...{ amount: 0 - amount, currency: charge.currency, credits: 0 - credits },
    };
    return { session, change };
  };
}
