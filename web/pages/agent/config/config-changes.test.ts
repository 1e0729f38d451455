// Tests the comparison and the merge of configurations.
import { describe, expect, test } from "bun:test";
import { changesOf, isEqual, mergeChanges, withKey } from "./config-changes.ts";

describe("the changes of a configuration", () => {
  test("are named by their paths", () => {
    const before = { instructions: "a", budget: { usdPerDay: 1, usdPerMonth: 9 }, old: [1] };
    const after = { instructions: "b", budget: { usdPerDay: 2, usdPerMonth: 9 }, list: [1] };
    expect(changesOf(before, after)).toEqual([
      { path: "instructions", before: "a", after: "b" },
      { path: "budget.usdPerDay", before: 1, after: 2 },
      { path: "list", before: undefined, after: [1] },
      { path: "old", before: [1], after: undefined },
    ]);
  });

  test("are none between equal ones; names of every object are no keys", () => {
    expect(isEqual({ a: [{ b: 1 }] }, { a: [{ b: 1 }] })).toBe(true);
    expect(changesOf({}, JSON.parse('{"toString":1}'))).toEqual([{ path: "toString", before: undefined, after: 1 }]);
  });
});

test("a key is set in its place, added at the end, or removed", () => {
  expect(Object.entries(withKey({ a: 1, b: 2 }, "a", 3))).toEqual([
    ["a", 3],
    ["b", 2],
  ]);
  expect(withKey({ a: 1 }, "b", 2)).toEqual({ a: 1, b: 2 });
  expect(withKey({ a: 1, b: 2 }, "a", undefined)).toEqual({ b: 2 });
});

describe("merging", () => {
  const base = { a: 1, b: 1 };
  test("keeps the changes of both people to different keys", () => {
    expect(mergeChanges(base, { a: 2, b: 1 }, { a: 1, b: 3, c: 4 })).toEqual({ a: 2, b: 3, c: 4 });
    expect(mergeChanges(base, { a: 1 }, { a: 5, b: 1 })).toEqual({ a: 5 });
  });
  test("fails where both have changed the same key, unless to the same value", () => {
    expect(mergeChanges(base, { a: 2, b: 1 }, { a: 3, b: 1 })).toBeUndefined();
    expect(mergeChanges(base, { a: 2, b: 1 }, { a: 2, b: 7 })).toEqual({ a: 2, b: 7 });
  });
});
