// Reads from the daily totals what a budget has spent, when its counter is not in memory.

import type { Database } from "../../../src/kernel/database/database.ts";
import { DAY } from "../../../src/kernel/util/time.ts";
import type { BudgetPeriod } from "./budgets.ts";

const SUM_SQL = "SELECT coalesce(sum(cost_micro_usd), 0) FROM usage_days";
const PUBLIC_SQL = `${SUM_SQL} WHERE user_id = '' AND day >= ?`;
const AGENT_SQL = `${SUM_SQL} WHERE agent_id = ? AND agent_id <> '' AND day >= ?`;
/** Costs of unpaid accounts (as `isPaid` in plan-allowance.ts) that no credits paid. Deleted accounts count as unpaid. */
const UNPAID_SQL = `SELECT coalesce(sum(cost_micro_usd - credit_micro_usd), 0) FROM usage_days WHERE day >= ?1 AND own_key = 0 AND user_id <> ''
  AND NOT EXISTS (SELECT 1 FROM users WHERE id = usage_days.user_id
    AND (is_admin = 1 OR (email_verified = 1 AND email IN (SELECT value FROM json_each(?2)))))
  AND NOT EXISTS (SELECT 1 FROM subscriptions WHERE user_id = usage_days.user_id
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
        : await read(AGENT_SQL, [of.agentId, day]);
  return Number(rows[0]?.[0] ?? 0);
}
