// Tests backup and restore of the database, also while a service runs.

import { afterEach, beforeEach, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { silent } from "../../../tests/support/database.ts";
import { bun, launch, temporaryDir } from "../../../tests/support/process.ts";
import { openDatabase } from "../../kernel/database/database.ts";
import { backUpDatabase, copyDatabase, restoreDatabase } from "./database-copy.ts";

let dir: ReturnType<typeof temporaryDir>;
let url: string;
const at = (name: string) => join(dir.path, name);
const open = () => openDatabase({ url, dataDir: dir.path, log: silent });
const remember = (key: string) => ({ sql: "INSERT INTO meta VALUES (?, 'x')", args: [key] });
async function keys(): Promise<unknown[]> {
  const database = await open();
  const { rows } = await database.read("SELECT key FROM meta ORDER BY key");
  await database.close();
  return rows.map((row) => row.key);
}

beforeEach(() => {
  dir = temporaryDir();
  url = `file:${at("berth.db")}`;
});
afterEach(() => dir.remove());

test("a backup made while the service runs has every commit, and only its owner can read it", async () => {
  const database = await open();
  await database.write([remember("before")]);
  const { path, bytes } = backUpDatabase(url, at("out/copy.db"));
  await database.write([remember("after")]);
  await database.close();
  expect(bytes).toBe(statSync(path).size);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(readdirSync(at("out"))).toEqual(["copy.db"]);

  const { replaced } = restoreDatabase(path, url);
  expect(await keys()).toEqual(["before"]);
  expect(readFileSync(replaced ?? "").length).toBeGreaterThan(0);
  url = `file:${replaced}`;
  expect(await keys()).toEqual(["after", "before"]);
});

test("a large database is copied page by page, into one file which any SQLite opens, unless much of it is free", async () => {
  const database = await open();
  const copyTo = (name: string, anewBytes: number) =>
    backUpDatabase(url, at(name), (source, target) => copyDatabase(source, target, anewBytes));
  await database.write([{ sql: "INSERT INTO meta VALUES ('large', hex(zeroblob(2000000)))", args: [] }]);
  for (const key of ["a", "b"]) await database.write([remember(key)]);
  const full = copyTo("full.db", 0);
  await database.write([{ sql: "DELETE FROM meta WHERE key IN ('a', 'large')", args: [] }, remember("left")]);
  const emptied = copyTo("emptied.db", 0);
  const small = copyTo("small.db", 1e9);
  await database.close();
  expect(full.bytes).toBeGreaterThan(4_000_000);
  expect(emptied.bytes).toBe(small.bytes);
  expect(emptied.bytes).toBeLessThan(full.bytes - 4_000_000);
  // The version of the format that has a log beside the file would be 2.
  for (const { path } of [full, emptied]) expect([...readFileSync(path).subarray(18, 20)]).toEqual([1, 1]);
  expect(readdirSync(dir.path).filter((name) => name.startsWith("full"))).toEqual(["full.db"]);
  for (const [{ path }, kept] of [
    [full, ["a", "b", "large"]],
    [emptied, ["b", "left"]],
  ] as const) {
    restoreDatabase(path, url);
    expect(await keys()).toEqual([...kept]);
  }
});

test("a backup is restored into an empty folder", async () => {
  const database = await open();
  await database.write([remember("a")]);
  backUpDatabase(url, at("copy.db"));
  await database.close();
  url = `file:${at("new/berth.db")}`;
  expect(restoreDatabase(at("copy.db"), url).replaced).toBeUndefined();
  expect(await keys()).toEqual(["a"]);
});

test("nothing is overwritten, and a database on a server is refused", async () => {
  await (await open()).close();
  writeFileSync(at("taken"), "mine");
  expect(() => backUpDatabase(url, at("taken"))).toThrow("exists already");
  expect(readFileSync(at("taken"), "utf8")).toBe("mine");
  expect(() => backUpDatabase(`file:${at("nothing.db")}`, at("copy.db"))).toThrow("no database");
  expect(() => backUpDatabase("http://127.0.0.1:1", at("copy.db"))).toThrow("server's own backup");
  expect(() => restoreDatabase(at("taken"), "libsql://example.invalid")).toThrow("server's own backup");
});

test("a damaged or newer backup is refused, and the database stays", async () => {
  const database = await open();
  await database.write([remember("kept")]);
  backUpDatabase(url, at("good.db"));
  await database.close();
  const before = readdirSync(dir.path).filter((name) => name.startsWith("berth.db"));

  writeFileSync(at("garbage.db"), "no database".repeat(1000));
  writeFileSync(at("cut.db"), readFileSync(at("good.db")));
  truncateSync(at("cut.db"), statSync(at("good.db")).size - 4096);
  const flipped = readFileSync(at("good.db"));
  flipped.fill(0xff, 4096, 8192);
  writeFileSync(at("flipped.db"), flipped);
  for (const name of ["garbage.db", "cut.db", "flipped.db"])
    expect(() => restoreDatabase(at(name), url)).toThrow("damaged");
  expect(() => restoreDatabase(at("good.db"), url, { migrations: [] })).toThrow("newer version");
  expect(() => restoreDatabase(at("missing.db"), url)).toThrow("no backup");

  expect(readdirSync(dir.path).filter((name) => name.startsWith("berth.db"))).toEqual(before);
  expect(await keys()).toEqual(["kept"]);
});

test("nothing is restored while the service runs; after kill -9 the old log is kept with its file", async () => {
  const script = `
    import { openDatabase } from ${JSON.stringify(join(import.meta.dir, "../../kernel/database/database.ts"))};
    import { createLog } from ${JSON.stringify(join(import.meta.dir, "../../kernel/telemetry/log.ts"))};
    const log = createLog({ level: "silent", format: "json" });
    const database = await openDatabase({ url: ${JSON.stringify(url)}, dataDir: ${JSON.stringify(dir.path)}, log });
    await database.write([{ sql: "INSERT INTO meta VALUES ('served', 'x')", args: [] }]);
    console.log("ready");
    setInterval(() => database.ready(), 1000);`;
  writeFileSync(at("serve.ts"), script);
  const child = launch({ command: [bun, at("serve.ts")], env: {}, dir: dir.path });
  await child.ready();
  backUpDatabase(url, at("copy.db"));
  expect(() => restoreDatabase(at("copy.db"), url)).toThrow("Another process");
  child.signal("SIGKILL");
  await child.exited;

  expect(existsSync(at("berth.db-wal"))).toBe(true);
  const { replaced } = restoreDatabase(at("copy.db"), url);
  expect(await keys()).toEqual(["served"]);
  url = `file:${replaced}`;
  expect(await keys()).toEqual(["served"]);
});
