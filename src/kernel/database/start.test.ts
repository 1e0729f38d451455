// Tests starts on an unusable database: an error of one line, and nothing changed on disk.

import { afterEach, beforeEach, expect, test } from "bun:test";
import { copyFileSync, mkdirSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { Glob } from "bun";
import Libsql from "libsql";
import { migrations } from "../../../migrations/index.ts";
import { silent } from "../../../tests/support/database.ts";
import { bun, launch, temporaryDir } from "../../../tests/support/process.ts";
import { startErrorOf } from "../../../tests/support/rejection.ts";
import { openDatabase } from "./database.ts";
import { localDatabasePath } from "./database-path.ts";
import { splitStatements } from "./sql-splitter.ts";

let dir: ReturnType<typeof temporaryDir>;
let file: string;
const open = (manifest = migrations) =>
  openDatabase({ url: `file:${file}`, dataDir: dir.path, log: silent, migrations: manifest });
/** Returns every file of the folder with its content. */
const snapshot = (folder = dirname(file)) =>
  readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => name)
    .sort()
    .map((name) => [name, Bun.hash(readFileSync(join(folder, name))).toString()]);
beforeEach(() => {
  dir = temporaryDir();
  file = join(dir.path, "berth.db");
});
afterEach(() => dir.remove());

test("every migration on disk is in the manifest, in order", async () => {
  const folder = join(import.meta.dir, "../../../migrations");
  const names = [...new Glob("*.sql").scanSync(folder)].map((name) => basename(name, ".sql")).sort();
  expect(migrations.map((migration) => migration.name)).toEqual(names);
  for (const { name, sql } of migrations)
    expect([name, sql]).toEqual([name, readFileSync(join(folder, `${name}.sql`), "utf8")]);
});

test("missing migrations are applied, each once and completely", async () => {
  const step = (name: string, sql: string) => ({ name, sql });
  const one = step("0001_one", "CREATE TABLE one (a TEXT) STRICT; INSERT INTO one VALUES ('x;y');");
  const two = step("0002_two", "CREATE TABLE two (a TEXT) STRICT;");
  const between = step("0001_zwischen", "INSERT INTO one VALUES ('z');");
  await (await open([one, two])).close();
  const database = await open([one, between, two]);
  expect((await database.read("SELECT a FROM one")).rows.map((row) => row.a)).toEqual(["x;y", "z"]);
  await database.close();

  const broken = step("0003_broken", "CREATE TABLE three (a TEXT) STRICT; INSERT INTO nowhere VALUES (1);");
  await expect(open([one, between, two, broken])).rejects.toThrow("nowhere");
  const again = await open([one, between, two]);
  const { rows } = await again.read("SELECT name FROM sqlite_schema WHERE name = 'three'");
  expect(rows).toEqual([]);
  await again.close();
});

test("an empty database gets all migrations at once, or none", async () => {
  const one = { name: "0001_one", sql: "CREATE TABLE one (a TEXT) STRICT;" };
  const broken = { name: "0002_broken", sql: "INSERT INTO nowhere VALUES (1);" };
  await expect(open([one, broken])).rejects.toThrow("nowhere");
  const database = await open([one]);
  expect((await database.read("SELECT name FROM migrations")).rows.map(({ name }) => name)).toEqual(["0001_one"]);
  await database.close();
});

test("a script is split at the semicolons between its statements", () => {
  const script = `-- first; comment
    CREATE TABLE "a;b" (c TEXT DEFAULT ';' /* ; */, d TEXT DEFAULT 'it''s; -- no comment');
    CREATE TEMP TRIGGER t AFTER INSERT ON x WHEN NEW.c = CASE WHEN 1 THEN 2 END BEGIN
      UPDATE x SET c = CASE c WHEN ';' THEN 1 ELSE 2 END; -- inside
      SELECT CASE WHEN NEW.c THEN RAISE(IGNORE) END;
    END;
    ;
    SELECT 1 AS [end;], 2 AS \`begin;\``;
  const statements = splitStatements(script);
  expect(statements).toHaveLength(3);
  expect(statements[0]).toStartWith('CREATE TABLE "a;b"');
  expect(statements[0]).toContain("'it''s; -- no comment'");
  expect(statements[1]).toEndWith("END");
  expect(statements[2]).toBe("SELECT 1 AS [end;], 2 AS `begin;`");
  expect(statements.join()).not.toMatch(/first|inside/);
});

test("a damaged database is refused and not changed", async () => {
  await (await open()).close();
  const good = readFileSync(file);
  const home = dir.path;
  const damages: [string, () => void][] = [
    ["garbage", () => writeFileSync(file, "this is not a database".repeat(500))],
    ["short", () => writeFileSync(file, "SQLite format 3\0")],
    ["cut off", () => truncateSync(file, good.length - 4096)],
    ["a page overwritten", () => writeFileSync(file, Buffer.from(good).fill(0x5a, 4096 * 2, 4096 * 4))],
    ["the schema overwritten", () => writeFileSync(file, Buffer.from(good).fill(0x5a, 200, 4096))],
  ];
  for (const [what, damage] of damages) {
    // Each in its own folder, since SQLite caches facts about a file within a process.
    file = join(home, what, "berth.db");
    mkdirSync(join(home, what));
    writeFileSync(file, good);
    damage();
    const before = snapshot();
    expect([what, await startErrorOf(open())]).toEqual([what, expect.stringMatching(/damaged .*berth restore/)]);
    expect([what, snapshot()]).toEqual([what, before]);
  }
});

