// The lanes at work: each is one durable job at a time, so that nonces follow each other whoever asks, and over restarts.

import type { Statement } from "../../src/database.ts";
import { AppError } from "../../src/errors.ts";
import type { Kernel } from "../../src/plugin.ts";
import type { Lane, LaneBook } from "./lane-book.ts";

const JOB = "wallet.lane";
const MINUTE = 60_000;
/** Milliseconds of one run; what is not settled by then is looked at again. */
const RUN = 5_000;
const PAUSE = { first: 100, most: 2_000 };
/** Milliseconds between two runs: the longer, the longer nobody has asked for anything. After a long one a run is one look. */
const REST = { least: 1_000, long: 4_000, most: 30_000, share: 4 };

export interface Lanes {
  /** For the batch of a spend: somebody works on its lane. */
  wake(lane: Lane): Statement;
  /** Takes up what was under way. */
  start(): Promise<void>;
  stop(): void;
}

type Deps = Pick<Kernel, "jobs" | "database" | "log"> & { ledger: LaneBook; work(lane: Lane): Promise<boolean> };

export function createLanes({ jobs, database, log, ledger, work }: Deps): Lanes {
  const pauses = new Map<string, () => void>();
  let stopped = false;
  const keyOf = ({ network, address }: Lane) => `${network}:${address}`;

  const wake = (lane: Lane, runAt?: number): Statement => {
    const asked = jobs.enqueue(JOB, lane, { uniqueKey: keyOf(lane), ...(runAt !== undefined && { runAt }) });
    return {
      ...asked,
      after(result) {
        asked.after?.(result);
        pauses.get(keyOf(lane))?.();
      },
    };
  };

  /** By the ledger, since who asks need not be this process. */
  async function restOf(lane: Lane): Promise<number> {
    const now = Date.now();
    const idle = now - ((await ledger.touched(lane)) ?? now);
    return Math.round(Math.min(Math.max(idle / REST.share, REST.least), REST.most));
  }

  async function pause(lane: Lane, ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, ms);
    pauses.set(keyOf(lane), resolve);
    await promise;
    clearTimeout(timer);
    pauses.delete(keyOf(lane));
  }

  /** True while there is something left. */
  async function workOnce(lane: Lane): Promise<boolean> {
    try {
      return await work(lane);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      log.warn("A wallet's spends have to wait.", { ...lane, error });
      return true;
    }
  }

  jobs.handle(
    JOB,
    async (payload, { signal }) => {
      const lane = payload as Lane;
      const rest = await restOf(lane);
      const end = Date.now() + (rest > REST.long ? 0 : RUN);
      for (let ms = PAUSE.first; ; ms = Math.min(ms * 2, PAUSE.most)) {
        if (!(await workOnce(lane))) return undefined;
        if (stopped || signal.aborted || Date.now() >= end) return [wake(lane, Date.now() + rest)];
        await pause(lane, ms);
      }
    },
    // A chain that is slow must not keep others waiting.
    { concurrency: 64 },
  );

  async function wakeAll(): Promise<void> {
    const lanes = await ledger.lanes();
    if (lanes.length > 0) await database.write(lanes.map((lane) => wake(lane)));
  }
  // For lanes whose job was given up.
  jobs.every("wallet.reconcile", MINUTE, wakeAll);

  return {
    wake,
    start: wakeAll,
    stop() {
      stopped = true;
      for (const resume of pauses.values()) resume();
    },
  };
}
