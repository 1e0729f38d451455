// The lanes' side of the ledger: spends under way, and every signed transaction, which is a row before a node has it.

import type { InferSelectModel } from "drizzle-orm";
import { and, asc, desc, eq, inArray, ne, sql } from "drizzle-orm";
import type { ChainName } from "../../../src/kernel/chains/chains.ts";
import { GuardFailed, guard, type Statement, statement } from "../../../src/kernel/database/database.ts";
import type { Kernel } from "../../../src/kernel/plugin.ts";
import { spends, transactions } from "../schema.ts";
import { maxCostOf, parseCost } from "./fees.ts";

export type Spend = InferSelectModel<typeof spends>;
export type SpendState = Spend["state"];
export type Transaction = InferSelectModel<typeof transactions>;

/** Where nonces follow each other. */
export interface NonceQueue {
  network: ChainName;
  address: string;
}

/** States in which money may still leave. */
export const OPEN_STATES = ["reserved", "signed", "sent"] as const;

/** Why a spend may not be signed, or sent, now. */
export type SigningRefusal = "POLICY_DENIED" | "CANCELLED";

export interface SpendStore {
  find(id: string): Promise<Spend | undefined>;
  /** Lanes with spends under way. */
  listQueues(): Promise<NonceQueue[]>;
  /** The spends under way in a lane, in the order in which they were reserved. */
  listOpen(queue: NonceQueue): Promise<Spend[]>;
  /** When somebody last asked for one of them, or heard of one from its seller. Epoch ms. */
  lastActivityAt(queue: NonceQueue): Promise<number | undefined>;
  /** For the batch that has its lane look: a payment's seller has answered. */
  recordSellerResponseStatement(spend: Spend): Statement;
  /** What spends under way may still take of a token. */
  pendingUnits(queue: NonceQueue, asset: string): Promise<bigint>;
  /** All transactions of the spend's present step, the newest first. */
  listTransactions(spend: Spend): Promise<Transaction[]>;
  /** One more than the highest nonce under way, or that was so a moment ago: a node may be behind. 0 for none. */
  nextNonce(queue: NonceQueue): Promise<number>;
  /** The oldest transaction of a spend with the lowest nonce under way. */
  findFirstOpenTransaction(queue: NonceQueue): Promise<Transaction | undefined>;
  /** The newest of those that fill a gap at this nonce. */
  findFiller(queue: NonceQueue, nonce: number): Promise<Transaction | undefined>;
  /** Notes one. Its step is none of the spend's. */
  recordFiller(transaction: Transaction): Promise<void>;
  /** In wei: what transactions under way may still take for gas. */
  openGasCost(queue: NonceQueue): Promise<bigint>;
  /** Switched off: `POLICY_DENIED`. The account is disabled or gone, or the wallet left it: `CANCELLED`. */
  findSigningRefusal(spend: Spend): Promise<SigningRefusal | undefined>;
  /** Notes a signed transaction. False, and nothing noted, where the spend may not be signed (any more). */
  recordSigned(spend: Spend, transaction: Transaction): Promise<boolean>;
  /** Notes what was signed instead of a transaction, in the plan. False likewise. */
  recordAuthorization(spend: Spend, plan: string): Promise<boolean>;
  /** Notes another transaction in the place of a stuck one. False likewise. */
  recordReplacement(spend: Spend, transaction: Transaction): Promise<boolean>;
  /** A node has it. */
  recordSent(spend: Spend, hash: string): Promise<void>;
  /** Since when its nonce is known as used without a receipt; null: it is not, or is no more. */
  setNonceUsedSince(spend: Spend, since: number | null): Promise<void>;
  /** The step's transaction was mined, for this fee: the next one is to be signed. */
  advanceStep(spend: Spend, fee: bigint): Promise<void>;
  /** The end. No row is changed where it has ended otherwise. */
  finish(spend: Spend, outcome: SpendOutcome): Promise<void>;
}

export interface SpendOutcome {
  state: "confirmed" | "failed";
  reason?: string;
  hash?: string;
  /** In wei: of the last step. */
  fee?: bigint;
}

