// The ledger stores every spend as a row before anything is signed. This file reserves, approves, rejects and lists
// spends; chain/spend-store.ts has the operations of the nonce queue.

import type { InferInsertModel } from "drizzle-orm";
import { and, count, desc, eq, getTableColumns, lt } from "drizzle-orm";
import {
  GuardFailed,
  guard,
  isUniqueViolation,
  type Statement,
  statement,
} from "../../../src/kernel/database/database.ts";
import { AppError, notFound } from "../../../src/kernel/errors.ts";
import type { Kernel } from "../../../src/kernel/plugin.ts";
import { DAY } from "../../../src/kernel/util/time.ts";
import { createSpendStore, type Spend, type SpendStore, updateSpendQuery } from "../chain/spend-store.ts";
import { spends } from "../schema.ts";
import {
  createPolicies,
  type Intent,
  policyCondition,
  policyDenied,
  requirePolicyAllows,
  spentExpression,
} from "./policy.ts";

export type { NonceQueue, Spend, SpendState, Transaction } from "../chain/spend-store.ts";

export type NewSpend = Omit<
  InferInsertModel<typeof spends>,
  "id" | "step" | "state" | "reason" | "hash" | "createdAt" | "reservedAt" | "updatedAt" | "nonceUsedSince" | "fee"
>;

/**
 * The details of a spend for its owner and for a second policy check. JSON in the ledger; amounts are decimal texts.
 */
export interface SpendDetails {
  /** Addresses of the tokens that it spends or buys, in lower case. */
  assets: string[];
  /** Trades: the token sold is the stablecoin or WETH. */
  known?: boolean;
  sell?: string;
  buy?: string;
  /** Trades: the quoted amount of the token bought. */
  quoted?: string;
  /** Trades: the least amount of the token bought that the swap accepts. */
  atLeast?: string;
  slippageBps?: number;
  /** Payments: the URL that is paid for. */
  url?: string;
}

export const parseDetails = (spend: Pick<Spend, "details">) => JSON.parse(spend.details) as SpendDetails;

/** The properties of a spend that the policy checks. */
export const toIntent = ({ kind, usd, recipient, details: { assets, known = false } }: IntentSource): Intent => ({
  usd,
  recipient: recipient?.toLowerCase() ?? null,
  assets,
  ...(kind === "trade" && { trade: { known } }),
});
type IntentSource = Pick<Spend, "kind" | "usd" | "recipient"> & { details: SpendDetails };

/** The columns of a trade that an approval replaces, since the price has moved after the request. */
export type RepricedTrade = Pick<Spend, "plan" | "usd" | "details">;

export interface Ledger extends SpendStore {
  /**
   * Stores the spend if the policy allows it together with all others, with `extraStatements` in the same batch. Its
   * state is `waiting` if the policy demands approval, else `reserved`. A request with a known key
   * returns the earlier spend. Throws 403 `POLICY_DENIED`, 409 `IDEMPOTENCY_MISMATCH` and `TOO_MANY_SPENDS`.
   */
  reserve(spend: NewSpend, intent: Intent, extraStatements: Statement[]): Promise<Spend>;
  /** Throws 403 `POLICY_DENIED` if the policy does not allow the spend now. */
  requirePolicy(userId: string, intent: Intent): Promise<void>;
  /** The earlier spend with this key. Throws 409 `IDEMPOTENCY_MISMATCH` if its request was a different one. */
  findByRequestKey(userId: string, requestKey: string | null, requestHash: string): Promise<Spend | undefined>;
  /**
   * A page of the user's spends, newest first, and the number of all; with `agentId` those that the agent asked for. With
   * `cursor`, those with ids before it.
   */
  list(
    userId: string,
    page: { limit: number; offset?: number; cursor?: string | undefined },
    filter?: { agentId?: string | undefined },
  ): Promise<{ spends: Spend[]; total: number }>;
  /** The spend, if it waits for approval. Throws 404 `SPEND_NOT_FOUND`, 409 `SPEND_NOT_WAITING`. */
  requireWaiting(userId: string, id: string): Promise<Spend>;
  /**
   * Reserves a waiting spend, with the values of `repriced` if given. Throws 409 `SPEND_NOT_WAITING`, 403
   * `POLICY_DENIED`.
   */
  approve(spend: Spend, extraStatements: Statement[], repriced?: RepricedTrade): Promise<Spend>;
  /** Ends a waiting spend as `REJECTED`. Throws 404 `SPEND_NOT_FOUND`, 409 `SPEND_NOT_WAITING`. */
  reject(userId: string, id: string): Promise<Spend>;
  /** For a reclaimed or disabled account: cancels all its spends that are not signed yet. */
  cancelStatement(userId: string): Statement;
}

