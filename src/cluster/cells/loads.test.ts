// Tests where new accounts go.
import { expect, test } from "bun:test";
import { createLoads } from "./loads.ts";

test("new accounts go to the cell with the fewest accounts and agents, and are counted before it reports them", () => {
  const loads = createLoads(3);
  expect([loads.next(), loads.next(), loads.next(), loads.next()]).toEqual([0, 1, 2, 0]);
  loads.report(0, { accounts: 10, agents: 5 });
  loads.report(1, { accounts: 3, agents: 9 });
  loads.report(2, { accounts: 14, agents: 0 });
  expect([loads.next(), loads.next(), loads.next(), loads.next()]).toEqual([1, 1, 1, 2]);
});
