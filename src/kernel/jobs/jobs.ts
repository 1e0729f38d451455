// Runs durable jobs: enqueued in the batch of their cause, run once with retries or at intervals, without polling on a
// local file.

import { type Marks, UNMARKED } from "../cells/marks.ts";
import { type Database, GuardFailed, type Statement } from "../database/database.ts";
import { AppError } from "../errors.ts";
import type { Log } from "../telemetry/log.ts";
import { HOUR, MINUTE, SECOND } from "../util/time.ts";
import { createAlarm } from "./alarm.ts";
import {
  type ClaimedJob,
  createJobStore,
  discardStatements,
  type EnqueueOptions,
  insertJobStatement,
  insertRecurringStatement,
  retryStatements,
} from "./job-store.ts";

export type { EnqueueOptions } from "./job-store.ts";

/** Facts about one run of a job, beside its payload. */
export interface JobContext {
  jobId: string;
  /** 1 at the first try. */
  attempt: number;
  /** Aborts at the timeout, at shutdown, and when the claim is lost. */
  signal: AbortSignal;
}

/**
 * Runs a job. The statements that it returns are committed with the job's completion, exactly once. A job that throws is
 * retried after 1 s, 2 s, 4 s, … up to an hour, with jitter.
 */
export type JobHandler = (payload: unknown, run: JobContext) => JobResult;
export type JobResult = Promise<Statement[] | undefined> | Promise<void>;

export interface HandlerOptions {
  /** The most jobs of this kind that run at the same time. Default 4. */
  concurrency?: number;
  /** Default 60,000. */
  timeoutMs?: number;
}

export interface Jobs {
  /** Makes the statement that enqueues a job, for the batch of its cause. */
  enqueueStatement(kind: string, payload: unknown, options?: EnqueueOptions): Statement;
  /** Statements that run a parked job again, or delete it. Guard `job.failed`: there is no such job. */
  retryStatements(id: string): Statement[];
  discardStatements(id: string): Statement[];
  /** Sets the only handler of a kind. Jobs without a handler wait. Throws if the kind has a handler. */
  handle(kind: string, handler: JobHandler, options?: HandlerOptions): void;
  /**
   * Runs a handler at intervals, first after one interval. The schedule survives restarts; runs never overlap, and missed
   * ones are skipped.
   */
  every(name: string, intervalMs: number, handler: (run: JobContext) => JobResult): void;
  /** The kinds that have a handler. */
  kinds(): string[];
  /** How many jobs of a kind were due before this time (epoch ms) and have not begun. */
  countDueBefore(kind: string, time: number): Promise<number>;
  start(): Promise<void>;
  /** Stops claiming and waits for running jobs; after the grace period (default 10,000 ms) aborts and requeues them. */
  stop(graceMs?: number): Promise<void>;
  /** True while the jobs table can be read and written. */
  ready(): boolean;
}

interface Handler {
  run: JobHandler;
  concurrency: number;
  timeoutMs: number;
  /** Set for recurring jobs. */
  intervalMs?: number;
  running: number;
}

interface RunningJob {
  job: ClaimedJob;
  abort: AbortController;
  finished: Promise<void>;
}

const SHARED_POLL_MS = SECOND;
const MAX_DELAY_MS = HOUR;

export interface JobsDeps {
  database: Database;
  log: Log;
  /** Default: those of the only cell. An admin's request that names a job finds its cell by them. */
  marks?: Marks;
  now?: () => number;
  /** How often a wait looks at the clock, in ms (see `createAlarm`); for tests. */
  clockCheckMs?: number;
}

