// Tests ids that are derived from the keys of calls.
import { expect, test } from "bun:test";
import { idOfCall } from "./call-key.ts";

test("a call has the same id each time, in the order of its turn, and no other call has it", () => {
  const turn = Bun.randomUUIDv7();
  const id = idOfCall(`${turn}.2`);
  expect(id).toBe(idOfCall(`${turn}.2`));
  expect(id).not.toBe(idOfCall(`${turn}.3`));
  expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(id.slice(0, 13)).toBe(turn.slice(0, 13));
});
