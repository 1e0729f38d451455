// Rate limits: counted in memory, kept in the database so that neither a restart nor a kill forgives.

import { type RateLimitRule, rateLimitRules } from "../../config/config.ts";
import type { Database } from "../../database/database.ts";
import { AppError } from "../../errors.ts";
import { rateLimitKey } from "../../http/client-address.ts";
import type { Log } from "../../telemetry/log.ts";
import { createRule, type Decision, type KeyUsage, type Rate, type Rule } from "./fixed-windows.ts";
import { createWindowStore } from "./window-store.ts";

export type { Decision } from "./fixed-windows.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** What each rule allows per key, as in contract §3; RATE_LIMITS overrides them by rule. */
const DEFAULT_RATES: Record<RateLimitRule, readonly Rate[]> = {
  "sign-up": [rate(10, MINUTE), rate(60, HOUR)],
  "sign-in": [rate(10, 15 * MINUTE)],
  "sign-in-ip": [rate(30, 15 * MINUTE)],
  "forgot-password": [rate(5, MINUTE), rate(20, HOUR)],
  "reset-password": [rate(10, MINUTE), rate(60, HOUR)],
  provision: [rate(5, MINUTE), rate(30, HOUR)],
  ai: [rate(120, MINUTE)],
  default: [rate(600, MINUTE)],
};

/** Too frequent to wait for the disk each time: a kill may forgive them a second. */
const DEFERRED_RULES: readonly RateLimitRule[] = ["ai", "default"];
const FLUSH_MS = 1000;
const MAX_KEY = 200;

/** A key is an address, an account, or several of these joined by `|`; an IPv6 address counts as its /64. */
export interface RateLimiter {
  /** Counts, unless that would pass a limit. On disk within about a second, if enough is used to matter. */
  take(rule: RateLimitRule, key: string, cost?: number): Decision;
  /** Whether one more would be allowed; counts nothing. */
  peek(rule: RateLimitRule, key: string): Decision;
  /** Gives back what was taken for something that turned out not to count. */
  refund(rule: RateLimitRule, key: string, cost?: number): void;
  /**
   * Takes, and throws `refusal` when refused. But for `ai` and `default` the count is on disk when it returns.
   * To count failures alone: require before the attempt, refund after its success; then a crowd of attempts at once
   * can't pass while none has failed yet.
   */
  takeOrThrow(rule: RateLimitRule, key: string, cost?: number): Promise<void>;
  /** Throws `refusal` when nothing is left; counts nothing. */
  throwIfExhausted(rule: RateLimitRule, key: string): void;
  /** Counts in any case, past the limit too; on disk when it returns. */
  countStored(rule: RateLimitRule, key: string): Promise<void>;
  /** 429 RATE_LIMITED, with the headers. */
  tooManyRequests(decision: Decision): AppError;
  /** `RateLimit`, `RateLimit-Policy` and, when refused, `Retry-After` (draft-ietf-httpapi-ratelimit-headers-10). */
  headers(decision: Decision): Record<string, string>;
  /** Writes what is still in memory. */
  close(): Promise<void>;
}

export interface RateLimiterOptions {
  database: Pick<Database, "read" | "write">;
  rateLimits: { readonly enabled: boolean; readonly overrides: { readonly [Name in RateLimitRule]?: readonly Rate[] } };
  log: Pick<Log, "warn">;
  /** Epoch ms. */
  now?: () => number;
  /** Keys remembered per rule, the oldest going first. Default 50,000. */
  maxKeys?: number;
}

