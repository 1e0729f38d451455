// A weighted semaphore: holders share a fixed number of units, and further requests wait in order (FIFO).

export interface SemaphoreOptions {
  /** Ends the wait with the signal's reason. */
  signal?: AbortSignal | undefined;
  /** Ends the wait with this error after so many milliseconds. */
  timeout?: { ms: number; error: () => Error } | undefined;
}

export interface Semaphore {
  /**
   * Takes `units` once they are free and all earlier requests are served. Resolves with the function that releases them
   * (safe to call twice). A request for more than the capacity runs alone; one for 0 never waits.
   */
  acquire(units?: number, options?: SemaphoreOptions): Promise<() => void>;
  /** Runs `work` while holding one unit. */
  run<Result>(work: () => Promise<Result>, options?: SemaphoreOptions): Promise<Result>;
}

/**
 * @example
 * const checks = createSemaphore(4);
 * const answer = await checks.run(() => askTheChain(), { timeout: { ms: 5_000, error: () => new Error("Busy.") } });
 */
export function createSemaphore(capacity: number): Semaphore {
  let held = 0;
  const waiting = new Set<{ units: number; admit(): void }>();
  const fits = (units: number) => held === 0 || held + units <= capacity;

  function release(units: number): void {
    held -= units;
    for (const next of waiting) {
      if (!fits(next.units)) return;
      waiting.delete(next);
      held += next.units;
      next.admit();
    }
  }

  function wait(units: number, { signal, timeout }: SemaphoreOptions): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiter = { units, admit: resolve };
    const giveUp = (error: unknown) => {
      if (waiting.delete(waiter)) reject(error);
    };
    const onAbort = () => giveUp(signal?.reason);
    const timer = timeout && setTimeout(() => giveUp(timeout.error()), timeout.ms);
    signal?.addEventListener("abort", onAbort, { once: true });
    waiting.add(waiter);
    return promise.finally(() => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
    });
  }

  async function acquire(units = 1, options: SemaphoreOptions = {}): Promise<() => void> {
    options.signal?.throwIfAborted();
    if (units === 0) return () => undefined;
    if (waiting.size === 0 && fits(units)) held += units;
    else await wait(units, options);
    let isHeld = true;
    return () => {
      if (isHeld) release(units);
      isHeld = false;
    };
  }

  return {
    acquire,
    async run(work, options) {
      const releaseUnit = await acquire(1, options);
      try {
        return await work();
      } finally {
        releaseUnit();
      }
    },
  };
}
