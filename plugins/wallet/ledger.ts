// The ledger: every spend is a row before anything is signed, and every signed transaction is a row before a node has it.

import type { InferInsertModel, InferSelectModel } from "drizzle-orm";
import { and, asc, count, desc, eq, gt, inArray, max, ne, sql, sum } from "drizzle-orm";
import type { ChainName } from "../../src/chains.ts";
import { GuardFailed, guard, isUniqueViolation, type Statement, statement } from "../../src/database.ts";
import { AppError, notFound } from "../../src/errors.ts";
import type { Kernel } from "../../src/plugin.ts";
import { createPolicies, DAY, denied, type Intent, requireWithin, withinPolicy } from "./policy.ts";
import { spends, transactions } from "./schema.ts";

export type Spend = InferSelectModel<typeof spends>;
export type SpendState = Spend["state"];
export type Transaction = InferSelectModel<typeof transactions>;

/** Where nonces follow each other. */
export interface Lane {
  network: ChainName;
  address: string;
}

export type NewSpend = Omit<
  InferInsertModel<typeof spends>,
  "id" | "step" | "state" | "reason" | "hash" | "createdAt" | "reservedAt" | "updatedAt" | "overtakenAt" | "fee"
>;

/** States in which money may still leave. */
export const OPEN = ["reserved", "signed", "sent"] as const;

export interface Ledger {
  /**
   * Takes its place in the policy, with `also` in the same write; `waiting` where the owner has to agree first. The same
   * (`ask`, or the policy says so). The same request again is the same spend. Throws 403 `POLICY_DENIED`, 409 `IDEMPOTENCY_MISMATCH`.
   */
  reserve(spend: NewSpend, intent: Intent, also: Statement[], ask?: boolean): Promise<Spend>;
  /** Throws 403 `POLICY_DENIED` where it can't be reserved now. */
  require(userId: string, intent: Intent): Promise<void>;
  /** The spend that this request has made already. 409 `IDEMPOTENCY_MISMATCH` where it was another one. */
  again(userId: string, requestKey: string | null, requestHash: string): Promise<Spend | undefined>;
  find(id: string): Promise<Spend | undefined>;
  /** The newest first. */
  list(userId: string, limit: number, offset: number): Promise<{ spends: Spend[]; total: number }>;
  /** The owner agrees: it is reserved from now on. 404 `SPEND_NOT_FOUND`, 409 `SPEND_NOT_WAITING`, 403 `POLICY_DENIED`. */
  approve(userId: string, id: string, also: (spend: Spend) => Statement[]): Promise<Spend>;
  /** The owner does not. 404, 409 likewise. */
  reject(userId: string, id: string): Promise<Spend>;
  /** Lanes with spends under way. */
  lanes(): Promise<Lane[]>;
  /** The spends under way in a lane, in their order. */
  open(lane: Lane): Promise<Spend[]>;
  /** What spends under way may still take of a token. */
  pending(lane: Lane, asset: string): Promise<bigint>;
  /** All transactions of the spend's present step, the newest first. */
  transactionsOf(spend: Spend): Promise<Transaction[]>;
  /** One more than the highest nonce under way; 0 for none. */
  nextNonce(lane: Lane): Promise<number>;
  /** Notes a signed transaction. False, and nothing noted, where the spend may not be signed (any more). */
  signed(spend: Spend, transaction: Transaction): Promise<boolean>;
  /** Notes what was signed instead of a transaction, in the plan. False likewise. */
  authorized(spend: Spend, plan: string): Promise<boolean>;
  /** Notes another transaction in the place of a stuck one. */
  replaced(spend: Spend, transaction: Transaction): Promise<void>;
  /** A node has it. */
  sent(spend: Spend, hash: string): Promise<void>;
  /** The step's transaction was mined: the next one is to be signed. */
  stepped(spend: Spend): Promise<void>;
  /** The end. No row is changed where it has ended otherwise. */
  settled(spend: Spend, end: { state: "confirmed" | "failed"; reason?: string; hash?: string }): Promise<void>;
  /** For the batch of a takeover: what is not signed yet never will be. */
  cancel(userId: string): Statement;
}

