// Sums the use of models over the whole instance, by day, model, provider, account or agent.
import type { InValue, Row } from "@libsql/client";
import type { Kernel } from "../../../src/kernel/plugin.ts";
import { MINUTE, SECOND } from "../../../src/kernel/util/time.ts";
import { type DayRange, dateOf, type UsageTotals } from "../../ai/index.ts";
import { MAX_ROWS, type USAGE_GROUPS } from "../model.ts";
import type { DailySums } from "./daily-sums.ts";
import { createStaleCache } from "./stale-cache.ts";

export type UsageGroup = (typeof USAGE_GROUPS)[number];

/** `key` identifies the group: a date, `provider:model`, a provider, or an id; empty for public use and deleted ones. */
export interface UsageRow extends UsageTotals {
  key: string;
  /** For people: the model, the account's address, or the agent's name; null if it is gone or was nobody's. */
  name: string | null;
}

export interface FleetUsage {
  total: UsageTotals;
  rows: UsageRow[];
}

const TOTALS = `sum(calls) AS calls, sum(cached) AS cached, sum(estimated) AS estimated, sum(input_tokens) AS input,
  sum(output_tokens) AS output, sum(cost_micro_usd) AS cost, sum(cost_micro_usd * own_key) AS own,
  sum(credit_micro_usd) AS credit`;
const KEYS: Record<UsageGroup, string> = {
  day: "day",
  model: "provider || ':' || model",
  provider: "provider",
  user: "user_id",
  agent: "agent_id",
};
const NAMES: Partial<Record<UsageGroup, string>> = {
  model: "substr(key, instr(key, ':') + 1)",
  user: "(SELECT email FROM users WHERE id = key)",
  agent: "(SELECT name FROM agents WHERE id = key)",
};

/** Whole days that are over come from their sums; the others, one or two, from the rows of agents. */
const ALL = `(SELECT day, provider, model, own_key, calls, cached, estimated, input_tokens, output_tokens, cost_micro_usd,
    credit_micro_usd FROM usage_of_all WHERE day BETWEEN ?1 AND ?2
  UNION ALL SELECT day, provider, model, own_key, calls, cached, estimated, input_tokens, output_tokens, cost_micro_usd,
    credit_micro_usd FROM usage_days WHERE day BETWEEN ?1 AND ?2 AND day NOT IN (SELECT day FROM summed_days))`;
const isOfAll = (by: UsageGroup) => by !== "user" && by !== "agent";

interface Deps extends Pick<Kernel, "database"> {
  dailySums: DailySums;
}

export function createFleetUsage({ database, dailySums }: Deps, now = Date.now) {
  const cached = createStaleCache<FleetUsage>({ freshMs: 15 * SECOND, staleMs: 2 * MINUTE, now });

  async function load({ from, to }: DayRange, by: UsageGroup, userId: string | undefined): Promise<FleetUsage> {
    const args: InValue[] = userId === undefined ? [from, to] : [from, to, userId];
    if (userId === undefined) await dailySums.ensure(from, to);
    const ofUser = "usage_days WHERE day BETWEEN ?1 AND ?2 AND user_id = ?3";
    const rows = userId === undefined ? "usage_days WHERE day BETWEEN ?1 AND ?2" : ofUser;
    const sums = userId === undefined ? ALL : ofUser;
    const order = by === "day" ? "key" : `cost DESC, calls DESC, key LIMIT ${MAX_ROWS}`;
    const groups = `SELECT ${KEYS[by]} AS key, ${TOTALS} FROM ${isOfAll(by) ? sums : rows} GROUP BY 1 ORDER BY ${order}`;
    const [grouped, total] = await Promise.all([
      database.readLong(`SELECT *, ${NAMES[by] ?? "NULL"} AS name FROM (${groups})`, args),
      database.readLong(`SELECT ${TOTALS} FROM ${sums}`, args),
    ]);
    return {
      total: totalsOf(total.rows[0]),
      rows: grouped.rows.map((row) => ({
        key: by === "day" ? dateOf(Number(row.key)) : String(row.key),
        name: row.name === null ? null : String(row.name),
        ...totalsOf(row),
      })),
    };
  }

  return (range: DayRange, by: UsageGroup, userId?: string): Promise<FleetUsage> =>
    cached(`${range.from} ${range.to} ${by} ${userId ?? ""}`, () => load(range, by, userId));
}

const totalsOf = (row: Row | undefined): UsageTotals => ({
  calls: Number(row?.calls ?? 0),
  cachedCalls: Number(row?.cached ?? 0),
  estimatedCalls: Number(row?.estimated ?? 0),
  inputTokens: Number(row?.input ?? 0),
  outputTokens: Number(row?.output ?? 0),
  costUsd: Number(row?.cost ?? 0) / 1e6,
  ownKeyUsd: Number(row?.own ?? 0) / 1e6,
  creditsUsd: Number(row?.credit ?? 0) / 1e6,
});

export type FleetUsageReport = ReturnType<typeof createFleetUsage>;
