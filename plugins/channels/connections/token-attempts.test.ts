// Tests the limit on refused tokens, which good tokens do not use up.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { AppError, invalidInput } from "../../../src/kernel/errors.ts";
import {
  createRateLimiter,
  perHour,
  perMinute,
  type RateLimiter,
} from "../../../src/kernel/security/rate-limits/rate-limiter.ts";
import { fileDatabase, silent, type TestDatabase } from "../../../tests/support/database.ts";
import { createTokenAttempts } from "./token-attempts.ts";

let storage: TestDatabase;
let next = 0;
beforeAll(async () => {
  storage = await fileDatabase();
});
afterAll(() => storage.remove());

async function limitsOf(enabled = true): Promise<RateLimiter> {
  const limits = await createRateLimiter({
    database: storage.database,
    rateLimits: { enabled, overrides: {} },
    log: silent,
  });
  limits.define({ provision: { rates: [perMinute(5), perHour(30)] } });
  return limits;
}
const createAttempts = async (enabled = true) => createTokenAttempts(await limitsOf(enabled));

const newCaller = () => ({ userId: `user-${++next}`, address: `203.0.113.${next}` });
const good = async () => "a bot";
const strange = async () => {
  throw invalidInput({ path: "token", message: "This token belongs to no bot." }, "INVALID_CHANNEL_TOKEN");
};
const unreachable = async () => {
  throw new AppError(502, "CHANNEL_UNREACHABLE", "The platform could not be reached.");
};
/** The result, or the code of the error. */
const outcome = (attempt: Promise<string>) =>
  attempt.catch((error: unknown) => (error instanceof AppError ? error.code : Promise.reject(error)));

test("dozens of good tokens pass, one after the other or at once", async () => {
  const attempts = await createAttempts();
  const owner = newCaller();
  for (let n = 0; n < 40; n++) expect(await attempts.run(owner, good)).toBe("a bot");
  const together = await Promise.all(Array.from({ length: 40 }, () => attempts.run(owner, good)));
  expect(new Set(together)).toEqual(new Set(["a bot"]));
});

test("after five refused tokens in a minute no more are checked, with the time to retry", async () => {
  const attempts = await createAttempts();
  const caller = newCaller();
  for (let n = 0; n < 5; n++) expect(await outcome(attempts.run(caller, strange))).toBe("INVALID_CHANNEL_TOKEN");
  let asked = false;
  const refused = attempts.run(caller, async () => {
    asked = true;
  });
  expect(await refused.catch((error: unknown) => error)).toMatchObject({
    status: 429,
    code: "RATE_LIMITED",
    headers: {
      "retry-after": expect.stringMatching(/^\d+$/),
      "ratelimit-policy": expect.stringContaining("provision"),
    },
  });
  expect(asked).toBe(false);
  expect(await attempts.run(newCaller(), good)).toBe("a bot");
});

test("the limit holds for an account over all addresses, and for an address over all accounts", async () => {
  const attempts = await createAttempts();
  const { userId, address } = newCaller();
  for (let n = 0; n < 5; n++) await outcome(attempts.run({ userId, address: `198.51.100.${n}` }, strange));
  expect(await outcome(attempts.run({ userId, address }, good))).toBe("RATE_LIMITED");
  for (let n = 0; n < 5; n++) await outcome(attempts.run({ userId: `other-${n}`, address }, strange));
  expect(await outcome(attempts.run({ userId: "one more", address }, good))).toBe("RATE_LIMITED");
});

test("many attempts at once do not exceed the limit", async () => {
  const attempts = await createAttempts();
  const caller = newCaller();
  let asked = 0;
  const one = async () => {
    asked++;
    await Promise.resolve();
    return strange();
  };
  const outcomes = await Promise.all(Array.from({ length: 100 }, () => outcome(attempts.run(caller, one))));
  expect(asked).toBe(5);
  expect(outcomes.filter((code) => code === "RATE_LIMITED")).toHaveLength(95);
});

test("other failures are not counted, and nothing is if limits are off", async () => {
  const attempts = await createAttempts();
  const caller = newCaller();
  for (let n = 0; n < 40; n++) expect(await outcome(attempts.run(caller, unreachable))).toBe("CHANNEL_UNREACHABLE");
  const unlimited = await createAttempts(false);
  for (let n = 0; n < 40; n++) await outcome(unlimited.run(caller, strange));
  expect(await unlimited.run(caller, good)).toBe("a bot");
});
