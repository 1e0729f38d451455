// Rate limits by rule and key, counted in memory and stored in the database, so that no restart resets them.
import type { Database } from "../../database/database.ts";
import { AppError, StartError } from "../../errors.ts";
import { rateLimitKey } from "../../http/client-address.ts";
import type { Log } from "../../telemetry/log.ts";
import { MINUTE, SECOND } from "../../util/time.ts";
import { createRateLimitRule, type Decision, type KeyUsage, type Rate, type RateLimitRule } from "./fixed-windows.ts";
import { createWindowStore } from "./window-store.ts";

export { type Decision, perHour, perMinute, type Rate } from "./fixed-windows.ts";

/** Rules by name: their rates, and whether their counts are stored with a delay. */
export type RateLimitRules = Readonly<Record<string, RateLimitDefinition>>;

export interface RateLimitDefinition {
  /** Every one of them must allow the request. RATE_LIMITS replaces them as a whole. */
  rates: readonly Rate[];
  /** For rules that are used too often to write each count at once; `kill -9` loses about the last second. */
  deferred?: boolean;
}

/** The only rule that the kernel applies itself: per client address, on every request. */
const KERNEL_RULES: RateLimitRules = { default: { rates: [{ limit: 600, periodMs: MINUTE }], deferred: true } };

const FLUSH_MS = SECOND;
const MAX_KEY = 200;

/**
 * A key is an address, an account, or several of these joined by `|`; an IPv6 address counts as its /64. Each method
 * takes the name of a rule, and throws an Error when no such rule is defined.
 */
export interface RateLimiter {
  /** Adds rules, and restores what earlier runs counted for them. Throws StartError for a name that exists already. */
  define(rules: RateLimitRules): void;
  /** Counts a request, unless that would exceed a limit. Stored within about a second, once a quarter of it is used. */
  take(rule: string, key: string, cost?: number): Decision;
  /** Returns the decision on one more request without counting it. */
  peek(rule: string, key: string): Decision;
  /** Takes back a count, for a request that turned out not to count. */
  refund(rule: string, key: string, cost?: number): void;
  /**
   * Like `take`, but throws `tooManyRequests`. The count is stored when this returns, unless the rule is deferred.
   * To count only failures, take before the attempt and refund after a success: then concurrent attempts can't pass
   * together before the first one has failed.
   */
  takeOrThrow(rule: string, key: string, cost?: number): Promise<void>;
  /** Like `peek`, but throws `tooManyRequests`. */
  throwIfExhausted(rule: string, key: string): void;
  /** Counts a request even beyond the limit. The count is stored when this returns, unless the rule is deferred. */
  countStored(rule: string, key: string): Promise<void>;
  /** Makes the error 429 RATE_LIMITED, with the headers. */
  tooManyRequests(decision: Decision): AppError;
  /** `RateLimit`, `RateLimit-Policy` and, when refused, `Retry-After` (draft-ietf-httpapi-ratelimit-headers-10). */
  headers(decision: Decision): Record<string, string>;
  /** Stores all counts that are still only in memory. */
  close(): Promise<void>;
}

export interface RateLimiterOptions {
  database: Pick<Database, "read" | "write">;
  rateLimits: { readonly enabled: boolean; readonly overrides: Readonly<Record<string, readonly Rate[]>> };
  log: Pick<Log, "warn">;
  /** Epoch ms. */
  now?: () => number;
  /** The most keys that a rule remembers; the oldest are evicted. Default 50,000. */
  maxKeys?: number;
}

/** Reads the stored counts. When limits are disabled, everything is allowed and no table is touched. */
export async function createRateLimiter(options: RateLimiterOptions): Promise<RateLimiter> {
  const { database, rateLimits, log, now = Date.now, maxKeys = 50_000 } = options;
  const rules = new Map<string, RateLimitRule>();
  const deferred = new Set<RateLimitRule>();
  const store = createWindowStore(database);
  if (rateLimits.enabled) await store.load(now());

  function ruleOf(name: string): RateLimitRule {
    const rule = rules.get(name);
    if (!rule) throw new Error(`There is no rate limit rule ${name}.`);
    return rule;
  }

  const dirty = new Map<KeyUsage, RateLimitRule>();
  let timer: Timer | undefined;
  let flushing: Promise<void> = Promise.resolve();

  async function flush(): Promise<void> {
    timer = undefined;
    const batch = [...dirty];
    dirty.clear();
    try {
      await store.save(batch, now());
    } catch (error) {
      log.warn("rate limits could not be stored; the next change stores them", { error });
      for (const [entry, rule] of batch) dirty.set(entry, rule);
    }
  }

  function scheduleStore(rule: RateLimitRule, entry: KeyUsage): void {
    dirty.set(entry, rule);
    timer ??= setTimeout(() => {
      flushing = flush();
    }, FLUSH_MS).unref();
  }

  async function storeNow(rule: RateLimitRule, entry: KeyUsage): Promise<void> {
    if (deferred.has(rule)) return scheduleStore(rule, entry);
    await store.save([[entry, rule]], now());
  }

  const entryOf = (rule: RateLimitRule, key: string) => rule.entry(normaliseKey(key), now());

  const limits: RateLimiter = {
    define(definitions) {
      for (const [name, definition] of Object.entries(definitions)) {
        if (rules.has(name)) throw new StartError(`Two rate limit rules have the name ${name}. Rename one of them.`);
        const rule = createRateLimitRule(name, rateLimits.overrides[name] ?? definition.rates, maxKeys);
        rules.set(name, rule);
        if (definition.deferred) deferred.add(rule);
        store.restore(rule, now());
      }
    },
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
      // Each window is a separate policy, which needs a separate name.
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
  limits.define(KERNEL_RULES);
  return limits;
}

const unlimited = (rule: string): Decision => ({
  allowed: true,
  rule,
  limit: Infinity,
  remaining: Infinity,
  windowSeconds: 0,
  resetSeconds: 0,
  retryAfterSeconds: 0,
});

/** Gives each address one spelling, and hashes long keys, with which callers could fill the memory. */
function normaliseKey(key: string): string {
  const normalised = key.includes(":") ? key.split("|").map(rateLimitKey).join("|") : key;
  return normalised.length <= MAX_KEY
    ? normalised
    : new Bun.CryptoHasher("sha256").update(normalised).digest("base64url");
}
