// Tests snapshots of a cell's file: what is taken is what is restored, and one that is not whole is passed over.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { existsSync, readdirSync, readlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { silent } from "../../../tests/support/database.ts";
import { eventually } from "../../../tests/support/eventually.ts";
import { temporaryDir } from "../../../tests/support/process.ts";
import { openReadOnly } from "../../kernel/database/connection.ts";
import { openFile, type StorageEngine } from "../../kernel/database/local-engine.ts";
import type { BlobStore } from "../engine.ts";
import { openCopy } from "../log/copy.ts";
import { createMemoryEngine } from "../memory-engine.ts";
import { createSnapshotSchedule } from "./snapshot-schedule.ts";
import { createSnapshots } from "./snapshots.ts";

let dir: ReturnType<typeof temporaryDir>;
let blobs: BlobStore;
let storage: StorageEngine;
let file: string;
beforeEach(async () => {
  dir = temporaryDir();
  blobs = await createMemoryEngine().connect().blobs("snapshots");
  file = join(dir.path, "berth.db");
  storage = openFile(file, new Set(["0001"]), silent);
  await storage.commit([
    [
      { sql: "CREATE TABLE migrations (name TEXT PRIMARY KEY, applied_at INTEGER)", args: [] },
      { sql: "INSERT INTO migrations VALUES ('0001', 1)", args: [] },
      { sql: "CREATE TABLE notes (text TEXT)", args: [] },
    ],
  ]);
});
afterEach(async () => {
  await storage.close();
  dir.remove();
});

const snapshotsOf = (cell = 0) => createSnapshots({ blobs, cell, knownMigrations: new Set(["0001"]), log: silent });
/** Applies the next entry of the log: one note. */
async function write(number: number): Promise<void> {
  const copy = await openCopy(storage, "test");
  const batch = [{ sql: "INSERT INTO notes VALUES (?)", args: [`note ${number}`] }];
  const { changed } = copy.progress;
  const place = { after: number - 1, number, id: `id-${number}` };
  await copy.apply(place, { kind: "write", batches: [batch], isLong: false, changedBefore: changed });
}
function notesOf(path: string): unknown[] {
  const connection = openReadOnly(path);
  try {
    return connection.run("SELECT text FROM notes ORDER BY rowid").rows.map(({ text }) => text);
  } finally {
    connection.close();
  }
}

test("one that was taken while the file is written is restored as a whole; the newest two are kept", async () => {
  const snapshots = snapshotsOf();
  for (let number = 1; number <= 4; number++) {
    await write(number);
    expect(await snapshots.take(file)).toMatchObject({ number });
  }
  expect((await snapshots.list()).map(({ number }) => number)).toEqual([4, 3]);
  const target = join(dir.path, "copy.db");
  expect(await snapshots.restore(target)).toMatchObject({ number: 4 });
  expect(notesOf(target)).toEqual(["note 1", "note 2", "note 3", "note 4"]);
  expect(existsSync(`${file}.snapshot`)).toBe(false);
  expect(await snapshotsOf(7).list()).toEqual([]);
  expect(await snapshotsOf(7).restore(join(dir.path, "other.db"))).toBeUndefined();
});

test.each([
  ["cut off", (bytes: Uint8Array) => bytes.slice(0, bytes.length / 2)],
  ["no archive", () => new TextEncoder().encode("not zstd")],
  ["empty", () => new Uint8Array()],
])("one that is %s is passed over for the one before", async (_, damage) => {
  const snapshots = snapshotsOf();
  await write(1);
  await snapshots.take(file);
  await write(2);
  const { name } = await snapshots.take(file);
  const whole = await new Response(await blobs.get(name)).bytes();
  await blobs.put(name, new Blob([damage(whole) as Uint8Array<ArrayBuffer>]).stream());
  const target = join(dir.path, "copy.db");
  writeFileSync(target, "what was there");
  expect(await snapshots.restore(target)).toMatchObject({ number: 1 });
  expect(notesOf(target)).toEqual(["note 1"]);
});

test("without one that is whole, the file stays as it is", async () => {
  const target = join(dir.path, "copy.db");
  writeFileSync(target, "what was there");
  await blobs.put("cell-0-5-1.db.zst", new Blob(["damaged"]).stream());
  expect(await snapshotsOf().restore(target)).toBeUndefined();
  expect(await Bun.file(target).text()).toBe("what was there");
});

