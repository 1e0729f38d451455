// Tests what an owner learns of entries that its log has lost, and that it does not hand the cell to a copy that it goes on without.
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { silent } from "../../../tests/support/database.ts";
import { SnapshotNeeded } from "../log/catch-up.ts";
import { createMemoryEngine, type MemoryLog } from "../memory-engine.ts";
import type { Snapshot } from "../snapshot/snapshots.ts";
import { type CellEntry, type CellTable, watchCells } from "./cell-table.ts";
import type { NodeState } from "./lease.ts";
import { createLostEntries, type Loss, longestOf, missingFrom } from "./lost-entries.ts";

const SELF = { address: "http://a", instance: "1" };
let log: MemoryLog;
let cells: CellTable;
let others: Record<string, number>;
let replaced: number;
let isSnapshotPossible: boolean;
let snapshots: Snapshot[];
beforeEach(async () => {
  const cluster = createMemoryEngine();
  log = cluster.logOf(0);
  for (let n = 0; n < 5; n++) await log.append(n, new Uint8Array([n]));
  const table = await cluster.connect().table("cells");
  cells = watchCells({ table, cluster: "test", onChange: () => undefined, onError: () => undefined });
  await cells.swap(0, { owner: SELF, standby: null, epoch: 1 });
  others = {};
  replaced = 0;
  isSnapshotPossible = true;
  snapshots = [];
});
afterEach(() => cells.stop());

const TAKEN: Snapshot = { name: "taken", number: 5, size: 1, takenAt: 0 };
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
      take: async () => TAKEN,
      list: async () => snapshots,
      async replace() {
        replaced++;
        if (!isSnapshotPossible) throw new Error("There is no file.");
        return TAKEN;
      },
    },
  });
/** As decisions of the owner follow each other: the snapshot comes between the first and the second. */
async function goOnWithout({ goOnWithout }: ReturnType<typeof lostEntries>, longer: Loss["longer"]): Promise<void> {
  for (let times = 0; times < 2; times++) {
    await goOnWithout(await entry(), longer);
    await yieldToEventLoop();
  }
}
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
    const owner = lostEntries();
    const { requireMost } = owner;
    others = { "http://b": 9 };
    await goOnWithout(owner, others);
    expect(await entry()).toMatchObject({ owner: SELF, without: { "http://b": 9 } });
    await requireMost(5);
    expect(replaced).toBe(1);
    others["http://c"] = 7;
    await expect(requireMost(5)).rejects.toThrow("http://c has more of them");
    expect((await entry()).owner.address).toBe("http://c");
  });

  test("forgets a copy that it went on without once that has begun anew", async () => {
    const owner = lostEntries();
    await goOnWithout(owner, { "http://b": 9 });
    await goOnWithout(owner, { "http://b": 9 });
    expect(replaced).toBe(1);
    await goOnWithout(owner, {});
    expect(await entry()).toEqual({ owner: SELF, standby: null, epoch: 1 });
  });

  test("tells other nodes to begin anew only once there is a snapshot with what it goes on with", async () => {
    isSnapshotPossible = false;
    const owner = lostEntries();
    await goOnWithout(owner, { "http://b": 9 });
    expect(await entry()).toEqual({ owner: SELF, standby: null, epoch: 1 });
    isSnapshotPossible = true;
    await goOnWithout(owner, { "http://b": 9 });
    expect((await entry()).without).toEqual({ "http://b": 9 });
  });

  test("does not give the cell to a node that could not open it a moment ago, which would give it back", async () => {
    others = { "http://b": 9 };
    const failed = { address: "http://b", at: 0 };
    await cells.swap(0, { owner: SELF, standby: null, epoch: 2, failed });
    const { requireMost, usable, giveTo } = lostEntries();
    await requireMost(5);
    expect(usable({ "http://b": 9, "http://c": 7 }, await entry())).toEqual({ "http://c": 7 });
    await giveTo("http://c", SELF.address);
    expect(await entry()).toMatchObject({ owner: { address: "http://c" }, failed });
  });

  test("begins the log anew without a snapshot that has more, if it could not be read three times", async () => {
    snapshots = [{ name: "damaged", number: 8, size: 1, takenAt: 0 }];
    const { keepInSnapshot } = lostEntries();
    for (let times = 0; times < 3; times++) await expect(keepInSnapshot(5)).rejects.toThrow(SnapshotNeeded);
    await keepInSnapshot(5);
  });
});
