// Tests that a name has one cell, whatever happens between its reservation, its use and its confirmation.
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { fileDatabase, silent, type TestDatabase } from "../../../tests/support/database.ts";
import { eventually } from "../../../tests/support/eventually.ts";
import { type Name, NameTaken } from "../../kernel/cells/cells.ts";
import { type CellNames, createCellNames } from "./cell-names.ts";
import { createDirectory, type Directory, RESERVED_MS } from "./directory.ts";

const ADA: Name = { kind: "email", name: "ada@example.com" };
const BOB: Name = { kind: "email", name: "bob@example.com" };

let store: TestDatabase;
let directory: Directory;
let now: number;
/** Cells that answer; a killed one begins anew with its rows. */
let cells: Map<number, CellNames>;
/** The rows of each cell. */
let rows: Map<number, Set<string>>;

const used = (cell: number) => rows.get(cell) ?? new Set();
function open(cell: number): CellNames {
  const names = createCellNames({
    here: cell,
    count: () => 3,
    directory,
    leastLoaded: async () => 0,
    ask: async () => "",
    bring: async () => undefined,
    log: silent,
  });
  names.registerNames("email", async (name) => used(cell).has(name));
  cells.set(cell, names);
  return names;
}
/** What `kill -9` leaves of a cell: nothing in memory, its rows on disk. */
const kill = (cell: number) => cells.delete(cell);
const at = (cell: number) => cells.get(cell) ?? open(cell);
const use = (cell: number, ...names: Name[]) =>
  at(cell).using(names, async () => {
    for (const { name } of names) used(cell).add(name);
  });
const places = async () =>
  (await store.database.read("SELECT name, cell, until FROM places ORDER BY name")).rows.map(
    ({ name, cell, until }) => ({
      name,
      cell,
      isConfirmed: until === null,
    }),
  );

beforeEach(async () => {
  store = await fileDatabase();
  now = 1_000_000;
  cells = new Map();
  rows = new Map([0, 1, 2].map((cell) => [cell, new Set<string>()]));
  directory = createDirectory({
    database: store.database,
    async knows(cell, name) {
      const names = cells.get(cell);
      if (!names) throw new Error("It does not run.");
      return names.knows(name);
    },
    usedInFirst: async ({ name }) => used(0).has(name),
    log: silent,
    now: () => now,
  });
  for (const cell of [0, 1, 2]) open(cell);
});
afterEach(() => store?.remove());

describe("a name", () => {
  test("is reserved, used and confirmed, and found from then on", async () => {
    await use(1, ADA);
    await eventually(async () => (await places())[0]?.isConfirmed);
    expect(await places()).toEqual([{ name: ADA.name, cell: 1, isConfirmed: true }]);
    expect(await directory.find(ADA)).toBe(1);
    expect(await directory.find(BOB)).toBeUndefined();
  });

  test("is refused in a second cell, before anything is written there", async () => {
    await use(1, ADA);
    const error = await use(2, BOB, ADA).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(NameTaken);
    expect(error).toMatchObject({ taken: ADA, cell: 1 });
    expect(used(2).size).toBe(0);
  });

  test("that many cells want at once goes to one of them", async () => {
    const tried = await Promise.allSettled(
      Array.from({ length: 30 }, (_, n) => use(n % 3, { kind: "email", name: `same-${n % 5}@example.com` })),
    );
    const holders = [0, 1, 2].flatMap((cell) => [...used(cell)]);
    expect(holders.toSorted()).toEqual([0, 1, 2, 3, 4].map((n) => `same-${n}@example.com`));
    for (const one of tried) if (one.status === "rejected") expect(one.reason).toBeInstanceOf(NameTaken);
  });

  test("may be used again by the cell that has it", async () => {
    await use(1, ADA);
    await use(1, ADA);
    expect(await directory.find(ADA)).toBe(1);
  });

  test("from before there were cells is cell 0's, though it has no row", async () => {
    used(0).add(ADA.name);
    expect(await directory.find(ADA)).toBe(0);
    await expect(use(2, ADA)).rejects.toMatchObject({ cell: 0 });
    expect(await places()).toEqual([{ name: ADA.name, cell: 0, isConfirmed: true }]);
  });

  test("that its cell no longer uses goes to the next that wants it", async () => {
    await use(1, ADA);
    await eventually(async () => (await places())[0]?.isConfirmed);
    used(1).delete(ADA.name);
    await use(2, ADA);
    expect(await directory.find(ADA)).toBe(2);
  });

  test("of a cell that can't be asked stays its own", async () => {
    await use(1, ADA);
    await eventually(async () => (await places())[0]?.isConfirmed);
    kill(1);
    used(1).delete(ADA.name);
    await expect(use(2, ADA)).rejects.toBeInstanceOf(NameTaken);
  });
});

