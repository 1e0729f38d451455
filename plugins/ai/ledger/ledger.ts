// The ledger: every call of a model is a row, with what it used and cost; what it may cost is set aside before.

import type { Database, Statement } from "../../../src/kernel/database/database.ts";
import { sqliteCode } from "../../../src/kernel/database/errors.ts";
import { AppError } from "../../../src/kernel/errors.ts";
import type { Log } from "../../../src/kernel/telemetry/log.ts";
import { costMicroUsd, type Pricing } from "../providers/pricing.ts";
import type { ProviderId } from "../providers/provider.ts";
import { type CallUsage, isTokenCount } from "../providers/token-usage.ts";
import type { AccountBalances, BalanceHold } from "./account-balances.ts";
import { type BudgetHold, type BudgetPeriod, type BudgetRefusal, type BudgetScope, createBudgets } from "./budgets.ts";
import { createJournal } from "./journal.ts";
import { insertStatement, insertStatements, type LedgerRow } from "./ledger-row.ts";

export type { BudgetScope } from "./budgets.ts";

/** What answered a call. */
export interface ServedModel {
  readonly provider: ProviderId;
  readonly modelId: string;
  readonly pricing: Pricing;
}

/** Who made a call, and to what. */
export interface LedgerCall extends ServedModel {
  readonly kind: "turn" | "public" | "api";
  /** Whose plan and credits pay, unless it is public or on a key of their own. */
  readonly userId?: string | undefined;
  readonly agentId?: string | undefined;
  /** On the agent's or its owner's key: the provider is paid by them, the agent's budget counts all the same. */
  readonly ownKey?: boolean | undefined;
}