/** Spends in progress from one wallet; each costs chain reads until it is settled. */
export const MAX_OPEN_SPENDS = 100;
/** Keys of turns are kept forever, because a turn may be resumed at any time. Others can be reused after a day. */
const PERMANENT_KEY_PREFIX = "turn:";

const SPEND_FIELDS = Object.keys(getTableColumns(spends)) as (keyof Spend)[];
const SPEND_COLUMNS = Object.values(getTableColumns(spends)).map(({ name }) => name);
const SPEND_PARAMETERS = SPEND_FIELDS.map(() => "?");

export function createLedger({ database }: Pick<Kernel, "database">): Ledger {
  const { drizzle } = database;
  const policies = createPolicies({ database });
  const spendStore = createSpendStore({ database });
  const { find } = spendStore;

  async function requirePolicy(userId: string, intent: Intent, except = ""): Promise<void> {
    const spent = spentExpression(userId, Date.now() - DAY, except);
    const { rows } = await database.read(`SELECT ${spent.sql} AS usd`, spent.args);
    requirePolicyAllows(await policies.get(userId), intent, Number(rows[0]?.usd ?? 0));
  }

  const isKeyReusable = ({ requestKey, createdAt, state }: Spend) =>
    !requestKey?.startsWith(PERMANENT_KEY_PREFIX) &&
    createdAt < Date.now() - DAY &&
    (state === "confirmed" || state === "failed");

  async function findByRequestKey(userId: string, requestKey: string | null, requestHash: string) {
    if (requestKey === null) return undefined;
    const same = and(eq(spends.userId, userId), eq(spends.requestKey, requestKey));
    const [known] = await drizzle.select().from(spends).where(same);
    if (!known || isKeyReusable(known)) return undefined;
    if (known.requestHash !== requestHash) {
      throw new AppError(
        409,
        "IDEMPOTENCY_MISMATCH",
        "This Idempotency-Key was used for another spend. Use a new key.",
      );
    }
    return known;
  }

  /** Writes a batch that is guarded by the policy. If the guard fails, throws an error with the rule that failed. */
  async function writeWithinPolicy(batch: Statement[], userId: string, intent: Intent, except?: string): Promise<void> {
    try {
      await database.write(batch);
    } catch (error) {
      if (!(error instanceof GuardFailed)) throw error;
      if (error.guard === "capacity") throw tooManySpends();
      if (error.guard !== "policy") throw error;
      if (except !== undefined && (await find(except))?.state !== "waiting") throw notWaiting();
      await requirePolicy(userId, intent, except);
      throw policyDenied("Another spend was reserved at the same time. Try again.");
    }
  }

  async function requireWaiting(userId: string, id: string): Promise<Spend> {
    const spend = await find(id);
    if (spend?.userId !== userId) throw notFound("You have no spend with this id.", "SPEND_NOT_FOUND");
    if (spend.state !== "waiting") throw notWaiting();
    return spend;
  }

  /** Frees the key of a settled spend that is older than a day. */
  const releaseKeyStatement = (userId: string, requestKey: string): Statement => ({
    sql: `UPDATE wallet_spends SET request_key = NULL WHERE user_id = ? AND request_key = ? AND created_at < ?
      AND state IN ('confirmed', 'failed') AND substr(request_key, 1, ?) <> ?`,
    args: [userId, requestKey, Date.now() - DAY, PERMANENT_KEY_PREFIX.length, PERMANENT_KEY_PREFIX],
  });

  return {
    ...spendStore,
    findByRequestKey,
    requireWaiting,
    requirePolicy,

    async reserve(spend, intent, extraStatements) {
      const { userId, requestKey = null, requestHash, network, address } = spend;
      const now = Date.now();
      const id = Bun.randomUUIDv7();
      const times = { createdAt: now, reservedAt: now, updatedAt: now };
      const row: InferInsertModel<typeof spends> = { ...spend, id, step: 0, state: "waiting", ...times };
      // An INSERT … SELECT, which drizzle can't build: the row is inserted only if the policy allows it.
      const condition = policyCondition(userId, intent, now);
      const insertStatement: Statement = {
        sql: `INSERT INTO wallet_spends (${SPEND_COLUMNS.join()}) SELECT ${SPEND_PARAMETERS.join()}
          FROM (SELECT 1) LEFT JOIN wallet_policies p ON p.user_id = ? WHERE ${condition.sql}`,
        args: [...SPEND_FIELDS.map((field) => row[field] ?? null), userId, ...condition.args],
      };
      const capacityStatement: Statement = {
        sql: `UPDATE wallet_spends SET step = 0 WHERE id = ? AND (SELECT count(*) FROM wallet_spends
          WHERE network = ? AND address = ? AND state IN ('reserved', 'signed', 'sent')) < ${MAX_OPEN_SPENDS}`,
        args: [id, network, address],
      };
      const autoApproveStatement: Statement = {
        sql: `UPDATE wallet_spends SET state = 'reserved' WHERE id = ?1 AND NOT EXISTS
          (SELECT 1 FROM wallet_policies WHERE user_id = ?2 AND approval_above IS NOT NULL AND ?3 > approval_above)`,
        args: [id, userId, intent.usd],
      };
      const releaseStatements = requestKey === null ? [] : [releaseKeyStatement(userId, requestKey)];
      const batch = [
        ...releaseStatements,
        insertStatement,
        guard("policy"),
        capacityStatement,
        guard("capacity"),
        autoApproveStatement,
        ...extraStatements,
      ];
      try {
        await writeWithinPolicy(batch, userId, intent);
      } catch (error) {
        const existing = isUniqueViolation(error) ? await findByRequestKey(userId, requestKey, requestHash) : undefined;
        if (!existing) throw error;
        return existing;
      }
      const stored = await find(id);
      if (!stored) throw new Error("A spend was deleted right after it was reserved.");
      return stored;
    },

    async list(userId, { limit, offset = 0, cursor }, { agentId } = {}) {
      const own = and(eq(spends.userId, userId), agentId === undefined ? undefined : eq(spends.agentId, agentId));
      const older = cursor === undefined ? own : and(own, lt(spends.id, cursor));
      const rows = drizzle.select().from(spends).where(older).orderBy(desc(spends.id)).limit(limit).offset(offset);
      const [[row], found] = await Promise.all([drizzle.select({ total: count() }).from(spends).where(own), rows]);
      return { spends: found, total: row?.total ?? 0 };
    },

    async approve(spend, extraStatements, { plan, usd, details } = spend) {
      const { id, userId } = spend;
      const now = Date.now();
      const intent = toIntent({ ...spend, usd, details: parseDetails({ details }) });
      const condition = policyCondition(userId, intent, now, id);
      const reserveStatement: Statement = {
        sql: `UPDATE wallet_spends SET state = 'reserved', plan = ?, usd = ?, details = ?, reserved_at = ?, updated_at = ?
          WHERE id = ? AND state = 'waiting'
          AND EXISTS (SELECT 1 FROM (SELECT 1) LEFT JOIN wallet_policies p ON p.user_id = ? WHERE ${condition.sql})`,
        args: [plan, usd, details, now, now, id, userId, ...condition.args],
      };
      await writeWithinPolicy([reserveStatement, guard("policy"), ...extraStatements], userId, intent, id);
      return { ...spend, plan, usd, details, state: "reserved" };
    },

    async reject(userId, id) {
      const spend = await requireWaiting(userId, id);
      const end = { state: "failed", reason: "REJECTED" } as const;
      const [done] = await database.write([statement(updateSpendQuery(database, spend, end, ["waiting"]))]);
      if (done?.rowsAffected !== 1) throw notWaiting();
      return { ...spend, ...end };
    },

    cancelStatement: (userId) => ({
      sql: "UPDATE wallet_spends SET state = 'failed', reason = 'CANCELLED', updated_at = ? WHERE user_id = ? AND state IN ('waiting', 'reserved')",
      args: [Date.now(), userId],
    }),
  };
}

const notWaiting = () => new AppError(409, "SPEND_NOT_WAITING", "This spend does not wait for approval any more.");
const tooManySpends = () => {
  const text = `${MAX_OPEN_SPENDS} spends from this wallet are in progress. Wait until some of them are settled.`;
  return new AppError(409, "TOO_MANY_SPENDS", text);
};
