// Reports an account's usage from its sums by day and by month, so that a year of many agents is read in milliseconds.

import type { Row as DatabaseRow } from "@libsql/client";
import type { Database } from "../../../src/kernel/database/database.ts";
import { createAgentSums } from "./agent-sums.ts";
import { createSumMemory } from "./sum-memory.ts";
import { type DayRange, dateOf, sumRows, totalsOf, type UsageReport, type UsageTotals } from "./usage-reports.ts";

const MAX_AGENTS = 200;
/** Each takes up to 40 KiB. */
const MAX_REPORTS = 50;

export interface AccountReport extends UsageReport {
  /** In descending order of cost; null for API calls of the account itself. */
  agents: (UsageTotals & { agentId: string | null })[];
}

const ACCOUNT_SUMS = `sum(calls) AS calls, sum(cached) AS cached, sum(estimated) AS estimated, sum(input_tokens) AS input,
  sum(output_tokens) AS output, sum(cost_micro_usd) AS cost, sum(credit_micro_usd) AS credit,
  sum(cost_micro_usd * own_key) AS own FROM usage_account_days WHERE user_id = ? AND day BETWEEN ? AND ?`;

export function createAccountReports({ database }: { database: Pick<Database, "read" | "readLong"> }) {
  const agentSums = createAgentSums({ database });
  const remembered = createSumMemory<Pick<AccountReport, "models" | "agents">>({ of: () => 1, limit: MAX_REPORTS });

  async function grouped(userId: string, by: string, { from, to }: DayRange, order: string): Promise<DatabaseRow[]> {
    return (await database.read(`SELECT ${by}, ${ACCOUNT_SUMS} GROUP BY ${by} ORDER BY ${order}`, [userId, from, to]))
      .rows;
  }
  const daysOf = (userId: string, range: DayRange) => grouped(userId, "day", range, "day");

  /** The dearest agents. */
  async function agents(
    userId: string,
    range: DayRange,
    days: readonly DatabaseRow[],
  ): Promise<AccountReport["agents"]> {
    const dearest = (await agentSums(userId, range, days)).slice(0, MAX_AGENTS);
    return dearest.map((sums) => ({ agentId: sums.id || null, ...totalsOf(sums) }));
  }

  async function groupsOf(userId: string, range: DayRange, days: readonly DatabaseRow[]) {
    const [models, dearest] = await Promise.all([
      grouped(userId, "provider, model", range, "sum(cost_micro_usd) DESC, calls DESC, provider, model"),
      agents(userId, range, days),
    ]);
    return {
      models: models.map((row) => ({ provider: String(row.provider), model: String(row.model), ...totalsOf(row) })),
      agents: dearest,
    };
  }

  return {
    async report(userId: string, range: DayRange): Promise<AccountReport> {
      const days = await daysOf(userId, range);
      const groups = await remembered(`${userId} ${range.from} ${range.to}`, days, () => groupsOf(userId, range, days));
      return {
        total: sumRows(days),
        days: days.map((row) => ({ date: dateOf(Number(row.day)), ...totalsOf(row) })),
        ...groups,
      };
    },
    agents,
    modelsByDay: (userId: string, range: DayRange) => grouped(userId, "day, provider, model", range, "day"),
    days: daysOf,
  };
}

export type AccountReports = ReturnType<typeof createAccountReports>;
