// The generic cell rate algorithm: a rate limit whose whole state is one number, the time at which the burst is whole
// again.

/** `burst` uses at once, then one every `every` milliseconds. */
export interface RateRule {
  every: number;
  burst: number;
}

/** Milliseconds until one more use fits, with `reserved` uses to spare; 0: now. */
export const gcraWait = (wholeAt: number, rule: RateRule, now: number, reserved = 0): number =>
  Math.max(0, wholeAt - (rule.burst - 1 - reserved) * rule.every - now);

/** The state after `uses` more. */
export const gcraTake = (wholeAt: number, rule: RateRule, now: number, uses = 1): number =>
  Math.max(wholeAt, now) + uses * rule.every;

/** The state in which `gcraWait` is `ms`. */
export const gcraBlock = (rule: RateRule, now: number, ms: number): number => now + ms + (rule.burst - 1) * rule.every;
