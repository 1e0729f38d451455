// Tests which entries the bounded map evicts.
import { expect, test } from "bun:test";
import { createBoundedMap } from "./bounded-map.ts";

test("forgets the least recently used entry once it holds more than its limit", () => {
  const map = createBoundedMap<number>(2);
  map.set("a", 1);
  map.set("b", 2);
  expect(map.get("a")).toBe(1);
  map.set("c", 3);
  expect([map.get("a"), map.get("b"), map.get("c")]).toEqual([1, undefined, 3]);
});

test("counts setting an entry again as a use, and forgets a deleted one", () => {
  const map = createBoundedMap<number>(2);
  map.set("a", 1);
  map.set("b", 2);
  map.set("a", 10);
  map.set("c", 3);
  expect([map.get("a"), map.get("b")]).toEqual([10, undefined]);
  map.delete("a");
  expect(map.get("a")).toBeUndefined();
});
