// Tests that all copies of a log are equal, whatever is written, wherever an answer is lost or a process ends.
import { afterEach, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { silent } from "../../../tests/support/database.ts";
import { temporaryDir } from "../../../tests/support/process.ts";
import { WAL_SIZE_LIMIT_BYTES } from "../../kernel/database/connection.ts";
import { guard, type Statement } from "../../kernel/database/database.ts";
import { openFile, type StorageEngine } from "../../kernel/database/local-engine.ts";
import type { Outcome } from "../../kernel/database/write-queue.ts";
import { Moved } from "../engine.ts";
import { createMemoryLog, type MemoryLog } from "../memory-engine.ts";
import { catchUp } from "./catch-up.ts";
import { openCellLog } from "./cell-log.ts";
import { type Copy, CopyBroken, CopyUnwritable, openCopy } from "./copy.ts";
import { createReplicatedCommit } from "./replicated-commit.ts";

const SCHEMA = [
  "CREATE TABLE guard (ok INTEGER NOT NULL) STRICT",
  "CREATE TRIGGER guard_check BEFORE INSERT ON guard BEGIN SELECT CASE WHEN NEW.ok THEN RAISE(IGNORE) ELSE RAISE(ABORT, 'guard') END; END",
  "CREATE TABLE things (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT UNIQUE, count INTEGER NOT NULL CHECK (count < 9), bytes BLOB, ratio REAL) STRICT",
  "CREATE TABLE history (thing INTEGER NOT NULL REFERENCES things (id) ON DELETE CASCADE, was INTEGER) STRICT",
  "CREATE TRIGGER things_history AFTER UPDATE ON things BEGIN INSERT INTO history VALUES (OLD.id, OLD.count); END",
  "CREATE VIRTUAL TABLE words USING fts5(text)",
].map((sql): Statement => ({ sql, args: [] }));

const opened: { close(): Promise<void>; remove(): void }[] = [];
afterEach(async () => {
  for (const { close, remove } of opened.splice(0)) {
    await close();
    remove();
  }
});

function openStorage(options?: Parameters<typeof openFile>[3]): StorageEngine & { path: string } {
  const dir = temporaryDir();
  const path = join(dir.path, "cell.db");
  const storage = openFile(path, new Set(), silent, options);
  opened.push({ close: storage.close, remove: dir.remove });
  return { ...storage, path };
}

/** A copy that writes, as an owner does. */
async function openOwner(engine: MemoryLog, storage: StorageEngine = openStorage()) {
  const copy = await openCopy(storage, "test");
  const last = await follow(engine, copy);
  return { storage, copy, ...createReplicatedCommit(openCellLog(engine, last, new AbortController().signal), copy) };
}

const follow = (engine: MemoryLog, copy: Copy) => catchUp(engine, copy, new AbortController().signal);

async function openFollower(engine: MemoryLog, storage: StorageEngine = openStorage()) {
  const copy = await openCopy(storage, "test");
  await follow(engine, copy);
  return { storage, copy };
}

/** All tables. How full-text search arranges its index depends on which batches shared a transaction, and is left out. */
async function contentOf({ read }: Pick<StorageEngine, "read">) {
  const { rows } = await read(
    "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT IN ('log_progress', 'words_data', 'words_idx') ORDER BY name",
  );
  const tables = await Promise.all(
    rows.map(async ({ name }) => [name, (await read(`SELECT * FROM "${name}"`)).toJSON()]),
  );
  return JSON.stringify(tables);
}

/** A generator of pseudo-random numbers below `below` (mulberry32). */
function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

/** Batches of which many fail: by a guard, a constraint, a missing table, or a value that can't be bound. */
function randomBatch(below: (n: number) => number): Statement[] {
  const one = (): Statement => {
    const id = below(12);
    const name = `n${below(15)}`;
    switch (below(12)) {
      case 0:
        return { sql: "UPDATE things SET count = count + 1 WHERE id = ?", args: [id] };
      case 1:
        return guard("some");
      case 2:
        return { sql: "DELETE FROM things WHERE id = ?", args: [id] };
      case 3:
        return {
          sql: "INSERT INTO words VALUES (?)",
          args: [`${name} ä "quoted" \u2028 ${"long ".repeat(below(400))}`],
        };
      case 4:
        return { sql: "DELETE FROM words WHERE words MATCH ?", args: [name] };
      case 5:
        return { sql: "INSERT INTO history VALUES (?, ?)", args: [id, BigInt("9007199254740993")] };
      case 6:
        return {
          sql: "UPDATE things SET bytes = ?, ratio = ? WHERE name = ?",
          args: [new Uint8Array([id, 0, 255]), below(3) === 0 ? -0 : id / 7, name],
        };
      case 7:
        return { sql: "INSERT INTO nothing VALUES (1)", args: [] };
      case 8:
        return {
          sql: "INSERT INTO things (name, count) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET count = count + 1 RETURNING id",
          args: [name, below(9)],
        };
      case 9:
        return { sql: "INSERT INTO things (name, count) VALUES (?, 0)", args: [below(8) === 0 ? "a\0b" : name] };
      default:
        return { sql: "INSERT INTO things (name, count) VALUES (?, ?)", args: [name, below(10)] };
    }
  };
  return Array.from({ length: 1 + below(4) }, one);
}

describe.each([1, 2, 3, 4, 5, 6])("copies of random writes (seed %d)", (seed) => {
  test("are equal, with the same outcomes as on a file alone", async () => {
    const below = random(seed);
    const engine = createMemoryLog();
    const owner = await openOwner(engine);
    const alone = openStorage();
    await owner.commitLong(SCHEMA);
    await alone.commitLong(SCHEMA);
    for (let round = 0; round < 60; round++) {
      const batches = Array.from({ length: 1 + below(20) }, () => randomBatch(below));
      const outcomes = [...(await owner.commit(batches))];
      const expected: Outcome[] = [];
      while (expected.length < batches.length) expected.push(...(await alone.commit(batches.slice(expected.length))));
      expect(batches.map((batch, n) => shown(batch, outcomes[n]))).toEqual(
        batches.map((batch, n) => shown(batch, expected[n])),
      );
    }
    const follower = await openFollower(engine);
    expect(await contentOf(follower.storage)).toBe(await contentOf(alone));
    expect(await contentOf(owner.storage)).toBe(await contentOf(alone));
    expect(follower.copy.progress).toEqual(owner.copy.progress);
  });

  test("are equal though answers and requests are lost, and writers take turns", async () => {
    const below = random(seed * 100);
    const engine = createMemoryLog();
    const storages = [openStorage(), openStorage()] as const;
    let writer = await openOwner(engine, storages[0]);
    await writer.commitLong(SCHEMA);
    engine.fault = () => (["answer-lost", "request-lost", "none", "none", "none", "none"] as const)[below(6)] ?? "none";
    let written = 0;
    for (let round = 0; round < 20; round++) {
      if (below(4) === 0) writer = await openOwner(engine, storages[round % 2]);
      written += [...(await writer.commit([randomBatch(below), randomBatch(below)]))].length;
    }
    expect(written).toBe(40);
    const [first, second] = [await openFollower(engine, storages[0]), await openFollower(engine, storages[1])];
    expect(await contentOf(first.storage)).toBe(await contentOf(second.storage));
  });
});

/** What became of a batch. An update reports the row that was inserted last, by whomever; a value that can't be bound fails first. */
function shown(batch: readonly Statement[], outcome: Outcome | undefined) {
  if (!outcome) return "nothing";
  if ("error" in outcome) return batch.some(({ args }) => args.includes("a\0b")) ? "error" : String(outcome.error);
  return outcome.results.map((result, n) => ({
    ...result,
    rows: JSON.stringify(result.rows),
    lastInsertRowid: batch[n]?.sql.startsWith("INSERT") ? result.lastInsertRowid : undefined,
  }));
}

const insert = (name: string): Statement => ({ sql: "INSERT INTO things (name, count) VALUES (?, 0)", args: [name] });

test("who was replaced writes nothing more", async () => {
  const engine = createMemoryLog();
  const first = await openOwner(engine);
  await first.commitLong(SCHEMA);
  const second = await openOwner(engine);
  await second.commit([[insert("second")]]);
  await expect(first.commit([[insert("first")]]) as Promise<unknown>).rejects.toThrow(Moved);
  expect((await first.storage.read("SELECT count(*) AS n FROM things")).rows[0]?.n).toBe(0);
});

test("a copy that was changed by hand is noticed", async () => {
  const engine = createMemoryLog();
  const owner = await openOwner(engine);
  await owner.commitLong(SCHEMA);
  await owner.commit([[insert("a")]]);
  const follower = await openFollower(engine);
  await follower.storage.commit([[{ sql: "DELETE FROM things", args: [] }]]);
  await owner.commit([[{ sql: "UPDATE things SET count = 1", args: [] }]]);
  await owner.commit([[insert("b")]]);
  await expect(follow(engine, follower.copy)).rejects.toThrow(CopyBroken);
});

test("a large batch is in several messages, and without its last one it was never written", async () => {
  const engine = createMemoryLog();
  const owner = await openOwner(engine);
  await owner.commitLong(SCHEMA);
  const large = (): Statement => ({
    sql: "INSERT INTO things (name, count, bytes) VALUES (?, 0, ?)",
    args: [crypto.randomUUID(), crypto.getRandomValues(new Uint8Array(50_000))],
  });
  const batch = Array.from({ length: 40 }, large);
  await owner.commit([batch]);
  const { last } = await engine.bounds();
  expect(last).toBeGreaterThan(4);
  let sent = 0;
  engine.fault = () => {
    if (++sent > 2) throw new Error("The process ended.");
    return "none";
  };
  await expect(owner.commit([batch.map(large)]) as Promise<unknown>).rejects.toThrow("The process ended");
  engine.fault = () => "none";
  const next = await openOwner(engine);
  await next.commit([[insert("after")]]);
  const { rows } = await next.storage.read("SELECT count(*) AS n FROM things");
  expect(rows[0]?.n).toBe(41);
  expect(await contentOf((await openFollower(engine)).storage)).toBe(await contentOf(next.storage));
});

test("an entry whose writer died in the middle of applying it is applied to its end, once", async () => {
  const engine = createMemoryLog();
  const owner = await openOwner(engine);
  await owner.commitLong(SCHEMA);
  const batches = Array.from({ length: 30 }, (_, n) => [
    insert(`n${n}`),
    { sql: "INSERT INTO words VALUES (?)", args: ["x".repeat(60_000)] },
  ]);
  let commits = 0;
  const dying: StorageEngine = {
    ...owner.storage,
    commit: (all, note) => {
      if (++commits > 3) throw new Error("The process ended.");
      return owner.storage.commit(all.slice(0, 4), note);
    },
  };
  const copy = await openCopy(dying, "test");
  const log = openCellLog(engine, owner.copy.progress.number, new AbortController().signal);
  await expect(createReplicatedCommit(log, copy).commit(batches) as Promise<unknown>).rejects.toThrow("process ended");
  const applied = Number((await owner.storage.read("SELECT count(*) AS n FROM things")).rows[0]?.n);
  expect(applied).toBeGreaterThan(0);
  expect(applied).toBeLessThan(30);
  const again = await openOwner(engine, owner.storage);
  expect((await again.storage.read("SELECT count(*) AS n FROM things")).rows[0]?.n).toBe(30);
  await again.commit([[insert("after")]]);
  const follower = await openFollower(engine);
  expect(await contentOf(follower.storage)).toBe(await contentOf(again.storage));
  expect(follower.copy.progress).toEqual(again.copy.progress);
});

describe("a copy whose file can't be written", () => {
  const count = async ({ read }: StorageEngine) => (await read("SELECT count(*) AS n FROM things")).rows[0]?.n;

  /** A log with three things, of which the copy has one. */
  async function startBehind() {
    const engine = createMemoryLog();
    const owner = await openOwner(engine);
    await owner.commitLong(SCHEMA);
    await owner.commit([[insert("a")]]);
    const follower = await openFollower(engine);
    await owner.commit([[insert("b".repeat(200_000))], [insert("b")]]);
    return { engine, owner, ...follower };
  }

  test("because the disk is full goes on where it was once there is room", async () => {
    const { engine, owner, storage, copy } = await startBehind();
    const limit = async (sql: string) => (await storage.commit([[{ sql, args: [] }]])).length;
    await limit("PRAGMA max_page_count = 1");
    const before = copy.progress;
    await expect(follow(engine, copy)).rejects.toThrow(CopyUnwritable);
    expect(copy.progress).toEqual(before);
    expect(await count(storage)).toBe(1);
    await limit("PRAGMA max_page_count = 1000000");
    await follow(engine, copy);
    expect(await contentOf(storage)).toBe(await contentOf(owner.storage));
  });

  test.each(["SQLITE_NOMEM", "SQLITE_IOERR_NOMEM", "SQLITE_INTERRUPT"])(
    "for %s does not take that for what became of the batch",
    async (code) => {
      const { engine, owner, storage, copy } = await startBehind();
      const error = Object.assign(new Error("It failed here."), { code });
      let isShort = true;
      const short: StorageEngine = {
        ...storage,
        commit(batches, note) {
          if (!isShort) return storage.commit(batches, note);
          // As if the transaction had failed at its end.
          note?.(batches.map(() => ({ results: [] })));
          return batches.map(() => ({ error }));
        },
      };
      isShort = false;
      const again = await openCopy(short, "test");
      isShort = true;
      await expect(follow(engine, again)).rejects.toThrow(CopyUnwritable);
      expect(again.progress).toEqual(copy.progress);
      isShort = false;
      await follow(engine, again);
      expect(await contentOf(storage)).toBe(await contentOf(owner.storage));
    },
  );

  test("because it is damaged has to be made anew", async () => {
    const { engine, storage } = await startBehind();
    const error = Object.assign(new Error("It is damaged."), { code: "SQLITE_CORRUPT" });
    let isDamaged = false;
    const damaged: StorageEngine = {
      ...storage,
      commit: (batches, note) => (isDamaged ? batches.map(() => ({ error })) : storage.commit(batches, note)),
    };
    const copy = await openCopy(damaged, "test");
    isDamaged = true;
    await expect(follow(engine, copy)).rejects.toThrow(CopyBroken);
  });
});

test("a copy that follows writes its file's log into the file, and leaves none of it to a takeover", async () => {
  const engine = createMemoryLog();
  const { commit } = await openOwner(engine);
  const meta = "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID";
  await commit([[{ sql: meta, args: [] }], [{ sql: "CREATE TABLE blobs (bytes BLOB)", args: [] }]]);
  const insert = { sql: "INSERT INTO blobs VALUES (zeroblob(?))", args: [1024 * 1024] };
  for (let mib = 0; mib <= WAL_SIZE_LIMIT_BYTES; mib += 1024 * 1024) await commit([[insert]]);
  const { promise: checkpointed, resolve } = Promise.withResolvers<number>();
  const { storage } = await openFollower(engine, openStorage({ onCheckpoint: resolve }));
  expect(await checkpointed).toBePositive();
  // Written once the log has begun anew.
  expect((await storage.read("SELECT key FROM meta")).rows.map(({ key }) => key)).toEqual(["log_started"]);
});
