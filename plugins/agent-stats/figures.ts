// Reads an agent's figures over a day, a week or a month from the sums of each hour, and joins these to the viewer's days.
import type { Row } from "@libsql/client";
import type { Kernel } from "../../src/kernel/plugin.ts";
import { DAY, HOUR } from "../../src/kernel/util/time.ts";

export type FigureRange = "day" | "week" | "month";

/** What happened in one period. */
export interface Figures {
  received: number;
  sent: number;
  turnsOk: number;
  turnsFailed: number;
  inputTokens: number;
  outputTokens: number;
  costUsd: number;
  /** Of turns that succeeded, from the arrival of the message to the reply; null without one. */
  averageAnswerMs: number | null;
  /** 95 % of them were at most this slow, as exact as the histogram. */
  p95AnswerMs: number | null;
}

export interface FigurePoint extends Figures {
  /** When the period begins, epoch ms. */
  at: number;
}

/** Upper limits of the histogram, in seconds; `longer` is its last bucket. */
const LIMITS_S = [1, 2, 3, 5, 8, 13, 20, 30, 60, 120] as const;
const BUCKETS = [...LIMITS_S.map((limit) => `s${limit}`), "longer"];
const SUMS = ["received", "sent", "turns_ok", "turns_failed", "input_tokens", "output_tokens", "cost_micro_usd"];
const COLUMNS = ["hour", ...SUMS, "answer_ms", ...BUCKETS];
const SELECT = `SELECT ${COLUMNS.join(", ")} FROM agent_hours WHERE agent_id = ? AND hour BETWEEN ? AND ? ORDER BY hour`;

/** The periods of each range, the present one included. */
const HOURS_OF_A_DAY = 24;
const DAYS = { week: 7, month: 30 } as const;
/** Sums are kept for the longest range in any time zone, and some more days. */
const RETENTION_MS = 35 * DAY;
/** The turns of the hours that are deleted next are counted on. */
const KEEP_COUNTS = `INSERT INTO turn_counts SELECT agent_id, sum(turns_ok + turns_failed) AS turns FROM agent_hours
  WHERE agent_id IN (SELECT id FROM agents) AND hour < ? GROUP BY agent_id HAVING turns > 0
  ON CONFLICT DO UPDATE SET turns = turns + excluded.turns`;
const EXPIRE = "DELETE FROM agent_hours WHERE agent_id IN (SELECT id FROM agents) AND hour < ?";

/** ?1: the agent. All turns that it has ever had, from as many rows as there are hours. */
export const TURNS_OF_AGENT = `SELECT coalesce((SELECT turns FROM turn_counts WHERE agent_id = ?1), 0)
  + coalesce((SELECT sum(turns_ok + turns_failed) FROM agent_hours WHERE agent_id = ?1), 0) AS turns`;

/** Adds rows of the ledger (see `AddRows` of the ai plugin) to the hours. A row may be written after its agent was deleted. */
export const addCallsToHours = (rows: string) => `INSERT INTO agent_hours
    (agent_id, hour, input_tokens, output_tokens, cost_micro_usd)
  SELECT agent_id, at / ${HOUR}, sum(input_tokens), sum(output_tokens), sum(cost_micro_usd) FROM ${rows}
    WHERE agent_id IN (SELECT id FROM agents) GROUP BY 1, 2
  ON CONFLICT DO UPDATE SET input_tokens = input_tokens + excluded.input_tokens,
    output_tokens = output_tokens + excluded.output_tokens, cost_micro_usd = cost_micro_usd + excluded.cost_micro_usd`;

interface Deps extends Pick<Kernel, "database"> {
  /** Brings the hours up to date. */
  prepare(): Promise<void>;
}

export function createFigureReader({ database, prepare }: Deps) {
  return {
    /** Points of hours for a day, of days in this time zone for a week and a month, oldest first; and their total. */
    async read(
      agentId: string,
      range: FigureRange,
      timezone: string,
      now = Date.now(),
    ): Promise<{ points: FigurePoint[]; total: Figures }> {
      const periods = periodsOf(range, timezone, Math.floor(now / HOUR));
      const [first, last] = [periods[0]?.[0] ?? 0, periods.at(-1)?.at(-1) ?? 0];
      await prepare();
      const { rows } = await database.read(SELECT, [agentId, first, last]);
      const byHour = new Map(rows.map((row) => [Number(row.hour), row]));
      const rowsOf = (hours: readonly number[]) =>
        hours.map((hour) => byHour.get(hour)).filter((row) => row !== undefined);
      return {
        points: periods.map((hours) => ({ at: (hours[0] ?? 0) * HOUR, ...toFigures(rowsOf(hours)) })),
        total: toFigures(rows),
      };
    },

    /** Deletes the sums of hours that no range shows any more. */
    deleteOld(now = Date.now()) {
      const args = [Math.floor((now - RETENTION_MS) / HOUR)];
      return database.writeLong([
        { sql: KEEP_COUNTS, args },
        { sql: EXPIRE, args },
      ]);
    },
  };
}

/** The hours of each period, in order. */
function periodsOf(range: FigureRange, timezone: string, currentHour: number): number[][] {
  if (range === "day") {
    return Array.from({ length: HOURS_OF_A_DAY }, (_, n) => [currentHour - HOURS_OF_A_DAY + 1 + n]);
  }
  const dayOf = new Intl.DateTimeFormat("en", { timeZone: timezone, dateStyle: "short" });
  const days: number[][] = [];
  let day: string | undefined;
  // One day more is read, whose hours before midnight are left out.
  for (let hour = currentHour - (DAYS[range] + 1) * 24; hour <= currentHour; hour++) {
    const name = dayOf.format(hour * HOUR);
    if (name !== day) days.push([]);
    day = name;
    days.at(-1)?.push(hour);
  }
  return days.slice(-DAYS[range]);
}

function toFigures(rows: readonly Row[]): Figures {
  const sum = (column: string) => rows.reduce((all, row) => all + Number(row[column] ?? 0), 0);
  const turnsOk = sum("turns_ok");
  return {
    received: sum("received"),
    sent: sum("sent"),
    turnsOk,
    turnsFailed: sum("turns_failed"),
    inputTokens: sum("input_tokens"),
    outputTokens: sum("output_tokens"),
    costUsd: sum("cost_micro_usd") / 1_000_000,
    averageAnswerMs: turnsOk === 0 ? null : Math.round(sum("answer_ms") / turnsOk),
    p95AnswerMs: percentile(BUCKETS.map(sum), 0.95),
  };
}

/** The percentile within its bucket, as if the values of a bucket were spread evenly; the last bucket counts as its limit. */
function percentile(counts: readonly number[], share: number): number | null {
  const wanted = counts.reduce((all, count) => all + count, 0) * share;
  if (wanted === 0) return null;
  let before = 0;
  for (const [n, limit] of LIMITS_S.entries()) {
    const count = counts[n] ?? 0;
    if (before + count >= wanted) {
      const lower = LIMITS_S[n - 1] ?? 0;
      return Math.round(1000 * (lower + ((limit - lower) * (wanted - before)) / count));
    }
    before += count;
  }
  return 1000 * (LIMITS_S.at(-1) ?? 0);
}
