// Runs each nonce queue as one durable job at a time, so that nonces are used in order, with several processes and
// after restarts too.

import type { Statement } from "../../../src/kernel/database/database.ts";
import { AppError } from "../../../src/kernel/errors.ts";
import type { Kernel } from "../../../src/kernel/plugin.ts";
import { MINUTE, SECOND } from "../../../src/kernel/util/time.ts";
import type { NonceQueue, SpendStore } from "./spend-store.ts";

/** Stored in the jobs table, so the name stays. */
const JOB = "wallet.lane";
/** Length of one run. Spends that are not settled by then are left to the next run. */
const RUN_MS = 5 * SECOND;
/** Milliseconds between two checks within a run: doubled up to the maximum. */
const PAUSE = { first: 100, max: 2 * SECOND };
/**
 * Milliseconds between two runs: a quarter of the time since the last activity. After a `long` rest a run is one check.
 */
const REST = { min: SECOND, long: 4 * SECOND, max: 30 * SECOND, share: 4 };

export interface NonceQueues {
  /** For the batch that writes a spend: enqueues the job of its queue, and ends the pause of a running one. */
  wakeStatement(queue: NonceQueue): Statement;
  /** Resumes the queues that have open spends. */
  start(): Promise<void>;
  stop(): void;
}

type Deps = Pick<Kernel, "jobs" | "database" | "log"> & {
  ledger: SpendStore;
  work(queue: NonceQueue): Promise<boolean>;
};

export function createNonceQueues({ jobs, database, log, ledger, work }: Deps): NonceQueues {
  const resumeCallbacks = new Map<string, () => void>();
  let stopped = false;
  const keyOf = ({ network, address }: NonceQueue) => `${network}:${address}`;

  const wakeStatement = (queue: NonceQueue, runAt?: number): Statement => {
    const job = jobs.enqueueStatement(JOB, queue, { uniqueKey: keyOf(queue), ...(runAt !== undefined && { runAt }) });
    return {
      ...job,
      after(result) {
        job.after?.(result);
        resumeCallbacks.get(keyOf(queue))?.();
      },
    };
  };

  /** Read from the ledger, because another process may have made the last request. */
  async function restMsOf(queue: NonceQueue): Promise<number> {
    const now = Date.now();
    const idle = now - ((await ledger.lastActivityAt(queue)) ?? now);
    return Math.round(Math.min(Math.max(idle / REST.share, REST.min), REST.max));
  }

  async function pause(queue: NonceQueue, ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, ms);
    resumeCallbacks.set(keyOf(queue), resolve);
    await promise;
    clearTimeout(timer);
    resumeCallbacks.delete(keyOf(queue));
  }

  /** True while open spends are left. */
  async function workOnce(queue: NonceQueue): Promise<boolean> {
    try {
      return await work(queue);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      log.warn("Processing a nonce queue failed; it will be retried.", { ...queue, error });
      return true;
    }
  }

  jobs.handle(
    JOB,
    async (payload, { signal }) => {
      const queue = payload as NonceQueue;
      const restMs = await restMsOf(queue);
      const end = Date.now() + (restMs > REST.long ? 0 : RUN_MS);
      for (let ms = PAUSE.first; ; ms = Math.min(ms * 2, PAUSE.max)) {
        if (!(await workOnce(queue))) return undefined;
        if (stopped || signal.aborted || Date.now() >= end) return [wakeStatement(queue, Date.now() + restMs)];
        await pause(queue, ms);
      }
    },
    // Runs that wait for a slow chain must not block other queues.
    { concurrency: 64 },
  );

  async function wakeAll(): Promise<void> {
    const queues = await ledger.listQueues();
    if (queues.length > 0) await database.write(queues.map((queue) => wakeStatement(queue)));
  }
  // For queues whose job has failed for good.
  jobs.every("wallet.reconcile", MINUTE, wakeAll);

  return {
    wakeStatement,
    start: wakeAll,
    stop() {
      stopped = true;
      for (const resume of resumeCallbacks.values()) resume();
    },
  };
}
