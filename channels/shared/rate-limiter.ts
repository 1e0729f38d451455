// How often something may be done: one number per key that was used lately, nothing else.

/** `burst` at once, then one every `every` ms. */
export interface RateRule {
  every: number;
  burst: number;
}

export interface RateLimiter {
  /** Milliseconds until this key has a turn again, with `reserved` more turns to spare; 0: now. */
  waitTime(key: string, rule: RateRule, reserved?: number): number;
  take(key: string, rule: RateRule): void;
  /** No turn for so long. */
  block(key: string, rule: RateRule, ms: number): void;
  forget(matches: (key: string) => boolean): void;
}

/** Meters by the generic cell rate algorithm: kept is the time at which a key's burst is whole again. */
export function createRateLimiter(now: () => number = () => performance.now()): RateLimiter {
  const fullAt = new Map<string, number>();
  let sweepAt = 1024;

  function set(key: string, time: number): void {
    fullAt.set(key, time);
    if (fullAt.size < sweepAt) return;
    for (const [old, until] of fullAt) if (until <= now()) fullAt.delete(old);
    sweepAt = Math.max(1024, fullAt.size * 2);
  }

  return {
    waitTime: (key, rule, reserved = 0) =>
      Math.max(0, (fullAt.get(key) ?? 0) - (rule.burst - 1 - reserved) * rule.every - now()),
    take: (key, rule) => set(key, Math.max(fullAt.get(key) ?? 0, now()) + rule.every),
    block: (key, rule, ms) => set(key, Math.max(fullAt.get(key) ?? 0, now() + ms + (rule.burst - 1) * rule.every)),
    forget(matches) {
      for (const key of fullAt.keys()) if (matches(key)) fullAt.delete(key);
    },
  };
}
