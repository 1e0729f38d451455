// Tests which calls are made again when the process of a cell ends in the middle of them.
import { describe, expect, test } from "bun:test";
import { createVault } from "../../kernel/security/vault.ts";
import { brokenRelay, cellMoved } from "../away.ts";
import { createRelayGrants } from "../relay/grants.ts";
import type { Calls } from "./calls.ts";
import { createCellCalls } from "./cell-calls.ts";

/** A cell that fails this way once, then answers. */
function callOnce(failure: Error, name: string): { asked: string[]; result: Promise<unknown> } {
  const asked: string[] = [];
  const call = async (called: string) => {
    asked.push(called);
    if (asked.length === 1) throw failure;
    return "done";
  };
  const { call: callCell } = createCellCalls({
    local: () => call as Calls["call"],
    node: () => undefined,
    grants: createRelayGrants(createVault({ key: "the key of the cluster" })),
    changed: () => Promise.resolve(),
  });
  return { asked, result: callCell(1, name) };
}

describe("a call of a cell that ends in the middle", () => {
  test.each(["find", "reserve", "confirm", "knows", "leastLoaded", "load", "moveAccount"])(
    "%s is made again: twice is as once",
    async (name) => {
      const { asked, result } = callOnce(brokenRelay(), name);
      expect(await result).toBe("done");
      expect(asked).toEqual([name, name]);
    },
  );

  test.each(["answer", "command"])("%s is not: whether it was done is not known", async (name) => {
    const { asked, result } = callOnce(brokenRelay(), name);
    await expect(result).rejects.toMatchObject({ status: 502, code: "RELAY_BROKEN" });
    expect(asked).toEqual([name]);
  });

  test("an answer is asked for again of a cell that has not begun", async () => {
    expect(await callOnce(cellMoved(), "answer").result).toBe("done");
  });
});
