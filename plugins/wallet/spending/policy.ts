// Stores the spending policy of each user, and checks spends against it: limits in USD per spend and per day, allowed
// recipients and tokens, and a switch that stops all spending.
import { eq } from "drizzle-orm";
import { type Statement, statement } from "../../../src/kernel/database/database.ts";
import { forbidden } from "../../../src/kernel/errors.ts";
import type { Kernel } from "../../../src/kernel/plugin.ts";
import { DAY } from "../../../src/kernel/util/time.ts";
import { formatDecimalUnits, USD_DECIMALS } from "../amounts.ts";
import { policies as table } from "../schema.ts";

/** Amounts are in millionths of a USD, addresses in lower case. */
export interface Policy {
  perTransaction: number;
  /** The limit within any 24 hours. */
  perDay: number;
  /** Null: any. A trade has no recipient, but pays the owner of the pool: see `requirePolicyAllows`. */
  recipients: string[] | null;
  /**
   * Tokens that may be sent, sold and bought. Null: any; but trades then sell only the stablecoin and WETH, because the
   * value of another token is known only from the pool that it is sold to.
   */
  assets: string[] | null;
  /** Spends above this amount wait for approval. Null: none does. */
  approvalAbove: number | null;
  enabled: boolean;
}

/** The policy of users who have not changed it: 10 USD per spend, 50 USD per day. */
export const DEFAULT_POLICY: Policy = {
  perTransaction: 10_000_000,
  perDay: 50_000_000,
  recipients: null,
  assets: null,
  approvalAbove: null,
  enabled: true,
};

/** The properties of a spend that the policy checks. */
export interface Intent {
  usd: number;
  recipient: string | null;
  /** In lower case. */
  assets: string[];
  /** Trades: whether the token sold is the stablecoin or WETH. */
  trade?: { known: boolean };
  /** When the spend was requested, epoch ms. It is refused if the account was reclaimed after that. */
  requestedAt?: number;
}

export interface Policies {
  get(userId: string): Promise<Policy>;
  update(userId: string, change: Partial<Policy>): Promise<Policy>;
  /** For a reclaimed account: restores the default policy, and refuses all spends that were requested before now. */
  resetStatement(userId: string): Statement;
}

export function createPolicies({ database }: Pick<Kernel, "database">): Policies {
  const { drizzle } = database;

  async function get(userId: string): Promise<Policy> {
    const [row] = await drizzle.select().from(table).where(eq(table.userId, userId));
    if (!row) return DEFAULT_POLICY;
    const { perTransaction, perDay, approvalAbove, enabled } = row;
    const [recipients, assets] = [parseList(row.recipients), parseList(row.assets)];
    return { perTransaction, perDay, recipients, assets, approvalAbove, enabled };
  }

  return {
    get,
    async update(userId, change) {
      const { recipients, assets, ...rest } = change;
      const changes = {
        ...rest,
        ...(recipients !== undefined && { recipients: formatList(recipients) }),
        ...(assets !== undefined && { assets: formatList(assets) }),
        updatedAt: Date.now(),
      };
      // Only the given columns are updated, so that concurrent changes of others are kept.
      const values = { ...DEFAULT_POLICY, recipients: null, assets: null, ...changes, userId };
      const insert = drizzle.insert(table).values(values).onConflictDoUpdate({ target: table.userId, set: changes });
      await database.write([statement(insert)]);
      return get(userId);
    },
    resetStatement(userId) {
      const now = Date.now();
      const defaults = { ...DEFAULT_POLICY, recipients: null, assets: null, updatedAt: now, resetAt: now };
      const insert = drizzle.insert(table).values({ ...defaults, userId });
      return statement(insert.onConflictDoUpdate({ target: table.userId, set: defaults }));
    },
  };
}

/**
 * An SQL expression, with its arguments, for the USD (in millionths) that count against the daily limit: all open
 * spends, however old, and those that were confirmed or started to wait for approval after `since` (epoch ms).
 */
