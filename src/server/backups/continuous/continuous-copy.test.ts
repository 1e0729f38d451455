// The continuous copy: segments follow each other without a gap through restarts of the log and of the service, lead to any moment, and
// whatever is wrong with them is said and never put in place.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { isPackName } from "../../../../plugins/fleet/backups/log-names.ts";
import { backupSettings } from "../../../../plugins/fleet/settings.ts";
import { silent } from "../../../../tests/support/database.ts";
import { eventually } from "../../../../tests/support/eventually.ts";
import { placeMigratedDatabase } from "../../../../tests/support/migrated.ts";
import { run } from "../../../../tests/support/process.ts";
import { type S3Server, startS3 } from "../../../../tests/support/s3.ts";
import { type Database, openDatabase } from "../../../kernel/database/database.ts";
import { DAY, HOUR } from "../../../kernel/util/time.ts";
import { listBackups, makeBackup } from "../make-backup.ts";
import { openStorage } from "../place/open-storage.ts";
import { restoreBackup } from "../restore-backup.ts";
import { type BackupFolder, newKeys, openBackupFolder, withDatabase } from "../support.test.ts";
import { type CellCopy, openCellCopy } from "./cell-copy.ts";
import { copyFolderOf, createLogKeeper, listKeptLogs } from "./log-keeper.ts";
import { PACKED_FROM } from "./packs.ts";
import { restorableMoments } from "./restore/moments.ts";

let dir: BackupFolder;
let s3: S3Server;
let identity: string;
let recipient: string;
let database: Database | undefined;
let copy: CellCopy;
let clock: number;

const at = (name: string) => dir.at(name);
let data = "data";
const file = () => at(`${data}/berth.db`);
const configOf = (...given: Parameters<BackupFolder["configOf"]>) => dir.configOf(...given);

async function open(env: Record<string, string> = {}): Promise<Database> {
  database = await openDatabase({
    url: `file:${file()}`,
    dataDir: at(data),
    log: silent,
    keepLog: createLogKeeper,
  });
  await write("opened", String(performance.now()));
  await openCopy(env);
  return database;
}
async function openCopy(env: Record<string, string> = {}): Promise<void> {
  const { recipients } = configOf(env).of(backupSettings);
  copy = await openCellCopy({
    cell: 0,
    databaseFile: file(),
    dataDir: at(data),
    storage: openStorage(configOf(env)),
    recipients,
    now: tick,
  });
}
/** A later moment with each call, so that none has to be waited for. */
function tick(): number {
  clock = Math.max(Date.now(), clock + 1);
  return clock;
}
async function close(): Promise<void> {
  await database?.close();
  database = undefined;
}
async function write(key: string, text = "x"): Promise<void> {
  if (database) await put(database, key, text);
}
const put = (database: Database, key: string, text = "x") =>
  database.write([{ sql: "INSERT OR REPLACE INTO meta VALUES (?, ?)", args: [key, text] }]);
/** Writes, stores a segment, and returns a moment after it and before any later one. */
async function moment(key: string): Promise<number> {
  await write(key);
  // A log that is about to restart is read by a later step.
  await eventually(async () => (await copy.step()).bytes > 0, { what: "a segment" });
  return tick();
}
async function base(env: Record<string, string> = {}): Promise<string> {
  await copy.step();
  return (await makeBackup(configOf(env), { now: tick() })).backup.name;
}
const keysIn = async (read: Database["read"]): Promise<string[]> =>
  (await read("SELECT key FROM meta WHERE key GLOB 'k*' ORDER BY key")).rows.map(({ key }) => String(key));
async function restore(
  options: Parameters<typeof restoreBackup>[2] = {},
  env: Record<string, string> = {},
  source = "latest",
) {
  rmSync(at("new"), { recursive: true, force: true });
  const restored = await restoreBackup(configOf(env, "new"), source, options);
  const { rows, check } = await withDatabase(at("new"), async ({ read }) => ({
    rows: await keysIn(read),
    check: (await read("PRAGMA integrity_check")).rows[0],
  }));
  expect(check?.[0]).toBe("ok");
  return { ...restored, keys: rows.join(" ") };
}
const segments = () =>
  readdirSync(at("to"))
    .filter((name) => name.startsWith("berth-log-"))
    .sort();
