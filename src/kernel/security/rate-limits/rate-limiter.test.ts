// Tests rate limits over windows, keys, restarts and kills.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { fileDatabase, silent, type TestDatabase } from "../../../../tests/support/database.ts";
import { eventually } from "../../../../tests/support/eventually.ts";
import { AppError, StartError } from "../../errors.ts";
import { HOUR, MINUTE } from "../../util/time.ts";
import { createRateLimiter, type RateLimiterOptions, type RateLimitRules } from "./rate-limiter.ts";

let storage: TestDatabase;
let clock = 1_700_000_000_000;
const seconds = (count: number) => {
  clock += count * 1000;
};

beforeEach(async () => {
  storage = await fileDatabase();
});
afterEach(() => storage.remove());

const per = (limit: number, periodMs: number) => ({ limit, periodMs });
const rules: RateLimitRules = {
  "sign-up": { rates: [per(10, MINUTE), per(60, HOUR)] },
  "sign-in": { rates: [per(10, 15 * MINUTE)] },
  ai: { rates: [per(120, MINUTE)], deferred: true },
};

async function start(options: Partial<RateLimiterOptions> = {}) {
  const limits = await createRateLimiter({
    database: storage.database,
    rateLimits: { enabled: true, overrides: {} },
    log: silent,
    now: () => clock,
    ...options,
  });
  limits.define(rules);
  return limits;
}

async function refusal(promise: Promise<unknown>): Promise<AppError> {
  const error = await promise.then(
    () => "it was let through",
    (reason: unknown) => reason,
  );
  if (!(error instanceof AppError)) throw error;
  return error;
}

const times = <T>(count: number, act: () => T): T[] => Array.from({ length: count }, act);

describe("windows", () => {
  test("allow up to the limit, then refuse until the window restarts", async () => {
    const limits = await start();
    expect(limits.take("default", "203.0.113.7")).toEqual({
      allowed: true,
      rule: "default",
      limit: 600,
      remaining: 599,
      windowSeconds: 60,
      resetSeconds: 60,
      retryAfterSeconds: 0,
    });
    times(599, () => limits.take("default", "203.0.113.7"));
    seconds(20);
    expect(limits.take("default", "203.0.113.7")).toMatchObject({
      allowed: false,
      remaining: 0,
      retryAfterSeconds: 40,
    });
    seconds(39);
    expect(limits.take("default", "203.0.113.7").allowed).toBe(false);
    seconds(1);
    expect(limits.take("default", "203.0.113.7")).toMatchObject({ allowed: true, remaining: 599 });
    await limits.close();
  });

  test("of one rule all apply: 10 a minute, but 60 an hour", async () => {
    const limits = await start();
    for (let minute = 0; minute < 6; minute++) {
      expect(times(11, () => limits.take("sign-up", "a").allowed)).toEqual([
        ...Array.from({ length: 10 }, () => true),
        false,
      ]);
      seconds(60);
    }
    expect(limits.take("sign-up", "a")).toMatchObject({ allowed: false, limit: 60, retryAfterSeconds: 3600 - 6 * 60 });
    await limits.close();
  });

  test("a refused request does not count", async () => {
    const limits = await start();
    expect(limits.take("ai", "a", 121).allowed).toBe(false);
    expect(limits.take("ai", "a", 120)).toMatchObject({ allowed: true, remaining: 0 });
    await limits.close();
  });

  test("keys and rules count separately; an IPv6 network counts as one key", async () => {
    const limits = await start({ rateLimits: { enabled: true, overrides: { ai: [{ limit: 1, periodMs: 60_000 }] } } });
    expect(limits.take("ai", "2001:db8::1").allowed).toBe(true);
    expect(limits.take("ai", "2001:db8::2").allowed).toBe(false);
    expect(limits.take("ai", "2001:db8:0:1::1").allowed).toBe(true);
    expect(limits.take("ai", "a@b.test|2001:db8::1").allowed).toBe(true);
    expect(limits.take("ai", "a@b.test|2001:db8::9").allowed).toBe(false);
    expect(limits.take("default", "2001:db8::1").allowed).toBe(true);
    await limits.close();
  });

  test("peek does not count, refund gives back, countStored counts beyond the limit", async () => {
    const limits = await start();
    times(9, () => limits.take("sign-in", "a"));
    expect(limits.peek("sign-in", "a")).toMatchObject({ allowed: true, remaining: 1 });
    expect(limits.peek("sign-in", "a").remaining).toBe(1);
    await limits.countStored("sign-in", "a");
    await limits.countStored("sign-in", "a");
    expect(limits.peek("sign-in", "a")).toMatchObject({ allowed: false, remaining: 0 });
    expect(() => limits.throwIfExhausted("sign-in", "a")).toThrow(AppError);
    limits.refund("sign-in", "a", 2);
    limits.throwIfExhausted("sign-in", "a");
    limits.refund("sign-in", "a", 100);
    expect(limits.peek("sign-in", "a").remaining).toBe(10);
    await limits.close();
  });

  test("a clock that is set back does not extend them", async () => {
    const limits = await start();
    times(600, () => limits.take("default", "a"));
    seconds(-86_400);
    expect(limits.take("default", "a").allowed).toBe(true);
    await limits.close();
  });

  test("memory is bounded for any keys, also long ones", async () => {
    const limits = await start({ maxKeys: 100 });
    times(600, () => limits.take("default", "first"));
    for (let i = 0; i < 1000; i++) limits.take("default", `${i}`.repeat(1000));
    expect(limits.peek("default", "first").allowed).toBe(true);
    expect(limits.peek("default", "999".repeat(1000)).remaining).toBe(599);
    await limits.close();
  });
});