/** Milliseconds for which a used nonce is remembered where the chain says nothing of it yet. */
const RECENT_NONCE_MS = 600_000;

/** The step of a transaction that is none of its spend's, but fills a gap before it. */
const FILLER_STEP = -1;

/** While this holds a spend may be signed: it is switched on, and the account and its wallet are there. */
const IS_SIGNABLE = `NOT EXISTS (SELECT 1 FROM wallet_policies p WHERE p.user_id = ? AND p.enabled = 0)
  AND NOT EXISTS (SELECT 1 FROM users u WHERE u.id = ? AND u.disabled_at IS NOT NULL)
  AND EXISTS (SELECT 1 FROM wallets w WHERE w.id = ? AND w.user_id = ?)`;
const signableArgs = ({ userId, walletId }: Spend) => [userId, userId, walletId, userId];

export function createSpendStore({ database }: Pick<Kernel, "database">): SpendStore {
  const { drizzle } = database;
  const spendInQueue = ({ network, address }: NonceQueue) =>
    and(eq(spends.network, network), eq(spends.address, address));
  // In SQL's own words: with bound values the index of what is open is not used, and the whole ledger read.
  const isOpen = sql`${spends.state} IN ('reserved', 'signed', 'sent')`;
  const updateStatement = (spend: Spend, values: Partial<Spend>, from: readonly SpendState[]) =>
    statement(updateSpendQuery(database, spend, values, from));
  const insertTransactionStatement = (transaction: Transaction) =>
    statement(drizzle.insert(transactions).values(transaction));
  const closeTransactionsStatement = ({ id }: Spend) =>
    statement(drizzle.update(transactions).set({ open: false }).where(eq(transactions.spendId, id)));
  const transactionInQueue = ({ network, address }: NonceQueue) =>
    and(eq(transactions.network, network), eq(transactions.address, address));

  /** Writes what is guarded by this name; false where the guard failed. */
  async function writeGuarded(name: string, batch: Statement[]): Promise<boolean> {
    try {
      await database.write(batch);
      return true;
    } catch (error) {
      if (error instanceof GuardFailed && error.guard === name) return false;
      throw error;
    }
  }
  const signableStatements = (spend: Spend, values: Partial<Spend>, from: readonly SpendState[]): Statement[] => {
    const { sql: text, args } = updateStatement(spend, values, from);
    return [{ sql: `${text} AND ${IS_SIGNABLE}`, args: [...args, ...signableArgs(spend)] }, guard("signable")];
  };
  const totalFee = ({ fee }: Spend, addedFee: bigint) => String(BigInt(fee ?? 0) + addedFee);

  return {
    find: async (id) => (await drizzle.select().from(spends).where(eq(spends.id, id)))[0],

    async listQueues() {
      const { network, address } = spends;
      return drizzle.selectDistinct({ network, address }).from(spends).where(isOpen);
    },
    listOpen: async (queue) =>
      drizzle
        .select()
        .from(spends)
        .where(and(spendInQueue(queue), isOpen))
        .orderBy(asc(spends.reservedAt), asc(spends.id)),

    async lastActivityAt(queue) {
      // A payment's row is written for its seller's sake alone; that of another also whenever it is sent again.
      const at = sql<
        number | null
      >`max(CASE ${spends.kind} WHEN 'pay' THEN ${spends.updatedAt} ELSE ${spends.reservedAt} END)`;
      const [row] = await drizzle
        .select({ at })
        .from(spends)
        .where(and(spendInQueue(queue), isOpen));
      return row?.at ?? undefined;
    },
    recordSellerResponseStatement: (spend) => updateStatement(spend, {}, ["signed"]),

    async pendingUnits(queue, asset) {
      const rows = await drizzle
        .select({ units: spends.units })
        .from(spends)
        .where(and(spendInQueue(queue), isOpen, eq(sql`lower(${spends.asset})`, asset.toLowerCase())));
      return rows.reduce((total, { units }) => total + BigInt(units), 0n);
    },

    listTransactions: async ({ id, step }) =>
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
        [network, address, Date.now() - RECENT_NONCE_MS],
      );
      return Number(rows[0]?.next ?? 0);
    },

    async findFirstOpenTransaction(queue) {
      const [first] = await drizzle
        .select()
        .from(transactions)
        .where(and(transactionInQueue(queue), eq(transactions.open, true), ne(transactions.step, FILLER_STEP)))
        .orderBy(asc(transactions.nonce), asc(transactions.attempt))
        .limit(1);
      return first;
    },
    async findFiller(queue, nonce) {
      const conditions = [transactionInQueue(queue), eq(transactions.open, true), eq(transactions.step, FILLER_STEP)];
      const [newest] = await drizzle
        .select()
        .from(transactions)
        .where(and(...conditions, eq(transactions.nonce, nonce)))
        .orderBy(desc(transactions.attempt))
        .limit(1);
      return newest;
    },
    async recordFiller(transaction) {
      await database.write([insertTransactionStatement({ ...transaction, step: FILLER_STEP })]);
    },

    async openGasCost(queue) {
      const rows = await drizzle
        .select({ nonce: transactions.nonce, cost: transactions.cost })
        .from(transactions)
        .where(and(transactionInQueue(queue), eq(transactions.open, true)))
        .orderBy(asc(transactions.attempt));
      // Of rivals one is mined: the dearest is the newest.
      const costByNonce = new Map(rows.map(({ nonce, cost }) => [nonce, maxCostOf(parseCost(cost))]));
      return [...costByNonce.values()].reduce((total, cost) => total + cost, 0n);
    },

    async findSigningRefusal(spend) {
      const { rows } = await database.read(
        `SELECT ${IS_SIGNABLE} AS may, (SELECT enabled FROM wallet_policies WHERE user_id = ?) AS enabled`,
        [...signableArgs(spend), spend.userId],
      );
      if (Number(rows[0]?.may) === 1) return undefined;
      return Number(rows[0]?.enabled ?? 1) === 0 ? "POLICY_DENIED" : "CANCELLED";
    },

    recordSigned: (spend, transaction) =>
      writeGuarded("signable", [
        ...signableStatements(spend, { state: "signed", hash: transaction.hash }, ["reserved"]),
        insertTransactionStatement(transaction),
      ]),
    recordAuthorization: (spend, plan) =>
      writeGuarded("signable", signableStatements(spend, { state: "signed", plan }, ["reserved"])),
    recordReplacement: (spend, transaction) =>
      writeGuarded("signable", [
        ...signableStatements(spend, { state: "signed", hash: transaction.hash }, ["signed", "sent"]),
        insertTransactionStatement(transaction),
      ]),

    async recordSent(spend, hash) {
      await database.write([updateStatement(spend, { state: "sent", hash }, ["signed", "sent"])]);
    },
    async setNonceUsedSince(spend, nonceUsedSince) {
      await database.write([updateStatement(spend, { nonceUsedSince }, ["signed", "sent"])]);
    },
    async advanceStep(spend, addedFee) {
      const values = {
        state: "reserved",
        step: spend.step + 1,
        nonceUsedSince: null,
        fee: totalFee(spend, addedFee),
      } as const;
      await writeGuarded("open", [
        updateStatement(spend, values, ["signed", "sent"]),
        guard("open"),
        closeTransactionsStatement(spend),
      ]);
    },
    async finish(spend, { state, reason = null, hash, fee }) {
      const outcomeFields = {
        ...(hash !== undefined && { hash }),
        ...(fee !== undefined && { fee: totalFee(spend, fee) }),
      };
      // Where somebody else has ended it, that stands.
      await writeGuarded("open", [
        updateStatement(spend, { state, reason, ...outcomeFields }, OPEN_STATES),
        guard("open"),
        closeTransactionsStatement(spend),
      ]);
    },
  };
}

/** A spend, while it is in one of these states and at this step. */
export const updateSpendQuery = (
  { drizzle }: Kernel["database"],
  spend: Pick<Spend, "id" | "step">,
  values: Partial<Spend>,
  from: readonly SpendState[],
) =>
  drizzle
    .update(spends)
    .set({ ...values, updatedAt: Date.now() })
    .where(and(eq(spends.id, spend.id), inArray(spends.state, [...from]), eq(spends.step, spend.step)));
