// Counting in fixed windows: one rule, its rates, and what each key has used of them.

import type { RateLimitRule } from "../../config/config.ts";

/** At most `limit` in any window of `periodMs`. */
export interface Rate {
  readonly limit: number;
  readonly periodMs: number;
}

/** What one key has used: start (epoch ms) and count per window, in the order of the rule's rates. */
export interface KeyUsage {
  readonly key: string;
  readonly starts: number[];
  readonly counts: number[];
}

/** The outcome of a take or a look; of several windows, the one that matters most. */
export interface Decision {
  allowed: boolean;
  rule: RateLimitRule;
  /** Infinity when limits are off. */
  limit: number;
  remaining: number;
  /** Length of the window told about. */
  windowSeconds: number;
  /** Whole seconds until that window starts anew. */
  resetSeconds: number;
  /** Whole seconds until it is worth trying again; 0 when allowed. */
  retryAfterSeconds: number;
}

export interface Rule {
  readonly name: RateLimitRule;
  readonly rates: readonly Rate[];
  /** The key's entry at this time; windows that are over have started anew. */
  entry(key: string, time: number): KeyUsage;
  hasCapacity(entry: KeyUsage, cost: number): boolean;
  add(entry: KeyUsage, cost: number): void;
  decide(entry: KeyUsage, time: number, allowed: boolean, cost: number): Decision;
  /** Whether so much is used that forgetting it would matter. */
  isWorthStoring(entry: KeyUsage): boolean;
  /** Takes over what an earlier run counted in the window of this length. */
  restore(key: string, periodMs: number, start: number, count: number, time: number): void;
}

export function createRule(name: RateLimitRule, rates: readonly Rate[], maxKeys: number): Rule {
  // In the order in which they last started anew, so the oldest come first.
  const entries = new Map<string, KeyUsage>();
  const isExpired = (entry: KeyUsage, time: number) =>
    rates.every(({ periodMs }, index) => time - (entry.starts[index] ?? 0) >= periodMs);

  /** Each new key sweeps out two that are over, or the oldest when there are too many. */
  function evict(time: number): void {
    let evicted = 0;
    for (const [key, entry] of entries) {
      if (!isExpired(entry, time) && entries.size < maxKeys) return;
      entries.delete(key);
      if (++evicted === 2) return;
    }
  }

  function entryOf(key: string, time: number): KeyUsage {
    let entry = entries.get(key);
    if (!entry) {
      evict(time);
      entry = { key, starts: rates.map(() => time), counts: rates.map(() => 0) };
      entries.set(key, entry);
      return entry;
    }
    for (let index = 0; index < rates.length; index++) {
      const elapsed = time - (entry.starts[index] ?? 0);
      // A clock that was set back would otherwise hold a window open for as long.
      if (elapsed >= 0 && elapsed < (rates[index]?.periodMs ?? 0)) continue;
      entry.starts[index] = time;
      entry.counts[index] = 0;
      entries.delete(key);
      entries.set(key, entry);
    }
    return entry;
  }

  return {
    name,
    rates,
    entry: entryOf,
    hasCapacity: ({ counts }, cost) => rates.every(({ limit }, index) => (counts[index] ?? 0) + cost <= limit),
    add({ counts }, cost) {
      for (let index = 0; index < rates.length; index++) counts[index] = Math.max(0, (counts[index] ?? 0) + cost);
    },
    decide(entry, time, allowed, cost) {
      let strictest: Decision | undefined;
      for (let index = 0; index < rates.length; index++) {
        const rate = rates[index];
        if (!rate) continue;
        const used = entry.counts[index] ?? 0;
        const resetSeconds = Math.max(1, Math.ceil(((entry.starts[index] ?? 0) + rate.periodMs - time) / 1000));
        const blocked = !allowed && used + cost > rate.limit;
        const decision: Decision = {
          allowed,
          rule: name,
          limit: rate.limit,
          remaining: Math.max(0, rate.limit - used),
          windowSeconds: rate.periodMs / 1000,
          resetSeconds,
          retryAfterSeconds: blocked ? resetSeconds : 0,
        };
        if (!strictest || isStricter(decision, strictest)) strictest = decision;
      }
      if (!strictest) throw new Error(`The rate limit ${name} has no rates.`);
      return strictest;
    },
    isWorthStoring: ({ counts }) => rates.some(({ limit }, index) => (counts[index] ?? 0) * 4 >= limit),
    restore(key, periodMs, start, count, time) {
      const index = rates.findIndex((rate) => rate.periodMs === periodMs);
      if (index < 0 || start > time || time - start >= periodMs) return;
      const entry = entryOf(key, time);
      entry.starts[index] = start;
      entry.counts[index] = count;
    },
  };
}

/** Of refusals the one that lasts longer, otherwise the window with less left. */
const isStricter = (decision: Decision, other: Decision) =>
  decision.retryAfterSeconds !== other.retryAfterSeconds
    ? decision.retryAfterSeconds > other.retryAfterSeconds
    : decision.remaining < other.remaining;
