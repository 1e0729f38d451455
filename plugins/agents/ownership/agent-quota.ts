// How many agents somebody may have, as SQL, so that it is asked in the very write that adds one.
import { AppError, unauthorized } from "../../../src/kernel/errors.ts";
import type { Kernel } from "../../../src/kernel/plugin.ts";

/** Agents per plan (interface, "Limits"); a plan that is not listed has room for one. */
const PLAN_QUOTA = "CASE plan WHEN 'starter' THEN 1 WHEN 'pro' THEN 3 WHEN 'enterprise' THEN 100 ELSE 1 END";
const ADMIN_QUOTA = 999;

/** How many agents user ?1 may have at ?2; 0 without an active subscription. ?3: whether it is an admin. */
const QUOTA = `CASE WHEN ?3 THEN ${ADMIN_QUOTA} ELSE coalesce((SELECT ${PLAN_QUOTA} FROM subscriptions
  WHERE user_id = ?1 AND status IN ('active', 'trialing') AND current_period_end > ?2), 0) END`;
const OWNED_COUNT = "(SELECT count(*) FROM agents WHERE user_id = ?1)";
/** Who was let in just before the account was disabled, or went, is let in no more. */
const ACCOUNT_IS_ENABLED = "EXISTS (SELECT 1 FROM users WHERE id = ?1 AND disabled_at IS NULL)";

/** Whether user ?1 has room for one more at ?2. ?3: whether it is an admin. */
export const IS_WITHIN_QUOTA = `${OWNED_COUNT} < ${QUOTA} AND ${ACCOUNT_IS_ENABLED}`;

/** Why there is no room: 401 for an account that is disabled or gone, 402 `SUBSCRIPTION_REQUIRED`, 429 `AGENT_LIMIT_REACHED`. */
export async function quotaError(
  { read }: Pick<Kernel["database"], "read">,
  userId: string,
  isAdmin: boolean,
): Promise<AppError> {
  const query = `SELECT ${OWNED_COUNT} AS current, ${QUOTA} AS allowed, ${ACCOUNT_IS_ENABLED} AS welcome`;
  const { rows } = await read(query, [userId, Date.now(), isAdmin]);
  if (rows[0]?.welcome !== 1) return unauthorized();
  const current = Number(rows[0]?.current);
  const limit = Number(rows[0]?.allowed);
  if (limit === 0) {
    return new AppError(402, "SUBSCRIPTION_REQUIRED", "An active subscription is needed to provision agents.");
  }
  const text = `Your plan has room for ${limit} ${limit === 1 ? "agent" : "agents"}. Remove one, or choose a larger plan.`;
  return new AppError(429, "AGENT_LIMIT_REACHED", text, { current, limit });
}
