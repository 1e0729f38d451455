// Room for so much at once: whoever finds it full waits, and the first to wait is the first to come in.

export interface Semaphore {
  /** Resolves with what leaves again, once there is room for `size`; one larger than the room comes in alone. */
  acquire(size: number, signal: AbortSignal): Promise<() => void>;
}

export function createSemaphore(capacity: number): Semaphore {
  let used = 0;
  const waiting = new Set<{ size: number; admit(): void }>();

  function release(size: number): void {
    used -= size;
    for (const next of waiting) {
      if (used > 0 && used + next.size > capacity) return;
      waiting.delete(next);
      next.admit();
    }
  }

  return {
    async acquire(size, signal) {
      signal.throwIfAborted();
      if (size === 0) return () => undefined;
      if (waiting.size > 0 || (used > 0 && used + size > capacity)) {
        const admitted = Promise.withResolvers<void>();
        const waiter = {
          size,
          admit() {
            used += size;
            admitted.resolve();
          },
        };
        const onAbort = () => {
          if (waiting.delete(waiter)) admitted.reject(signal.reason);
        };
        waiting.add(waiter);
        signal.addEventListener("abort", onAbort, { once: true });
        await admitted.promise.finally(() => signal.removeEventListener("abort", onAbort));
      } else used += size;
      let isHeld = true;
      return () => {
        if (isHeld) release(size);
        isHeld = false;
      };
    },
  };
}
