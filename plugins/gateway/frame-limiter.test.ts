// Tests the limiter of frames: a burst, a steady rate after it, and the higher cost of large frames.
import { expect, test } from "bun:test";
import { createFrameLimiter } from "./frame-limiter.ts";

function allowance() {
  let at = 0;
  const one = createFrameLimiter(() => at);
  const many = (size = 10) => {
    let taken = 0;
    while (one.tryTake(size)) taken++;
    return taken;
  };
  return { ...one, many, wait: (ms: number) => (at += ms) };
}

test("allows a burst, then the steady rate, and one burst again after a pause", () => {
  const { many, wait } = allowance();
  expect(many()).toBe(600);
  wait(1_000);
  expect(many()).toBe(20);
  wait(49);
  expect(many()).toBe(0);
  wait(3_600_000);
  expect(many()).toBe(600);
});

test("a large frame counts by its length", () => {
  expect(allowance().many(1024 * 1024)).toBe(Math.floor(600 / 17));
});

test("a refund restores the count", () => {
  const { tryTake, refund, many } = allowance();
  for (let n = 0; n < 10_000; n++) {
    expect(tryTake(200_000)).toBe(true);
    refund(200_000);
  }
  expect(many()).toBe(600);
});
