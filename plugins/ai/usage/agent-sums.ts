// Adds up what each agent of an account has used. The sums over the days before today are kept in memory, since today's calls
// leave them as they are.

import type { Row as DatabaseRow, InValue } from "@libsql/client";
import type { Database } from "../../../src/kernel/database/database.ts";
import { DAY } from "../../../src/kernel/util/time.ts";
import { createSumMemory, type Sum } from "./sum-memory.ts";
import type { DayRange } from "./usage-reports.ts";

/** Parts of a range: whole months, both inclusive as 202607, and the days outside of them. */
export interface RangeParts {
  readonly months: { readonly from: number; readonly to: number } | undefined;
  readonly days: readonly DayRange[];
}

/** The id is empty for calls of the account itself. */
export type AgentSums = { readonly id: string } & Readonly<Record<Sum, number>>;

/** A line as the database encodes it: one text is read faster than thousands of rows. */
type Line = [id: string, ...sums: number[]];

/** Of all accounts together; one takes about 200 bytes. */
const MAX_KEPT_AGENTS = 30_000;

const COLUMNS = "calls, cached, estimated, input_tokens, output_tokens, cost_micro_usd, credit_micro_usd";
const OF_DAYS = (sign: "" | "-") => `SELECT agent_id, ${COLUMNS.split(", ")
  .map((column) => `${sign}${column} AS ${column}`)
  .join(", ")}, ${sign}cost_micro_usd * own_key AS own_micro
  FROM usage_days WHERE user_id = ? AND day BETWEEN ? AND ?`;
const OF_MONTHS = `SELECT agent_id, ${COLUMNS}, own_key_micro_usd AS own_micro
  FROM usage_agent_months WHERE user_id = ? AND month BETWEEN ? AND ?`;
const ALL = [...COLUMNS.split(", "), "own_micro"];
/** @param rows the parts to add up */
const linesSql = (rows: string) => `SELECT json_group_array(json_array(agent_id, ${ALL.join(", ")})) AS lines FROM
  (SELECT agent_id, ${ALL.map((column) => `sum(${column}) AS ${column}`).join(", ")} FROM (${rows}) GROUP BY agent_id)
  WHERE calls > 0`;

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

export function createAgentSums({ database }: { database: Pick<Database, "readLong"> }) {
  const remembered = createSumMemory<readonly AgentSums[]>({ of: (agents) => agents.length, limit: MAX_KEPT_AGENTS });

  async function load(parts: readonly { sql: string; args: InValue[] }[]): Promise<AgentSums[]> {
    const sql = linesSql(parts.map((part) => part.sql).join(" UNION ALL "));
    const { rows } = await database.readLong(
      sql,
      parts.flatMap(({ args }) => args),
    );
    return (JSON.parse(String(rows[0]?.lines)) as Line[]).map(toSums).sort(byCost);
  }

  /** The sums of the whole range without those of `today`, which a sum of the month includes. */
  function loadPast(userId: string, range: DayRange, today: number): Promise<AgentSums[]> {
    const { months, days } = splitRange(range, today * DAY);
    const parts = days.map(({ from, to }) => ({ sql: OF_DAYS(""), args: [userId, from, to] }));
    if (months) parts.push({ sql: OF_MONTHS, args: [userId, months.from, months.to] });
    if (range.to >= today) parts.push({ sql: OF_DAYS("-"), args: [userId, today, range.to] });
    return load(parts);
  }

  /**
   * The dearest first.
   * @param days the account's sums of each day in the range
   */
  return async function agentSums(
    userId: string,
    range: DayRange,
    days: readonly DatabaseRow[],
    now = Date.now(),
  ): Promise<readonly AgentSums[]> {
    const today = Math.floor(now / DAY);
    const past = days.filter(({ day }) => Number(day) < today);
    const [agents, latest] = await Promise.all([
      past.length === 0
        ? []
        : remembered(`${userId} ${range.from} ${range.to} ${today}`, past, () => loadPast(userId, range, today)),
      past.length === days.length ? [] : load([{ sql: OF_DAYS(""), args: [userId, today, range.to] }]),
    ]);
    return latest.length === 0 ? agents : merge(agents, latest);
  };
}

function toSums([id, ...sums]: Line): AgentSums {
  const [calls = 0, cached = 0, estimated = 0, input = 0, output = 0, cost = 0, credit = 0, own = 0] = sums;
  return { id, calls, cached, estimated, input, output, cost, credit, own };
}

function merge(past: readonly AgentSums[], latest: readonly AgentSums[]): AgentSums[] {
  const byId = new Map(past.map((one) => [one.id, one]));
  for (const one of latest) {
    const before = byId.get(one.id);
    byId.set(one.id, before ? plus(before, one) : one);
  }
  // Mostly in order already, which makes it short.
  return [...byId.values()].sort(byCost);
}

const plus = (a: AgentSums, b: AgentSums): AgentSums => ({
  id: a.id,
  calls: a.calls + b.calls,
  cached: a.cached + b.cached,
  estimated: a.estimated + b.estimated,
  input: a.input + b.input,
  output: a.output + b.output,
  cost: a.cost + b.cost,
  credit: a.credit + b.credit,
  own: a.own + b.own,
});

const byCost = (a: AgentSums, b: AgentSums) => b.cost - a.cost || b.calls - a.calls || (a.id < b.id ? -1 : 1);