/** More than the log's limit, so that it restarts. */
async function restartLog(): Promise<void> {
  const header = () => readFileSync(`${file()}-wal`).toString("hex", 16, 24);
  const before = header();
  const isAnother = async () => {
    await write("big", randomBytes(500_000).toString("hex"));
    return header() !== before;
  };
  await eventually(isAnother, { everyMs: 5, what: "another log" });
}

beforeAll(async () => {
  s3 = await startS3();
  ({ identity, recipient } = await newKeys());
});
afterAll(() => s3[Symbol.asyncDispose]());
beforeEach(async () => {
  dir = await openBackupFolder((at) => ({ BACKUP_TO: at("to"), BACKUP_CONTINUOUS: "true" }));
  [clock, data] = [0, "data"];
  writeFileSync(at("key.txt"), `${identity}\n`);
});
afterEach(async () => {
  await close();
  dir.remove();
});

describe("the way to a moment", () => {
  test("leads to each of them, to the newest without --at, and not beyond", async () => {
    await open();
    await write("k0");
    const name = await base();
    const one = await moment("k1");
    const two = await moment("k2");
    await moment("k3");
    expect(segments().length).toBe(3);
    expect(await restore({ at: one })).toMatchObject({ keys: "k0 k1", reached: { problem: undefined } });
    const second = await restore({ at: two });
    expect(second.keys).toBe("k0 k1 k2");
    expect(second.reached?.at).toBeLessThanOrEqual(two);
    expect((await restore()).keys).toBe("k0 k1 k2 k3");
    expect(await restore({}, {}, name)).toMatchObject({ keys: "k0", reached: undefined });
    await expect(restore({ at: one - DAY })).rejects.toThrow("The oldest backup that could be taken is of");
  });

  test("nothing is stored as long as nothing is written", async () => {
    await open();
    await base();
    await moment("k1");
    expect(await copy.step()).toEqual({ bytes: 0, isWhole: true });
    expect(segments().length).toBe(1);
  });

  test("goes through restarts of the log, each of which is kept until it is stored", async () => {
    await open();
    await base();
    await restartLog();
    await write("k1");
    await restartLog();
    await write("k2");
    expect(listKeptLogs(copyFolderOf(file())).length).toBe(2);
    await moment("k3");
    expect(listKeptLogs(copyFolderOf(file()))).toEqual([]);
    expect((await restore()).keys).toBe("k1 k2 k3");
  });

  test("goes on after a stop and after a kill, which lose nothing", async () => {
    await open();
    await base();
    const { chain } = copy;
    await moment("k1");
    await write("k2");
    await close();
    await open();
    await moment("k3");
    expect(copy.chain).toBe(chain);
    await write("k4");
    await eventually(() => !existsSync(join(copyFolderOf(file()), "closed.json")), {
      what: "the note of the next log",
    });
    // As after kill -9: the files of the moment, with their log.
    cpSync(at("data"), at("killed"), { recursive: true, filter: (path) => !/-shm$|lock$/.test(path) });
    await close();
    data = "killed";
    await open();
    await moment("k5");
    expect(copy.chain).toBe(chain);
    expect((await restore()).keys).toBe("k1 k2 k3 k4 k5");
  });

  test("begins anew, with a backup, when another program has written meanwhile", async () => {
    await open();
    await base();
    const last = await moment("k1");
    const { chain } = copy;
    await close();
    await withDatabase(at("data"), (other) => put(other, "k2"));
    await open();
    await eventually(async () => (await copy.step()).isWhole && copy.chain !== chain, {
      everyMs: 5,
      what: "a new chain",
    });
    expect(copy.chain).not.toBe(chain);
    await write("k3");
    await copy.step();
    // Until there is a backup, the way ends where the former one did.
    expect((await restore()).keys).toBe("k1");
    await makeBackup(configOf(), { now: tick() });
    await moment("k4");
    expect((await restore()).keys).toBe("k1 k2 k3 k4");
    expect((await restore({ at: last })).keys).toBe("k1");
  });

  test("has the files that came with the rows", async () => {
    await open();
    mkdirSync(at("data/uploads/agent"), { recursive: true });
    writeFileSync(at("data/uploads/agent/one"), "one");
    await base();
    writeFileSync(at("data/uploads/agent/two"), "two");
    await moment("k1");
    await restore();
    expect(readFileSync(at("new/uploads/agent/two"), "utf8")).toBe("two");
  });

  test("a backup that is made while segments are stored is passed before anything counts", async () => {
    await open();
    await copy.step();
    await write("k1");
    const made = makeBackup(configOf(), { now: tick() });
    await copy.step();
    await made;
    const place = (await listBackups(openStorage(configOf())))[0]?.createdAt ?? 0;
    expect(place).toBeGreaterThan(0);
    await moment("k2");
    expect((await restore()).keys).toBe("k1 k2");
  });

  test("shrinks with the database", async () => {
    await open();
    await write("big", "x".repeat(3_000_000));
    await base();
    await database?.write([{ sql: "DELETE FROM meta WHERE key = 'big'", args: [] }]);
    await database?.writeLong([{ sql: "INSERT INTO meta VALUES ('k1', 'x')", args: [] }]);
    await copy.step();
    expect((await restore()).keys).toBe("k1");
  });
});

