// Tests how the share of a new account grows, and what ends it.
import { expect, test } from "bun:test";
import { DAY, HOUR } from "../../../src/kernel/util/time.ts";
import { rampAdvice, rampOf } from "./new-accounts.ts";

const CREATED = Date.parse("2026-11-20T10:30:00Z");
const account = { createdAt: CREATED, limitsLifted: false, subscription: null };
const shareAfter = (ms: number, days = 3) => rampOf(account, days, CREATED + ms)?.share;

test("the share grows at the hour of sign-up, each day by the same part, until the account has all", () => {
  expect([0, 23 * HOUR, DAY, 2 * DAY, 3 * DAY, 90 * DAY].map((ms) => shareAfter(ms))).toEqual([
    ...[0.25, 0.25, 0.5, 0.75, undefined, undefined],
  ]);
  // The clock was set back.
  expect(shareAfter(-HOUR)).toBe(0.25);
});

test("without the setting there is none", () => expect(shareAfter(0, 0)).toBeUndefined());

test("a paid plan ends it, a trial does not, and an admin can lift it", () => {
  const subscription = { plan: "pro", currentPeriodEnd: CREATED + 30 * DAY };
  const has = (more: object) => rampOf({ ...account, ...more }, 3, CREATED) !== undefined;
  expect(has({ subscription: { ...subscription, status: "active" } })).toBe(false);
  expect(has({ subscription: { ...subscription, status: "trialing" } })).toBe(true);
  expect(has({ subscription: { ...subscription, status: "active", currentPeriodEnd: CREATED - 1 } })).toBe(true);
  expect(has({ limitsLifted: true })).toBe(false);
});

test("a refusal says when there is more", () => {
  const ramp = rampOf(account, 3, CREATED + HOUR);
  expect(ramp && rampAdvice(ramp)).toBe(
    "This account is new: it may do more from 2026-11-21 10:30 UTC on, and everything from 2026-11-23 10:30 UTC. " +
      "A paid plan ends this at once, and so can the operator.",
  );
});
