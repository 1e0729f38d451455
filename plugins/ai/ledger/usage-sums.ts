// Adds the rows of the ledger to the sums by day, account and month: many rows at once, up to a second after they were written.

import type { Database, Statement } from "../../../src/kernel/database/database.ts";

/** Returns SQL that adds rows to a sum. `rows` is a table expression with the columns of `usage`. */
export type AddRows = (rows: string) => string;

export interface UsageSums {
  /** Adds all written rows to the sums. Call it before reading them; callers at the same time share the work. */
  addUp(): Promise<void>;
  /** The same as statements of a batch that goes on to change the sums. */
  addAllStatements(): Statement[];
  /** Call it after a row was written: within a second it is in the sums. */
  noteRow(): void;
  stop(): void;
}

interface Deps {
  database: Pick<Database, "read" | "write">;
  /** The sums of other plugins. */
  others: readonly AddRows[];
}

const DELAY_MS = 1_000;
/** Rows of one write, which takes a few milliseconds. */
const STEP = 500;
/** As a limit of SQL. */
const ALL = -1;

/** The oldest rows that are not added yet. ?1: the most rows. */
const NEXT = "(SELECT * FROM usage_unsummed ORDER BY row LIMIT ?1)";
const COUNTS = ["calls", "cached", "estimated", "input_tokens", "output_tokens", "cost_micro_usd", "credit_micro_usd"];
const sumsOf = (columns: readonly string[]) => columns.map((column) => `sum(${column})`).join(", ");
const addTo = (columns: readonly string[]) =>
  `ON CONFLICT DO UPDATE SET ${columns.map((column) => `${column} = ${column} + excluded.${column}`).join(", ")}`;

const KEY = ["user_id", "day", "agent_id", "provider", "model", "own_key"];
/** Groups the rows by all that any sum is kept by. The sums of accounts and months are sums of these. */
const GROUP: AddRows = (rows) => `INSERT INTO usage_step (${[...KEY, ...COUNTS].join(", ")})
  SELECT coalesce(user_id, ''), at / 86400000, coalesce(agent_id, ''), provider, model, own_key, count(*),
    ${sumsOf(COUNTS.slice(1))} FROM ${rows} GROUP BY 1, 2, 3, 4, 5, 6`;
const BY_DAY = `INSERT INTO usage_days SELECT ${[...KEY, ...COUNTS].join(", ")} FROM usage_step WHERE true ${addTo(COUNTS)}`;
const BY_ACCOUNT = `INSERT INTO usage_account_days
  SELECT user_id, day, provider, model, own_key, ${sumsOf(COUNTS)} FROM usage_step GROUP BY 1, 2, 3, 4, 5 ${addTo(COUNTS)}`;
const MONTH = "CAST(strftime('%Y%m', day * 86400, 'unixepoch') AS INTEGER)";
const BY_MONTH = `INSERT INTO usage_agent_months
  SELECT user_id, ${MONTH}, agent_id, ${sumsOf(COUNTS)}, sum(cost_micro_usd * own_key) FROM usage_step GROUP BY 1, 2, 3
  ${addTo([...COUNTS, "own_key_micro_usd"])}`;
const EMPTY = "DELETE FROM usage_step";
const MARK = `UPDATE usage_summed SET upto = coalesce((SELECT max(row) FROM ${NEXT}), upto) WHERE id = 1`;
const IS_BEHIND = "SELECT 1 FROM usage_unsummed LIMIT 1";

export function createUsageSums({ database, others }: Deps): UsageSums {
  const ofRows = [GROUP, ...others].map((add) => add(NEXT));
  const ofGroups = [BY_DAY, BY_ACCOUNT, BY_MONTH, EMPTY].map((sql): Statement => ({ sql, args: [] }));
  const statementsFor = (rows: number): Statement[] => [
    ...[...ofRows, MARK].map((sql) => ({ sql, args: [rows] })),
    ...ofGroups,
  ];
  let adding: Promise<void> = Promise.resolve();
  /** Work that has not begun, so that it includes all rows of now. */
  let next: Promise<void> | undefined;
  let timer: Timer | undefined;
  let isStopped = false;

  async function addInSteps(): Promise<void> {
    while ((await database.read(IS_BEHIND, [])).rows.length > 0) await database.write(statementsFor(STEP));
  }

  function addUp(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    next ??= adding = adding
      // An earlier caller has been told.
      .catch(() => undefined)
      .then(() => {
        next = undefined;
        return addInSteps();
      });
    return next;
  }

  function noteRow(): void {
    if (timer || isStopped) return;
    // If it fails, the next row, reader or start adds these rows, too.
    timer = setTimeout(() => void addUp().catch(() => undefined), DELAY_MS);
    timer.unref();
  }

  return {
    addUp,
    addAllStatements: () => statementsFor(ALL),
    noteRow,
    stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}
