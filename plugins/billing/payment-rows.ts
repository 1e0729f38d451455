// Statements and queries for payments and for what is known of customers at Stripe.

import type { Statement } from "../../src/kernel/database/database.ts";
import type { Kernel } from "../../src/kernel/plugin.ts";

/** What was paid. `id`: the source and its own id, so that a payment counts once. */
export interface Payment {
  id: string;
  userId: string;
  kind: "credits" | "plan" | "refund";
  /** In the smallest unit of the currency; negative for money that went back, as its credits. `usdc`: millionths. */
  amount: number;
  currency: string;
  credits: number;
  /** Epoch ms. */
  at: number;
}

/** The subscription as it was when it was last read at Stripe. */
export interface StripeSubscription {
  subscriptionId: string;
  itemId: string;
  status: string;
  priceId: string;
  /** Epoch ms. */
  periodEnd: number;
  /** Epoch ms; null while no payment is missing. */
  graceUntil: number | null;
  cancels: boolean;
}

const INSERT_PAYMENT = `INSERT INTO payments (id, user_id, kind, amount, currency, credits, at)
  VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`;
/** Only for a payment whose credits the account does not have yet, or has lost already. */
const SET_CAUSE = `INSERT INTO credit_cause SELECT 1, 'payment', id FROM payments WHERE id = ?1
  AND NOT EXISTS (SELECT 1 FROM credit_entries WHERE kind = 'payment' AND reference = ?1)
  AND NOT EXISTS (SELECT 1 FROM credit_debts WHERE reference = ?1)`;
/** Bought credits pay a debt off first; a refund takes the credits that are there, and the rest is a debt. */
const CHANGE_DEBT = `INSERT INTO credit_debts SELECT id, user_id, change FROM (
    SELECT p.id, p.user_id, CASE WHEN p.credits > 0
      THEN -min(p.credits, (SELECT coalesce(sum(credits), 0) FROM credit_debts WHERE user_id = p.user_id))
      ELSE max(0, -p.credits - u.credits) END AS change
    FROM payments p JOIN users u ON u.id = p.user_id WHERE p.id = ?1)
  WHERE change <> 0 AND EXISTS (SELECT 1 FROM credit_cause)`;
const CHANGE_CREDITS = `UPDATE users SET credits = credits + (SELECT credits FROM payments WHERE id = ?1)
    + coalesce((SELECT credits FROM credit_debts WHERE reference = ?1), 0)
  WHERE id = (SELECT user_id FROM payments WHERE id = ?1) AND EXISTS (SELECT 1 FROM credit_cause)`;

/**
 * Records a payment, and gives its credits to its account, or takes those of a refund; a payment that is recorded already
 * changes nothing.
 */
export function paymentStatements(payment: Payment, invalidate: (userId: string) => void): Statement[] {
  const { id, userId, kind, amount, currency, credits, at } = payment;
  const insert = { sql: INSERT_PAYMENT, args: [id, userId, kind, amount, currency, credits, at] };
  if (credits === 0) return [insert];
  return [
    insert,
    { sql: SET_CAUSE, args: [id] },
    { sql: CHANGE_DEBT, args: [id] },
    { sql: CHANGE_CREDITS, args: [id], after: () => invalidate(userId) },
    { sql: "DELETE FROM credit_cause", args: [] },
  ];
}

export type BillingRows = ReturnType<typeof createBillingRows>;

export function createBillingRows({ database }: Pick<Kernel, "database">) {
  const first = async (sql: string, args: (string | number)[]) => (await database.read(sql, args)).rows[0];
  return {
    async customerOf(userId: string): Promise<string | undefined> {
      const row = await first("SELECT customer_id FROM stripe_customers WHERE user_id = ?", [userId]);
      return row && String(row.customer_id);
    },
    async userOf(customerId: string): Promise<string | undefined> {
      const row = await first("SELECT user_id FROM stripe_customers WHERE customer_id = ?", [customerId]);
      return row && String(row.user_id);
    },
    customerStatement: (userId: string, customerId: string): Statement => ({
      sql: `INSERT INTO stripe_customers (user_id, customer_id) SELECT id, ?2 FROM users WHERE id = ?1 ON CONFLICT DO NOTHING`,
      args: [userId, customerId],
    }),
    async subscriptionOf(userId: string): Promise<StripeSubscription | undefined> {
      const row = await first("SELECT * FROM stripe_subscriptions WHERE user_id = ?", [userId]);
      return (
        row && {
          subscriptionId: String(row.subscription_id),
          itemId: String(row.item_id),
          status: String(row.status),
          priceId: String(row.price_id),
          periodEnd: Number(row.period_end),
          graceUntil: row.grace_until === null ? null : Number(row.grace_until),
          cancels: row.cancels === 1,
        }
      );
    },
    subscriptionStatement: (userId: string, subscription: StripeSubscription): Statement => ({
      sql: `INSERT OR REPLACE INTO stripe_subscriptions SELECT id, ?2, ?3, ?4, ?5, ?6, ?7, ?8 FROM users WHERE id = ?1`,
      args: [
        userId,
        subscription.subscriptionId,
        subscription.itemId,
        subscription.status,
        subscription.priceId,
        subscription.periodEnd,
        subscription.graceUntil,
        subscription.cancels ? 1 : 0,
      ],
    }),
    isRecorded: async (paymentId: string) =>
      (await first("SELECT 1 FROM payments WHERE id = ?", [paymentId])) !== undefined,
    /** What was recorded as returned of a charge, in how many steps; amounts are positive. */
    async returnedOf(chargeId: string): Promise<{ steps: number; amount: number; credits: number }> {
      const row = await first(
        `SELECT count(*) AS steps, coalesce(-sum(amount), 0) AS amount, coalesce(-sum(credits), 0) AS credits
          FROM payments WHERE id >= ?1 || ':' AND id < ?1 || ';'`,
        [`stripe:${chargeId}`],
      );
      return { steps: Number(row?.steps), amount: Number(row?.amount), credits: Number(row?.credits) };
    },
    isHandled: async (eventId: string) =>
      (await first("SELECT 1 FROM stripe_events WHERE id = ?", [eventId])) !== undefined,
    /** Fails its batch if the event is handled already. */
    handledStatement: (eventId: string, created: number): Statement => ({
      sql: "INSERT INTO stripe_events (id, created) VALUES (?, ?)",
      args: [eventId, created],
    }),
    /** Epoch seconds; undefined before the first run. */
    async progress(): Promise<number | undefined> {
      const row = await first("SELECT upto FROM stripe_progress WHERE id = 1", []);
      return row && Number(row.upto);
    },
    progressStatements: (upto: number, keepFrom: number): Statement[] => [
      {
        sql: "INSERT INTO stripe_progress VALUES (1, ?) ON CONFLICT (id) DO UPDATE SET upto = max(upto, excluded.upto)",
        args: [upto],
      },
      { sql: "DELETE FROM stripe_events WHERE created < ?", args: [keepFrom] },
    ],
  };
}
