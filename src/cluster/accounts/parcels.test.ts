// Tests that an account arrives with the rows that were packed last, whichever machines have had its cell meanwhile.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { openSimulatedCells, type SimulatedCells } from "../../../tests/support/simulated-cells.ts";
import { sweepUnowned } from "./parcels.ts";

const ACCOUNT = "01890000-0000-7000-8000-000000000001";
let cells: SimulatedCells;
beforeEach(async () => {
  cells = await openSimulatedCells(2);
  await cells.insert(0, "users", {
    ...{ id: ACCOUNT, email: "ann@example.com", name: "old", referral_code: "abcdefgh", credits: 5 },
    ...{ created_at: 1, updated_at: 1 },
  });
});
afterEach(async () => cells.close());

const rename = (name: string) => cells.at(0).database.write([{ sql: "UPDATE users SET name = ?", args: [name] }]);
const namesIn = async (cell: number) => (await cells.rowsIn(cell, "SELECT name FROM users")).map(({ name }) => name);
async function incoming(): Promise<string> {
  const [parcel] = readdirSync(join(cells.at(1).folder, "moves"));
  return join(cells.at(1).folder, "moves", String(parcel));
}

/** All that comes before the decision. */
async function send(): Promise<void> {
  await cells.at(1).side.fetch(await cells.at(0).side.hold({ account: ACCOUNT, to: 1 }));
}
async function undo(): Promise<void> {
  await cells.at(1).side.discard({ account: ACCOUNT });
  await cells.at(0).side.release({ account: ACCOUNT });
}
/** All that comes after it. */
async function settle(): Promise<void> {
  const removed = await cells.at(0).side.remove({ account: ACCOUNT, to: 1 });
  await cells.at(1).side.settle({ account: ACCOUNT, ...removed });
}

describe("the cell in which an account arrives", () => {
  test("unpacks the parcel that was decided, not one that its machine has had before", async () => {
    await send();
    await cells.at(1).openOn("second");
    await undo();
    await rename("new");
    await send();
    await cells.at(1).openOn("first");
    await settle();
    expect(await namesIn(1)).toEqual(["new"]);
  });

  test("brings a parcel that is not whole on its machine", async () => {
    await send();
    await cells.at(1).openOn("second");
    await send();
    await cells.at(1).openOn("first");
    await settle();
    expect(await namesIn(1)).toEqual(["old"]);
  });

  test("brings the parcel anew if the one on its machine is not as it was packed", async () => {
    await send();
    await Bun.write(await incoming(), "damaged");
    await settle();
    expect(await namesIn(1)).toEqual(["old"]);
  });

  test("unpacks nothing at all rather than another parcel", async () => {
    await send();
    await Bun.write(await incoming(), "damaged");
    for (const { name } of await cells.at(1).blobs.list()) await cells.at(1).blobs.remove(name);
    await expect(settle()).rejects.toThrow("not as it was packed");
    expect(await namesIn(1)).toEqual([]);
  });

  test("keeps no parcel of a move that is over, on no machine", async () => {
    await send();
    await cells.at(1).openOn("second");
    await undo();
    await cells.at(0).openOn("second");
    await send();
    await settle();
    for (const cell of [0, 1]) for (const machine of ["first", "second"]) await cells.at(cell).openOn(machine);
    expect([...(await cells.at(0).parcels()), ...(await cells.at(1).parcels())]).toEqual([]);
  });

  test("deletes at its next opening what a machine has shared after it lost the cell", async () => {
    await send();
    await cells.at(1).blobs.put(`moves/${ACCOUNT}.late.in`, new Blob(["late"]).stream());
    await cells.at(1).openOn("first");
    expect(await cells.at(1).parcels()).toHaveLength(2);
    await settle();
    expect(await namesIn(1)).toEqual(["old"]);
    expect(await cells.at(1).parcels()).toEqual([]);
  });
});

test("a machine that does not own the cell keeps only the parcels of accounts that are still arriving", async () => {
  await send();
  const { folder } = cells.at(1);
  const sweep = () => sweepUnowned(folder, join(folder, "berth.db"));
  for (const name of ["a.old.in", "a.out"]) await Bun.write(join(folder, "moves", name), "left");
  sweep();
  expect(readdirSync(join(folder, "moves"))).toEqual([basename(await incoming())]);
  await cells.at(1).openOn("second");
  await settle();
  sweep();
  expect(await cells.at(1).parcels()).toEqual([]);
});
