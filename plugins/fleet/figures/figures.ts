// Samples the figures of /metrics once a minute, so that admins see the last day without another tool.
import type { Kernel } from "../../../src/kernel/plugin.ts";
import { MINUTE, timeOfId } from "../../../src/kernel/util/time.ts";
import { FIGURES, type FigureName } from "./figure-names.ts";
import { createMinuteRing } from "./minute-ring.ts";

export type Figures = Record<FigureName, (number | null)[]>;

/** The outcomes of a model call that are failures of its provider. */
const CALL_FAILURES = ["failed", "timeout", "unreachable", "cut"];
/** The search for the oldest pending message reads at most this many. */
const MAX_PENDING = 2_000;
const OLDEST = `SELECT min(id) AS oldest FROM (SELECT inbox.id FROM inbox JOIN agents ON agents.id = inbox.agent_id
  WHERE inbox.status = 'pending' AND inbox.suspended IS NOT 1 AND agents.status <> 'stopped' LIMIT ${MAX_PENDING})`;

export interface FigureRecorder {
  /** Begins to sample; the first sample is taken after a minute. */
  start(): void;
  stop(): void;
  /** Takes a sample now. */
  sample(): Promise<void>;
  /** The last day in steps, oldest first; `from` is the start of the first step. */
  read(stepMinutes: number, steps: number): { from: number; figures: Figures };
}

export function createFigureRecorder(
  { database, log, metrics }: Pick<Kernel, "database" | "log" | "metrics">,
  now = Date.now,
): FigureRecorder {
  const ring = createMinuteRing<FigureName>(FIGURES);
  let timer: Timer | undefined;
  let before: Readonly<Record<string, number>> = {};
  let bucketsBefore: Float64Array = new Float64Array();

  const totals = () => ({
    requests: metrics.sum("berth_http_seconds"),
    serverErrors: metrics.sum("berth_http_seconds", { class: "5xx" }),
    turns: metrics.sum("berth_turns_total"),
    failedTurns: metrics.sum("berth_turns_total", { outcome: "failed" }),
    channelMessages: metrics.sum("berth_channel_messages_total", { outcome: "accepted" }),
    modelCalls: metrics.sum("berth_ai_calls_total"),
    failedCalls: CALL_FAILURES.reduce((sum, end) => sum + metrics.sum("berth_ai_calls_total", { end }), 0),
    costUsd: metrics.sum("berth_ai_cost_usd_total"),
  });

  /** The upper bound of the bucket in which the 95th of 100 new values lies, in ms; 0 without new values. */
  function newLatencyMs(): number {
    const { bounds, counts } = metrics.buckets("berth_http_seconds");
    const added = counts.map((count, index) => count - (bucketsBefore[index] ?? 0));
    bucketsBefore = counts;
    const total = added.reduce((sum, count) => sum + count, 0);
    if (total === 0) return 0;
    let seen = 0;
    const bucket = added.findIndex((count) => {
      seen += count;
      return seen >= total * 0.95;
    });
    return (bounds[bucket] ?? bounds.at(-1) ?? 0) * 1000;
  }

  async function oldestMs(held: number): Promise<number> {
    if (held === 0) return 0;
    const { rows } = await database.read(OLDEST);
    const oldest = rows[0]?.oldest;
    return typeof oldest === "string" ? Math.max(0, now() - timeOfId(oldest)) : 0;
  }

  async function sample(): Promise<void> {
    const current = totals();
    const inbox = metrics.sum("berth_inbox_held");
    const since = (name: keyof typeof current) => current[name] - (before[name] ?? 0);
    ring.add(now(), {
      requests: since("requests"),
      serverErrors: since("serverErrors"),
      latencyMs: newLatencyMs(),
      turns: since("turns"),
      failedTurns: since("failedTurns"),
      channelMessages: since("channelMessages"),
      modelCalls: since("modelCalls"),
      failedCalls: since("failedCalls"),
      costUsd: since("costUsd"),
      inbox,
      outbox: metrics.sum("berth_outbox_held"),
      oldestMs: await oldestMs(inbox),
      memoryBytes: process.memoryUsage.rss(),
      lagMs: metrics.takeWorstLag(),
    });
    before = current;
  }

  return {
    start() {
      timer = setInterval(() => {
        sample().catch((error: unknown) => log.warn("the figures of a minute could not be sampled", { error }));
      }, MINUTE);
      timer.unref();
    },
    stop: () => clearInterval(timer),
    sample,
    read(stepMinutes, steps) {
      const at = now();
      const step = stepMinutes * MINUTE;
      return { from: (Math.floor(at / step) - steps + 1) * step, figures: ring.read(at, stepMinutes, steps) };
    },
  };
}