describe("what is wrong with a segment ends the way before it, and is said", () => {
  async function three() {
    await open();
    await base();
    for (const key of ["k1", "k2", "k3"]) await moment(key);
    return segments().map((name) => at(`to/${name}`)) as [string, string, string];
  }

  test("torn", async () => {
    const [, second] = await three();
    truncateSync(second, 300);
    expect(await restore()).toMatchObject({ keys: "k1", reached: { problem: expect.stringContaining("is damaged") } });
  });

  test("missing", async () => {
    const [, second] = await three();
    rmSync(second);
    expect(await restore()).toMatchObject({ keys: "k1", reached: { problem: expect.stringContaining("Segment 2") } });
  });

  test("before a moment that is asked for: nothing is replaced, and the moment that can be reached is named", async () => {
    const [first, second] = await three();
    const now = tick();
    rmSync(second);
    const refused = await restore({ at: now }).catch(String);
    expect(refused).toContain("Segment 2 of the continuous copy is missing");
    expect(existsSync(at("new/berth.db"))).toBe(false);
    const [, reachable = ""] = /restore latest --at (\S+)$/.exec(String(refused)) ?? [];
    expect(await restore({ at: Date.parse(reachable) })).toMatchObject({ keys: "k1" });
    rmSync(first);
    await expect(restore({ at: now })).rejects.toThrow(/restore berth-\S+\.tar\.gz$/);
  });

  test("in the wrong order", async () => {
    const [, second, third] = await three();
    renameSync(second, at("swap"));
    renameSync(third, second);
    renameSync(at("swap"), third);
    expect(await restore()).toMatchObject({
      keys: "k1",
      reached: { problem: expect.stringContaining("another segment") },
    });
  });

  test("of another service, in place of one", async () => {
    const [first, second] = await three();
    copyFileSync(first, second);
    expect(await restore()).toMatchObject({
      keys: "k1",
      reached: { problem: expect.stringContaining("another segment") },
    });
  });

  test("changed by a bit", async () => {
    const [, , third] = await three();
    const bytes = readFileSync(third);
    bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 1;
    writeFileSync(third, bytes);
    expect(await restore()).toMatchObject({
      keys: "k1 k2",
      reached: { problem: expect.stringContaining("is damaged") },
    });
  });

  test("stored by a process that was killed before it noted that: the next one takes its place", async () => {
    await open();
    await base();
    const state = join(copyFolderOf(file()), "state.json");
    copyFileSync(state, at("before.json"));
    await moment("k1");
    copyFileSync(at("before.json"), state);
    await openCopy();
    await moment("k2");
    expect(segments().length).toBe(2);
    expect((await restore()).keys).toBe("k1 k2");
    await moment("k3");
    expect(segments().length).toBe(2);
    expect((await restore()).keys).toBe("k1 k2 k3");
  });
});

