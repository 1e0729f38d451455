// Counts requests of each key in fixed windows, for one rule with one or more rates.
import { HOUR, MINUTE } from "../../util/time.ts";

/** At most `limit` in any window of `periodMs`. */
export interface Rate {
  readonly limit: number;
  readonly periodMs: number;
}

export const perMinute = (limit: number): Rate => ({ limit, periodMs: MINUTE });
export const perHour = (limit: number): Rate => ({ limit, periodMs: HOUR });

/** The usage of one key: start (epoch ms) and count of each window, in the order of the rule's rates. */
export interface KeyUsage {
  readonly key: string;
  readonly starts: number[];
  readonly counts: number[];
}

/** The result of a take or a peek: of several windows, the one with the longest wait, otherwise with the least left. */
export interface Decision {
  allowed: boolean;
  rule: string;
  /** Infinity when limits are off. */
  limit: number;
  remaining: number;
  /** Length of the window that the other fields are about. */
  windowSeconds: number;
  /** Whole seconds until that window restarts. */
  resetSeconds: number;
  /** Whole seconds until the same request fits into this window; 0 when allowed. */
  retryAfterSeconds: number;
}

export interface RateLimitRule {
  readonly name: string;
  readonly rates: readonly Rate[];
  /** Returns the key's usage at this time; windows that are over are restarted. */
  entry(key: string, time: number): KeyUsage;
  hasCapacity(entry: KeyUsage, cost: number): boolean;
  add(entry: KeyUsage, cost: number): void;
  decide(entry: KeyUsage, time: number, allowed: boolean, cost: number): Decision;
  /** Whether at least a quarter of a rate is used. Less is not stored at once. */
  isWorthStoring(entry: KeyUsage): boolean;
  /** Sets the count that an earlier run stored for the window of this length. */
  restore(key: string, periodMs: number, start: number, count: number, time: number): void;
}

export function createRateLimitRule(name: string, rates: readonly Rate[], maxKeys: number): RateLimitRule {
  // In the order in which a window last restarted: the oldest come first.
  const entries = new Map<string, KeyUsage>();
  const isExpired = (entry: KeyUsage, time: number) =>
    rates.every(({ periodMs }, index) => time - (entry.starts[index] ?? 0) >= periodMs);

  /** Removes up to two expired entries for each new key; the oldest entry, if there are too many. */
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
      // If the clock was set back, the window would otherwise stay open for that much longer.
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

const isStricter = (decision: Decision, other: Decision) =>
  decision.retryAfterSeconds !== other.retryAfterSeconds
    ? decision.retryAfterSeconds > other.retryAfterSeconds
    : decision.remaining < other.remaining;