test("the schedule takes one although the newest is from a machine whose clock is ahead", async () => {
  await write(1);
  const snapshots = snapshotsOf();
  await snapshots.take(file);
  await write(2);
  const schedule = createSnapshotSchedule({
    snapshots,
    engine: await createMemoryEngine().connect().log(0),
    file,
    log: silent,
    isOurs: () => true,
    number: () => 2,
    lookMs: 5,
    now: () => Date.now() - 3_600_000,
  });
  await eventually(async () => (await snapshots.list())[0]?.number === 2);
  schedule.stop();
});

test("the schedule takes the first at once, then after 15 minutes, and drops the log before the one before", async () => {
  const snapshots = snapshotsOf();
  const engine = await createMemoryEngine().connect().log(0);
  let last = 0;
  let now = Date.now();
  const schedule = createSnapshotSchedule({
    snapshots,
    engine,
    file,
    log: silent,
    isOurs: () => true,
    number: () => last,
    lookMs: 5,
    now: () => now,
  });
  const append = async () => {
    await engine.append(last, new Uint8Array(10));
    last++;
    await write(last);
  };
  for (let round = 1; round <= 3; round++) {
    await append();
    await eventually(async () => (await snapshots.list())[0]?.number === last);
    now += 16 * 60_000;
  }
  await eventually(async () => (await engine.bounds()).first === 3);
  schedule.stop();
});

test("the schedule tries again after longer and longer pauses, and at once after one that succeeds", async () => {
  await write(1);
  const tries: number[] = [];
  let isAway = true;
  const whole = snapshotsOf();
  const schedule = createSnapshotSchedule({
    snapshots: {
      ...whole,
      take(path) {
        tries.push(performance.now());
        return isAway ? Promise.reject(new Error("NATS is away.")) : whole.take(path);
      },
    },
    engine: await createMemoryEngine().connect().log(0),
    file,
    log: silent,
    isOurs: () => true,
    number: () => 1,
    lookMs: 20,
  });
  await eventually(() => tries.length === 5);
  const [, second = 0, third = 0, fourth = 0, fifth = 0] = tries;
  expect(third - second).toBeGreaterThan(39);
  expect(fourth - third).toBeGreaterThan(79);
  expect(fifth - fourth).toBeGreaterThan(159);
  isAway = false;
  await eventually(async () => (await whole.list()).length === 1);
  schedule.stop();
});

test("what an interrupted one has left is deleted before the next is taken", async () => {
  await write(1);
  const order: string[] = [];
  const watched: BlobStore = {
    get: blobs.get,
    remove: blobs.remove,
    list: blobs.list,
    async sweep() {
      order.push("sweep");
      return 1;
    },
    put(name, content) {
      order.push("put");
      return blobs.put(name, content);
    },
  };
  await createSnapshots({ blobs: watched, cell: 0, log: silent }).take(file);
  expect(order).toEqual(["sweep", "put"]);
});

test.if(process.platform === "linux")("one that the engine does not take leaves no file open", async () => {
  await write(1);
  // More than what waits between the file and the engine, and nothing that can be compressed.
  const text = () => crypto.getRandomValues(new Uint8Array(60_000)).toBase64();
  for (let n = 0; n < 100; n++) await storage.commit([[{ sql: "INSERT INTO notes VALUES (?)", args: [text()] }]]);
  const full: BlobStore = {
    ...blobs,
    list: blobs.list,
    sweep: blobs.sweep,
    async put(_, content) {
      await content.getReader().read();
      throw new Error("no space");
    },
  };
  await expect(createSnapshots({ blobs: full, cell: 0, log: silent }).take(file)).rejects.toThrow("no space");
  // The addon closes files that it has read when its statements are collected.
  await eventually(() => {
    Bun.gc(true);
    return readdirSync("/proc/self/fd").every(
      (name) => !readlinkOf(`/proc/self/fd/${name}`).includes(`${file}.snapshot`),
    );
  });
});

/** Empty for a file that was closed meanwhile. */
function readlinkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return "";
  }
}

test("one that replaces all others is the only one, of this cell alone", async () => {
  await write(1);
  await snapshotsOf(1).take(file);
  const snapshots = snapshotsOf();
  await snapshots.take(file);
  await write(2);
  await snapshots.replace(file);
  expect(await snapshots.list()).toMatchObject([{ number: 2 }]);
  expect(await snapshotsOf(1).list()).toHaveLength(1);
});
