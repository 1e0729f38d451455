// Tests which known name is suggested for an unknown one.
import { expect, test } from "bun:test";
import { nearestName } from "./nearest-name.ts";

const known = ["instructions", "model", "memory", "maxTokens", "topP"];

test.each([
  ["instuctions", "instructions"],
  ["Instruction", "instructions"],
  ["max_tokens", "maxTokens"],
  ["MODEL", "model"],
  ["modle", "model"],
  ["banana", undefined],
  ["x", undefined],
  ["", undefined],
])("%p is taken for %p", (name, nearest) => {
  expect(nearestName(name, known)).toBe(nearest);
});

test("a long text is no misspelt name", () => {
  expect(nearestName("m".repeat(100_000), ["m".repeat(100_000)])).toBeUndefined();
});