describe("rules", () => {
  test("are defined once, and must be defined", async () => {
    const limits = await start();
    expect(() => limits.define({ ai: { rates: [per(1, MINUTE)] } })).toThrow(StartError);
    expect(() => limits.take("nonsense", "a")).toThrow("There is no rate limit rule nonsense.");
    await limits.close();
  });
});

describe("overrides", () => {
  test("replace a rule's own rates", async () => {
    const limits = await start({
      rateLimits: { enabled: true, overrides: { "sign-up": [{ limit: 2, periodMs: 1000 }] } },
    });
    expect(times(3, () => limits.take("sign-up", "a").allowed)).toEqual([true, true, false]);
    expect(limits.take("ai", "a").limit).toBe(120);
    await limits.close();
  });

  test("when off, everything is allowed, no header is set, nothing is stored", async () => {
    const limits = await start({ rateLimits: { enabled: false, overrides: {} } });
    for (let i = 0; i < 1000; i++) await limits.takeOrThrow("sign-up", "a");
    await limits.countStored("sign-in", "a");
    expect(limits.headers(limits.take("default", "a"))).toEqual({});
    await limits.close();
    expect((await storage.database.read("SELECT * FROM rate_limits")).rows).toHaveLength(0);
  });
});

describe("the answer", () => {
  test("is 429 with Retry-After and the headers of the draft", async () => {
    const limits = await start();
    const allowed = limits.take("default", "a");
    expect(limits.headers(allowed)).toEqual({
      "ratelimit-policy": '"default";q=600;w=60',
      ratelimit: '"default";r=599;t=60',
    });
    await Promise.all(times(10, () => limits.takeOrThrow("sign-up", "a")));
    seconds(15);
    const error = await refusal(limits.takeOrThrow("sign-up", "a"));
    expect(error).toMatchObject({
      status: 429,
      code: "RATE_LIMITED",
      message: "Too many requests. Try again in 45 seconds.",
    });
    expect(error.headers).toEqual({
      "retry-after": "45",
      "ratelimit-policy": '"sign-up-60s";q=10;w=60, "sign-up-3600s";q=60;w=3600',
      ratelimit: '"sign-up-60s";r=0;t=45',
    });
    await limits.close();
  });
});

describe("on disk", () => {
  test("takeOrThrow and countStored have stored the count when they return", async () => {
    const limits = await start();
    await Promise.all(times(10, () => limits.takeOrThrow("sign-up", "a")));
    await Promise.all(times(10, () => limits.countStored("sign-in", "b|203.0.113.7")));
    const afterKill = await start();
    expect((await refusal(afterKill.takeOrThrow("sign-up", "a"))).status).toBe(429);
    expect(() => afterKill.throwIfExhausted("sign-in", "b|203.0.113.7")).toThrow(AppError);
    expect(afterKill.take("sign-up", "other").allowed).toBe(true);
    await afterKill.close();
    await limits.close();
  });

  test("of many concurrent requests no more than the limit pass", async () => {
    const limits = await start();
    const outcomes = await Promise.allSettled(times(100, () => limits.takeOrThrow("sign-in", "a")));
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(10);
    await limits.close();
  });

  test("deferred rules are stored within about a second, but not for a few requests", async () => {
    const limits = await start();
    limits.take("default", "few");
    times(300, () => limits.take("default", "many"));
    const rows = await eventually(async () => {
      const found = (await storage.database.read("SELECT rule, key, count FROM rate_limits")).rows;
      return found.length > 0 ? found : undefined;
    });
    expect(rows.map(({ rule, key, count }) => [rule, key, Number(count)])).toEqual([["default/60", "many", 300]]);
    await limits.close();
  });

  test("a clean stop stores the rest, and a start deletes expired windows", async () => {
    const first = await start();
    times(500, () => first.take("default", "a"));
    await first.close();
    seconds(30);
    const second = await start();
    expect(second.take("default", "a")).toMatchObject({ remaining: 99, resetSeconds: 30 });
    await second.close();
    seconds(60);
    const third = await start();
    expect(third.take("default", "a").remaining).toBe(599);
    expect((await storage.database.read("SELECT * FROM rate_limits")).rows).toHaveLength(0);
    await third.close();
  });

  test("a rate that is no longer configured is not restored, and is deleted when its window is over", async () => {
    const first = await start();
    await first.takeOrThrow("sign-up", "a");
    await first.close();
    const second = await start({
      rateLimits: { enabled: true, overrides: { "sign-up": [{ limit: 1, periodMs: 5000 }] } },
    });
    expect(second.take("sign-up", "a").allowed).toBe(true);
    seconds(3600);
    await (await start()).close();
    expect((await storage.database.read("SELECT * FROM rate_limits")).rows).toHaveLength(0);
    await second.close();
  });

  test("a failing database causes a warning, not a failed request, and is written later", async () => {
    const warnings: string[] = [];
    let broken = false;
    const write: TestDatabase["database"]["write"] = (statements) =>
      broken ? Promise.reject(new Error("disk full")) : storage.database.write(statements);
    broken = false;
    const limits = await start({
      database: { read: (sql, args) => storage.database.read(sql, args), write },
      log: { warn: (message) => warnings.push(message) },
    });
    broken = true;
    times(500, () => limits.take("default", "a"));
    await eventually(() => warnings.length > 0);
    await expect(limits.takeOrThrow("sign-up", "a")).rejects.toThrow("disk full");
    broken = false;
    await limits.close();
    expect(
      (await storage.database.read("SELECT count FROM rate_limits WHERE key = 'a' AND rule = 'default/60'")).rows[0]
        ?.count,
    ).toBe(500);
  });
});
