// Wakes what waits for a change.

/** Wakes all who wait for the next change, or for some time. */
export function createBell() {
  const waiting = new Set<() => void>();
  return {
    ring() {
      for (const resolve of waiting) resolve();
      waiting.clear();
    },
    wait: (ms: number) =>
      new Promise<void>((resolve) => {
        waiting.add(resolve);
        setTimeout(() => {
          waiting.delete(resolve);
          resolve();
        }, ms);
      }),
  };
}
