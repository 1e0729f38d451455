// A rate limiter with many keys: it keeps one number for each key that was used lately.
import { gcraBlock, gcraTake, gcraWait, type RateRule } from "../../src/kernel/util/gcra.ts";

export type { RateRule } from "../../src/kernel/util/gcra.ts";

export interface RateLimiter {
  /** Milliseconds until the key may be used, with `reserved` more uses to spare; 0: now. */
  waitTime(key: string, rule: RateRule, reserved?: number): number;
  take(key: string, rule: RateRule): void;
  /** Allows no use for `ms` milliseconds. */
  block(key: string, rule: RateRule, ms: number): void;
  forget(matches: (key: string) => boolean): void;
}

/** Keys that are kept before the first search for those that are no longer limited. */
const FIRST_SWEEP = 1024;

export function createRateLimiter(now: () => number = () => performance.now()): RateLimiter {
  const wholeAt = new Map<string, number>();
  let sweepAt = FIRST_SWEEP;

  function set(key: string, time: number): void {
    wholeAt.set(key, time);
    if (wholeAt.size < sweepAt) return;
    for (const [old, until] of wholeAt) if (until <= now()) wholeAt.delete(old);
    sweepAt = Math.max(FIRST_SWEEP, wholeAt.size * 2);
  }

  return {
    waitTime: (key, rule, reserved = 0) => gcraWait(wholeAt.get(key) ?? 0, rule, now(), reserved),
    take: (key, rule) => set(key, gcraTake(wholeAt.get(key) ?? 0, rule, now())),
    block: (key, rule, ms) => set(key, Math.max(wholeAt.get(key) ?? 0, gcraBlock(rule, now(), ms))),
    forget(matches) {
      for (const key of wholeAt.keys()) if (matches(key)) wholeAt.delete(key);
    },
  };
}
