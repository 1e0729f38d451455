// A few works side by side; the others wait in line, but not for long.
export type Semaphore = <T>(work: () => Promise<T>) => Promise<T>;

export interface SemaphoreOptions {
  permits: number;
  /** How long somebody waits for a place. */
  timeoutMs: number;
  /** Thrown where no place got free in time. */
  timeoutError: () => Error;
}

export function createSemaphore({ permits, timeoutMs, timeoutError }: SemaphoreOptions): Semaphore {
  let inUse = 0;
  const waiters = new Set<() => void>();

  function acquire(): Promise<void> {
    if (inUse < permits) {
      inUse++;
      return Promise.resolve();
    }
    return new Promise((resolve, reject) => {
      const grant = () => {
        clearTimeout(timer);
        waiters.delete(grant);
        resolve();
      };
      const timer = setTimeout(() => {
        waiters.delete(grant);
        reject(timeoutError());
      }, timeoutMs);
      waiters.add(grant);
    });
  }

  return async (work) => {
    await acquire();
    try {
      return await work();
    } finally {
      // The place goes from hand to hand.
      const [next] = waiters;
      if (next) next();
      else inUse--;
    }
  };
}
