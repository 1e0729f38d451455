// Reads what a budget has spent, when its counter is not in memory.

import type { Database } from "../../../src/kernel/database/database.ts";
import { DAY } from "../../../src/kernel/util/time.ts";
import type { BudgetPeriod } from "./budgets.ts";

/** ?1: the first day. The sums by day, and the rows that are not added to them yet. */
const COSTS = (columns: string, where: string) => `(SELECT ${columns} FROM usage_days WHERE day >= ?1 AND ${where}
  UNION ALL SELECT ${columns} FROM usage_unsummed WHERE at >= ?1 * ${DAY} AND ${where})`;
const SUM_SQL = "SELECT coalesce(sum(cost_micro_usd), 0) FROM";
const PUBLIC_SQL = `${SUM_SQL} (SELECT cost_micro_usd FROM usage_days WHERE user_id = '' AND day >= ?1
  UNION ALL SELECT cost_micro_usd FROM usage_unsummed WHERE user_id IS NULL AND at >= ?1 * ${DAY})`;
const AGENT_SQL = `${SUM_SQL} ${COSTS("cost_micro_usd", "agent_id = ?2 AND agent_id <> ''")}`;
/** Costs of unpaid accounts (as `isPaid` in plan-allowance.ts) that no credits paid. Deleted accounts count as unpaid. */
const UNPAID_SQL = `SELECT coalesce(sum(cost_micro_usd - credit_micro_usd), 0)
  FROM ${COSTS("user_id, cost_micro_usd, credit_micro_usd", "own_key = 0 AND user_id <> ''")} AS calls
  WHERE NOT EXISTS (SELECT 1 FROM users WHERE id = calls.user_id
    AND (is_admin = 1 OR admin_by_group = 1 OR (email_verified = 1 AND email IN (SELECT value FROM json_each(?2)))))
  AND NOT EXISTS (SELECT 1 FROM subscriptions WHERE user_id = calls.user_id
    AND status = 'active' AND current_period_end > ?3)`;

/**
 * Whole micro-USD since the beginning of the period.
 * @param adminEmails the addresses of ADMIN_EMAILS
 * @param now epoch ms
 */
export async function readSpent(
  { read }: Pick<Database, "read">,
  { of, since }: BudgetPeriod,
  adminEmails: readonly string[],
  now: number,
): Promise<number> {
  const day = since / DAY;
  const { rows } =
    of === "public"
      ? await read(PUBLIC_SQL, [day])
      : of === "unpaid"
        ? await read(UNPAID_SQL, [day, JSON.stringify(adminEmails), now])
        : await read(AGENT_SQL, [day, of.agentId]);
  return Number(rows[0]?.[0] ?? 0);
}
