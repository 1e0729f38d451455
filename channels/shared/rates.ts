// How often something may be done: one number per key that was used lately, nothing else.

/** `burst` at once, then one every `every` ms. */
export interface Rule {
  every: number;
  burst: number;
}

export interface Rates {
  /** Milliseconds until this key has a turn again, with `ahead` more turns to spare; 0: now. */
  wait(key: string, rule: Rule, ahead?: number): number;
  take(key: string, rule: Rule): void;
  /** No turn for so long. */
  hold(key: string, rule: Rule, ms: number): void;
  forget(matches: (key: string) => boolean): void;
}

/** Meters by the generic cell rate algorithm: kept is the time at which a key's burst is whole again. */
export function createRates(now: () => number = () => performance.now()): Rates {
  const whole = new Map<string, number>();
  let sweepAt = 1024;

  function set(key: string, time: number): void {
    whole.set(key, time);
    if (whole.size < sweepAt) return;
    for (const [old, until] of whole) if (until <= now()) whole.delete(old);
    sweepAt = Math.max(1024, whole.size * 2);
  }

  return {
    wait: (key, rule, ahead = 0) => Math.max(0, (whole.get(key) ?? 0) - (rule.burst - 1 - ahead) * rule.every - now()),
    take: (key, rule) => set(key, Math.max(whole.get(key) ?? 0, now()) + rule.every),
    hold: (key, rule, ms) => set(key, Math.max(whole.get(key) ?? 0, now() + ms + (rule.burst - 1) * rule.every)),
    forget(matches) {
      for (const key of whole.keys()) if (matches(key)) whole.delete(key);
    },
  };
}
