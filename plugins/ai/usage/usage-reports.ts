// Reports usage from daily totals, so that a year of calls is a few rows.

import type { Row as DatabaseRow } from "@libsql/client";
import type { Database } from "../../../src/kernel/database/database.ts";
import { invalidInput } from "../../../src/kernel/errors.ts";
import { DAY } from "../../../src/kernel/util/time.ts";
import { MICRO_USD_PER_CREDIT } from "../ledger/account-balances.ts";

const DEFAULT_DAYS = 30;
/** Days of one report, at most. */
export const MAX_DAYS = 366;
/** Days since 1970-01-01 UTC, both inclusive. */
export interface DayRange {
  readonly from: number;
  readonly to: number;
}

export interface UsageTotals {
  calls: number;
  /** Calls of these that the cache answered, which cost nothing. */
  cachedCalls: number;
  /** Calls of these for which the provider gave no token count. */
  estimatedCalls: number;
  inputTokens: number;
  outputTokens: number;
  costUsd: number;
  /** The parts of the cost that were paid to the provider on own keys, and by credits here. */
  ownKeyUsd: number;
  creditsUsd: number;
}

export interface UsageReport {
  total: UsageTotals;
  days: (UsageTotals & { date: string })[];
  models: (UsageTotals & { provider: string; model: string })[];
}

/** Parses `from` and `to` of a query: days or ISO times, by default the last 30 days. 400 for other values. */
export function parseDayRange(
  { from, to }: { from?: string | undefined; to?: string | undefined },
  now: number,
): DayRange {
  const last = to === undefined ? Math.floor(now / DAY) : parseDay("to", to);
  const first = from === undefined ? last - DEFAULT_DAYS + 1 : parseDay("from", from);
  if (first > last) throw invalidInput({ path: "from", message: "from is not after to." });
  if (last - first >= MAX_DAYS) throw invalidInput({ path: "from", message: `A report has at most ${MAX_DAYS} days.` });
  return { from: first, to: last };
}

/** The date of a day, such as 2026-07-02. */
export const dateOf = (day: number) => new Date(day * DAY).toISOString().slice(0, 10);

export function createUsageReports({ database }: { database: Pick<Database, "read"> }) {
  async function groupedTotals(agentId: string, by: string, { from, to }: DayRange, order: string) {
    const sql = `SELECT ${by}, ${TOTALS_SQL} FROM usage_days WHERE agent_id = ? AND agent_id <> '' AND day BETWEEN ? AND ?
      GROUP BY ${by} ORDER BY ${order}`;
    return (await database.read(sql, [agentId, from, to])).rows;
  }

  async function report(agentId: string, range: DayRange): Promise<UsageReport> {
    const [days, models] = await Promise.all([
      groupedTotals(agentId, "day", range, "day"),
      groupedTotals(agentId, "provider, model", range, "sum(cost_micro_usd) DESC, calls DESC, provider, model"),
    ]);
    const daily = days.map((row) => ({ date: dateOf(Number(row.day)), ...totalsOf(row) }));
    return {
      total: sumRows(days),
      days: daily,
      models: models.map((row) => ({ provider: String(row.provider), model: String(row.model), ...totalsOf(row) })),
    };
  }

  return {
    forAgent: report,

    /** USD that an agent has cost since `since` (epoch ms, the beginning of a day). */
    async agentSpentUsd(agentId: string, since: number): Promise<number> {
      const { rows } = await database.read(AGENT_SPENT_SQL, [agentId, since / DAY]);
      return usd(rows[0]?.[0]);
    },

    /** USD that each of these agents has cost since these days; none for one without calls. */
    async agentsSpentUsd(ids: readonly string[], since: { day: number; month: number }) {
      const args = [since.day / DAY, JSON.stringify(ids), since.month / DAY];
      const { rows } = await database.read(AGENTS_SPENT_SQL, args);
      return new Map(rows.map((row) => [String(row.agent_id), { dayUsd: usd(row.today), monthUsd: usd(row.month) }]));
    },

    /** USD of its plan that an account has used since `since`, and its remaining credits. */
    async accountBalance(userId: string, since: number): Promise<{ spentUsd: number; credits: number }> {
      const { rows } = await database.read(ACCOUNT_BALANCE_SQL, [userId, since / DAY, userId]);
      return { spentUsd: usd(rows[0]?.spent), credits: Math.max(0, Number(rows[0]?.left ?? 0)) / MICRO_USD_PER_CREDIT };
    },
  };
}

const TOTALS_SQL = `sum(calls) AS calls, sum(cached) AS cached, sum(estimated) AS estimated,
  sum(input_tokens) AS input, sum(output_tokens) AS output, sum(cost_micro_usd) AS cost,
  sum(cost_micro_usd * own_key) AS own, sum(credit_micro_usd) AS credit`;
const AGENT_SPENT_SQL = `SELECT coalesce(sum(cost_micro_usd), 0) FROM usage_days
  WHERE agent_id = ? AND agent_id <> '' AND day >= ?`;
const AGENTS_SPENT_SQL = `SELECT agent_id, sum(iif(day >= ?, cost_micro_usd, 0)) AS today, sum(cost_micro_usd) AS month
  FROM usage_days WHERE agent_id IN (SELECT value FROM json_each(?)) AND agent_id <> '' AND day >= ? GROUP BY agent_id`;
const ACCOUNT_BALANCE_SQL = `SELECT (SELECT coalesce(sum(cost_micro_usd - credit_micro_usd), 0) FROM usage_account_days
    WHERE user_id = ? AND day >= ? AND own_key = 0) AS spent,
  users.credits * ${MICRO_USD_PER_CREDIT} - coalesce(credit_use.micro_usd, 0) AS left
  FROM users LEFT JOIN credit_use ON credit_use.user_id = users.id WHERE users.id = ?`;

const usd = (micro: unknown) => Number(micro ?? 0) / 1e6;

/** @param row sums of the ledger: a row of the database, or those of an agent */
export const totalsOf = (row: Readonly<Record<string, unknown>>): UsageTotals => ({
  calls: Number(row.calls),
  cachedCalls: Number(row.cached),
  estimatedCalls: Number(row.estimated),
  inputTokens: Number(row.input),
  outputTokens: Number(row.output),
  costUsd: usd(row.cost),
  ownKeyUsd: usd(row.own),
  creditsUsd: usd(row.credit),
});

/** Adds whole micro-USD, so that the total is exact. */
export function sumRows(rows: readonly DatabaseRow[]): UsageTotals {
  const add = (name: string) => rows.reduce((sum, row) => sum + Number(row[name]), 0);
  return {
    calls: add("calls"),
    cachedCalls: add("cached"),
    estimatedCalls: add("estimated"),
    inputTokens: add("input"),
    outputTokens: add("output"),
    costUsd: usd(add("cost")),
    ownKeyUsd: usd(add("own")),
    creditsUsd: usd(add("credit")),
  };
}

function parseDay(path: string, text: string): number {
  const at = /^\d{4}-\d{2}-\d{2}(?:T[\d:.]+(?:Z|[+-]\d{2}:\d{2}))?$/.test(text) ? Date.parse(text) : Number.NaN;
  // Some parsers accept the 30th of February.
  const real = text.length > 10 || (!Number.isNaN(at) && new Date(at).toISOString().startsWith(text));
  if (Number.isNaN(at) || !real)
    throw invalidInput({ path, message: "Give a day such as 2026-07-02, or an ISO 8601 time." });
  return Math.floor(at / DAY);
}
