// Compares the rows of the ledger with their sums by day, account and month.

import { DAY } from "../../../src/kernel/util/time.ts";
import { RETENTION_MS } from "../ledger/retention.ts";
import { type Comparison, compareSums, type Read } from "./comparison.ts";

const MONTH = "CAST(strftime('%Y%m', day * 86400, 'unixepoch') AS INTEGER)";
const UNITS = { calls: "calls", cached: "calls", estimated: "calls", input_tokens: "tokens", output_tokens: "tokens" };
const COLUMNS = [...Object.keys(UNITS), "cost_micro_usd", "credit_micro_usd"] as const;

const unitOf = (column: string) => Object.entries(UNITS).find(([name]) => name === column)?.[1] ?? "micro-USD";
/** A sum of rows has no column of calls. */
const ofRows = (column: string) => (column === "calls" ? "1" : column);

export function checkUsage(read: Read, now: number): Comparison[] {
  // Rows of older days may be deleted. An agent that changes hands takes its sums along, so that rows have no account here.
  const since = Math.floor((now - RETENTION_MS) / DAY) + 1;
  const rowKey =
    "(at / 86400000) || ' ' || coalesce(agent_id, '') || ' ' || provider || ':' || model || ' ' || own_key";
  const dayKey = "day || ' ' || agent_id || ' ' || provider || ':' || model || ' ' || own_key";
  return COLUMNS.flatMap((column) => {
    const unit = unitOf(column);
    return [
      compareSums(
        read,
        { name: `rows-days.${column}`, what: `${column} of the rows and of the sums by day`, unit },
        {
          expected: `SELECT ${rowKey} AS key, sum(${ofRows(column)}) AS value FROM usage
            WHERE rowid <= (SELECT upto FROM usage_summed WHERE id = 1) AND at >= ?1 * ${DAY} GROUP BY 1`,
          found: `SELECT ${dayKey} AS key, sum(${column}) AS value FROM usage_days WHERE day >= ?1 GROUP BY 1`,
          args: [since],
        },
      ),
      compareSums(
        read,
        { name: `days-accounts.${column}`, what: `${column} by day of agents and of accounts`, unit },
        {
          expected: `SELECT user_id || ' ' || day || ' ' || provider || ':' || model || ' ' || own_key AS key,
            sum(${column}) AS value FROM usage_days GROUP BY 1`,
          found: `SELECT user_id || ' ' || day || ' ' || provider || ':' || model || ' ' || own_key AS key,
            ${column} AS value FROM usage_account_days`,
        },
      ),
      compareSums(
        read,
        { name: `days-months.${column}`, what: `${column} by day and by month`, unit },
        {
          expected: `SELECT user_id || ' ' || agent_id || ' ' || ${MONTH} AS key, sum(${column}) AS value
            FROM usage_days GROUP BY 1`,
          found: `SELECT user_id || ' ' || agent_id || ' ' || month AS key, ${column} AS value FROM usage_agent_months`,
        },
      ),
    ];
  });
}
