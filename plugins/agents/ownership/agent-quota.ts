// The agent quota of an account, as SQL: it is checked in the write that adds an agent, so that concurrent requests
// can't exceed it.
import { AppError, unauthorized } from "../../../src/kernel/errors.ts";
import type { Kernel } from "../../../src/kernel/plugin.ts";
import { planSettings } from "../../auth/settings.ts";

const ADMIN_QUOTA = 999;
const OWNED_COUNT = "(SELECT count(*) FROM agents WHERE user_id = ?1)";
/** Checked again in the write: the account may have been disabled, frozen or deleted since the request was authenticated. */
const ACCOUNT_IS_ENABLED = "EXISTS (SELECT 1 FROM users WHERE id = ?1 AND disabled_at IS NULL AND frozen_at IS NULL)";

export interface AgentQuota {
  /** SQL: whether user ?1 may have one more agent at time ?2. ?3: whether the user is an admin. */
  readonly isWithin: string;
  /**
   * The error for a failed quota check: 401 for a disabled or deleted account, 402 `SUBSCRIPTION_REQUIRED`, 429
   * `AGENT_LIMIT_REACHED`.
   */
  error(userId: string, isAdmin: boolean): Promise<AppError>;
  /** Throws `error` unless the user may have one more agent, so that the rest of a large request need not be read. */
  require(owner: { userId: string; isAdmin: boolean }): Promise<void>;
}

export function createAgentQuota({ database, config }: Pick<Kernel, "database" | "config">): AgentQuota {
  const { table } = config.of(planSettings);
  // A subscription to a plan that is not in the table, or to the free one, has room for one.
  const quota = `CASE WHEN ?3 THEN ${ADMIN_QUOTA} ELSE coalesce((SELECT CASE plan WHEN 'free' THEN ${Math.max(1, table.of("free").agents)} ELSE ${table.limitSql("agents", 1)} END FROM subscriptions
    WHERE user_id = ?1 AND status IN ('active', 'trialing') AND current_period_end > ?2), ${table.of("free").agents}) END`;
  const isWithin = `${OWNED_COUNT} < ${quota} AND ${ACCOUNT_IS_ENABLED}`;

  async function error(userId: string, isAdmin: boolean): Promise<AppError> {
    const query = `SELECT ${OWNED_COUNT} AS current, ${quota} AS allowed, ${ACCOUNT_IS_ENABLED} AS enabled`;
    const { rows } = await database.read(query, [userId, Date.now(), isAdmin]);
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

  return {
    isWithin,
    error,
    async require({ userId, isAdmin }) {
      const { rows } = await database.read(`SELECT ${isWithin} AS ok`, [userId, Date.now(), isAdmin]);
      if (rows[0]?.ok !== 1) throw await error(userId, isAdmin);
    },
  };
}
