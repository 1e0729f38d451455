// The ledger: every call of a model is a row, with what it used and cost; what it may cost is set aside before.

import { sqliteCode } from "../../src/database/errors.ts";
import type { Database, Statement } from "../../src/database.ts";
import { AppError } from "../../src/errors.ts";
import type { Log } from "../../src/log.ts";
import { createBudgets, type Hold, type Place, type Refusal, type Scope } from "./budgets.ts";
import type { PurseHold, Purses } from "./credits.ts";
import { createJournal } from "./ledger-journal.ts";
import { insertRow, insertRows, type Row } from "./ledger-rows.ts";
import { costMicroUsd, type Pricing } from "./pricing.ts";
import type { ProviderId } from "./providers.ts";
import { type CallUsage, isTokenCount } from "./usage.ts";

export type { Scope } from "./budgets.ts";

/** What answered a call. */
export interface Served {
  readonly provider: ProviderId;
  readonly modelId: string;
  readonly pricing: Pricing;
}

/** Who made a call, and to what. */
export interface CallOf extends Served {
  readonly kind: "turn" | "public" | "api";
  /** Whose plan and credits pay, unless it is public or on a key of their own. */
  readonly userId?: string | undefined;
  readonly agentId?: string | undefined;
  /** On the agent's or its owner's key: the provider is paid by them, the agent's budget counts all the same. */
  readonly ownKey?: boolean | undefined;
}

