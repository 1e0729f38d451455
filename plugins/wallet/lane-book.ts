// The lanes' side of the ledger: spends under way, and every signed transaction, which is a row before a node has it.

import type { InferSelectModel } from "drizzle-orm";
import { and, asc, desc, eq, inArray, ne, sql } from "drizzle-orm";
import type { ChainName } from "../../src/chains.ts";
import { GuardFailed, guard, type Statement, statement } from "../../src/database.ts";
import type { Kernel } from "../../src/plugin.ts";
import { costOf } from "./fees.ts";
import { spends, transactions } from "./schema.ts";

export type Spend = InferSelectModel<typeof spends>;
export type SpendState = Spend["state"];
export type Transaction = InferSelectModel<typeof transactions>;

/** Where nonces follow each other. */
export interface Lane {
  network: ChainName;
  address: string;
}

/** States in which money may still leave. */
export const OPEN = ["reserved", "signed", "sent"] as const;

/** Why a spend may not be signed, or sent, now. */
export type Hindrance = "POLICY_DENIED" | "CANCELLED";

export interface LaneBook {
  find(id: string): Promise<Spend | undefined>;
  /** Lanes with spends under way. */
  lanes(): Promise<Lane[]>;
  /** The spends under way in a lane, in the order in which they were reserved. */
  open(lane: Lane): Promise<Spend[]>;
  /** When somebody last asked for one of them, or heard of one from its seller. Epoch ms. */
  touched(lane: Lane): Promise<number | undefined>;
  /** For the batch that has its lane look: a payment's seller has answered. */
  answered(spend: Spend): Statement;
  /** What spends under way may still take of a token. */
  pending(lane: Lane, asset: string): Promise<bigint>;
  /** All transactions of the spend's present step, the newest first. */
  transactionsOf(spend: Spend): Promise<Transaction[]>;
  /** One more than the highest nonce under way, or that was so a moment ago: a node may be behind. 0 for none. */
  nextNonce(lane: Lane): Promise<number>;
  /** The oldest transaction of a spend with the lowest nonce under way. */
  firstUnderWay(lane: Lane): Promise<Transaction | undefined>;
  /** The newest of those that fill a gap at this nonce. */
  fillerAt(lane: Lane, nonce: number): Promise<Transaction | undefined>;
  /** Notes one. Its step is none of the spend's. */
  filled(transaction: Transaction): Promise<void>;
  /** In wei: what transactions under way may still take for gas. */
  owed(lane: Lane): Promise<bigint>;
  /** Switched off: `POLICY_DENIED`. The account is disabled or gone, or the wallet left it: `CANCELLED`. */
  hindrance(spend: Spend): Promise<Hindrance | undefined>;
  /** Notes a signed transaction. False, and nothing noted, where the spend may not be signed (any more). */
  signed(spend: Spend, transaction: Transaction): Promise<boolean>;
  /** Notes what was signed instead of a transaction, in the plan. False likewise. */
  authorized(spend: Spend, plan: string): Promise<boolean>;
  /** Notes another transaction in the place of a stuck one. False likewise. */
  replaced(spend: Spend, transaction: Transaction): Promise<boolean>;
  /** A node has it. */
  sent(spend: Spend, hash: string): Promise<void>;
  /** Since when its nonce is known as used without a receipt; null: it is not, or is no more. */
  overtaken(spend: Spend, since: number | null): Promise<void>;
  /** The step's transaction was mined, for this fee: the next one is to be signed. */
  stepped(spend: Spend, fee: bigint): Promise<void>;
  /** The end. No row is changed where it has ended otherwise. */
  settled(spend: Spend, end: End): Promise<void>;
}

export interface End {
  state: "confirmed" | "failed";
  reason?: string;
  hash?: string;
  /** In wei: of the last step. */
  fee?: bigint;
}

/** Milliseconds for which a used nonce is remembered where the chain says nothing of it yet. */
const RECENT = 600_000;

/** The step of a transaction that is none of its spend's, but fills a gap before it. */
const FILLER = -1;

/** While this holds a spend may be signed: it is switched on, and the account and its wallet are there. */
const MAY_BE_SIGNED = `NOT EXISTS (SELECT 1 FROM wallet_policies p WHERE p.user_id = ? AND p.enabled = 0)
  AND NOT EXISTS (SELECT 1 FROM users u WHERE u.id = ? AND u.disabled_at IS NOT NULL)
  AND EXISTS (SELECT 1 FROM wallets w WHERE w.id = ? AND w.user_id = ?)`;
const mayBeSigned = ({ userId, walletId }: Spend) => [userId, userId, walletId, userId];

