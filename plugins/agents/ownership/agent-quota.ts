// The agent quota of an account, as SQL: it is checked in the write that adds an agent, so that concurrent requests
// can't exceed it.
import { AppError, unauthorized } from "../../../src/kernel/errors.ts";
import type { Kernel } from "../../../src/kernel/plugin.ts";
import { PLAN_LIMITS } from "../../auth/index.ts";

/** Agents per plan, while its subscription is active; 1 with any other that is subscribed to. */
const PLAN_QUOTA = `CASE plan ${Object.entries(PLAN_LIMITS)
  .filter(([, { agents }]) => agents > 0)
  .map(([plan, { agents }]) => `WHEN '${plan}' THEN ${agents}`)
  .join(" ")} ELSE 1 END`;
const ADMIN_QUOTA = 999;

/** The quota of user ?1 at time ?2; 0 without an active subscription. ?3: whether the user is an admin. */
const QUOTA = `CASE WHEN ?3 THEN ${ADMIN_QUOTA} ELSE coalesce((SELECT ${PLAN_QUOTA} FROM subscriptions
  WHERE user_id = ?1 AND status IN ('active', 'trialing') AND current_period_end > ?2), 0) END`;
const OWNED_COUNT = "(SELECT count(*) FROM agents WHERE user_id = ?1)";
/** Checked again in the write: the account may have been disabled or deleted since the request was authenticated. */
const ACCOUNT_IS_ENABLED = "EXISTS (SELECT 1 FROM users WHERE id = ?1 AND disabled_at IS NULL)";

/** Whether user ?1 may have one more agent at time ?2. ?3: whether the user is an admin. */
export const IS_WITHIN_QUOTA = `${OWNED_COUNT} < ${QUOTA} AND ${ACCOUNT_IS_ENABLED}`;

/**
 * The error for a failed quota check: 401 for a disabled or deleted account, 402 `SUBSCRIPTION_REQUIRED`, 429
 * `AGENT_LIMIT_REACHED`.
 */
export async function quotaError(
  { read }: Pick<Kernel["database"], "read">,
  userId: string,
  isAdmin: boolean,
): Promise<AppError> {
  const query = `SELECT ${OWNED_COUNT} AS current, ${QUOTA} AS allowed, ${ACCOUNT_IS_ENABLED} AS enabled`;
  const { rows } = await read(query, [userId, Date.now(), isAdmin]);
  if (rows[0]?.enabled !== 1) return unauthorized();
  const current = Number(rows[0]?.current);
  const limit = Number(rows[0]?.allowed);
  if (limit === 0) {
    return new AppError(
      402,
      "SUBSCRIPTION_REQUIRED",
      "An agent needs an active subscription, and this account has none. Ask the operator of this service for a plan.",
    );
  }
  const text = `Your plan has room for ${limit} ${limit === 1 ? "agent" : "agents"}. Remove one, or choose a larger plan.`;
  return new AppError(429, "AGENT_LIMIT_REACHED", text, { current, limit });
}

/** Throws `quotaError` unless the user may have one more agent, so that the rest of a large request need not be read. */
export async function requireQuota(
  database: Pick<Kernel["database"], "read">,
  { userId, isAdmin }: { userId: string; isAdmin: boolean },
): Promise<void> {
  const { rows } = await database.read(`SELECT ${IS_WITHIN_QUOTA} AS ok`, [userId, Date.now(), isAdmin]);
  if (rows[0]?.ok !== 1) throw await quotaError(database, userId, isAdmin);
}
