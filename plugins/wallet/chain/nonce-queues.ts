// The lanes at work: each is one durable job at a time, so that nonces follow each other whoever asks, and over restarts.

import type { Statement } from "../../../src/kernel/database/database.ts";
import { AppError } from "../../../src/kernel/errors.ts";
import type { Kernel } from "../../../src/kernel/plugin.ts";
import type { NonceQueue, SpendStore } from "./spend-store.ts";

const JOB = "wallet.lane";
const MINUTE = 60_000;
/** Milliseconds of one run; what is not settled by then is looked at again. */
const RUN_MS = 5_000;
const PAUSE = { first: 100, max: 2_000 };
/** Milliseconds between two runs: the longer, the longer nobody has asked for anything. After a long one a run is one look. */
const REST = { min: 1_000, long: 4_000, max: 30_000, share: 4 };

export interface NonceQueues {
  /** For the batch of a spend: somebody works on its lane. */
  wakeStatement(queue: NonceQueue): Statement;
  /** Takes up what was under way. */
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

  /** By the ledger, since who asks need not be this process. */
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

  /** True while there is something left. */
  async function workOnce(queue: NonceQueue): Promise<boolean> {
    try {
      return await work(queue);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      log.warn("A wallet's spends have to wait.", { ...queue, error });
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
    // A chain that is slow must not keep others waiting.
    { concurrency: 64 },
  );

  async function wakeAll(): Promise<void> {
    const queues = await ledger.listQueues();
    if (queues.length > 0) await database.write(queues.map((queue) => wakeStatement(queue)));
  }
  // For lanes whose job was given up.
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
