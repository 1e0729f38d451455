// Tokens that nobody knows can be tried seldom; bots that there are, as many as there are.
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
const trialsOf = async (enabled = true) => createTokenAttempts(await limitsOf(enabled));

const somebody = () => ({ userId: `user-${++next}`, address: `203.0.113.${next}` });
const good = async () => "a bot";
const strange = async () => {
  throw invalidInput({ path: "token", message: "Nobody knows this token." }, "INVALID_CHANNEL_TOKEN");
};
const unreachable = async () => {
  throw new AppError(502, "CHANNEL_UNREACHABLE", "The platform could not be reached.");
};
/** The result, or the code of the refusal. */
const outcome = (attempt: Promise<string>) =>
  attempt.catch((error: unknown) => (error instanceof AppError ? error.code : Promise.reject(error)));

test("dozens of bots, one after the other or all at once", async () => {
  const trials = await trialsOf();
  const owner = somebody();
  for (let n = 0; n < 40; n++) expect(await trials.run(owner, good)).toBe("a bot");
  const together = await Promise.all(Array.from({ length: 40 }, () => trials.run(owner, good)));
  expect(new Set(together)).toEqual(new Set(["a bot"]));
});

test("five tokens a minute that are nobody's, then none is asked about; with when to come again", async () => {
  const trials = await trialsOf();
  const caller = somebody();
  for (let n = 0; n < 5; n++) expect(await outcome(trials.run(caller, strange))).toBe("INVALID_CHANNEL_TOKEN");
  let asked = false;
  const refused = trials.run(caller, async () => {
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
  expect(await trials.run(somebody(), good)).toBe("a bot");
});

test("for an account from all its addresses, and for an address with all its accounts", async () => {
  const trials = await trialsOf();
  const { userId, address } = somebody();
  for (let n = 0; n < 5; n++) await outcome(trials.run({ userId, address: `198.51.100.${n}` }, strange));
  expect(await outcome(trials.run({ userId, address }, good))).toBe("RATE_LIMITED");
  for (let n = 0; n < 5; n++) await outcome(trials.run({ userId: `other-${n}`, address }, strange));
  expect(await outcome(trials.run({ userId: "one more", address }, good))).toBe("RATE_LIMITED");
});

test("a crowd at once gets no more past it", async () => {
  const trials = await trialsOf();
  const caller = somebody();
  let asked = 0;
  const one = async () => {
    asked++;
    await Promise.resolve();
    return strange();
  };
  const outcomes = await Promise.all(Array.from({ length: 100 }, () => outcome(trials.run(caller, one))));
  expect(asked).toBe(5);
  expect(outcomes.filter((code) => code === "RATE_LIMITED")).toHaveLength(95);
});

test("what failed for another reason is not counted, and without limits nothing is", async () => {
  const trials = await trialsOf();
  const caller = somebody();
  for (let n = 0; n < 40; n++) expect(await outcome(trials.run(caller, unreachable))).toBe("CHANNEL_UNREACHABLE");
  const unlimited = await trialsOf(false);
  for (let n = 0; n < 40; n++) await outcome(unlimited.run(caller, strange));
  expect(await unlimited.run(caller, good)).toBe("a bot");
});
