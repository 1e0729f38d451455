// Who may connect: so many at once, and so often, from one address, whatever they want.
import { rateKey } from "../../../src/client-address.ts";

export interface Door {
  /** Takes a place among those that have not been let in; false when there is none for this address. */
  enter(address: string): boolean;
  /** Gives it back. `wasWelcome`: it was let in, so its coming doesn't count. */
  leave(address: string, wasWelcome: boolean): void;
  /** Once a second: forgets what is long ago. */
  tick(now: number): void;
  /** Places that are taken. */
  readonly waiting: number;
}

/** At once, from everywhere and from one address. */
const MAX_WAITING = 128;
const MAX_WAITING_OF_ONE = 16;
/** That were not let in, in a minute from one address: a key is not to be guessed, and a broken encoder tries again. */
const MAX_TRIES = 30;
const TRIES_WITHIN_MS = 60_000;
const MAX_ADDRESSES = 10_000;

export function createDoor(now: () => number = Date.now): Door {
  const waiting = new Map<string, number>();
  let all = 0;
  const tries = new Map<string, { count: number; until: number }>();

  function triesOf(key: string): { count: number; until: number } {
    const found = tries.get(key);
    if (found && found.until > now()) return found;
    tries.delete(key);
    if (tries.size >= MAX_ADDRESSES) tries.delete(tries.keys().next().value ?? "");
    const fresh = { count: 0, until: now() + TRIES_WITHIN_MS };
    tries.set(key, fresh);
    return fresh;
  }

  return {
    enter(address) {
      const key = rateKey(address);
      const there = waiting.get(key) ?? 0;
      const tried = triesOf(key);
      if (all >= MAX_WAITING || there >= MAX_WAITING_OF_ONE || tried.count >= MAX_TRIES) return false;
      tried.count++;
      waiting.set(key, there + 1);
      all++;
      return true;
    },
    leave(address, wasWelcome) {
      const key = rateKey(address);
      const there = waiting.get(key) ?? 0;
      if (there === 0) return;
      all--;
      if (there === 1) waiting.delete(key);
      else waiting.set(key, there - 1);
      const tried = tries.get(key);
      if (wasWelcome && tried) tried.count = Math.max(0, tried.count - 1);
    },
    tick(at) {
      for (const [key, { until }] of tries) if (until <= at) tries.delete(key);
    },
    get waiting() {
      return all;
    },
  };
}
