// Tests where new accounts go.
import { expect, test } from "bun:test";
import { createLoads } from "./loads.ts";

test("new accounts go to the cell with the fewest accounts and agents, and are counted before it reports them", () => {
  const loads = createLoads(() => 3);
  for (const cell of [0, 1, 2]) loads.report(cell, { accounts: 0, agents: 0 });
  expect([loads.next(), loads.next(), loads.next(), loads.next()]).toEqual([0, 1, 2, 0]);
  loads.report(0, { accounts: 10, agents: 5 });
  loads.report(1, { accounts: 3, agents: 9 });
  loads.report(2, { accounts: 14, agents: 0 });
  expect([loads.next(), loads.next(), loads.next(), loads.next()]).toEqual([1, 1, 1, 2]);
});

test("a cell gets none before it has answered, since the others may not know it yet", () => {
  let count = 1;
  const loads = createLoads(() => count);
  expect([loads.next(), loads.next()]).toEqual([0, 0]);
  count = 2;
  expect(loads.next()).toBe(0);
  loads.report(1, { accounts: 0, agents: 0 });
  expect(loads.next()).toBe(1);
});
