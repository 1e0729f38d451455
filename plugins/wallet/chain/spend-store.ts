// Stores the nonce queue's part of the ledger: the state of open spends, and every signed transaction, which is a row
// before a node gets it.

import type { InferSelectModel } from "drizzle-orm";
import { and, asc, desc, eq, inArray, ne, sql } from "drizzle-orm";
import { GuardFailed, guard, type Statement, statement } from "../../../src/kernel/database/database.ts";
import type { Kernel } from "../../../src/kernel/plugin.ts";
import { MINUTE } from "../../../src/kernel/util/time.ts";
import type { ChainName } from "../../chains/index.ts";
import { spends, transactions } from "../schema.ts";
import { maxCostOf, parseCost } from "./fees.ts";

export type Spend = InferSelectModel<typeof spends>;
export type SpendState = Spend["state"];
export type Transaction = InferSelectModel<typeof transactions>;

/** Identifies a nonce queue: the transactions of one address on one chain, which use nonces in order. */
export interface NonceQueue {
  network: ChainName;
  address: string;
}

/** States of a spend in which money may still leave the wallet. */
export const OPEN_STATES = ["reserved", "signed", "sent"] as const;

/** The reason why a spend may not be signed or resent. */
export type SigningRefusal = "POLICY_DENIED" | "CANCELLED";

export interface SpendStore {
  find(id: string): Promise<Spend | undefined>;
  /** Queues with open spends. */
  listQueues(): Promise<NonceQueue[]>;
  /** The open spends of a queue, in the order of their reservation. */
  listOpen(queue: NonceQueue): Promise<Spend[]>;
  /** When an open spend of the queue was last reserved, or a payment last updated; epoch ms. */
  lastActivityAt(queue: NonceQueue): Promise<number | undefined>;
  /** Marks that a payment's seller has responded, which counts as activity of the queue. */
  recordSellerResponseStatement(spend: Spend): Statement;
  /** Units of a token that open spends may still take. */
  pendingUnits(queue: NonceQueue, asset: string): Promise<bigint>;
  /** All transactions of the spend's current step, newest first. */
  listTransactions(spend: Spend): Promise<Transaction[]>;
  /**
   * One more than the highest nonce that is open, or was signed in the last ten minutes, as a node may lag. 0 if none.
   */
  nextNonce(queue: NonceQueue): Promise<number>;
  /** The open transaction with the lowest nonce, of its attempts the first; fillers are left out. */
  findFirstOpenTransaction(queue: NonceQueue): Promise<Transaction | undefined>;
  /** The newest open filler with this nonce. */
  findFiller(queue: NonceQueue, nonce: number): Promise<Transaction | undefined>;
  /** Stores a filler, under a step number that no spend has. */
  recordFiller(transaction: Transaction): Promise<void>;
  /** Wei that open transactions may still take for gas. */
  openGasCost(queue: NonceQueue): Promise<bigint>;
  /** `POLICY_DENIED`: spending is switched off. `CANCELLED`: the account is disabled, frozen or gone, or the wallet left it. */
  findSigningRefusal(spend: Spend): Promise<SigningRefusal | undefined>;
  /**
   * Stores the signed transaction of a reserved spend. False, and nothing is stored, if the spend may not be signed.
   */
  recordSigned(spend: Spend, transaction: Transaction): Promise<boolean>;
  /**
   * Stores the signed authorization of a payment, as its plan. False, and nothing is stored, if it may not be signed.
   */
  recordAuthorization(spend: Spend, plan: string): Promise<boolean>;
  /** Stores the replacement of a stuck transaction. False, and nothing is stored, if the spend may not be signed. */
  recordReplacement(spend: Spend, transaction: Transaction): Promise<boolean>;
  /** Marks that a node has accepted the transaction. */
  recordSent(spend: Spend, hash: string): Promise<void>;
  /** Stores since when the nonce is used without a receipt (epoch ms); null: it is not, or no longer. */
  setNonceUsedSince(spend: Spend, since: number | null): Promise<void>;
  /** Starts the next step, after the transaction of the current one was mined. The fee is in wei. */
  advanceStep(spend: Spend, fee: bigint): Promise<void>;
  /** Settles the spend and closes its transactions. Changes nothing if the spend is settled already. */
  finish(spend: Spend, outcome: SpendOutcome): Promise<void>;
}

export interface SpendOutcome {
  state: "confirmed" | "failed";
  reason?: string;
  hash?: string;
  /** Fee of the last step, in wei. */
  fee?: bigint;
}

/** How long a closed nonce counts as used, although a lagging node does not report it. */
const RECENT_NONCE_MS = 10 * MINUTE;

/** The step of fillers: they belong to a spend, but to none of its steps. */
const FILLER_STEP = -1;

/** SQL condition: spending is switched on, the account is neither disabled nor frozen, and the wallet is the account's. */
const IS_SIGNABLE = `NOT EXISTS (SELECT 1 FROM wallet_policies p WHERE p.user_id = ? AND p.enabled = 0)
  AND NOT EXISTS (SELECT 1 FROM users u WHERE u.id = ? AND (u.disabled_at IS NOT NULL OR u.frozen_at IS NOT NULL))
  AND EXISTS (SELECT 1 FROM wallets w WHERE w.id = ? AND w.user_id = ?)`;
const signableArgs = ({ userId, walletId }: Spend) => [userId, userId, walletId, userId];

export function createSpendStore({ database }: Pick<Kernel, "database">): SpendStore {
  const { drizzle } = database;
  const spendInQueue = ({ network, address }: NonceQueue) =>
    and(eq(spends.network, network), eq(spends.address, address));
  // Literal values: with bound ones SQLite would not use the partial index, and scan the whole ledger.
  const isOpen = sql`${spends.state} IN ('reserved', 'signed', 'sent')`;
  const updateStatement = (spend: Spend, values: Partial<Spend>, from: readonly SpendState[]) =>
    statement(updateSpendQuery(database, spend, values, from));
  const insertTransactionStatement = (transaction: Transaction) =>
    statement(drizzle.insert(transactions).values(transaction));
  const closeTransactionsStatement = ({ id }: Spend) =>
    statement(drizzle.update(transactions).set({ open: false }).where(eq(transactions.spendId, id)));
  const transactionInQueue = ({ network, address }: NonceQueue) =>
    and(eq(transactions.network, network), eq(transactions.address, address));

  /** Writes the batch; false if its guard of this name failed. */
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
      // A payment's row is updated by its request and its seller's response only; other rows by every resend too.
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
      // A closed transaction's nonce was used on the chain; recent ones count, in case the node lags.
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
      // Only one attempt per nonce is mined. The newest is the most expensive, and the last to enter the map.
      const costByNonce = new Map(rows.map(({ nonce, cost }) => [nonce, maxCostOf(parseCost(cost))]));
      return [...costByNonce.values()].reduce((total, cost) => total + cost, 0n);
    },

    async findSigningRefusal(spend) {
      const { rows } = await database.read(
        `SELECT ${IS_SIGNABLE} AS signable, (SELECT enabled FROM wallet_policies WHERE user_id = ?) AS enabled`,
        [...signableArgs(spend), spend.userId],
      );
      if (Number(rows[0]?.signable) === 1) return undefined;
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
      // If a concurrent call has settled the spend, its outcome stays.
      await writeGuarded("open", [
        updateStatement(spend, { state, reason, ...outcomeFields }, OPEN_STATES),
        guard("open"),
        closeTransactionsStatement(spend),
      ]);
    },
  };
}

/** Updates a spend if it is in one of the states `from` and at the step of `spend`. */
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
