// Reports an account's usage from its sums by day and by month, so that a year of many agents is read in milliseconds.

import type { Row as DatabaseRow, InValue } from "@libsql/client";
import type { Database } from "../../../src/kernel/database/database.ts";
import { DAY } from "../../../src/kernel/util/time.ts";
import { type DayRange, dateOf, sumRows, totalsOf, type UsageReport, type UsageTotals } from "./usage-reports.ts";

export const MAX_AGENTS = 200;

export interface AccountReport extends UsageReport {
  /** In descending order of cost; null for API calls of the account itself. */
  agents: (UsageTotals & { agentId: string | null })[];
}

/** Parts of a range: whole months, both inclusive as 202607, and the days outside of them. */
export interface RangeParts {
  readonly months: { readonly from: number; readonly to: number } | undefined;
  readonly days: readonly DayRange[];
}

const SUMS = `sum(calls) AS calls, sum(cached) AS cached, sum(estimated) AS estimated, sum(input_tokens) AS input,
  sum(output_tokens) AS output, sum(cost_micro_usd) AS cost, sum(credit_micro_usd) AS credit`;
const ACCOUNT_SUMS = `${SUMS}, sum(cost_micro_usd * own_key) AS own FROM usage_account_days
  WHERE user_id = ? AND day BETWEEN ? AND ?`;

/** The current month counts as a whole one if the range reaches today, since no later day has usage. */
export function splitRange({ from, to }: DayRange, now = Date.now()): RangeParts {
  const firstWhole = isMonthStart(from) ? from : nextMonth(from);
  const endsWhole = isMonthStart(to + 1) || to >= Math.floor(now / DAY);
  const lastWhole = endsWhole ? to : monthStart(to) - 1;
  if (firstWhole > lastWhole) return { months: undefined, days: [{ from, to }] };
  const days = [
    { from, to: firstWhole - 1 },
    { from: lastWhole + 1, to },
  ].filter((one) => one.from <= one.to);
  return { months: { from: monthOf(firstWhole), to: monthOf(lastWhole) }, days };
}

const dayDate = (day: number) => new Date(day * DAY);
const isMonthStart = (day: number) => dayDate(day).getUTCDate() === 1;
const monthStart = (day: number) => day - dayDate(day).getUTCDate() + 1;
const nextMonth = (day: number) => Date.UTC(dayDate(day).getUTCFullYear(), dayDate(day).getUTCMonth() + 1, 1) / DAY;
const monthOf = (day: number) => dayDate(day).getUTCFullYear() * 100 + dayDate(day).getUTCMonth() + 1;

/** Rows of an account's agents in the range: columns as in `SUMS`, and `own_micro`. */
function agentRows(userId: string, { months, days }: RangeParts): { sql: string; args: InValue[] } {
  const columns = "agent_id, calls, cached, estimated, input_tokens, output_tokens, cost_micro_usd, credit_micro_usd";
  const parts = days.map(({ from, to }) => ({
    sql: `SELECT ${columns}, cost_micro_usd * own_key AS own_micro FROM usage_days WHERE user_id = ? AND day BETWEEN ? AND ?`,
    args: [userId, from, to],
  }));
  if (months) {
    parts.push({
      sql: `SELECT ${columns}, own_key_micro_usd AS own_micro FROM usage_agent_months
        WHERE user_id = ? AND month BETWEEN ? AND ?`,
      args: [userId, months.from, months.to],
    });
  }
  return { sql: parts.map(({ sql }) => sql).join(" UNION ALL "), args: parts.flatMap(({ args }) => args) };
}

export function createAccountReports({ database }: { database: Pick<Database, "read" | "readLong"> }) {
  async function grouped(userId: string, by: string, { from, to }: DayRange, order: string): Promise<DatabaseRow[]> {
    return (await database.read(`SELECT ${by}, ${ACCOUNT_SUMS} GROUP BY ${by} ORDER BY ${order}`, [userId, from, to]))
      .rows;
  }

  /** The dearest agents: found by their cost alone first, since adding everything up for all of them takes longer. */
  async function agents(userId: string, range: DayRange): Promise<AccountReport["agents"]> {
    const { sql, args } = agentRows(userId, splitRange(range));
    const top = `SELECT agent_id FROM (${sql}) GROUP BY agent_id
      ORDER BY sum(cost_micro_usd) DESC, sum(calls) DESC, agent_id LIMIT ${MAX_AGENTS}`;
    const found = await database.readLong(top, args);
    if (found.rows.length === 0) return [];
    const ids = JSON.stringify(found.rows.map(({ agent_id }) => agent_id));
    const sums = `SELECT agent_id, ${SUMS}, sum(own_micro) AS own FROM (${sql})
      WHERE agent_id IN (SELECT value FROM json_each(?)) GROUP BY agent_id ORDER BY cost DESC, calls DESC, agent_id`;
    const { rows } = await database.readLong(sums, [...args, ids]);
    return rows.map((row) => ({ agentId: String(row.agent_id) || null, ...totalsOf(row) }));
  }

  return {
    async report(userId: string, range: DayRange): Promise<AccountReport> {
      const [days, models, dearest] = await Promise.all([
        grouped(userId, "day", range, "day"),
        grouped(userId, "provider, model", range, "sum(cost_micro_usd) DESC, calls DESC, provider, model"),
        agents(userId, range),
      ]);
      return {
        total: sumRows(days),
        days: days.map((row) => ({ date: dateOf(Number(row.day)), ...totalsOf(row) })),
        models: models.map((row) => ({ provider: String(row.provider), model: String(row.model), ...totalsOf(row) })),
        agents: dearest,
      };
    },
    agents,
    modelsByDay: (userId: string, range: DayRange) => grouped(userId, "day, provider, model", range, "day"),
    days: (userId: string, range: DayRange) => grouped(userId, "day", range, "day"),
  };
}
