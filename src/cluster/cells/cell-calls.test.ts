// Tests which calls are made again when the process of a cell ends in the middle of them.
import { afterEach, describe, expect, test } from "bun:test";
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

describe("a call of a cell whose machine has lost its power", () => {
  let server: Bun.Server<undefined> | undefined;
  afterEach(() => server?.stop(true));

  /** Calls a node that takes the call and says nothing; once it has, the cell is here. */
  function callSilent(name: string): Promise<unknown> {
    let isHere = false;
    server = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch() {
        isHere = true;
        return new Promise<Response>(() => undefined);
      },
    });
    const address = `http://127.0.0.1:${server.port}`;
    const here = async () => "from the next owner";
    return createCellCalls({
      local: () => (isHere ? (here as Calls["call"]) : undefined),
      node: () => (isHere ? undefined : address),
      grants: createRelayGrants(createVault({ key: "the key of the cluster" })),
      changed: () => Bun.sleep(1),
    }).call(1, name);
  }

  test("is made again of the next owner if twice is as once", async () => {
    expect(await callSilent("find")).toBe("from the next owner");
  });

  test("is told that it may have been done otherwise", async () => {
    await expect(callSilent("command")).rejects.toMatchObject({ code: "RELAY_BROKEN" });
  });
});