export function createLedger({ database }: Pick<Kernel, "database">): Ledger {
  const { drizzle } = database;
  const policies = createPolicies({ database });
  const inLane = ({ network, address }: Lane) => and(eq(spends.network, network), eq(spends.address, address));
  const isOpen = inArray(spends.state, [...OPEN]);
  const find = async (id: string) => (await drizzle.select().from(spends).where(eq(spends.id, id)))[0];
  const set = (spend: Spend, values: Partial<Spend>, from: readonly SpendState[]) =>
    statement(
      drizzle
        .update(spends)
        .set({ ...values, updatedAt: Date.now() })
        .where(and(eq(spends.id, spend.id), inArray(spends.state, [...from]), eq(spends.step, spend.step))),
    );

  async function spentToday(userId: string, except = ""): Promise<number> {
    const counts = [eq(spends.userId, userId), ne(spends.state, "failed"), ne(spends.id, except)];
    const [row] = await drizzle
      .select({ usd: sum(spends.usd) })
      .from(spends)
      .where(and(...counts, gt(spends.reservedAt, Date.now() - DAY)));
    return Number(row?.usd ?? 0);
  }

  async function requirePolicy(userId: string, intent: Intent, except?: string): Promise<void> {
    requireWithin(await policies.of(userId), intent, await spentToday(userId, except));
  }

  async function again(userId: string, requestKey: string | null, requestHash: string) {
    if (requestKey === null) return undefined;
    const same = and(eq(spends.userId, userId), eq(spends.requestKey, requestKey));
    const [known] = await drizzle.select().from(spends).where(same);
    if (known && known.requestHash !== requestHash) {
      throw new AppError(
        409,
        "IDEMPOTENCY_MISMATCH",
        "This Idempotency-Key was used for another spend. Use a new key.",
      );
    }
    return known;
  }

  /** Writes a batch that holds only within the policy; tells what stood in the way where it did not hold. */
  async function withPolicy(batch: Statement[], userId: string, intent: Intent, except?: string): Promise<void> {
    try {
      await database.write(batch);
    } catch (error) {
      if (!(error instanceof GuardFailed && error.guard === "policy")) throw error;
      await requirePolicy(userId, intent, except);
      throw denied("Others were faster. Try again.");
    }
  }

  async function requireWaiting(userId: string, id: string): Promise<Spend> {
    const spend = await find(id);
    if (spend?.userId !== userId) throw notFound("You have no spend with this id.", "SPEND_NOT_FOUND");
    if (spend.state !== "waiting") throw notWaiting();
    return spend;
  }

  const noted = (transaction: Transaction) => statement(drizzle.insert(transactions).values(transaction));
  const closed = ({ id }: Spend) =>
    statement(drizzle.update(transactions).set({ open: false }).where(eq(transactions.spendId, id)));

  /** Writes what holds only while the spend may be signed. */
  async function whileSignable(batch: Statement[]): Promise<boolean> {
    try {
      await database.write(batch);
      return true;
    } catch (error) {
      if (error instanceof GuardFailed && error.guard === "signable") return false;
      throw error;
    }
  }
  const signable = (spend: Spend, values: Partial<Spend>): Statement[] => {
    const { sql: text, args } = set(spend, values, ["reserved"]);
    const on = "NOT EXISTS (SELECT 1 FROM wallet_policies p WHERE p.user_id = ? AND p.enabled = 0)";
    return [{ sql: `${text} AND ${on}`, args: [...args, spend.userId] }, guard("signable")];
  };

  return {
    again,
    find,
    require: requirePolicy,

    async reserve(spend, intent, also, ask = false) {
      const { userId, requestKey = null, requestHash } = spend;
      const now = Date.now();
      const row = { ...spend, id: Bun.randomUUIDv7(), step: 0, createdAt: now, reservedAt: now, updatedAt: now };
      const values = statement(drizzle.insert(spends).values({ ...row, state: "waiting" }));
      // As drizzle has it, but with the state and the row itself depending on the policy.
      const columns = /\(([^)]*)\) values \(([^)]*)\)/i.exec(values.sql);
      if (!columns) throw new Error("An INSERT looks different than it did.");
      const within = withinPolicy(userId, intent, now);
      const insert: Statement = {
        sql: `INSERT INTO wallet_spends (${columns[1]}) SELECT ${columns[2]}
          FROM (SELECT 1) LEFT JOIN wallet_policies p ON p.user_id = ? WHERE ${within.sql}`,
        args: [...values.args, userId, ...within.args],
      };
      const free: Statement = {
        sql: `UPDATE wallet_spends SET state = 'reserved' WHERE id = ?1 AND NOT EXISTS
          (SELECT 1 FROM wallet_policies WHERE user_id = ?2 AND approval_above IS NOT NULL AND ?3 > approval_above)`,
        args: [row.id, userId, intent.usd],
      };
      try {
        await withPolicy([insert, guard("policy"), ...(ask ? [] : [free]), ...also], userId, intent);
      } catch (error) {
        const known = isUniqueViolation(error) ? await again(userId, requestKey, requestHash) : undefined;
        if (!known) throw error;
        return known;
      }
      const made = await find(row.id);
      if (!made) throw new Error("A spend went as soon as it was reserved.");
      return made;
    },

    async list(userId, limit, offset) {
      const own = eq(spends.userId, userId);
      const rows = drizzle.select().from(spends).where(own).orderBy(desc(spends.id)).limit(limit).offset(offset);
      const [[row], found] = await Promise.all([drizzle.select({ total: count() }).from(spends).where(own), rows]);
      return { spends: found, total: row?.total ?? 0 };
    },

    async approve(userId, id, also) {
      const spend = await requireWaiting(userId, id);
      const now = Date.now();
      const { assets = [] } = JSON.parse(spend.details) as { assets?: string[] };
      const intent = { usd: spend.usd, recipient: spend.recipient?.toLowerCase() ?? null, assets };
      const within = withinPolicy(userId, intent, now, id);
      const reserve: Statement = {
        sql: `UPDATE wallet_spends SET state = 'reserved', reserved_at = ?, updated_at = ? WHERE id = ? AND state = 'waiting'
          AND EXISTS (SELECT 1 FROM (SELECT 1) LEFT JOIN wallet_policies p ON p.user_id = ? WHERE ${within.sql})`,
        args: [now, now, id, userId, ...within.args],
      };
      await withPolicy([reserve, guard("policy"), ...also(spend)], userId, intent, id);
      return { ...spend, state: "reserved" };
    },

    async reject(userId, id) {
      const spend = await requireWaiting(userId, id);
      const end = { state: "failed", reason: "REJECTED" } as const;
      const [done] = await database.write([set(spend, end, ["waiting"])]);
      if (done?.rowsAffected !== 1) throw notWaiting();
      return { ...spend, ...end };
    },

    async lanes() {
      const { network, address } = spends;
      return drizzle.selectDistinct({ network, address }).from(spends).where(isOpen);
    },
    open: async (lane) =>
      drizzle
        .select()
        .from(spends)
        .where(and(inLane(lane), isOpen))
        .orderBy(asc(spends.id)),

    async pending(lane, asset) {
      const rows = await drizzle
        .select({ units: spends.units })
        .from(spends)
        .where(and(inLane(lane), isOpen, eq(sql`lower(${spends.asset})`, asset.toLowerCase())));
      return rows.reduce((total, { units }) => total + BigInt(units), 0n);
    },

    transactionsOf: async ({ id, step }) =>
      drizzle
        .select()
        .from(transactions)
        .where(and(eq(transactions.spendId, id), eq(transactions.step, step)))
        .orderBy(desc(transactions.attempt)),

    async nextNonce({ network, address }) {
      const own = and(
        eq(transactions.network, network),
        eq(transactions.address, address),
        eq(transactions.open, true),
      );
      const [row] = await drizzle
        .select({ highest: max(transactions.nonce) })
        .from(transactions)
        .where(own);
      return row?.highest === null || row?.highest === undefined ? 0 : row.highest + 1;
    },

    signed: (spend, transaction) =>
      whileSignable([...signable(spend, { state: "signed", hash: transaction.hash }), noted(transaction)]),
    authorized: (spend, plan) => whileSignable(signable(spend, { state: "signed", plan })),

    async replaced(spend, transaction) {
      await database.write([
        set(spend, { state: "signed", hash: transaction.hash }, ["signed", "sent"]),
        guard("open"),
        noted(transaction),
      ]);
    },
    async sent(spend, hash) {
      await database.write([set(spend, { state: "sent", hash }, ["signed", "sent"])]);
    },
    async stepped(spend) {
      const next = set(spend, { state: "reserved", step: spend.step + 1 }, ["signed", "sent"]);
      await database.write([next, closed(spend)]);
    },
    async settled(spend, { state, reason = null, hash }) {
      const end = set(spend, { state, reason, ...(hash !== undefined && { hash }) }, OPEN);
      await database.write([end, guard("open"), closed(spend)]);
    },

    cancel: (userId) => ({
      sql: "UPDATE wallet_spends SET state = 'failed', reason = 'CANCELLED', updated_at = ? WHERE user_id = ? AND state IN ('waiting', 'reserved')",
      args: [Date.now(), userId],
    }),
  };
}

const notWaiting = () => new AppError(409, "SPEND_NOT_WAITING", "This spend does not wait for your word any more.");
