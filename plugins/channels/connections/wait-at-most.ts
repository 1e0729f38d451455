// Waits for a promise up to a time limit.
import { setTimeout as sleep } from "node:timers/promises";

/** Resolves when the promise does, or after so many milliseconds. Rejects if the promise rejects before that. */
export async function waitAtMost(promise: Promise<unknown>, ms: number): Promise<void> {
  const waiting = new AbortController();
  const timeout = sleep(ms, undefined, { signal: waiting.signal, ref: false }).catch(() => undefined);
  try {
    await Promise.race([promise, timeout]);
  } finally {
    waiting.abort();
  }
}
