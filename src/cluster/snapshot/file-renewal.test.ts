// Tests what becomes of a cell's file that can't go on: it is kept until a snapshot takes its place, and beside it afterwards.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { silent } from "../../../tests/support/database.ts";
import { temporaryDir } from "../../../tests/support/process.ts";
import { openFile } from "../../kernel/database/local-engine.ts";
import type { BlobStore } from "../engine.ts";
import { SnapshotNeeded } from "../log/catch-up.ts";
import { CopyBroken, openCopy, readPlace } from "../log/copy.ts";
import { createMemoryEngine } from "../memory-engine.ts";
import { createFileRenewal } from "./file-renewal.ts";
import { createSnapshots } from "./snapshots.ts";

let dir: ReturnType<typeof temporaryDir>;
let file: string;
let blobs: BlobStore;
beforeEach(async () => {
  dir = temporaryDir();
  file = join(dir.path, "berth.db");
  blobs = await createMemoryEngine().connect().blobs("snapshots");
});
afterEach(() => dir.remove());

const snapshots = () => createSnapshots({ blobs, cell: 0, log: silent });
const renew = (broken: unknown) => createFileRenewal({ file, snapshots: snapshots(), log: silent })(broken);
const broken = new CopyBroken("It differs.");
const behind = new SnapshotNeeded("The log begins later.");

/** A file that has applied the log up to this entry. */
async function makeFile(number: number, path = file): Promise<void> {
  const storage = openFile(path, new Set(), silent);
  const copy = await openCopy(storage, "test");
  await copy.apply({ after: number - 1, number, id: "an-id" }, { kind: "own", node: "a" });
  await storage.close();
}
async function makeSnapshot(number: number): Promise<void> {
  const path = join(dir.path, "other.db");
  await makeFile(number, path);
  await snapshots().take(path);
}
const damageSnapshots = async () => {
  for (const { name } of await blobs.list()) await blobs.put(name, new Blob(["damaged"]).stream());
};
const keptAside = () =>
  readdirSync(dir.path)
    .filter((name) => /^berth\.db\.diverged(-\d)?$/.test(name))
    .sort()
    .map((name) => [name.replace("berth.db", ""), readPlace(join(dir.path, name))?.number]);

test("a file that differs is kept beside the snapshot that takes its place", async () => {
  await makeFile(9);
  await makeSnapshot(5);
  expect(await renew(broken)).toBe(true);
  expect(readPlace(file)?.number).toBe(5);
  expect(keptAside()).toEqual([[".diverged", 9]]);
});

test("a file stays where it is while no snapshot can be restored, however often that is tried", async () => {
  await makeFile(9);
  await makeSnapshot(5);
  await damageSnapshots();
  for (let attempt = 0; attempt < 3; attempt++) await expect(renew(broken)).rejects.toThrow("no snapshot");
  expect(readPlace(file)?.number).toBe(9);
  expect(keptAside()).toEqual([]);
});

test("a file that lacks entries stays until there is a snapshot with more", async () => {
  await makeFile(9);
  await makeSnapshot(5);
  expect(await renew(behind)).toBe(false);
  expect(readPlace(file)?.number).toBe(9);
  await makeSnapshot(12);
  expect(await renew(behind)).toBe(true);
  expect(readPlace(file)?.number).toBe(12);
});

test("a few that were set aside are kept, and none is replaced by one that has less", async () => {
  await makeSnapshot(5);
  for (const number of [40, 10, 30, 1, 20]) {
    for (const suffix of ["", "-wal", "-shm"]) if (existsSync(file + suffix)) await Bun.file(file + suffix).delete();
    await makeFile(number);
    await renew(broken);
  }
  expect(keptAside()).toEqual([
    [".diverged", 40],
    [".diverged-2", 20],
    [".diverged-3", 30],
  ]);
});

test("a new file begins with a snapshot if there is one", async () => {
  expect(await renew(undefined)).toBe(false);
  await makeSnapshot(5);
  expect(await renew(undefined)).toBe(true);
  expect(await renew(undefined)).toBe(false);
  expect(readPlace(file)?.number).toBe(5);
});
