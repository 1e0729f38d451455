// A bounded queue in front of a few slots: keys take turns, so that one with many tasks does not keep the others waiting.

export interface FairQueueOptions {
  /** Tasks that run at once. */
  slots: number;
  /** Tasks of one key that wait. */
  perKey: number;
  /** Tasks that wait, over all keys. */
  total: number;
  /** The longest wait. */
  waitMs: number;
  /** The error for a task that finds no room, or has waited too long. */
  error: () => Error;
}

export type FairQueue = <Result>(key: string, work: () => Promise<Result>, signal: AbortSignal) => Promise<Result>;

/** Runs `work` once a slot is free. Rejects with `error` if that takes too long, or with the signal's reason. */
export function createFairQueue({ slots, perKey, total, waitMs, error }: FairQueueOptions): FairQueue {
  /** The tasks that wait by key, in the order in which the keys are served. */
  const waiting = new Map<string, Set<() => void>>();
  let free = slots;
  let waitingTasks = 0;

  /** Gives the slot to the first task of the next key, or to nobody. */
  function release(): void {
    const [key, tasks] = waiting.entries().next().value ?? [];
    const admit = tasks?.values().next().value;
    if (key === undefined || !admit) {
      free++;
      return;
    }
    remove(key, admit);
    // The key's other tasks come after those of all other keys.
    const others = waiting.get(key);
    if (others && waiting.delete(key)) waiting.set(key, others);
    admit();
  }

  function remove(key: string, admit: () => void): boolean {
    const tasks = waiting.get(key);
    if (!tasks?.delete(admit)) return false;
    waitingTasks--;
    if (tasks.size === 0) waiting.delete(key);
    return true;
  }

  function wait(key: string, signal: AbortSignal): Promise<void> {
    const tasks = waiting.get(key) ?? new Set();
    if (tasks.size >= perKey || waitingTasks >= total) throw error();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const giveUp = (reason: unknown) => {
      if (remove(key, resolve)) reject(reason);
    };
    const onAbort = () => giveUp(signal.reason);
    const timer = setTimeout(() => giveUp(error()), waitMs);
    signal.addEventListener("abort", onAbort, { once: true });
    waiting.set(key, tasks.add(resolve));
    waitingTasks++;
    return promise.finally(() => {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
    });
  }

  return async (key, work, signal) => {
    signal.throwIfAborted();
    if (free > 0) free--;
    else await wait(key, signal);
    try {
      return await work();
    } finally {
      release();
    }
  };
}
