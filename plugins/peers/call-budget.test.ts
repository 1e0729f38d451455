// The limit of agents that are asked for one message: also over a restart, and for what the asked agents ask.
import { expect, test } from "bun:test";
import { rejectionOf } from "../../tests/support/rejection.ts";
import { createCallBudget, MAX_CALLS } from "./call-budget.ts";

const caller = { agentId: "a", peer: "chat", inboxId: "m" };
const to = { agentId: "b", peer: "a" };

/** How many calls are allowed, with some that an earlier process has ended. */
async function allowed(earlier: number): Promise<number> {
  let loads = 0;
  const budget = createCallBudget({
    countEarlierCalls: async () => {
      loads++;
      return earlier;
    },
  });
  const calls = await Promise.allSettled(Array.from({ length: 20 }, () => budget.during(caller, to, async () => 1)));
  expect(loads).toBe(1);
  return calls.filter(({ status }) => status === "fulfilled").length;
}

test("sixteen calls are allowed at once; those before a restart count", async () => {
  expect(await allowed(0)).toBe(MAX_CALLS);
  expect(await allowed(10)).toBe(MAX_CALLS - 10);
  expect(await allowed(MAX_CALLS)).toBe(0);
});

test("what the asked agent asks counts for the same message", async () => {
  const budget = createCallBudget({ countEarlierCalls: async () => 0 });
  let asked = 0;
  const ask = () =>
    budget.during({ agentId: "b", peer: "a", inboxId: "n" }, { agentId: "c", peer: "b" }, async () => asked++);
  await budget.during(caller, to, async () => void (await Promise.allSettled(Array.from({ length: 20 }, ask))));
  expect(asked).toBe(MAX_CALLS - 1);
});

test("a count that fails is tried again with the next call", async () => {
  const failures = [new Error("the database is away")];
  const budget = createCallBudget({
    async countEarlierCalls() {
      const failure = failures.pop();
      if (failure) throw failure;
      return 0;
    },
  });
  expect(String(await rejectionOf(budget.during(caller, to, async () => 1)))).toContain("away");
  expect(await budget.during(caller, to, async () => 2)).toBe(2);
});