test("a database of another program is refused and not changed", async () => {
  const other = new Libsql(file);
  other.exec("CREATE TABLE photos (id INTEGER)");
  other.close();
  const before = snapshot();
  expect(await startErrorOf(open())).toContain("another program");
  expect(snapshot()).toEqual(before);
});

test("a newer database is refused and not changed, also with a log left by a crash", async () => {
  const future = [...migrations, { name: "9999_future", sql: "CREATE TABLE future (a TEXT) STRICT" }];
  const database = await open(future);
  const crashed = join(dir.path, "crashed");
  mkdirSync(crashed);
  for (const suffix of ["", "-wal"]) copyFileSync(file + suffix, join(crashed, `berth.db${suffix}`));
  await database.close();
  const before = snapshot();
  expect(await startErrorOf(open())).toMatch(/newer version.*9999_future/);
  expect(snapshot()).toEqual(before);

  file = join(crashed, "berth.db");
  const left = snapshot();
  expect(await startErrorOf(open())).toMatch(/newer version.*9999_future/);
  expect(snapshot()).toMatchObject([left[0], ["berth.db-shm", expect.any(String)], left[1]]);
});

test("a folder that can't be written is refused", async () => {
  writeFileSync(join(dir.path, "plain"), "");
  const dataDir = join(dir.path, "plain/data");
  expect(await startErrorOf(openDatabase({ url: `file:${dataDir}/berth.db`, dataDir, log: silent }))).toContain(
    "can't be written",
  );
});

test("a second process is refused with advice, and kill -9 releases the database", async () => {
  const script = `
    import { openDatabase } from ${JSON.stringify(join(import.meta.dir, "database.ts"))};
    import { createLog } from ${JSON.stringify(join(import.meta.dir, "../telemetry/log.ts"))};
    const log = createLog({ level: "silent", format: "json" });
    const database = await openDatabase({ url: ${JSON.stringify(`file:${file}`)}, dataDir: ${JSON.stringify(dir.path)}, log });
    await database.write([{ sql: "INSERT INTO meta VALUES ('from', 'child')", args: [] }]);
    console.log("ready");
    setInterval(() => database.ready(), 1000);`;
  writeFileSync(join(dir.path, "serve.ts"), script);
  const child = launch({ command: [bun, join(dir.path, "serve.ts")], env: {}, dir: dir.path });
  await child.ready();
  expect(await startErrorOf(open())).toMatch(/Another process.*Stop it first/);
  child.signal("SIGKILL");
  await child.exited;

  const database = await open();
  expect((await database.read("SELECT value FROM meta")).rows[0]?.value).toBe("child");
  expect(await startErrorOf(open())).toContain("Another process");
  await database.close();
  await (await open()).close();
});

test("only the owner can read the file, and the durable settings are in force", async () => {
  const database = await open();
  const pragma = async (name: string) => (await database.read(`PRAGMA ${name}`)).rows[0]?.[0];
  expect(await pragma("journal_mode")).toBe("wal");
  expect(await pragma("synchronous")).toBe(1);
  expect(await pragma("foreign_keys")).toBe(1);
  for (const suffix of ["", "-wal", "-shm"]) expect(statSync(file + suffix).mode & 0o077).toBe(0);
  await database.close();
  await expect(database.write([{ sql: "DELETE FROM meta", args: [] }])).rejects.toMatchObject({ status: 503 });
});

test("writes before close are stored, even if they were not awaited", async () => {
  const database = await open();
  const writes = Array.from({ length: 700 }, (_, n) =>
    database.write([{ sql: "INSERT INTO meta VALUES (?, '')", args: [`k${n}`] }]),
  );
  await database.close();
  await Promise.all(writes);
  const again = await open();
  expect((await again.read("SELECT count(*) AS n FROM meta")).rows[0]?.n).toBe(700);
  await again.close();
});

test("a full disk is a 503, loses nothing, and writes work again afterwards", async () => {
  const database = await open();
  const fill = (key: string) => ({ sql: "INSERT INTO meta VALUES (?, hex(zeroblob(200000)))", args: [key] });
  await database.write([fill("before")]);
  const pages = Number((await database.read("PRAGMA page_count")).rows[0]?.[0]);
  await database.read(`PRAGMA max_page_count = ${pages + 5}`);
  const outcomes = await Promise.allSettled([database.write([fill("a")]), database.write([fill("b"), fill("c")])]);
  for (const outcome of outcomes) {
    expect(outcome).toMatchObject({ status: "rejected", reason: { status: 503, code: "STORAGE_UNAVAILABLE" } });
  }
  await database.read("PRAGMA max_page_count = 1000000");
  await database.write([fill("after")]);
  expect(await database.ready()).toBe(true);
  expect((await database.read("SELECT key FROM meta ORDER BY key")).rows.map((row) => row.key)).toEqual([
    "after",
    "before",
  ]);
  await database.close();
});

test("URLs of files and servers are distinguished", () => {
  expect(localDatabasePath("file:/a/b.db")).toBe("/a/b.db");
  expect(localDatabasePath("file:///a/b%20c.db")).toBe("/a/b c.db");
  expect(localDatabasePath("file:x.db")).toBe(join(process.cwd(), "x.db"));
  for (const url of ["http://h", "https://h", "libsql://h", "ws://h", "wss://h"])
    expect(localDatabasePath(url)).toBeUndefined();
  for (const url of ["", "berth.db", "postgres://h", ":memory:", "file::memory:", "file://host/a.db", "file:"]) {
    expect(() => localDatabasePath(url)).toThrow("DATABASE_URL");
  }
});
