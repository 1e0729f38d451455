// Tests the limits for connections that are not admitted yet.
import { expect, test } from "bun:test";
import { createConnectionLimiter } from "./connection-limiter.ts";

test("allows sixteen pending connections per address, 128 in total", () => {
  const limiter = createConnectionLimiter();
  const acquireMany = (address: string) =>
    Array.from({ length: 20 }, () => limiter.tryAcquire(address)).filter(Boolean).length;
  expect(acquireMany("192.0.2.1")).toBe(16);
  expect(acquireMany("192.0.2.2")).toBe(16);
  for (let n = 3; n <= 12; n++) acquireMany(`192.0.2.${n}`);
  expect(limiter.pending).toBe(128);
  expect(limiter.tryAcquire("198.51.100.1")).toBe(false);
  limiter.release("192.0.2.1", false);
  expect(limiter.tryAcquire("198.51.100.1")).toBe(true);
});

test("allows thirty failed attempts per minute; an IPv6 network counts as one address", () => {
  let now = 0;
  const limiter = createConnectionLimiter(() => now);
  let acquired = 0;
  for (let n = 0; n < 100; n++) {
    const address = `2001:db8::${n.toString(16)}`;
    if (!limiter.tryAcquire(address)) continue;
    acquired++;
    limiter.release(address, false);
  }
  expect(acquired).toBe(30);
  now = 60_001;
  expect(limiter.tryAcquire("2001:db8::1")).toBe(true);
});

test("does not limit how often an admitted publisher connects", () => {
  const limiter = createConnectionLimiter();
  for (let n = 0; n < 200; n++) {
    expect(limiter.tryAcquire("192.0.2.1")).toBe(true);
    limiter.release("192.0.2.1", true);
  }
});
