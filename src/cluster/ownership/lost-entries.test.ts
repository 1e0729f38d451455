// Tests what an owner learns of entries that its log has lost, and that it does not hand the cell to a copy that it goes on without.
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { silent } from "../../../tests/support/database.ts";
import { createMemoryEngine, type MemoryLog } from "../memory-engine.ts";
import { type CellEntry, type CellTable, watchCells } from "./cell-table.ts";
import type { NodeState } from "./lease.ts";
import { createLostEntries, type Loss, longestOf, missingFrom } from "./lost-entries.ts";

const SELF = { address: "http://a", instance: "1" };
let log: MemoryLog;
let cells: CellTable;
let others: Record<string, number>;
let replaced: number;
beforeEach(async () => {
  const cluster = createMemoryEngine();
  log = cluster.logOf(0);
  for (let n = 0; n < 5; n++) await log.append(n, new Uint8Array([n]));
  const table = await cluster.connect().table("cells");
  cells = watchCells({ table, cluster: "test", onChange: () => undefined, onError: () => undefined });
  await cells.swap(0, { owner: SELF, standby: null, epoch: 1 });
  others = {};
  replaced = 0;
});
afterEach(() => cells.stop());

const alive = (): NodeState[] =>
  Object.entries({ [SELF.address]: 5, ...others }).map(([address, number]) => ({
    ...{ address, instance: "1", version: "1", at: 0, isDraining: false, copies: { 0: number } },
    load: { agents: 0, turnsPerSecond: 0 },
  }));
const lostEntries = (sureMs = 0) =>
  createLostEntries({
    ...{ cell: 0, self: SELF, engine: log, cells, lease: { alive }, file: "none", log: silent, sureMs },
    onLogLost: () => undefined,
    snapshots: {
      take: () => Promise.reject(new Error("Not now.")),
      list: async () => [],
      async replace() {
        replaced++;
        throw new Error("There is no file.");
      },
    },
  });
const entry = async () => (await cells.find(0)) as CellEntry;

describe("an owner", () => {
  test("learns that the log ends before its own file, or before the copy of another node", async () => {
    const look = lostEntries().watch();
    others = { "http://b": 5, "http://c": 3 };
    expect(await look(5)).toEqual({ last: 5, longer: {} });
    expect(await look(7)).toEqual({ last: 5, longer: {} });
    others["http://b"] = 9;
    const loss = (await look(5)) as Loss;
    expect(loss).toEqual({ last: 5, longer: { "http://b": 9 } });
    expect(missingFrom(loss)).toBe(4);
    expect(longestOf({ ...loss.longer, "http://d": 8 })).toBe("http://b");
  });

  test("does not believe it before it was so for a while, since a new leader of the engine may be behind", async () => {
    others = { "http://b": 9 };
    expect(await lostEntries(60_000).watch()(5)).toBe("unsure");
  });

  test("gives the cell to the node that has most, but not to one that it goes on without", async () => {
    const { goOnWithout, requireMost } = lostEntries();
    others = { "http://b": 9 };
    await goOnWithout(await entry(), others);
    expect(await entry()).toMatchObject({ owner: SELF, without: { "http://b": 9 } });
    await requireMost(5);
    expect(replaced).toBe(1);
    others["http://c"] = 7;
    await expect(requireMost(5)).rejects.toThrow("http://c has more of them");
    expect((await entry()).owner.address).toBe("http://c");
  });

  test("forgets a copy that it went on without once that has begun anew", async () => {
    const { goOnWithout } = lostEntries();
    await goOnWithout(await entry(), { "http://b": 9 });
    await goOnWithout(await entry(), { "http://b": 9 });
    expect(replaced).toBe(1);
    await goOnWithout(await entry(), {});
    expect(await entry()).toEqual({ owner: SELF, standby: null, epoch: 1 });
  });
});
