// Samples the figures of /metrics once a minute, so that admins see the last day without another tool, also after a restart.
import type { Statement } from "../../../src/kernel/database/database.ts";
import type { Kernel } from "../../../src/kernel/plugin.ts";
import { MINUTE } from "../../../src/kernel/util/time.ts";
import { FIGURES, type FigureName } from "./figure-names.ts";
import { createFigureStore } from "./figure-store.ts";
import { createMinuteRing } from "./minute-ring.ts";

export type Figures = Record<FigureName, (number | null)[]>;

/** The outcomes of a model call that are failures of its provider. */
const CALL_FAILURES = ["failed", "timeout", "unreachable", "cut"];
/** The search for the oldest pending message reads at most this many. */
const MAX_PENDING = 2_000;
const OLDEST = `SELECT min(since) AS since FROM (SELECT inbox.received_at + inbox.waited_ms AS since FROM inbox JOIN agents ON agents.id = inbox.agent_id
  WHERE inbox.status = 'pending' AND inbox.suspended IS NOT 1 AND agents.status <> 'stopped' LIMIT ${MAX_PENDING})`;

/** Minutes after which the samples of an idle service are stored. Those of a busy one are stored at once. */
const IDLE_MINUTES = 5;
/** What grows while the service is used. */
const SIGNS_OF_USE = ["turns", "channelMessages", "modelCalls", "failedCalls"] as const satisfies FigureName[];

export interface FigureRecorder {
  /** Begins to sample; the first sample is taken after a minute. */
  start(): void;
  /** Takes the last sample and stores it. */
  stop(): Promise<void>;
  /** Takes a sample now. */
  sample(): Promise<void>;
  /** Reads what earlier processes have stored, once. Without it, `read` knows the minutes of this process. */
  load(): Promise<void>;
  /** The last day in steps, oldest first; `from` is the start of the first step. */
  read(stepMinutes: number, steps: number): { from: number; figures: Figures };
}

interface Deps extends Pick<Kernel, "database" | "log" | "metrics"> {
  /** Statements that are written with the samples: the signs of life of this run, and its end. */
  runs: { seenStatements(): Statement[]; endStatements(): Statement[] };
}

export function createFigureRecorder({ database, log, metrics, runs }: Deps, now = Date.now): FigureRecorder {
  const ring = createMinuteRing<FigureName>(FIGURES);
  const store = createFigureStore({ database });
  /** Minutes whose samples are not stored yet. */
  const unstored = new Set<number>();
  let loaded: Promise<void> | undefined;
  let timer: Timer | undefined;
  let before: Readonly<Record<string, number>> = {};
  let bucketsBefore: Float64Array = new Float64Array();

  const totals = () => ({
    requests: metrics.sum("berth_http_seconds"),
    serverErrors: metrics.sum("berth_http_seconds", { class: "5xx" }),
    turns: metrics.sum("berth_turns_total") - metrics.sum("berth_turns_total", { outcome: "cancelled" }),
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
    const since = rows[0]?.since;
    return typeof since === "number" ? Math.max(0, now() - since) : 0;
  }

  function takeSample(oldest: number): Record<FigureName, number> {
    const current = totals();
    const since = (name: keyof typeof current) => current[name] - (before[name] ?? 0);
    const figures = {
      requests: since("requests"),
      serverErrors: since("serverErrors"),
      latencyMs: newLatencyMs(),
      turns: since("turns"),
      failedTurns: since("failedTurns"),
      channelMessages: since("channelMessages"),
      modelCalls: since("modelCalls"),
      failedCalls: since("failedCalls"),
      costUsd: since("costUsd"),
      inbox: metrics.sum("berth_inbox_held"),
      outbox: metrics.sum("berth_outbox_held"),
      oldestMs: oldest,
      memoryBytes: process.memoryUsage.rss(),
      lagMs: metrics.takeWorstLag(),
    };
    before = current;
    return figures;
  }

  async function sample(): Promise<void> {
    const oldest = await oldestMs(metrics.sum("berth_inbox_held"));
    const figures = takeSample(oldest);
    const at = now();
    ring.add(at, figures);
    unstored.add(Math.floor(at / MINUTE));
    if (unstored.size >= IDLE_MINUTES || SIGNS_OF_USE.some((name) => figures[name] > 0)) {
      await storeSamples(runs.seenStatements());
    }
  }

  /** A failed write is repeated with the next samples. */
  async function storeSamples(statements: readonly Statement[]): Promise<void> {
    const minutes = [...unstored].flatMap((minute) => {
      const figures = ring.minute(minute);
      return figures ? [[minute, figures] as const] : [];
    });
    await database.write([...store.keepStatements(minutes, Math.floor(now() / MINUTE)), ...statements]);
    for (const [minute] of minutes) unstored.delete(minute);
  }

  async function loadStored(): Promise<void> {
    for (const [minute, figures] of await store.list(Math.floor(now() / MINUTE))) ring.fill(minute, figures);
  }

  return {
    start() {
      timer = setInterval(() => {
        sample().catch((error: unknown) => log.warn("the figures of a minute could not be sampled", { error }));
      }, MINUTE);
      timer.unref();
    },
    async stop() {
      clearInterval(timer);
      if (timer === undefined) return;
      timer = undefined;
      ring.add(now(), takeSample(0));
      unstored.add(Math.floor(now() / MINUTE));
      await storeSamples(runs.endStatements());
    },
    sample,
    load() {
      loaded ??= loadStored().catch((error: unknown) => {
        loaded = undefined;
        throw error;
      });
      return loaded;
    },
    read(stepMinutes, steps) {
      const at = now();
      const step = stepMinutes * MINUTE;
      return { from: (Math.floor(at / step) - steps + 1) * step, figures: ring.read(at, stepMinutes, steps) };
    },
  };
}