/** What a call may use, as far as that can be told before. */
export interface ExpectedTokens {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** A started call. Exactly one of `settle`, `record` and `release` ends it; what comes after that changes no budget. */
export interface Reservation {
  /** The row of the call, for the batch of its cause. `served`: who answered in the end, where that was another. */
  settleStatement(usage: CallUsage, latencyMs: number, served?: ServedModel): Statement;
  /**
   * The same, written on its own within 50 ms: for calls that cause no other write, or whose other write failed. Settles
   * when a crash can't take it from the ledger any more; undefined where that is so already, or where it cost nothing.
   */
  record(usage: CallUsage, latencyMs: number, served?: ServedModel): Promise<void> | undefined;
  /** The call used nothing. */
  release(): void;
}

export interface Ledger {
  /**
   * Puts `microUsd` aside in every scope and for whoever pays, or throws 402 BUDGET_EXCEEDED and puts aside nothing.
   * What costs nothing is never refused, and answered at once; for the rest the answer comes when it is written down what
   * the call may cost. One that a crash cuts off is in the ledger after the next start: with what it had used, if that
   * was known, else with all that was set aside (a free one is not).
   */
  reserve(
    call: LedgerCall,
    scopes: readonly BudgetScope[],
    microUsd: number,
    expected?: ExpectedTokens,
  ): Reservation | Promise<Reservation>;
  /** The row of an answer that came from the cache: it costs nothing. */
  cachedReservation(call: LedgerCall): Reservation;
  /** Whole micro-USD spent and set aside in this scope's current period. */
  spentMicroUsd(scope: Omit<BudgetScope, "limit">): Promise<number>;
  /** Writes what a crash left behind. */
  start(): Promise<void>;
  /** Writes what `record` still holds. */
  close(): Promise<void>;
}

const FLUSH_MS = 50;
const FLUSH_ROWS = 200;
/** Rows kept while the database can't be written; beyond it the oldest are lost, and the log says how many. */
const MAX_PENDING_ROWS = 20_000;
const NO_TOKENS: ExpectedTokens = { inputTokens: 0, outputTokens: 0 };

/** A row on its way into the database, and what is to happen when it is there. */
interface PendingRow {
  row: LedgerRow;
  onWritten(): void;
}

/** What a call is paid from. */
interface FundingSource {
  budgetHold?: BudgetHold | undefined;
  balanceHold?: BalanceHold | undefined;
  cached?: boolean;
}

interface Deps {
  database: Pick<Database, "write" | "read">;
  log: Pick<Log, "error" | "warn" | "info">;
  /** Who pays; without them nobody but budgets limits accounts. */
  balances?: AccountBalances;
  /** Where calls under way are kept for a crash; without it they are not. */
  journalFile?: string;
  /** Told of each row that is written of what a purse paid: whole micro-USD of the plan. */
  onPaid?: (call: LedgerCall, microUsd: number) => void;
  /** Told of each refused budget. */
  refused?: (refusal: BudgetRefusal) => void;
  /** Epoch ms. */
  now?: () => number;
}

export function createLedger({ database, log, balances, journalFile, onPaid, refused, now = Date.now }: Deps): Ledger {
  const journal = journalFile === undefined ? undefined : createJournal(journalFile, log);
  const budgets = createBudgets({ loadSpent, now, ...(refused && { refused }) });
  let pendingRows: PendingRow[] = [];
  let timer: Timer | undefined;
  let flushing: Promise<void> = Promise.resolve();
  let recovered = false;

  async function loadSpent({ of, since }: BudgetPeriod): Promise<number> {
    await flush();
    const day = since / 86_400_000;
    const { rows } =
      of === "public"
        ? await database.read(PUBLIC_SPENT_SQL, [day])
        : await database.read(AGENT_SPENT_SQL, [of.agentId, day]);
    return Number(rows[0]?.[0] ?? 0);
  }

  /** What an earlier process could not write goes first. */
  function recover(): void {
    if (recovered) return;
    recovered = true;
    const rows = journal?.recover() ?? [];
    if (rows.length === 0) return;
    log.info("calls that a crash had cut off are written into the ledger", { calls: rows.length });
    pendingRows.push(...rows.map((row) => ({ row, onWritten: () => journal?.remove(row[0], false) })));
  }

  /** Nobody is asked before it is on disk what that may cost. */
  function openJournaled(
    call: LedgerCall,
    expected: ExpectedTokens,
    microUsd: number,
    funding: FundingSource,
  ): Reservation | Promise<Reservation> {
    const reservation = createReservation(call, expected, microUsd, funding);
    return journal?.whenFlushed()?.then(() => reservation) ?? reservation;
  }

  function createReservation(
    call: LedgerCall,
    expected: ExpectedTokens,
    microUsd: number,
    funding: FundingSource = {},
  ): Reservation {
    const { budgetHold, balanceHold, cached } = funding;
    const id = Bun.randomUUIDv7();
    const at = now();
    let row: LedgerRow | undefined;
    /** What cost nothing is worth no write of its own: a crash takes at most the last moments of it. */
    let isJournaled = microUsd > 0;
    if (isJournaled) journal?.put(rowOf({ ...expected, estimated: true }, 0, call, microUsd, balanceHold?.credit ?? 0));

    function rowOf(usage: CallUsage, latencyMs: number, served: ServedModel, cost: number, credit: number): LedgerRow {
      const { kind, userId = null, agentId = null, ownKey } = call;
      const { inputTokens, outputTokens, estimated } = usage;
      const used = [inputTokens, outputTokens, cost, Math.round(latencyMs), estimated ? 1 : 0] as const;
      return [
        id,
        at,
        kind,
        userId,
        agentId,
        served.provider,
        served.modelId,
        ...used,
        ownKey ? 1 : 0,
        credit,
        cached ? 1 : 0,
      ];
    }
    /** The same row however often it is asked for: a batch that failed is tried in another. */
    function settleRow(rawUsage: CallUsage, latencyMs: number, served: ServedModel = call): LedgerRow {
      if (row) return row;
      const usage = sanitizeUsage(rawUsage);
      const cost = costMicroUsd(served.pricing, usage.inputTokens, usage.outputTokens);
      budgetHold?.capture(cost);
      row = rowOf(usage, latencyMs, served, cost, balanceHold?.capture(cost) ?? 0);
      isJournaled ||= cost > 0;
      if (isJournaled) journal?.put(row);
      return row;
    }
    function onWritten(): void {
      balanceHold?.markWritten();
      if (balanceHold && row) onPaid?.(call, row[9] - row[13]);
      journal?.remove(id, false);
    }
    return {
      settleStatement: (...args) => ({ ...insertStatement(settleRow(...args)), after: onWritten }),
      record(...args) {
        write({ row: settleRow(...args), onWritten });
        return isJournaled ? journal?.whenFlushed() : undefined;
      },
      release() {
        if (row) return;
        budgetHold?.capture(0);
        balanceHold?.capture(0);
        journal?.remove(id, true);
      },
    };
  }

  function write(entry: PendingRow): void {
    pendingRows.push(entry);
    flushSoon(pendingRows.length >= FLUSH_ROWS ? 0 : FLUSH_MS);
  }

  function flushSoon(ms: number): void {
    if (timer && ms > 0) return;
    clearTimeout(timer);
    timer = setTimeout(() => void flush(), ms);
  }

  function flush(): Promise<void> {
    recover();
    clearTimeout(timer);
    timer = undefined;
    flushing = flushing.then(writePendingRows);
    return flushing;
  }

  /** Never rejects: rows that can't be written now are written with the next ones. */
  async function writePendingRows(): Promise<void> {
    while (pendingRows.length > 0) {
      const entries = pendingRows;
      pendingRows = [];
      try {
        await insertPending(entries);
      } catch (error) {
        const lost = Math.max(0, entries.length + pendingRows.length - MAX_PENDING_ROWS);
        pendingRows = [...entries, ...pendingRows].slice(lost);
        log.error("the ledger could not be written; it will be with the next calls", {
          rows: pendingRows.length,
          lost,
          error,
        });
        return;
      }
    }
  }

  async function insertPending(pending: readonly PendingRow[]): Promise<void> {
    const statements = insertStatements(pending.map(({ row }) => row));
    const last = statements.at(-1);
    if (last) last.after = () => pending.forEach(({ onWritten }) => void onWritten());
    try {
      await database.write(statements);
    } catch (error) {
      // A storage in trouble comes back. A row that it never takes must not hold up the others.
      if (!isPermanentError(error)) throw error;
      if (pending.length > 1) for (const entry of pending) await insertPending([entry]);
      else giveUp(pending, error);
    }
  }

  function giveUp(entries: readonly PendingRow[], error: unknown): void {
    for (const { row, onWritten } of entries) {
      log.error("a row of the ledger can't be stored and is given up", { row: JSON.stringify(row), error });
      journal?.remove(row[0], true);
      onWritten();
    }
  }

  return {
    reserve(call, scopes, microUsd, expected = NO_TOKENS) {
      recover();
      if (microUsd === 0) return createReservation(call, expected, 0);
      const payerId = call.ownKey || call.kind === "public" ? undefined : call.userId;
      const budgetHold = scopes.length === 0 ? undefined : budgets.placeHold(scopes, microUsd);
      if (!balances || payerId === undefined) {
        if (!(budgetHold instanceof Promise)) return openJournaled(call, expected, microUsd, { budgetHold });
        return budgetHold.then((placedHold) => openJournaled(call, expected, microUsd, { budgetHold: placedHold }));
      }
      return (async () => {
        const placedHold = await budgetHold;
        try {
          const balanceHold = await balances.placeHold(payerId, microUsd);
          return await openJournaled(call, expected, microUsd, { budgetHold: placedHold, balanceHold });
        } catch (error) {
          placedHold?.capture(0);
          throw error;
        }
      })();
    },
    cachedReservation: (call) => createReservation(call, NO_TOKENS, 0, { cached: true }),
    spentMicroUsd: budgets.spentMicroUsd,
    start: flush,
    async close() {
      if (recovered) await flush();
      journal?.close();
    },
  };
}

const SUM_SQL = "SELECT coalesce(sum(cost_micro_usd), 0) FROM usage_days";
const PUBLIC_SPENT_SQL = `${SUM_SQL} WHERE user_id = '' AND day >= ?`;
const AGENT_SPENT_SQL = `${SUM_SQL} WHERE agent_id = ? AND agent_id <> '' AND day >= ?`;

/** The same would happen again: a value that the table or the database doesn't take. */
const isPermanentError = (error: unknown) =>
  error instanceof AppError
    ? error.status < 500
    : sqliteCode(error).startsWith("SQLITE_CONSTRAINT") || error instanceof TypeError || error instanceof RangeError;

/** A count that can't be one is taken for none, and the row says that it is a guess. */
function sanitizeUsage({ inputTokens, outputTokens, estimated }: CallUsage): CallUsage {
  const sane = isTokenCount(inputTokens) && isTokenCount(outputTokens);
  const count = (given: number) => (isTokenCount(given) ? given : 0);
  return { inputTokens: count(inputTokens), outputTokens: count(outputTokens), estimated: estimated || !sane };
}
