// Makes the series of a chart: cost by day of the dearest models or agents, and of all others together.

import type { Row } from "@libsql/client";
import type { Database } from "../../../src/kernel/database/database.ts";
import type { AccountReports } from "./account-report.ts";
import { type DayRange, dateOf } from "./usage-reports.ts";

/** Series that a chart can show side by side. */
const MAX_SERIES = 6;

export type SeriesBy = "model" | "agent";

export interface UsageSeries {
  /** The dearest first; an empty id stands for all others. */
  series: { id: string; costUsd: number }[];
  /** Every day of the range, oldest first; costs in the order of `series`. */
  days: { date: string; costUsd: number[]; calls: number; tokens: number }[];
}

const AGENT_DAYS_SQL = `SELECT agent_id AS id, day, sum(cost_micro_usd) AS cost FROM usage_days
  WHERE agent_id IN (SELECT value FROM json_each(?)) AND agent_id <> '' AND user_id = ? AND day BETWEEN ? AND ?
  GROUP BY agent_id, day`;

interface Cost {
  id: string;
  day: number;
  cost: number;
}

export function createUsageSeries({
  database,
  reports,
}: {
  database: Pick<Database, "read">;
  reports: Pick<AccountReports, "agents" | "modelsByDay" | "days">;
}) {
  async function costsByModel(userId: string, range: DayRange): Promise<Cost[]> {
    const rows = await reports.modelsByDay(userId, range);
    return rows.map((row) => ({
      id: `${row.provider}:${row.model}`,
      day: Number(row.day),
      cost: Number(row.cost),
    }));
  }

  async function costsByAgent(userId: string, range: DayRange, daily: readonly Row[]): Promise<Cost[]> {
    const dearest = (await reports.agents(userId, range, daily))
      .flatMap(({ agentId }) => agentId ?? [])
      .slice(0, MAX_SERIES);
    const { rows } = await database.read(AGENT_DAYS_SQL, [JSON.stringify(dearest), userId, range.from, range.to]);
    return rows.map((row) => ({ id: String(row.id), day: Number(row.day), cost: Number(row.cost) }));
  }

  return async (userId: string, range: DayRange, by: SeriesBy): Promise<UsageSeries> => {
    const daily = await reports.days(userId, range);
    const costs = await (by === "model" ? costsByModel(userId, range) : costsByAgent(userId, range, daily));
    const sums = new Map<string, number>();
    for (const { id, cost } of costs) sums.set(id, (sums.get(id) ?? 0) + cost);
    const ids = [...sums].sort(([, a], [, b]) => b - a).map(([id]) => id);
    const shown = ids.slice(0, MAX_SERIES);
    const column = new Map(shown.map((id, index) => [id, index]));
    const byDay = new Map(daily.map((row) => [Number(row.day), row]));
    const table = new Map<number, number[]>();
    for (const { id, day, cost } of costs) {
      const index = column.get(id);
      if (index === undefined) continue;
      const line = table.get(day) ?? shown.map(() => 0);
      line[index] = (line[index] ?? 0) + cost;
      table.set(day, line);
    }
    const days = Array.from({ length: range.to - range.from + 1 }, (_, index) => {
      const day = range.from + index;
      const row = byDay.get(day);
      const line = table.get(day) ?? shown.map(() => 0);
      const others = Number(row?.cost ?? 0) - line.reduce((sum, cost) => sum + cost, 0);
      return {
        date: dateOf(day),
        costs: [...line, others],
        calls: Number(row?.calls ?? 0),
        tokens: Number(row?.input ?? 0) + Number(row?.output ?? 0),
      };
    });
    const othersCost = days.reduce((sum, { costs: line }) => sum + (line.at(-1) ?? 0), 0);
    const hasOthers = othersCost > 0;
    const all = [
      ...shown.map((id) => ({ id, cost: sums.get(id) ?? 0 })),
      ...(hasOthers ? [{ id: "", cost: othersCost }] : []),
    ];
    return {
      series: all.map(({ id, cost }) => ({ id, costUsd: cost / 1e6 })),
      days: days.map(({ costs: line, ...rest }) => ({
        ...rest,
        costUsd: (hasOthers ? line : line.slice(0, -1)).map((cost) => cost / 1e6),
      })),
    };
  };
}
