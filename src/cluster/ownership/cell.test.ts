// Tests who owns a cell over several nodes of one process, on an engine in memory: nothing that was acknowledged is lost, nothing
// is written twice, and of two nodes that both believe to own it, one writes.
import { afterEach, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { silent } from "../../../tests/support/database.ts";
import { eventually } from "../../../tests/support/eventually.ts";
import { temporaryDir } from "../../../tests/support/process.ts";
import { type Database, openDatabase } from "../../kernel/database/database.ts";
import type { StorageEngine } from "../../kernel/database/local-engine.ts";
import { AppError } from "../../kernel/errors.ts";
import type { LogFields } from "../../kernel/telemetry/log.ts";
import { createMemoryEngine } from "../memory-engine.ts";
import { createFileRenewal } from "../snapshot/file-renewal.ts";
import { createSnapshots } from "../snapshot/snapshots.ts";
import { type Cell, createCell } from "./cell.ts";
import { watchCells } from "./cell-table.ts";
import { startFollower } from "./follower.ts";
import { createLease, type NodeState } from "./lease.ts";
import type { Replicate } from "./writing.ts";

/** Twenty times as fast as real ones. */
const TIMES = { renewMs: 50, deadMs: 200, trustMs: 150 };
const migrations = [
  {
    name: "0001_notes",
    sql: "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT) STRICT; CREATE TABLE notes (text TEXT NOT NULL) STRICT;",
  },
];
const knownMigrations = new Set(migrations.map(({ name }) => name));

const started: { end(): Promise<void> }[] = [];
afterEach(async () => {
  for (const { end } of started.splice(0)) await end();
});

async function startNode(cluster: ReturnType<typeof createMemoryEngine>, number: number) {
  const dir = temporaryDir();
  const file = join(dir.path, "berth.db");
  const engine = cluster.connect();
  const self = { address: `http://node-${number}`, instance: crypto.randomUUID() };
  const wishes: { wanted: string | undefined; isDraining: boolean } = { wanted: undefined, isDraining: false };
  const warnings: LogFields[] = [];
  let canOpen = true;
  /** Cells that are opened don't get further than to their database. */
  let held: { begun: PromiseWithResolvers<Database>; released: PromiseWithResolvers<void> } | undefined;
  let storage: StorageEngine | undefined;
  let database: Database | undefined;
  let cell: Cell | undefined;
  const state = (): NodeState => ({
    ...self,
    version: "1",
    at: Date.now(),
    isDraining: wishes.isDraining,
    copies: cell && !cell.isStuck ? { 0: cell.number } : {},
    load: { agents: 0, turnsPerSecond: 0 },
  });
  const wake = () => cell?.wake();
  const snapshots = createSnapshots({ blobs: await engine.blobs("snapshots"), cell: 0, knownMigrations });
  const lease = createLease({
    table: await engine.table("nodes"),
    state,
    onChange: wake,
    onError: () => undefined,
    times: TIMES,
  });
  const cells = watchCells({
    ...{ table: await engine.table("cells"), cluster: "test", onChange: wake, onError: () => undefined, retryMs: 50 },
  });
  cell = createCell({
    cell: 0,
    count: () => 1,
    self,
    engine: await engine.log(0),
    cells,
    lease,
    log: { ...silent, warn: (_, fields) => void (fields?.inMs !== undefined && warnings.push(fields)) },
    graceMs: 100,
    number: 0,
    ...{ findMs: 40, lookMs: 200, sureMs: 100 },
    cluster: "test",
    file,
    snapshots,
    renew: createFileRenewal({ file, snapshots, log: silent }),
    wanted: () => wishes.wanted,
    isDraining: () => wishes.isDraining,
    onOwned: () => undefined,
    // As the node does, which wakes its cell at every change.
    onLost: wake,
    onLogLost: () => undefined,
    async open(replicate: Replicate) {
      if (!canOpen) throw new Error("The database is of a newer version.");
      const opened = await openDatabase({
        ...{ url: `file:${file}`, dataDir: dir.path, log: silent, migrations },
        replicate(opening) {
          storage = opening;
          return replicate(opening);
        },
      });
      database = opened;
      held?.begun.resolve(opened);
      await held?.released.promise;
      return {
        async close() {
          if (database === opened) database = undefined;
          await opened.close();
        },
      };
    },
    follow: async (onBroken) =>
      startFollower({
        engine: await engine.log(0),
        file,
        cluster: "test",
        knownMigrations,
        log: silent,
        onBroken,
        retryMs: 20,
      }),
  });
  const node = {
    number,
    engine,
    lease,
    wishes,
    warnings,
    set canOpen(can: boolean) {
      canOpen = can;
    },
    holdOpening() {
      const [begun, released] = [Promise.withResolvers<Database>(), Promise.withResolvers<void>()];
      held = { begun, released };
      return {
        begun: begun.promise,
        release() {
          held = undefined;
          released.resolve();
        },
      };
    },
    get phase() {
      return cell?.phase;
    },
    get database() {
      return database;
    },
    /** What the others see of its copy. */
    copy: () => state().copies[0],
    /** Its file can't grow any more. */
    fillDisk: async () => void (await storage?.commit([[{ sql: "PRAGMA max_page_count = 1", args: [] }]])),
    takeSnapshot: () => snapshots.take(file),
    write: async (text: string) => {
      if (!database) throw new Error("This node does not own the cell.");
      await database.write([{ sql: "INSERT INTO notes VALUES (?)", args: [text] }]);
    },
    read: async () =>
      (await database?.read("SELECT text FROM notes ORDER BY rowid"))?.rows.map(({ text }) => String(text)),
    setAside: () => existsSync(`${file}.diverged`),
    /** Gives its cells up, then ends. */
    async stop() {
      await cell?.stop();
      await lease.stop();
      cells.stop();
    },
    async end() {
      engine.isAway = false;
      engine.isSilent = false;
      await node.stop();
      dir.remove();
    },
  };
  started.push(node);
  return node;
}
type Node = Awaited<ReturnType<typeof startNode>>;

const ownerOf = (nodes: readonly Node[]) =>
  eventually(() => nodes.find(({ phase, engine }) => phase === "owning" && !engine.isAway), {
    what: "a node owns the cell",
  });

/**
 * The owner that has written it. On a busy machine a lease of a sixth of a second runs out between two writes: then the write is refused
 * with `CELL_MOVED`, and may have been written all the same, so a caller looks before it writes again.
 */
async function writtenBy(nodes: readonly Node[], text: string): Promise<Node> {
  for (;;) {
    const owner = await ownerOf(nodes);
    try {
      if (!(await owner.read())?.includes(text)) await owner.write(text);
      if ((await owner.read())?.includes(text)) return owner;
    } catch (error) {
      if (owner.database && !(error instanceof AppError && error.code === "CELL_MOVED")) throw error;
    }
  }
}

describe("a cell", () => {
  test("is owned by one node and followed by another, which takes over with all that was written", async () => {
    const cluster = createMemoryEngine();
    const nodes = [await startNode(cluster, 1), await startNode(cluster, 2), await startNode(cluster, 3)];
    const notes = Array.from({ length: 20 }, (_, n) => `note ${n}`);
    for (const note of notes) await writtenBy(nodes, note);
    await eventually(() => nodes.some(({ phase }) => phase === "following"));
    expect(nodes.filter(({ phase }) => phase === "owning").length).toBeLessThan(2);
    const first = await ownerOf(nodes);
    first.engine.isAway = true;
    const others = nodes.filter((node) => node !== first);
    expect(await (await ownerOf(others)).read()).toEqual(notes);
    await writtenBy(others, "after");
    // Who was cut off is back, and follows.
    first.engine.isAway = false;
    await eventually(() => nodes.some(({ phase }) => phase === "following"));
    expect(await (await writtenBy(nodes, "and later")).read()).toEqual([...notes, "after", "and later"]);
  });

  test("is handed over when its owner stops, with what it has written last", async () => {
    const cluster = createMemoryEngine();
    const nodes = [await startNode(cluster, 1), await startNode(cluster, 2)];
    const first = await ownerOf(nodes);
    const second = nodes.find((node) => node !== first) as Node;
    await eventually(() => second.phase === "following");
    await first.write("the last word");
    const began = performance.now();
    await first.stop();
    await ownerOf([second]);
    expect(performance.now() - began).toBeLessThan(1_000);
    expect(await second.read()).toEqual(["the last word"]);
  });

  test("goes back to the node that follows if the one that it was moved to can't open it", async () => {
    const cluster = createMemoryEngine();
    const nodes = [await startNode(cluster, 1), await startNode(cluster, 2)];
    const first = await ownerOf(nodes);
    const second = nodes.find((node) => node !== first) as Node;
    await eventually(() => second.phase === "following");
    await first.write("before");
    second.canOpen = false;
    first.wishes.wanted = `http://node-${second.number}`;
    await eventually(() => first.phase !== "owning");
    await ownerOf([first]);
    expect(await first.read()).toEqual(["before"]);
    // It stays, although the wish stands.
    await eventually(() => second.phase === "following");
    await first.write("after");
    expect(first.phase).toBe("owning");
  });

  test("goes to the node that follows when its owner's disk is full, and comes back with the file that was there", async () => {
    const cluster = createMemoryEngine();
    const nodes = [await startNode(cluster, 1), await startNode(cluster, 2)];
    const first = await ownerOf(nodes);
    const second = nodes.find((node) => node !== first) as Node;
    await eventually(() => second.phase === "following");
    await first.write("before");
    await first.takeSnapshot();
    await first.fillDisk();
    const large = "x".repeat(100_000);
    // It is in the log.
    await expect(first.write(large)).rejects.toMatchObject({ code: "RELAY_BROKEN" });
    await ownerOf([second]);
    expect(await second.read()).toEqual(["before", large]);
    await second.write("after");
    // There is room again, since the limit was that of the connection.
    await eventually(() => first.phase === "following" && first.copy() === second.copy());
    expect(first.setAside()).toBe(false);
  });

  test("is given up before the others may take it, also by an owner whose calls are never answered", async () => {
    const cluster = createMemoryEngine();
    const nodes = [await startNode(cluster, 1), await startNode(cluster, 2)];
    const first = await ownerOf(nodes);
    await eventually(() => nodes.some(({ phase }) => phase === "following"));
    const began = performance.now();
    first.engine.isSilent = true;
    await eventually(() => first.phase !== "owning", { everyMs: 1 });
    expect(performance.now() - began).toBeLessThan(TIMES.deadMs + TIMES.renewMs);
    expect(first.database).toBeUndefined();
  });

  test("that is being opened ends when the lease does: what has begun in it may begin elsewhere", async () => {
    const cluster = createMemoryEngine();
    const first = await startNode(cluster, 1);
    const end = first.holdOpening();
    const opening = await end.begun;
    first.engine.isSilent = true;
    const began = performance.now();
    await expect(opening.write([{ sql: "INSERT INTO notes VALUES ('late')", args: [] }])).rejects.toBeInstanceOf(
      AppError,
    );
    expect(performance.now() - began).toBeLessThan(TIMES.deadMs + TIMES.renewMs);
    end.release();
    first.engine.isSilent = false;
    // Although the opening has come to its end, with a database that can't write any more.
    await eventually(() => first.write("later").then(() => true));
  });

  test("is owned again after the engine has lost the table of cells, although no node was cut off", async () => {
    const cluster = createMemoryEngine();
    const nodes = [await startNode(cluster, 1), await startNode(cluster, 2)];
    const first = await ownerOf(nodes);
    await eventually(() => nodes.some(({ phase }) => phase === "following"));
    await first.write("before");
    // From then on, nothing but the table itself changes; what the nodes decide now ends within some turns of the event loop.
    await eventually(() => nodes.every(({ lease }) => lease.isSettled()));
    for (let turn = 0; turn < 100; turn++) await yieldToEventLoop();
    cluster.loseTable("cells");
    const table = await first.engine.table("cells");
    await eventually(async () => (await table.find("0")) !== undefined, { what: "a node claims the cell" });
    await eventually(() => nodes.some(({ phase }) => phase === "following"));
    expect(await (await ownerOf(nodes)).read()).toEqual(["before"]);
  });

  test("goes to where its operator wants it, and is drained although a former wish names a node that is gone", async () => {
    const cluster = createMemoryEngine();
    const nodes = [await startNode(cluster, 1), await startNode(cluster, 2)];
    const first = await ownerOf(nodes);
    const second = nodes.find((node) => node !== first);
    if (!second) throw new Error("There is no other node.");
    await eventually(() => second.phase === "following");
    await first.write("first");
    first.wishes.wanted = `http://node-${second.number}`;
    await eventually(() => second.phase === "owning", { what: "the cell moves" });
    await second.write("second");
    await eventually(() => first.phase === "following");
    second.wishes.wanted = "http://node-gone";
    second.wishes.isDraining = true;
    await eventually(() => first.phase === "owning", { what: "the node is drained" });
    expect(await first.read()).toEqual(["first", "second"]);
  });

  test("with one node goes on where it was, after the node was cut off", async () => {
    const cluster = createMemoryEngine();
    const only = await startNode(cluster, 1);
    await ownerOf([only]);
    await only.write("before");
    only.engine.isAway = true;
    await expect(only.write("lost, or not")).rejects.toMatchObject({ code: "RELAY_BROKEN" });
    await eventually(() => only.phase === "idle");
    only.engine.isAway = false;
    await ownerOf([only]);
    await only.write("after");
    expect((await only.read())?.filter((text) => text !== "lost, or not")).toEqual(["before", "after"]);
  });
});

describe("a node that can't follow", () => {
  /** The owner writes an entry that is damaged in the log, and which only it has. */
  async function startWithDamagedEntry() {
    const cluster = createMemoryEngine();
    const nodes = [await startNode(cluster, 1), await startNode(cluster, 2)];
    const owner = await ownerOf(nodes);
    const other = nodes.find((node) => node !== owner) as Node;
    await eventually(() => other.phase === "following");
    const log = cluster.logOf(0);
    log.fault = (bytes) => {
      log.fault = () => "none";
      bytes[9] = 99;
      return "none";
    };
    await owner.write("damaged");
    return { owner, other };
  }

  test("is no standby meanwhile, and follows again from a snapshot that has what it can't read", async () => {
    const { owner, other } = await startWithDamagedEntry();
    await eventually(() => other.phase === "idle" && other.copy() === undefined, { what: "it stops following" });
    await owner.write("after");
    await owner.takeSnapshot();
    await eventually(() => other.phase === "following" && other.copy() === owner.copy(), {
      what: "it follows again",
    });
    owner.engine.isAway = true;
    await ownerOf([other]);
    expect(await other.read()).toEqual(["damaged", "after"]);
  });

  test("tries again with longer and longer pauses, and says why", async () => {
    const { other } = await startWithDamagedEntry();
    await eventually(() => other.warnings.length >= 3, { what: "it has tried three times" });
    expect(other.warnings.map(({ inMs }) => inMs).slice(0, 3)).toEqual([500, 1000, 2000]);
    expect(String(other.warnings[0]?.error)).toContain("can't be read: An entry of the log has the unknown format 99");
    expect(other.copy()).toBeUndefined();
  });
});

describe("after the engine has lost all, an owner with less than a node that was away", () => {
  /** The first two nodes have notes, and are away; the engine has lost all, and a third node begins with an empty file. */
  async function startBehind(notes: readonly string[]) {
    const cluster = createMemoryEngine();
    const away = [await startNode(cluster, 1), await startNode(cluster, 2)];
    for (const note of notes) await writtenBy(away, note);
    const owner = await ownerOf(away);
    const other = away.find((node) => node !== owner) as Node;
    await eventually(() => other.phase === "following" && other.copy() === owner.copy());
    for (const node of away) node.engine.isAway = true;
    await eventually(() => away.every(({ phase }) => phase !== "owning"));
    cluster.logOf(0).lose();
    for (const table of ["cells", "nodes"]) cluster.loseTable(table);
    const late = await startNode(cluster, 3);
    await ownerOf([late]);
    return {
      late,
      away,
      comeBack() {
        for (const node of away) node.engine.isAway = false;
      },
    };
  }
  const notes = Array.from({ length: 20 }, (_, n) => `note ${n}`);

  test("gives it the cell, if it has written less since than is missing", async () => {
    const { late, away, comeBack } = await startBehind(notes);
    await late.write("few");
    comeBack();
    const owner = await ownerOf(away);
    expect(await owner.read()).toEqual(notes);
  });

  test("goes on otherwise, and another node sets its file aside and follows", async () => {
    const { late, away, comeBack } = await startBehind(notes);
    const more = Array.from({ length: 15 }, (_, n) => `more ${n}`);
    for (const note of more) await late.write(note);
    await late.takeSnapshot();
    comeBack();
    // With leases of a sixth of a second, a busy machine may give the cell to either side; it never mixes them, and both go on.
    const all = [late, ...away];
    await eventually(async () => {
      const owner = all.find(({ phase }) => phase === "owning");
      return all.some((node) => node.phase === "following" && node.copy() === owner?.copy());
    });
    expect([more, notes]).toContainEqual((await (await ownerOf(all)).read()) ?? []);
    expect(all.some((node) => node.setAside())).toBe(true);
  });
});

test("an owner that writes nothing notices that the engine has lost the end of its log, before it dies with it", async () => {
  const cluster = createMemoryEngine();
  const nodes = [await startNode(cluster, 1), await startNode(cluster, 2)];
  const owner = await writtenBy(nodes, "a");
  await owner.write("b");
  const log = cluster.logOf(0);
  const { last } = await log.bounds();
  log.cut(last - 1);
  await eventually(async () => (await log.bounds()).last > last, { what: "the log begins anew behind its end" });
  expect(await (await ownerOf(nodes)).read()).toEqual(["a", "b"]);
});

/** Writes numbers as fast as they are acknowledged, at whoever believes to own the cell, also a node that is cut off. */
function startWriting(nodes: readonly Node[]) {
  const acknowledged: number[] = [];
  const doubtful: number[] = [];
  let next = 0;
  let isOver = false;
  const writing = (async () => {
    while (!isOver) {
      const number = next++;
      const owners = nodes.filter(({ database }) => database !== undefined);
      const owner = owners[number % Math.max(1, owners.length)];
      if (!owner) {
        await Bun.sleep(5);
        continue;
      }
      await owner.write(String(number)).then(
        () => acknowledged.push(number),
        () => doubtful.push(number),
      );
    }
  })();
  return {
    acknowledged,
    /** Expects every acknowledged number once, in order, and none that was not written. */
    async end() {
      isOver = true;
      await writing;
      const owner = await ownerOf(nodes);
      await eventually(() => owner.write("end").then(() => true));
      const found = ((await owner.read()) ?? []).filter((text) => text !== "end").map(Number);
      expect(new Set(found).size).toBe(found.length);
      expect(acknowledged.filter((number) => !found.includes(number))).toEqual([]);
      expect(found.filter((number) => !acknowledged.includes(number) && !doubtful.includes(number))).toEqual([]);
      expect(found).toEqual(found.toSorted((a, b) => a - b));
    },
  };
}

test("through cuts at random, every acknowledged write is there once, in the order of its writer", async () => {
  const cluster = createMemoryEngine();
  const nodes = [await startNode(cluster, 1), await startNode(cluster, 2), await startNode(cluster, 3)];
  const { acknowledged, end } = startWriting(nodes);
  for (let round = 0; round < 8; round++) {
    const owner = await ownerOf(nodes);
    await eventually(() => acknowledged.length > round * 5);
    owner.engine.isAway = true;
    await ownerOf(nodes.filter((node) => node !== owner));
    owner.engine.isAway = false;
  }
  await end();
  expect(acknowledged.length).toBeGreaterThan(35);
});

test("through losses of all that the engine has, every acknowledged write is there once", async () => {
  const cluster = createMemoryEngine();
  const nodes = [await startNode(cluster, 1), await startNode(cluster, 2), await startNode(cluster, 3)];
  const { acknowledged, end } = startWriting(nodes);
  for (let round = 0; round < 8; round++) {
    await ownerOf(nodes);
    const before = acknowledged.length;
    await eventually(() => acknowledged.length > before + 20, { what: "writes are acknowledged" });
    await eventually(() => nodes.some(({ phase }) => phase === "following"));
    cluster.logOf(0).lose();
    cluster.loseTable("cells");
    cluster.loseTable("nodes");
  }
  await end();
});