/** What a call may use, as far as that can be told before. */
export interface Expected {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** A started call. Exactly one of `settle`, `record` and `release` ends it; what comes after that changes no budget. */
export interface Spending {
  /** The row of the call, for the batch of its cause. `served`: who answered in the end, where that was another. */
  settle(usage: CallUsage, latencyMs: number, served?: Served): Statement;
  /**
   * The same, written on its own within 50 ms: for calls that cause no other write, or whose other write failed. Settles
   * when a crash can't take it from the ledger any more; undefined where that is so already, or where it cost nothing.
   */
  record(usage: CallUsage, latencyMs: number, served?: Served): Promise<void> | undefined;
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
  reserve(call: CallOf, scopes: readonly Scope[], microUsd: number, expected?: Expected): Spending | Promise<Spending>;
  /** The row of an answer that came from the cache: it costs nothing. */
  cached(call: CallOf): Spending;
  /** Whole micro-USD spent and set aside in this scope's current period. */
  spent(scope: Omit<Scope, "limit">): Promise<number>;
  /** Writes what a crash left behind. */
  start(): Promise<void>;
  /** Writes what `record` still holds. */
  close(): Promise<void>;
}

const FLUSH_MS = 50;
const FLUSH_ROWS = 200;
/** Rows kept while the database can't be written; beyond it the oldest are lost, and the log says how many. */
const MAX_WAITING = 20_000;
const NOTHING: Expected = { inputTokens: 0, outputTokens: 0 };

/** A row on its way into the database, and what is to happen when it is there. */
interface Entry {
  row: Row;
  written(): void;
}

/** What a call is paid from. */
interface Means {
  hold?: Hold | undefined;
  purse?: PurseHold | undefined;
  cached?: boolean;
}

interface Deps {
  database: Pick<Database, "write" | "read">;
  log: Pick<Log, "error" | "warn" | "info">;
  /** Who pays; without them nobody but budgets limits accounts. */
  purses?: Purses;
  /** Where calls under way are kept for a crash; without it they are not. */
  journalFile?: string;
  /** Told of each row that is written of what a purse paid: whole micro-USD of the plan. */
  paid?: (call: CallOf, micro: number) => void;
  /** Told of each refused budget. */
  refused?: (refusal: Refusal) => void;
  /** Epoch ms. */
  now?: () => number;
}

export function createLedger({ database, log, purses, journalFile, paid, refused, now = Date.now }: Deps): Ledger {
  const journal = journalFile === undefined ? undefined : createJournal(journalFile, log);
  const budgets = createBudgets({ sum, now, ...(refused && { refused }) });
  let waiting: Entry[] = [];
  let timer: Timer | undefined;
  let flushing: Promise<void> = Promise.resolve();
  let recovered = false;

  async function sum({ of, since }: Place): Promise<number> {
    await flush();
    const day = since / 86_400_000;
    const { rows } =
      of === "public" ? await database.read(PUBLIC, [day]) : await database.read(AGENT, [of.agentId, day]);
    return Number(rows[0]?.[0] ?? 0);
  }

  /** What an earlier process could not write goes first. */
  function recover(): void {
    if (recovered) return;
    recovered = true;
    const rows = journal?.left() ?? [];
    if (rows.length === 0) return;
    log.info("calls that a crash had cut off are written into the ledger", { calls: rows.length });
    waiting.push(...rows.map((row) => ({ row, written: () => journal?.drop(row[0], false) })));
  }

  /** Nobody is asked before it is on disk what that may cost. */
  function putDown(call: CallOf, expected: Expected, micro: number, by: Means): Spending | Promise<Spending> {
    const begun = spending(call, expected, micro, by);
    return journal?.kept()?.then(() => begun) ?? begun;
  }

  function spending(call: CallOf, expected: Expected, micro: number, by: Means = {}): Spending {
    const { hold, purse, cached } = by;
    const id = Bun.randomUUIDv7();
    const at = now();
    let row: Row | undefined;
    /** What cost nothing is worth no write of its own: a crash takes at most the last moments of it. */
    let worthKeeping = micro > 0;
    if (worthKeeping) journal?.put(rowOf({ ...expected, estimated: true }, 0, call, micro, purse?.credit ?? 0));

    function rowOf(usage: CallUsage, latencyMs: number, served: Served, cost: number, credit: number): Row {
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
    function settled(given: CallUsage, latencyMs: number, served: Served = call): Row {
      if (row) return row;
      const usage = plausible(given);
      const cost = costMicroUsd(served.pricing, usage.inputTokens, usage.outputTokens);
      hold?.end(cost);
      row = rowOf(usage, latencyMs, served, cost, purse?.end(cost) ?? 0);
      worthKeeping ||= cost > 0;
      if (worthKeeping) journal?.put(row);
      return row;
    }
    function written(): void {
      purse?.written();
      if (purse && row) paid?.(call, row[9] - row[13]);
      journal?.drop(id, false);
    }
    return {
      settle: (...answer) => ({ ...insertRow(settled(...answer)), after: written }),
      record(...answer) {
        write({ row: settled(...answer), written });
        return worthKeeping ? journal?.kept() : undefined;
      },
      release() {
        if (row) return;
        hold?.end(0);
        purse?.end(0);
        journal?.drop(id, true);
      },
    };
  }

  function write(entry: Entry): void {
    waiting.push(entry);
    flushSoon(waiting.length >= FLUSH_ROWS ? 0 : FLUSH_MS);
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
    flushing = flushing.then(writeWaiting);
    return flushing;
  }

  /** Never rejects: rows that can't be written now are written with the next ones. */
  async function writeWaiting(): Promise<void> {
    while (waiting.length > 0) {
      const entries = waiting;
      waiting = [];
      try {
        await insert(entries);
      } catch (error) {
        const lost = Math.max(0, entries.length + waiting.length - MAX_WAITING);
        waiting = [...entries, ...waiting].slice(lost);
        log.error("the ledger could not be written; it will be with the next calls", {
          rows: waiting.length,
          lost,
          error,
        });
        return;
      }
    }
  }

  async function insert(entries: readonly Entry[]): Promise<void> {
    const statements = insertRows(entries.map(({ row }) => row));
    const last = statements.at(-1);
    if (last) last.after = () => entries.forEach(({ written }) => void written());
    try {
      await database.write(statements);
    } catch (error) {
      // A storage in trouble comes back. A row that it never takes must not hold up the others.
      if (!isHopeless(error)) throw error;
      if (entries.length > 1) for (const entry of entries) await insert([entry]);
      else giveUp(entries, error);
    }
  }

  function giveUp(entries: readonly Entry[], error: unknown): void {
    for (const { row, written } of entries) {
      log.error("a row of the ledger can't be stored and is given up", { row: JSON.stringify(row), error });
      journal?.drop(row[0], true);
      written();
    }
  }

  return {
    reserve(call, scopes, microUsd, expected = NOTHING) {
      recover();
      if (microUsd === 0) return spending(call, expected, 0);
      const pays = call.ownKey || call.kind === "public" ? undefined : call.userId;
      const hold = scopes.length === 0 ? undefined : budgets.take(scopes, microUsd);
      if (!purses || pays === undefined) {
        if (!(hold instanceof Promise)) return putDown(call, expected, microUsd, { hold });
        return hold.then((held) => putDown(call, expected, microUsd, { hold: held }));
      }
      return (async () => {
        const held = await hold;
        try {
          const purse = await purses.take(pays, microUsd);
          return await putDown(call, expected, microUsd, { hold: held, purse });
        } catch (error) {
          held?.end(0);
          throw error;
        }
      })();
    },
    cached: (call) => spending(call, NOTHING, 0, { cached: true }),
    spent: budgets.spent,
    start: flush,
    async close() {
      if (recovered) await flush();
      journal?.close();
    },
  };
}

const SUM = "SELECT coalesce(sum(cost_micro_usd), 0) FROM usage_days";
const PUBLIC = `${SUM} WHERE user_id = '' AND day >= ?`;
const AGENT = `${SUM} WHERE agent_id = ? AND agent_id <> '' AND day >= ?`;

/** The same would happen again: a value that the table or the database doesn't take. */
const isHopeless = (error: unknown) =>
  error instanceof AppError
    ? error.status < 500
    : sqliteCode(error).startsWith("SQLITE_CONSTRAINT") || error instanceof TypeError || error instanceof RangeError;

/** A count that can't be one is taken for none, and the row says that it is a guess. */
function plausible({ inputTokens, outputTokens, estimated }: CallUsage): CallUsage {
  const sane = isTokenCount(inputTokens) && isTokenCount(outputTokens);
  const count = (given: number) => (isTokenCount(given) ? given : 0);
  return { inputTokens: count(inputTokens), outputTokens: count(outputTokens), estimated: estimated || !sane };
}
