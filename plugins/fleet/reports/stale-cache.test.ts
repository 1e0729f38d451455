// Tests the cache of long queries: one load at a time, old results while a new one is loaded, errors not kept.
import { expect, test } from "bun:test";
import { createStaleCache } from "./stale-cache.ts";

function open() {
  let now = 0;
  let loads = 0;
  const cached = createStaleCache<number>({ freshMs: 10, staleMs: 100, now: () => now });
  return {
    at(ms: number) {
      now = ms;
    },
    get: (key = "a") => cached(key, async () => ++loads),
    fail: () => cached("a", () => Promise.reject(new Error("down"))),
    loads: () => loads,
  };
}

test("a fresh result is returned, concurrent callers share one load, and keys are apart", async () => {
  const { get, loads } = open();
  expect(await Promise.all([get(), get()])).toEqual([1, 1]);
  expect(await get()).toBe(1);
  expect(await get("b")).toBe(2);
  expect(loads()).toBe(2);
});

test("an old result is returned while the next one is loaded", async () => {
  const { get, at } = open();
  await get();
  at(50);
  expect(await get()).toBe(1);
  expect(await get()).toBe(2);
  at(500);
  expect(await get()).toBe(3);
});

test("a failure reaches the caller only without an older result, and is not kept", async () => {
  const { get, fail, at } = open();
  expect(fail()).rejects.toThrow("down");
  expect(await get()).toBe(1);
  at(50);
  expect(await fail()).toBe(1);
  at(200);
  expect(fail()).rejects.toThrow("down");
});
