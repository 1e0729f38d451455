// Reports model use beyond what a plan includes to Stripe's meter: each cent once, also if the program dies in between.

import type { Kernel } from "../../src/kernel/plugin.ts";
import { DAY, HOUR, SECOND } from "../../src/kernel/util/time.ts";
import type { Plan, PlanTable } from "../auth/index.ts";
import type { StripeClient } from "./stripe-client.ts";

interface Deps extends Pick<Kernel, "database"> {
  stripe: StripeClient;
  plans: PlanTable;
  /** What the plan includes, in whole micro-USD a month. */
  includedBy(plan: Plan): number;
  /** Adds the last rows of the ledger to the sums. */
  addUp(): Promise<void>;
  eventName: string;
  now: () => number;
}

const MICRO_USD_PER_CENT = 10_000;
/** Calls that began before the month's end are in the ledger soon after it. */
const AFTER_END_MS = 12 * HOUR;

const CUSTOMERS = `SELECT s.user_id, s.price_id, c.customer_id FROM stripe_subscriptions s
  JOIN stripe_customers c ON c.user_id = s.user_id WHERE s.status IN ('active', 'past_due')`;
/** ?2 and ?3: the first day of the month, and of the next one. What credits paid is no use of the plan. */
const SPENT = `SELECT coalesce(sum(cost_micro_usd - credit_micro_usd), 0) AS spent FROM usage_account_days
  WHERE user_id = ?1 AND day >= ?2 AND day < ?3 AND own_key = 0`;
const REMEMBER = `INSERT INTO stripe_meter_reports (user_id, month, included_micro_usd) SELECT id, ?2, ?3 FROM users WHERE id = ?1
  ON CONFLICT DO UPDATE SET included_micro_usd = max(included_micro_usd, excluded.included_micro_usd)
  WHERE included_micro_usd < excluded.included_micro_usd`;
const READ = "SELECT included_micro_usd, cents, sending FROM stripe_meter_reports WHERE user_id = ? AND month = ?";
const BEGIN = "UPDATE stripe_meter_reports SET sending = ?3 WHERE user_id = ?1 AND month = ?2 AND sending = 0";
const END = `UPDATE stripe_meter_reports SET cents = cents + sending, sending = 0 WHERE user_id = ?1 AND month = ?2`;

export function createMeter({ database, stripe, plans, includedBy, addUp, eventName, now }: Deps) {
  const planOf = (priceId: string) => plans.plans.find(({ stripePrice }) => stripePrice === priceId);

  /** The identifier is the same for the same report, and Stripe counts it once. */
  async function send(report: { userId: string; customer: string; month: Month; cents: number; sending: number }) {
    const { userId, customer, month, cents, sending } = report;
    await stripe.call(async (sdk) => {
      try {
        await sdk.billing.meterEvents.create({
          event_name: eventName,
          payload: { stripe_customer_id: customer, value: String(sending) },
          identifier: `berth-${userId}-${month.id}-${cents}`,
          timestamp: Math.floor(Math.min(now(), month.end - 1) / SECOND),
        });
      } catch (error) {
        if (!(error instanceof Error && "code" in error && error.code === "duplicate_meter_event")) throw error;
      }
    });
    await database.write([{ sql: END, args: [userId, month.id] }]);
  }

  async function reportMonth(userId: string, customer: string, plan: Plan, month: Month): Promise<void> {
    const included = includedBy(plan);
    if (!Number.isFinite(included)) return;
    await database.write([{ sql: REMEMBER, args: [userId, month.id, included] }]);
    const read = async () => {
      const [row] = (await database.read(READ, [userId, month.id])).rows;
      return (
        row && { included: Number(row.included_micro_usd), cents: Number(row.cents), sending: Number(row.sending) }
      );
    };
    let row = await read();
    if (row && row.sending > 0) {
      await send({ userId, customer, month, ...row });
      row = await read();
    }
    if (!row) return;
    const [sum] = (await database.read(SPENT, [userId, month.start / DAY, month.end / DAY])).rows;
    const beyond = Math.max(0, Math.min(Number(sum?.spent) - row.included, plan.overageMicroUsd));
    const sending = Math.floor(beyond / MICRO_USD_PER_CENT) - row.cents;
    if (sending <= 0) return;
    await database.write([{ sql: BEGIN, args: [userId, month.id, sending] }]);
    await send({ userId, customer, month, cents: row.cents, sending });
  }

  return {
    /** Reports what is not reported yet, of this month, and of the last one while its calls may still end. */
    async report(): Promise<void> {
      await addUp();
      const current = monthOf(now());
      const months = now() - current.start < AFTER_END_MS + DAY ? [monthOf(current.start - 1), current] : [current];
      for (const row of (await database.read(CUSTOMERS)).rows) {
        const plan = planOf(String(row.price_id));
        if (!plan || plan.overageMicroUsd === 0) continue;
        for (const month of months) await reportMonth(String(row.user_id), String(row.customer_id), plan, month);
      }
    },
  };
}

interface Month {
  /** Such as 202607. */
  id: number;
  /** Epoch ms, UTC. */
  start: number;
  end: number;
}

function monthOf(at: number): Month {
  const date = new Date(at);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
  return { id: year * 100 + month + 1, start: Date.UTC(year, month), end: Date.UTC(year, month + 1) };
}