test("encrypted segments in a bucket open only with the key", async () => {
  const env = { ...s3.env, BACKUP_ENCRYPT_TO: recipient };
  await open(env);
  await base(env);
  await moment("k1");
  await expect(restore({}, env)).rejects.toThrow("--identity FILE");
  expect((await restore({ identityFile: at("key.txt") }, env)).keys).toBe("k1");
  const stored = readdirSync(s3.folder, { recursive: true, encoding: "utf8" }).filter((one) =>
    /berth-log-.*object$/.test(one),
  );
  for (const name of stored) expect(readFileSync(join(s3.folder, name), "latin1")).toStartWith("age-encryption.org/v1");
});

test("segments are packed, so that a place has few files, and the way through a pack is the same", async () => {
  await open();
  await base();
  let middle = 0;
  for (let n = 0; n <= PACKED_FROM; n++) {
    const now = await moment(`k${String(n).padStart(3, "0")}`);
    if (n === 50) middle = now;
  }
  expect(segments().map(isPackName)).toEqual([true, false]);
  expect((await restore({ at: middle })).keys.split(" ").length).toBe(51);
  expect((await restore()).keys.split(" ").length).toBe(PACKED_FROM + 1);
});

test("segments go with the oldest backup on top of which they could be put; the moments that are left are listed", async () => {
  await open();
  await base();
  const now = await moment("k1");
  const later = { BACKUP_KEEP: "1" };
  const storage = openStorage(configOf());
  const [span] = await restorableMoments(storage, await listBackups(storage));
  expect(span?.to).toBeLessThanOrEqual(now);
  expect(span?.from).toBeLessThan(span?.to ?? 0);
  await makeBackup(configOf(later), { now: Date.now() + 2 * HOUR });
  expect(segments()).toEqual([]);
});

test("a full disk is named, and the next step makes up for it", async () => {
  mkdirSync(at("to"));
  // Only root may mount a file system of its own.
  const path = { PATH: process.env.PATH ?? "" };
  const mounted = await run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", at("to")], path, "/");
  if (mounted.exitCode !== 0) return;
  try {
    await open();
    await base();
    await moment("k1");
    expect(() => writeFileSync(at("to/fill"), Buffer.alloc(2_000_000))).toThrow("ENOSPC");
    await write("k2");
    await expect(copy.step()).rejects.toThrow(`The disk of ${at("to")} is full`);
    expect((await restore()).keys).toBe("k1");
    rmSync(at("to/fill"));
    await moment("k3");
    expect((await restore()).keys).toBe("k1 k2 k3");
  } finally {
    await close();
    await run(["umount", at("to")], path, "/");
  }
});

test("each cell has a chain of its own, and all are restored", async () => {
  const env = { CELLS: "2" };
  await placeMigratedDatabase(at("data/cells/1"));
  await open(env);
  const dataDir = at("data/cells/1");
  const databaseFile = join(dataDir, "berth.db");
  const other = await openDatabase({ url: `file:${databaseFile}`, dataDir, log: silent, keepLog: createLogKeeper });
  const remember = (key: string) => other.write([{ sql: "INSERT INTO meta VALUES (?, ?)", args: [key, "x"] }]);
  await remember("k0");
  const storage = openStorage(configOf(env));
  const otherCopy = await openCellCopy({ cell: 1, databaseFile, dataDir, storage, recipients: [] });
  await otherCopy.step();
  await base(env);
  await moment("k1");
  await remember("k2");
  await otherCopy.step();
  await other.close();
  expect((await restore({}, env)).keys).toBe("k1");
  expect(await withDatabase(at("new/cells/1"), ({ read }) => keysIn(read))).toEqual(["k0", "k2"]);
});