export const spentExpression = (userId: string, since: number, exceptSpend = "") => ({
  sql: `((SELECT coalesce(sum(usd), 0) FROM wallet_spends
      WHERE user_id = ? AND state IN ('reserved', 'signed', 'sent') AND id <> ?)
    + (SELECT coalesce(sum(usd), 0) FROM wallet_spends
      WHERE user_id = ? AND state IN ('waiting', 'confirmed') AND updated_at > ? AND id <> ?))`,
  args: [userId, exceptSpend, userId, since, exceptSpend],
});

/**
 * The policy as an SQL condition with its arguments, over `p`: the user's row of `wallet_policies`, or nulls. It is
 * evaluated in the batch that reserves a spend, so concurrent spends can't exceed a limit together.
 */
export function policyCondition(userId: string, intent: Intent, now: number, exceptSpend = "") {
  const { usd, recipient, assets, trade, requestedAt = now } = intent;
  const { perTransaction, perDay } = DEFAULT_POLICY;
  const spent = spentExpression(userId, now - DAY, exceptSpend);
  return {
    sql: `coalesce(p.enabled, 1) = 1 AND coalesce(p.reset_at, 0) <= ?
      AND ? <= coalesce(p.per_transaction, ${perTransaction})
      AND ? + ${spent.sql} <= coalesce(p.per_day, ${perDay})
      AND (? IS NULL OR p.recipients IS NULL OR ? IN (SELECT value FROM json_each(p.recipients)))
      AND (p.assets IS NOT NULL OR ? = 0 OR (? = 1 AND p.recipients IS NULL))
      AND (p.assets IS NULL OR NOT EXISTS
        (SELECT 1 FROM json_each(?) WHERE value NOT IN (SELECT value FROM json_each(p.assets))))`,
    args: [
      requestedAt,
      usd,
      usd,
      ...spent.args,
      recipient,
      recipient,
      Number(trade !== undefined),
      Number(trade?.known === true),
      JSON.stringify(assets),
    ],
  };
}

/** Throws 403 `POLICY_DENIED` with the rule that fails. `spentToday` is in millionths of a USD. */
export function requirePolicyAllows(
  policy: Policy,
  { usd, recipient, assets, trade }: Intent,
  spentToday: number,
): void {
  const formatUsd = (amount: number) => formatDecimalUnits(BigInt(amount), USD_DECIMALS);
  if (!policy.enabled) throw policyDenied("Spending is switched off.");
  if (usd > policy.perTransaction)
    throw policyDenied(`The limit of one spend is ${formatUsd(policy.perTransaction)} USD.`);
  if (usd + spentToday > policy.perDay) {
    throw policyDenied(
      `The limit of a day is ${formatUsd(policy.perDay)} USD, of which ${formatUsd(spentToday)} are used.`,
    );
  }
  if (recipient !== null && policy.recipients && !policy.recipients.includes(recipient)) {
    throw policyDenied("This recipient is not on the policy's list.");
  }
  if (trade && !policy.assets) {
    // Anyone can create a pool: buying a worthless token would pay its creator, who is not on the list.
    if (policy.recipients)
      throw policyDenied("With a list of `recipients`, trades are allowed only if the policy also lists `assets`.");
    if (!trade.known) {
      throw policyDenied("Without a list of `assets` in the policy, only the stablecoin and WETH can be sold.");
    }
  }
  if (policy.assets && assets.some((asset) => !policy.assets?.includes(asset))) {
    throw policyDenied("This token is not on the policy's list.");
  }
}

/** 403 `POLICY_DENIED`. @param reason a sentence for people */
export const policyDenied = (reason: string) =>
  forbidden("POLICY_DENIED", `The spending policy does not allow this. ${reason}`);

const parseList = (text: string | null) => (text === null ? null : (JSON.parse(text) as string[]));
const formatList = (list: string[] | null) => (list ? JSON.stringify(list) : null);
