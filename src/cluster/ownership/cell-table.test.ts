// Tests what a node knows of the number of cells, also after the engine has lost its tables.
import { afterEach, describe, expect, test } from "bun:test";
import { eventually } from "../../../tests/support/eventually.ts";
import { createMemoryEngine } from "../memory-engine.ts";
import {
  type CellTable,
  CLUSTER_KEY,
  COUNT_KEY,
  closeCell,
  placeNewCells,
  raiseCount,
  readCount,
  watchCells,
} from "./cell-table.ts";

const tables: CellTable[] = [];
afterEach(() => {
  for (const { stop } of tables.splice(0)) stop();
});

async function watch(cluster: ReturnType<typeof createMemoryEngine>, leastCount = 1) {
  const table = await cluster.connect().table("cells");
  const cells = watchCells({
    ...{ table, leastCount, cluster: "ours", onChange: () => undefined, onError: () => undefined, retryMs: 10 },
  });
  tables.push(cells);
  return { table, cells };
}

const entryOf = (address: string) => ({ owner: { address, instance: "a" }, standby: null, epoch: 1 });

describe("the number of cells", () => {
  test("is brought back by the claims of the cells, once the engine has lost its tables", async () => {
    const cluster = createMemoryEngine();
    const { table, cells } = await watch(cluster);
    await table.put(COUNT_KEY, "3");
    await eventually(() => cells.count() === 3);
    cluster.loseTable("cells");
    // What has seen it does not forget it.
    expect(cells.count()).toBe(3);
    for (const cell of [0, 2, 1]) {
      await cells.find(cell);
      expect(await cells.swap(cell, entryOf(`http://node-${cell}`))).toBe(true);
    }
    const later = await watch(cluster);
    await eventually(() => later.cells.count() === 3);
    expect((await table.find(COUNT_KEY))?.value).toBe("3");
  });

  test("is at least that of the cells whose data this machine has, when it starts after such a loss", async () => {
    const { cells } = await watch(createMemoryEngine(), 3);
    expect(cells.count()).toBe(3);
  });

  test("is limited by the removal of the last cell, also after losing the number, until cells are added", async () => {
    const cluster = createMemoryEngine();
    const { table, cells } = await watch(cluster);
    await raiseCount(table, 4);
    for (const cell of [0, 1, 2, 3]) await cells.swap(cell, entryOf(`http://node-${cell}`));
    await closeCell(table, 3);
    await eventually(() => cells.count() === 3);
    expect(await readCount(table)).toBe(3);
    expect([...cells.all().keys()]).toEqual([0, 1, 2]);
    await closeCell(table, 2);
    await eventually(() => cells.count() === 2);
    await raiseCount(table, 3);
    await eventually(() => cells.count() === 3);
    await raiseCount(table, 5);
    await eventually(() => cells.count() === 5);
    expect(await readCount(table)).toBe(5);
  });

  test("is not written by the claim of a single cell", async () => {
    const { table, cells } = await watch(createMemoryEngine());
    await cells.swap(0, entryOf("http://node"));
    expect(await table.find(COUNT_KEY)).toBeUndefined();
  });
});

test("an entry is not written over what has come since it was looked at", async () => {
  const cluster = createMemoryEngine();
  const { table, cells } = await watch(cluster);
  await cells.swap(0, entryOf("http://node-0"));
  await cells.find(0);
  await table.put("0", JSON.stringify(entryOf("http://node-1")));
  await eventually(() => cells.seen(0)?.owner.address === "http://node-1");
  expect(await cells.swap(0, entryOf("http://node-2"))).toBe(false);
  await cells.find(0);
  expect(await cells.swap(0, entryOf("http://node-2"))).toBe(true);
});

test("two who raise the number of cells at once leave the higher one", async () => {
  const cluster = createMemoryEngine();
  const { table } = await watch(cluster);
  await Promise.all([raiseCount(table, 9), raiseCount(table, 4)]);
  expect(await readCount(table)).toBe(9);
});

describe("the places of new cells", () => {
  const placeOf = (n: number) => ({ owner: `http://node-${n}`, standby: `http://node-${n + 1}` });

  test("are written down with the cells, so that the processes of their owners take them at once", async () => {
    const { table, cells } = await watch(createMemoryEngine());
    await cells.swap(0, entryOf("http://node-0"));
    await placeNewCells(table, [placeOf(5), placeOf(1), placeOf(2)], 1);
    expect(await cells.find(0)).toEqual(entryOf("http://node-0"));
    expect(await cells.find(1)).toEqual({
      owner: { address: "http://node-1", instance: null },
      standby: "http://node-2",
      epoch: 1,
    });
    expect((await cells.find(2))?.owner.address).toBe("http://node-2");
  });

  test("are left out for cells that had an owner before they were removed", async () => {
    const { table, cells } = await watch(createMemoryEngine());
    await cells.swap(1, entryOf("http://node-7"));
    await placeNewCells(table, [placeOf(0), placeOf(1)], 1);
    expect(await cells.find(1)).toEqual(entryOf("http://node-7"));
  });
});

describe("the id of the cluster", () => {
  test("is brought back by the nodes that know it, before a new node makes one", async () => {
    const cluster = createMemoryEngine();
    const { table, cells } = await watch(cluster);
    await table.put(CLUSTER_KEY, "ours");
    await table.put(COUNT_KEY, "2");
    await eventually(() => cells.count() === 2);
    cluster.loseTable("cells");
    await eventually(async () => (await table.find(CLUSTER_KEY))?.value === "ours");
  });

  test("is brought back by the claim of a cell that the engine does not know, and stays if there is one", async () => {
    const { table, cells } = await watch(createMemoryEngine());
    await cells.swap(0, entryOf("http://node"));
    expect((await table.find(CLUSTER_KEY))?.value).toBe("ours");
    await table.put(CLUSTER_KEY, "other");
    await cells.swap(1, entryOf("http://node"));
    expect((await table.find(CLUSTER_KEY))?.value).toBe("other");
    await cells.nameCluster();
    expect((await table.find(CLUSTER_KEY))?.value).toBe("ours");
  });
});
