// Compares the rows of the ledger with their sums by day, account and month.

import { DAY } from "../../../src/kernel/util/time.ts";
import { COMPLETE_SINCE } from "../ledger/retention.ts";
import { type ComparedColumn, type Comparison, compareColumns, type Part, type Read } from "./comparison.ts";
import { type AccountsPart, type DaysPart, partsByAccount, partsByDay } from "./parts.ts";

/** How long versions kept the rows that did not note what they deleted. */
const KEPT_BEFORE_NOTES_MS = 400 * DAY;
const MONTH = "CAST(strftime('%Y%m', day * 86400, 'unixepoch') AS INTEGER)";
const UNITS = { calls: "calls", cached: "calls", estimated: "calls", input_tokens: "tokens", output_tokens: "tokens" };
const COLUMNS = [...Object.keys(UNITS), "cost_micro_usd", "credit_micro_usd"] as const;
const ALL = COLUMNS.join(", ");

const unitOf = (column: string) => Object.entries(UNITS).find(([name]) => name === column)?.[1] ?? "micro-USD";
const columnsOf = (pair: string, what: string): ComparedColumn[] =>
  COLUMNS.map((column) => ({ column, name: `${pair}.${column}`, what: `${column} ${what}`, unit: unitOf(column) }));

const PRICED = "provider || ':' || model || ' ' || own_key";
const PRICED_COLUMNS = ["provider", "model", "own_key"];
const AGENT_DAY = {
  columns: ["day", "agent_id", ...PRICED_COLUMNS],
  name: `day || ' ' || agent_id || ' ' || ${PRICED}`,
};
const ACCOUNT_DAY = {
  columns: ["user_id", "day", ...PRICED_COLUMNS],
  name: `user_id || ' ' || day || ' ' || ${PRICED}`,
};
const AGENT_MONTH = {
  columns: ["user_id", "agent_id", "month"],
  name: "user_id || ' ' || agent_id || ' ' || month",
};

export function checkUsage(read: Read, now: number): Comparison[] {
  // Rows of older days may be deleted. An agent that changes hands takes its sums along, so that rows have no account here.
  const [noted] = read(`SELECT value FROM meta WHERE key = '${COMPLETE_SINCE}'`);
  const since = Math.floor((noted ? Number(noted.value) : now - KEPT_BEFORE_NOTES_MS) / DAY) + 1;
  const [summed] = read("SELECT upto FROM usage_summed WHERE id = 1");
  return [
    ...compareColumns(
      read,
      columnsOf("rows-days", "of the rows and of the sums by day"),
      AGENT_DAY,
      partsByDay(read, since, Number(summed?.upto ?? 0)).map(rowsAndDays),
    ),
    ...compareColumns(
      read,
      columnsOf("days-accounts", "by day of agents and of accounts"),
      ACCOUNT_DAY,
      partsByAccount(read).map(daysAndAccounts),
    ),
    ...compareColumns(
      read,
      columnsOf("days-months", "by day and by month"),
      AGENT_MONTH,
      partsByAccount(read).map(daysAndMonths),
    ),
  ];
}

const rowsAndDays = ({ from, to, ranges }: DaysPart): Part => ({
  expected: `SELECT at / ${DAY} AS day, coalesce(agent_id, '') AS agent_id, provider, model, own_key, ${ALL.replace("calls", "1 AS calls")}
    FROM json_each(?3) AS r CROSS JOIN usage ON usage.rowid BETWEEN r.value ->> 0 AND r.value ->> 1
    WHERE at >= ?1 * ${DAY} AND at < ?2 * ${DAY}`,
  found: `SELECT day, agent_id, provider, model, own_key, ${ALL} FROM usage_days WHERE day >= ?1 AND day < ?2`,
  args: [from, to, JSON.stringify(ranges)],
});

const daysAndAccounts = ({ days, args }: AccountsPart): Part => ({
  expected: `SELECT user_id, day, provider, model, own_key, ${ALL} FROM usage_days WHERE ${days}`,
  found: `SELECT user_id, day, provider, model, own_key, ${ALL} FROM usage_account_days WHERE ${days}`,
  args,
});

const daysAndMonths = ({ days, months, args, monthArgs }: AccountsPart): Part => ({
  expected: `SELECT user_id, agent_id, ${MONTH} AS month, ${ALL} FROM usage_days WHERE ${days}`,
  found: `SELECT user_id, agent_id, month, ${ALL} FROM usage_agent_months WHERE ${months}`,
  args: [...args, ...monthArgs],
});