/** Reads what earlier runs counted, then counts on. Turned off, it allows everything and touches no table. */
export async function createRateLimiter(options: RateLimiterOptions): Promise<RateLimiter> {
  const { database, rateLimits, log, now = Date.now, maxKeys = 50_000 } = options;
  const ruleOf = (name: RateLimitRule) => rules[name];
  const rules = Object.fromEntries(
    rateLimitRules.map((name) => [name, createRule(name, rateLimits.overrides[name] ?? DEFAULT_RATES[name], maxKeys)]),
  ) as Record<RateLimitRule, Rule>;
  const store = createWindowStore(database);
  if (rateLimits.enabled) await store.load(Object.values(rules), now());

  const dirty = new Map<KeyUsage, Rule>();
  let timer: Timer | undefined;
  let flushing: Promise<void> = Promise.resolve();

  async function flush(): Promise<void> {
    timer = undefined;
    const batch = [...dirty];
    dirty.clear();
    try {
      await store.save(batch, now());
    } catch (error) {
      log.warn("Rate limits could not be stored; they will be with the next change.", { error });
      for (const [entry, rule] of batch) dirty.set(entry, rule);
    }
  }

  function scheduleStore(rule: Rule, entry: KeyUsage): void {
    dirty.set(entry, rule);
    timer ??= setTimeout(() => {
      flushing = flush();
    }, FLUSH_MS).unref();
  }

  async function storeNow(rule: Rule, entry: KeyUsage): Promise<void> {
    if (DEFERRED_RULES.includes(rule.name)) return scheduleStore(rule, entry);
    await store.save([[entry, rule]], now());
  }

  const entryOf = (rule: Rule, key: string) => rule.entry(normaliseKey(key), now());

  const limits: RateLimiter = {
    take(name, key, cost = 1) {
      if (!rateLimits.enabled) return unlimited(name);
      const rule = ruleOf(name);
      const entry = entryOf(rule, key);
      const allowed = rule.hasCapacity(entry, cost);
      if (allowed) {
        rule.add(entry, cost);
        if (rule.isWorthStoring(entry)) scheduleStore(rule, entry);
      }
      return rule.decide(entry, now(), allowed, cost);
    },
    peek(name, key) {
      if (!rateLimits.enabled) return unlimited(name);
      const rule = ruleOf(name);
      const entry = entryOf(rule, key);
      return rule.decide(entry, now(), rule.hasCapacity(entry, 1), 1);
    },
    refund(name, key, cost = 1) {
      if (!rateLimits.enabled) return;
      const rule = ruleOf(name);
      const entry = entryOf(rule, key);
      rule.add(entry, -cost);
      scheduleStore(rule, entry);
    },
    async takeOrThrow(name, key, cost = 1) {
      const decision = limits.take(name, key, cost);
      if (!decision.allowed) throw limits.tooManyRequests(decision);
      if (rateLimits.enabled) await storeNow(ruleOf(name), entryOf(ruleOf(name), key));
    },
    throwIfExhausted(name, key) {
      const decision = limits.peek(name, key);
      if (!decision.allowed) throw limits.tooManyRequests(decision);
    },
    async countStored(name, key) {
      if (!rateLimits.enabled) return;
      const rule = ruleOf(name);
      const entry = entryOf(rule, key);
      rule.add(entry, 1);
      await storeNow(rule, entry);
    },
    tooManyRequests(decision) {
      const seconds = decision.retryAfterSeconds;
      const text = `Too many requests. Try again in ${seconds} ${seconds === 1 ? "second" : "seconds"}.`;
      return new AppError(429, "RATE_LIMITED", text, {}, { headers: limits.headers(decision) });
    },
    headers(decision) {
      if (decision.limit === Infinity) return {};
      const { name, rates } = ruleOf(decision.rule);
      // Each window is a policy of its own, and policies need names of their own.
      const label = (seconds: number) => (rates.length === 1 ? `"${name}"` : `"${name}-${seconds}s"`);
      const policy = rates.map(({ limit, periodMs }) => `${label(periodMs / 1000)};q=${limit};w=${periodMs / 1000}`);
      return {
        "ratelimit-policy": policy.join(", "),
        ratelimit: `${label(decision.windowSeconds)};r=${decision.remaining};t=${decision.resetSeconds}`,
        ...(decision.allowed ? {} : { "retry-after": String(decision.retryAfterSeconds) }),
      };
    },
    async close() {
      clearTimeout(timer);
      await flushing;
      await flush();
    },
  };
  return limits;
}

function rate(limit: number, periodMs: number): Rate {
  return { limit, periodMs };
}

const unlimited = (rule: RateLimitRule): Decision => ({
  allowed: true,
  rule,
  limit: Infinity,
  remaining: Infinity,
  windowSeconds: 0,
  resetSeconds: 0,
  retryAfterSeconds: 0,
});

/** One spelling per address, and no key so long that a caller could fill the memory with it. */
function normaliseKey(key: string): string {
  const normalised = key.includes(":") ? key.split("|").map(rateLimitKey).join("|") : key;
  return normalised.length <= MAX_KEY
    ? normalised
    : new Bun.CryptoHasher("sha256").update(normalised).digest("base64url");
}
