// Tests the cache: eviction, shared loads, and writes during a load.
import { describe, expect, test } from "bun:test";
import { createCache } from "./cache.ts";

describe("a cache", () => {
  test("loads a key once, and once for callers at the same time", async () => {
    const cache = createCache<string>({ entries: 10 });
    let loads = 0;
    const load = async () => `load ${++loads}`;
    expect(await Promise.all([cache.get("a", load), cache.get("a", load)])).toEqual(["load 1", "load 1"]);
    expect(await cache.get("a", load)).toBe("load 1");
    expect(cache.peek("a")).toBe("load 1");
  });

  test("forgets the entry that was loaded longest ago beyond its limit", async () => {
    const cache = createCache<string>({ entries: 2 });
    for (const key of ["a", "b", "a", "c"]) await cache.get(key, async () => key);
    expect([cache.peek("a"), cache.peek("b"), cache.peek("c")]).toEqual([undefined, "b", "c"]);
  });

  test("forgets entries that weigh too much together", async () => {
    const cache = createCache<string>({ entries: 10, weight: { of: (text) => text.length, limit: 5 } });
    await cache.get("a", async () => "aaa");
    await cache.get("b", async () => "bb");
    expect(cache.peek("a")).toBe("aaa");
    await cache.get("c", async () => "c");
    expect([cache.peek("a"), cache.peek("b"), cache.peek("c")]).toEqual([undefined, "bb", "c"]);
    await cache.get("large", async () => "larger than the cache");
    expect(cache.peek("large")).toBeUndefined();
  });

  test("does not keep what was read before a write", async () => {
    const cache = createCache<string>({ entries: 10 });
    const reading = Promise.withResolvers<string>();
    const before = cache.get("a", () => reading.promise);
    cache.drop("a");
    const after = cache.get("a", async () => "new");
    reading.resolve("old");
    expect(await before).toBe("old");
    expect(await after).toBe("new");
    expect(cache.peek("a")).toBe("new");
  });

  test("passes a rejection and a missing value on, and asks again the next time", async () => {
    const cache = createCache<string | undefined>({ entries: 10 });
    await expect(cache.get("a", () => Promise.reject(new Error("away")))).rejects.toThrow("away");
    expect(await cache.get("a", async () => undefined)).toBeUndefined();
    expect(await cache.get("a", async () => "there")).toBe("there");
  });

  test("caches nothing with room for 0 entries", async () => {
    const cache = createCache<number>({ entries: 0 });
    let loads = 0;
    const load = async () => ++loads;
    await cache.get("a", load);
    expect(await cache.get("a", load)).toBe(2);
    expect(cache.peek("a")).toBeUndefined();
  });

  test("lists and clears the entries whose key matches", async () => {
    const cache = createCache<number>({ entries: 10 });
    for (const [key, value] of [
      ["a:1", 1],
      ["a:2", 2],
      ["b:1", 3],
    ] as const)
      await cache.get(key, async () => value);
    expect(cache.values((key) => key.startsWith("a:"))).toEqual([1, 2]);
    cache.clear((key) => key.startsWith("a:"));
    expect(cache.values(() => true)).toEqual([3]);
    cache.clear();
    expect(cache.values(() => true)).toEqual([]);
  });
});
