// Who may connect: so many at once, and so often, from one address, whatever they want.
import { rateLimitKey } from "../../../src/kernel/http/client-address.ts";

export interface ConnectionLimiter {
  /** Takes a place among those that have not been let in; false when there is none for this address. */
  tryAcquire(address: string): boolean;
  /** Gives it back. `wasWelcome`: it was let in, so its coming doesn't count. */
  release(address: string, wasAdmitted: boolean): void;
  /** Once a second: forgets what is long ago. */
  removeExpired(now: number): void;
  /** Places that are taken. */
  readonly pending: number;
}

/** At once, from everywhere and from one address. */
const MAX_PENDING = 128;
const MAX_PENDING_PER_ADDRESS = 16;
/** That were not let in, in a minute from one address: a key is not to be guessed, and a broken encoder tries again. */
const MAX_FAILED_ATTEMPTS = 30;
const ATTEMPT_WINDOW_MS = 60_000;
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
