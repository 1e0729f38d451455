// Tests times in ids.
import { expect, test } from "bun:test";
import { firstIdAt, timeOfId } from "./time.ts";

test("ids of a time and later are not smaller than its first id", () => {
  const at = Date.now();
  const id = Bun.randomUUIDv7("hex", at);
  expect(id >= firstIdAt(at)).toBe(true);
  expect(id < firstIdAt(at + 1)).toBe(true);
  expect(timeOfId(id)).toBe(at);
  expect(timeOfId(firstIdAt(0))).toBe(0);
});