describe("kill -9", () => {
  test("between reservation and use: the name is free again after ten minutes, not before", async () => {
    await directory.reserve(1, [ADA]);
    kill(1);
    open(1);
    await directory.sweep();
    await expect(use(2, ADA)).rejects.toBeInstanceOf(NameTaken);
    now += RESERVED_MS + 1;
    await directory.sweep();
    expect(await places()).toEqual([]);
    await use(2, ADA);
    expect(await directory.find(ADA)).toBe(2);
  });

  test("between reservation and use: the same cell goes on at once", async () => {
    await directory.reserve(1, [ADA]);
    kill(1);
    open(1);
    await use(1, ADA);
    expect(used(1)).toContain(ADA.name);
  });

  test("between use and confirmation: the name stays its cell's, also after ten minutes", async () => {
    await directory.reserve(1, [ADA]);
    used(1).add(ADA.name);
    kill(1);
    open(1);
    now += RESERVED_MS + 1;
    await expect(use(2, ADA)).rejects.toMatchObject({ cell: 1 });
    await directory.sweep();
    expect(await places()).toEqual([{ name: ADA.name, cell: 1, isConfirmed: true }]);
  });

  test("of a cell that is still away when its reservation ends: nothing is decided without it", async () => {
    await directory.reserve(1, [ADA]);
    used(1).add(ADA.name);
    kill(1);
    now += RESERVED_MS + 1;
    await directory.sweep();
    await expect(use(2, ADA)).rejects.toBeInstanceOf(NameTaken);
    open(1);
    await directory.sweep();
    expect(await places()).toEqual([{ name: ADA.name, cell: 1, isConfirmed: true }]);
  });
});

describe("a write that takes longer than its reservation", () => {
  test("keeps the name, since its cell is asked", async () => {
    const hold = Promise.withResolvers<void>();
    const writing = at(1).using([ADA], async () => {
      await hold.promise;
      used(1).add(ADA.name);
    });
    await eventually(async () => (await places()).length === 1);
    now += RESERVED_MS + 1;
    await expect(use(2, ADA)).rejects.toBeInstanceOf(NameTaken);
    await directory.sweep();
    hold.resolve();
    await writing;
    expect(await directory.find(ADA)).toBe(1);
    expect(used(2).size).toBe(0);
  });

  test("that fails leaves a reservation, which ends", async () => {
    await expect(at(1).using([ADA], () => Promise.reject(new Error("full")))).rejects.toThrow("full");
    now += RESERVED_MS + 1;
    await use(2, ADA);
    expect(await directory.find(ADA)).toBe(2);
  });

  test("begun anew while another cell asks is not overtaken", async () => {
    await use(1, ADA);
    await eventually(async () => (await places())[0]?.isConfirmed);
    used(1).delete(ADA.name);
    const first = at(1);
    const knows = first.knows;
    // Between the answer "not used" and the change of hands, the cell reserves the name anew.
    cells.set(1, {
      ...first,
      async knows(name) {
        const answer = await knows(name);
        await use(1, ADA).catch(() => undefined);
        return answer;
      },
    });
    const second = await use(2, ADA).catch((error: unknown) => error);
    const holders = [1, 2].filter((cell) => used(cell).has(ADA.name));
    expect(holders).toHaveLength(1);
    expect(await directory.find(ADA)).toBe(holders[0]);
    if (holders[0] === 1) expect(second).toBeInstanceOf(NameTaken);
  });
});
