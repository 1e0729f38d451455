// Compares the rows of the ledger with their sums by day, account and month.

import { DAY } from "../../../src/kernel/util/time.ts";
import { COMPLETE_SINCE } from "../ledger/retention.ts";
import { type ComparedColumn, type Comparison, compareColumns, type Read } from "./comparison.ts";

/** How long versions kept the rows that did not note what they deleted. */
const KEPT_BEFORE_NOTES_MS = 400 * DAY;
const MONTH = "CAST(strftime('%Y%m', day * 86400, 'unixepoch') AS INTEGER)";
const UNITS = { calls: "calls", cached: "calls", estimated: "calls", input_tokens: "tokens", output_tokens: "tokens" };
const COLUMNS = [...Object.keys(UNITS), "cost_micro_usd", "credit_micro_usd"] as const;
const ALL = COLUMNS.join(", ");
const SUMS = COLUMNS.map((column) => `sum(${column}) AS ${column}`).join(", ");

const unitOf = (column: string) => Object.entries(UNITS).find(([name]) => name === column)?.[1] ?? "micro-USD";
const columnsOf = (pair: string, what: string): ComparedColumn[] =>
  COLUMNS.map((column) => ({ column, name: `${pair}.${column}`, what: `${column} ${what}`, unit: unitOf(column) }));

const PRICED = "provider || ':' || model || ' ' || own_key";
const ACCOUNT_DAY = `user_id || ' ' || day || ' ' || ${PRICED} AS key, ${ALL}`;
const AGENT_MONTH = `user_id || ' ' || agent_id || ' ' || month AS key, ${ALL}`;

export function checkUsage(read: Read, now: number): Comparison[] {
  // Rows of older days may be deleted. An agent that changes hands takes its sums along, so that rows have no account here.
  const [noted] = read(`SELECT value FROM meta WHERE key = '${COMPLETE_SINCE}'`);
  const since = Math.floor((noted ? Number(noted.value) : now - KEPT_BEFORE_NOTES_MS) / DAY) + 1;
  const agentDay = `day || ' ' || agent_id || ' ' || ${PRICED} AS key, ${ALL}`;
  // Grouped by what the rows hold, and named afterwards: a name for each of millions of rows takes minutes.
  const rowSums = COLUMNS.map((column) => `${column === "calls" ? "count(*)" : `sum(${column})`} AS ${column}`).join(
    ", ",
  );
  return [
    ...compareColumns(read, columnsOf("rows-days", "of the rows and of the sums by day"), {
      expected: `SELECT ${agentDay} FROM (
        SELECT at / ${DAY} AS day, coalesce(agent_id, '') AS agent_id, provider, model, own_key, ${rowSums} FROM usage
        WHERE rowid <= (SELECT upto FROM usage_summed WHERE id = 1) AND at >= ?1 * ${DAY} GROUP BY 1, 2, 3, 4, 5)`,
      found: `SELECT ${agentDay} FROM (
        SELECT day, agent_id, provider, model, own_key, ${SUMS} FROM usage_days WHERE day >= ?1 GROUP BY 1, 2, 3, 4, 5)`,
      args: [since],
    }),
    ...compareColumns(read, columnsOf("days-accounts", "by day of agents and of accounts"), {
      expected: `SELECT ${ACCOUNT_DAY} FROM (
        SELECT user_id, day, provider, model, own_key, ${SUMS} FROM usage_days GROUP BY 1, 2, 3, 4, 5)`,
      found: `SELECT ${ACCOUNT_DAY} FROM usage_account_days`,
    }),
    ...compareColumns(read, columnsOf("days-months", "by day and by month"), {
      expected: `SELECT ${AGENT_MONTH} FROM (
        SELECT user_id, agent_id, ${MONTH} AS month, ${SUMS} FROM usage_days GROUP BY 1, 2, 3)`,
      found: `SELECT ${AGENT_MONTH} FROM usage_agent_months`,
    }),
  ];
}
