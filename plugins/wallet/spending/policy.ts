// What may be spent: limits in USD for one spend and for a day, to whom, in which tokens, and a switch that ends it all.
import { eq } from "drizzle-orm";
import { type Statement, statement } from "../../../src/kernel/database/database.ts";
import { forbidden } from "../../../src/kernel/errors.ts";
import type { Kernel } from "../../../src/kernel/plugin.ts";
import { DAY } from "../../../src/kernel/util/time.ts";
import { formatDecimalUnits, USD_DECIMALS } from "../amounts.ts";
import { policies as table } from "../schema.ts";

/** Amounts in millionths of a USD; addresses in small letters. */
export interface Policy {
  perTransaction: number;
  /** Of any 24 hours. */
  perDay: number;
  /** Null: anybody. A trade has no recipient, but gives its money to whoever owns the pool: see `requireWithin`. */
  recipients: string[] | null;
  /**
   * Tokens that may be spent, and of a trade also bought. Null: any; but sold only the stablecoin and WETH, since of others
   * the pool that is sold into would be the only one to say what they are worth.
   */
  assets: string[] | null;
  /** More than this waits for the owner's word. Null: nothing does. */
  approvalAbove: number | null;
  enabled: boolean;
}

/** Contract §8: 10 and 50 USD at first. */
export const DEFAULT_POLICY: Policy = {
  perTransaction: 10_000_000,
  perDay: 50_000_000,
  recipients: null,
  assets: null,
  approvalAbove: null,
  enabled: true,
};

/** What a spend is judged by. */
export interface Intent {
  usd: number;
  recipient: string | null;
  /** In small letters. */
  assets: string[];
  /** Of a trade: whether what is sold is the stablecoin or WETH. */
  trade?: { known: boolean };
  /** When it was asked for, epoch ms: not reserved once the account was taken over since. */
  requestedAt?: number;
}

export interface Policies {
  get(userId: string): Promise<Policy>;
  update(userId: string, change: Partial<Policy>): Promise<Policy>;
  /** For the batch of a takeover: back to what it is at first, and nothing is reserved that was asked for before. */
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
      // Only what is named is changed, whoever changes something else at the same time.
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
 * What counts for the day, as an expression with its arguments: what may still leave, however old it is, and what left, or
 * waits for its owner, since then. In millionths of a USD.
 */
export const spentExpression = (userId: string, since: number, exceptSpend = "") => ({
  sql: `((SELECT coalesce(sum(usd), 0) FROM wallet_spends
      WHERE user_id = ? AND state IN ('reserved', 'signed', 'sent') AND id <> ?)
    + (SELECT coalesce(sum(usd), 0) FROM wallet_spends
      WHERE user_id = ? AND state IN ('waiting', 'confirmed') AND updated_at > ? AND id <> ?))`,
  args: [userId, exceptSpend, userId, since, exceptSpend],
});

/**
 * The policy in SQL, so that of spends at the same time none passes that goes over a limit together with another. As
 * conditions over `p`, the user's row of `wallet_policies` or none, with their arguments.
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

/** Throws 403 `POLICY_DENIED` with what stands in the way. `spentToday` in millionths of a USD. */
export function requirePolicyAllows(
  policy: Policy,
  { usd, recipient, assets, trade }: Intent,
  spentToday: number,
): void {
  const formatUsd = (amount: number) => formatDecimalUnits(BigInt(amount), USD_DECIMALS);
  if (!policy.enabled) throw policyDenied("Spending is switched off.");
  if (usd > policy.perTransaction) throw policyDenied(`One spend is at most ${formatUsd(policy.perTransaction)} USD.`);
  if (usd + spentToday > policy.perDay) {
    throw policyDenied(
      `A day's spends are at most ${formatUsd(policy.perDay)} USD; ${formatUsd(spentToday)} of it are taken.`,
    );
  }
  if (recipient !== null && policy.recipients && !policy.recipients.includes(recipient)) {
    throw policyDenied("This recipient is not on the policy's list.");
  }
  if (trade && !policy.assets) {
    // A pool can be anybody's: a token that is worth nothing would take the money past the list.
    if (policy.recipients) throw policyDenied("With a list of recipients, trades need a list of `assets` too.");
    if (!trade.known) {
      throw policyDenied("Only the stablecoin and WETH are sold, unless the policy's `assets` name what else may be.");
    }
  }
  if (policy.assets && assets.some((asset) => !policy.assets?.includes(asset))) {
    throw policyDenied("This token is not on the policy's list.");
  }
}

export const policyDenied = (reason: string) =>
  forbidden("POLICY_DENIED", `The spending policy does not allow this. ${reason}`);

const parseList = (text: string | null) => (text === null ? null : (JSON.parse(text) as string[]));
const formatList = (list: string[] | null) => (list ? JSON.stringify(list) : null);
