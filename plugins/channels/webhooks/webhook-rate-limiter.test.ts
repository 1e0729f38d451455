// Tests how often a platform may post for one bot.
import { expect, test } from "bun:test";
import { createWebhookRateLimiter } from "./webhook-rate-limiter.ts";

test("lets a burst through, then one post per interval; charges count like posts", () => {
  let time = 1_000;
  const meter = createWebhookRateLimiter({ burst: 10, every: 1, now: () => time });
  meter.charge(8);
  expect([meter.take(), meter.take(), meter.take()]).toEqual([0, 0, 1]);
  time += 1;
  expect(meter.take()).toBe(0);
});

test("no wait is longer than a minute, whatever was charged", () => {
  let time = 1_000;
  const meter = createWebhookRateLimiter({ now: () => time });
  for (let n = 0; n < 100; n++) meter.charge(10_000);
  expect(meter.take()).toBeLessThanOrEqual(60_000);
  time += 60_000;
  expect(meter.take()).toBe(0);
});
