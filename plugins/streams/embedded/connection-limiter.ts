// Limits connections that are not admitted yet: how many are open at once, and how many failed per minute and address.
import { rateLimitKey } from "../../../src/kernel/http/client-address.ts";
import { MINUTE } from "../../../src/kernel/util/time.ts";

export interface ConnectionLimiter {
  /** Takes a place for a connection; false if a limit is reached. */
  tryAcquire(address: string): boolean;
  /** Returns the place. An admitted connection does not count as a failed attempt. */
  release(address: string, wasAdmitted: boolean): void;
  /** Forgets attempts whose minute is over. Call it once a second, with the time in epoch ms. */
  removeExpired(now: number): void;
  /** The number of places taken. */
  readonly pending: number;
}

/** Connections at once: in total, and per address. */
const MAX_PENDING = 128;
const MAX_PENDING_PER_ADDRESS = 16;
/** Failed attempts per address and minute: few enough to stop guessing, enough for an encoder that reconnects. */
const MAX_FAILED_ATTEMPTS = 30;
const ATTEMPT_WINDOW_MS = MINUTE;
/** Addresses whose attempts are counted; a new one replaces the oldest. */
const MAX_ADDRESSES = 10_000;

export function createConnectionLimiter(now: () => number = Date.now): ConnectionLimiter {
  const pending = new Map<string, number>();
  let total = 0;
  const attempts = new Map<string, { count: number; until: number }>();

  function attemptsOf(key: string): { count: number; until: number } {
    const found = attempts.get(key);
    if (found && found.until > now()) return found;
    attempts.delete(key);
    if (attempts.size >= MAX_ADDRESSES) attempts.delete(attempts.keys().next().value ?? "");
    const fresh = { count: 0, until: now() + ATTEMPT_WINDOW_MS };
    attempts.set(key, fresh);
    return fresh;
  }

  return {
    tryAcquire(address) {
      const key = rateLimitKey(address);
      const current = pending.get(key) ?? 0;
      const recent = attemptsOf(key);
      if (total >= MAX_PENDING || current >= MAX_PENDING_PER_ADDRESS || recent.count >= MAX_FAILED_ATTEMPTS)
        return false;
      recent.count++;
      pending.set(key, current + 1);
      total++;
      return true;
    },
    release(address, wasAdmitted) {
      const key = rateLimitKey(address);
      const current = pending.get(key) ?? 0;
      if (current === 0) return;
      total--;
      if (current === 1) pending.delete(key);
      else pending.set(key, current - 1);
      const recent = attempts.get(key);
      if (wasAdmitted && recent) recent.count = Math.max(0, recent.count - 1);
    },
    removeExpired(at) {
      for (const [key, { until }] of attempts) if (until <= at) attempts.delete(key);
    },
    get pending() {
      return total;
    },
  };
}
