// Waiting, but not for long.
import { setTimeout as sleep } from "node:timers/promises";

/** Resolves when the promise does, or after so many ms. Rejects with what the promise rejects with before. */
export async function waitAtMost(promise: Promise<unknown>, ms: number): Promise<void> {
  const waiting = new AbortController();
  const timeout = sleep(ms, undefined, { signal: waiting.signal, ref: false }).catch(() => undefined);
  try {
    await Promise.race([promise, timeout]);
  } finally {
    waiting.abort();
  }
}