export function createLaneBook({ database }: Pick<Kernel, "database">): LaneBook {
  const { drizzle } = database;
  const inLane = ({ network, address }: Lane) => and(eq(spends.network, network), eq(spends.address, address));
  // In SQL's own words: with bound values the index of what is open is not used, and the whole ledger read.
  const isOpen = sql`${spends.state} IN ('reserved', 'signed', 'sent')`;
  const set = (spend: Spend, values: Partial<Spend>, from: readonly SpendState[]) =>
    statement(changed(database, spend, values, from));
  const noted = (transaction: Transaction) => statement(drizzle.insert(transactions).values(transaction));
  const closed = ({ id }: Spend) =>
    statement(drizzle.update(transactions).set({ open: false }).where(eq(transactions.spendId, id)));
  const ofLane = ({ network, address }: Lane) =>
    and(eq(transactions.network, network), eq(transactions.address, address));

  /** Writes what is guarded by this name; false where the guard failed. */
  async function whileHolds(name: string, batch: Statement[]): Promise<boolean> {
    try {
      await database.write(batch);
      return true;
    } catch (error) {
      if (error instanceof GuardFailed && error.guard === name) return false;
      throw error;
    }
  }
  const signable = (spend: Spend, values: Partial<Spend>, from: readonly SpendState[]): Statement[] => {
    const { sql: text, args } = set(spend, values, from);
    return [{ sql: `${text} AND ${MAY_BE_SIGNED}`, args: [...args, ...mayBeSigned(spend)] }, guard("signable")];
  };
  const feeOf = ({ fee }: Spend, more: bigint) => String(BigInt(fee ?? 0) + more);

  return {
    find: async (id) => (await drizzle.select().from(spends).where(eq(spends.id, id)))[0],

    async lanes() {
      const { network, address } = spends;
      return drizzle.selectDistinct({ network, address }).from(spends).where(isOpen);
    },
    open: async (lane) =>
      drizzle
        .select()
        .from(spends)
        .where(and(inLane(lane), isOpen))
        .orderBy(asc(spends.reservedAt), asc(spends.id)),

    async touched(lane) {
      // A payment's row is written for its seller's sake alone; that of another also whenever it is sent again.
      const at = sql<
        number | null
      >`max(CASE ${spends.kind} WHEN 'pay' THEN ${spends.updatedAt} ELSE ${spends.reservedAt} END)`;
      const [row] = await drizzle
        .select({ at })
        .from(spends)
        .where(and(inLane(lane), isOpen));
      return row?.at ?? undefined;
    },
    answered: (spend) => set(spend, {}, ["signed"]),

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
      // What is closed was used on the chain: else it would still be open.
      const { rows } = await database.read(
        `SELECT max(
          coalesce((SELECT max(nonce) FROM wallet_transactions WHERE network = ?1 AND address = ?2 AND open = 1), -1),
          coalesce((SELECT max(nonce) FROM wallet_transactions WHERE network = ?1 AND address = ?2 AND created_at > ?3), -1)
        ) + 1 AS next`,
        [network, address, Date.now() - RECENT],
      );
      return Number(rows[0]?.next ?? 0);
    },

    async firstUnderWay(lane) {
      const [first] = await drizzle
        .select()
        .from(transactions)
        .where(and(ofLane(lane), eq(transactions.open, true), ne(transactions.step, FILLER)))
        .orderBy(asc(transactions.nonce), asc(transactions.attempt))
        .limit(1);
      return first;
    },
    async fillerAt(lane, nonce) {
      const there = [ofLane(lane), eq(transactions.open, true), eq(transactions.step, FILLER)];
      const [newest] = await drizzle
        .select()
        .from(transactions)
        .where(and(...there, eq(transactions.nonce, nonce)))
        .orderBy(desc(transactions.attempt))
        .limit(1);
      return newest;
    },
    async filled(transaction) {
      await database.write([noted({ ...transaction, step: FILLER })]);
    },

    async owed(lane) {
      const rows = await drizzle
        .select({ nonce: transactions.nonce, cost: transactions.cost })
        .from(transactions)
        .where(and(ofLane(lane), eq(transactions.open, true)))
        .orderBy(asc(transactions.attempt));
      // Of rivals one is mined: the dearest is the newest.
      const most = new Map(rows.map(({ nonce, cost }) => [nonce, costOf(JSON.parse(cost))]));
      return [...most.values()].reduce((total, cost) => total + cost, 0n);
    },

    async hindrance(spend) {
      const { rows } = await database.read(
        `SELECT ${MAY_BE_SIGNED} AS may, (SELECT enabled FROM wallet_policies WHERE user_id = ?) AS enabled`,
        [...mayBeSigned(spend), spend.userId],
      );
      if (Number(rows[0]?.may) === 1) return undefined;
      return Number(rows[0]?.enabled ?? 1) === 0 ? "POLICY_DENIED" : "CANCELLED";
    },

    signed: (spend, transaction) =>
      whileHolds("signable", [
        ...signable(spend, { state: "signed", hash: transaction.hash }, ["reserved"]),
        noted(transaction),
      ]),
    authorized: (spend, plan) => whileHolds("signable", signable(spend, { state: "signed", plan }, ["reserved"])),
    replaced: (spend, transaction) =>
      whileHolds("signable", [
        ...signable(spend, { state: "signed", hash: transaction.hash }, ["signed", "sent"]),
        noted(transaction),
      ]),

    async sent(spend, hash) {
      await database.write([set(spend, { state: "sent", hash }, ["signed", "sent"])]);
    },
    async overtaken(spend, overtakenAt) {
      await database.write([set(spend, { overtakenAt }, ["signed", "sent"])]);
    },
    async stepped(spend, more) {
      const values = { state: "reserved", step: spend.step + 1, overtakenAt: null, fee: feeOf(spend, more) } as const;
      await whileHolds("open", [set(spend, values, ["signed", "sent"]), guard("open"), closed(spend)]);
    },
    async settled(spend, { state, reason = null, hash, fee }) {
      const known = { ...(hash !== undefined && { hash }), ...(fee !== undefined && { fee: feeOf(spend, fee) }) };
      // Where somebody else has ended it, that stands.
      await whileHolds("open", [set(spend, { state, reason, ...known }, OPEN), guard("open"), closed(spend)]);
    },
  };
}

/** A spend, while it is in one of these states and at this step. */
export const changed = (
  { drizzle }: Kernel["database"],
  spend: Pick<Spend, "id" | "step">,
  values: Partial<Spend>,
  from: readonly SpendState[],
) =>
  drizzle
    .update(spends)
    .set({ ...values, updatedAt: Date.now() })
    .where(and(eq(spends.id, spend.id), inArray(spends.state, [...from]), eq(spends.step, spend.step)));