export function createJobs(deps: JobsDeps): Jobs {
  const { database, log, marks = UNMARKED, now = Date.now, clockCheckMs } = deps;
  const store = createJobStore(database);
  /** A web surface in another process enqueues jobs, too. */
  const isShared = database.file === undefined;
  const handlers = new Map<string, Handler>();
  const runs = new Set<RunningJob>();
  let state: "new" | "started" | "stopped" = "new";
  let isHealthy = false;
  const alarm = createAlarm(wake, { now, ...(clockCheckMs === undefined ? {} : { checkMs: clockCheckMs }) });
  let currentTick: Promise<void> | undefined;
  let rerun = false;

  /** Checks for due jobs now, or right after the check that is running. */
  function wake(): void {
    rerun = true;
    if (state === "started") currentTick ??= tick();
  }

  async function tick(): Promise<void> {
    alarm.clear();
    let wait = isShared ? SHARED_POLL_MS : MAX_DELAY_MS;
    try {
      while (rerun && state === "started") {
        rerun = false;
        wait = Math.min(await claimDue(), isShared ? SHARED_POLL_MS : Number.POSITIVE_INFINITY);
      }
      isHealthy = true;
    } catch (error) {
      isHealthy = false;
      wait = SHARED_POLL_MS;
      log.warn("jobs could not be read; retrying", { error });
    }
    currentTick = undefined;
    if (rerun) wake();
    else if (state === "started") alarm.setFor(now() + wait);
  }

  /**
   * Starts due jobs of kinds with free capacity. Returns the milliseconds until the next job of such a kind is due; a kind
   * without capacity is checked when one of its jobs ends.
   */
  async function claimDue(): Promise<number> {
    const free = [...handlers].filter(([, handler]) => handler.running < handler.concurrency);
    const due = await store.dueTimes(free.map(([kind]) => kind));
    const at = now();
    const requests = free
      .filter(([kind]) => (due.get(kind) ?? Number.POSITIVE_INFINITY) <= at)
      .map(([kind, handler]) => ({ kind, limit: handler.concurrency - handler.running }));
    if (requests.length > 0) {
      for (const job of await store.claim(requests, at)) startJob(job);
      rerun = true;
    }
    return Math.max(0, Math.min(...due.values()) - at);
  }

  function startJob(job: ClaimedJob): void {
    const handler = handlers.get(job.kind);
    if (!handler) return;
    const abort = new AbortController();
    handler.running++;
    const run: RunningJob = { job, abort, finished: Promise.resolve() };
    runs.add(run);
    run.finished = runJob(job, handler, abort).finally(() => {
      handler.running--;
      runs.delete(run);
      wake();
    });
  }

  async function runJob(job: ClaimedJob, handler: Handler, abort: AbortController): Promise<void> {
    const run: JobContext = { jobId: job.id, attempt: job.attempt, signal: abort.signal };
    const timeout = setTimeout(
      () => abort.abort(new Error(`The job did not end within ${handler.timeoutMs} ms.`)),
      handler.timeoutMs,
    );
    try {
      const effects = (await Promise.race([handler.run(job.payload, run), rejectOnAbort(abort.signal)])) ?? [];
      await completeJob(job, handler, effects);
    } catch (error) {
      await handleFailure(job, handler, error);
    } finally {
      clearTimeout(timeout);
    }
  }

  async function completeJob(job: ClaimedJob, handler: Handler, effects: readonly Statement[]): Promise<void> {
    if (handler.intervalMs !== undefined) {
      const next = { runAt: now() + handler.intervalMs, attempt: 0, error: null };
      await storeOutcome(store.requeueStatements(job, next, effects));
      return;
    }
    try {
      await storeOutcome(store.completeStatements(job, effects));
    } catch (error) {
      if (!(error instanceof GuardFailed && error.guard === "job.done")) throw error;
      // The job was enqueued again while it ran, or the claim is lost, which the next guard detects.
      await storeOutcome(
        store.requeueStatements(job, { runAt: Number.MAX_SAFE_INTEGER, attempt: 0, error: null }, effects),
      );
    }
  }

  async function handleFailure(job: ClaimedJob, handler: Handler, error: unknown): Promise<void> {
    if (error instanceof GuardFailed && error.guard === "job.lease") {
      log.warn("a job was taken away while it ran", { kind: job.kind, job: job.id });
      return;
    }
    const reason = log.redactForms(error instanceof Error ? error.message : String(error)).slice(0, 500);
    const fields = { kind: job.kind, job: job.id, attempt: job.attempt, error };
    const isLastAttempt = job.attempt >= job.maxAttempts;
    try {
      if (error === SHUTDOWN) {
        await storeOutcome(store.requeueStatements(job, { runAt: now(), attempt: job.attempt - 1, error: null }));
      } else if (isLastAttempt && handler.intervalMs !== undefined) {
        log.warn("a recurring job failed; it runs again at its next time", fields);
        await storeOutcome(
          store.requeueStatements(job, { runAt: now() + handler.intervalMs, attempt: 0, error: reason }),
        );
      } else if (isLastAttempt) {
        log.warn("a job failed for good and was parked", fields);
        await storeOutcome(store.parkStatements(job, reason));
      } else {
        log.debug("a job failed and will be retried", fields);
        await storeOutcome(
          store.requeueStatements(job, { runAt: now() + backoff(job.attempt), attempt: job.attempt, error: reason }),
        );
      }
    } catch (cause) {
      // The job stays claimed until the next start releases it.
      log.error("the outcome of a job could not be stored", { kind: job.kind, job: job.id, error: cause });
    }
  }

  /** Stores the outcome of a job. While storage is unavailable, it retries, and the job keeps its slot. */
  async function storeOutcome(statements: Statement[]): Promise<void> {
    for (;;) {
      try {
        await database.write(statements);
        return;
      } catch (error) {
        if (!(error instanceof AppError && error.status === 503) || state === "stopped") throw error;
        isHealthy = false;
        await Bun.sleep(SHARED_POLL_MS);
      }
    }
  }

  return {
    enqueueStatement(kind, payload, options = {}) {
      return { ...insertJobStatement(marks.newId(), kind, payload, options, now()), after: wake };
    },
    retryStatements: (id) => retryStatements(id, now()).map((statement) => ({ ...statement, after: wake })),
    discardStatements,
    handle(kind, handler, { concurrency = 4, timeoutMs = MINUTE } = {}) {
      if (handlers.has(kind)) throw new Error(`Two handlers for jobs of kind ${kind}.`);
      handlers.set(kind, { run: handler, concurrency, timeoutMs, running: 0 });
      wake();
    },
    every(name, intervalMs, handler) {
      if (handlers.has(name)) throw new Error(`Two handlers for jobs of kind ${name}.`);
      const timeoutMs = Math.max(MINUTE, intervalMs);
      handlers.set(name, { run: (_, run) => handler(run), concurrency: 1, timeoutMs, intervalMs, running: 0 });
      if (state === "started") void scheduleRecurring(name, intervalMs);
    },
    kinds: () => [...handlers.keys()],
    countDueBefore: store.countDueBefore,
    async start() {
      const recurringStatements = [...handlers].flatMap(([kind, { intervalMs }]) =>
        intervalMs ? [insertRecurringStatement(marks.newId(), kind, intervalMs, now())] : [],
      );
      await database.write([store.releaseStatement(now()), ...recurringStatements]);
      state = "started";
      isHealthy = true;
      wake();
    },
    async stop(graceMs = 10_000) {
      state = "stopped";
      alarm.clear();
      await currentTick;
      const all = Promise.all([...runs].map((run) => run.finished));
      const grace = Promise.withResolvers<void>();
      const end = setTimeout(grace.resolve, graceMs);
      await Promise.race([all, grace.promise]);
      clearTimeout(end);
      for (const { abort } of runs) abort.abort(SHUTDOWN);
      await all;
    },
    ready: () => state === "started" && isHealthy,
  };

  async function scheduleRecurring(name: string, intervalMs: number): Promise<void> {
    try {
      await database.write([{ ...insertRecurringStatement(marks.newId(), name, intervalMs, now()), after: wake }]);
    } catch (error) {
      log.error("a recurring job could not be scheduled", { kind: name, error });
    }
  }
}

const SHUTDOWN = new Error("The service is shutting down.");

/** Returns 1 s, 2 s, 4 s, … up to an hour, of which half is random. */
function backoff(attempt: number): number {
  const full = Math.min(MAX_DELAY_MS, SECOND * 2 ** (attempt - 1));
  return Math.round(full / 2 + (Math.random() * full) / 2);
}

/** Rejects with the signal's reason when it aborts, so that a handler that ignores the signal does not keep its slot. */
function rejectOnAbort(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}
