// Tests the copy from before migrations: who makes it, how a failed start goes back to it, and kills at every step of that.
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { readdirSync, renameSync, statSync } from "node:fs";
import { join } from "node:path";
import Libsql from "libsql";
import { silent } from "../../../../tests/support/database.ts";
import { bun, launch, temporaryDir } from "../../../../tests/support/process.ts";
import { startErrorOf } from "../../../../tests/support/rejection.ts";
import { openDatabase } from "../database.ts";
import { confirmMigration, copiesOf, goBackBeforeMigration, readMigrationNote } from "./migration-copy.ts";

const step = (name: string, sql: string) => ({ name, sql });
const one = step("0001_one", "CREATE TABLE one (a TEXT) STRICT; INSERT INTO one VALUES ('x');");
const two = step("0002_two", "CREATE TABLE two (a TEXT) STRICT;");
const three = step("0003_three", "INSERT INTO one VALUES ('three');");
const broken = step("0004_broken", "CREATE TABLE four (a TEXT) STRICT; INSERT INTO nowhere VALUES (1);");

let dir: ReturnType<typeof temporaryDir>;
let file: string;
const open = (migrations = [one], isConfirmedLater = false) =>
  openDatabase({ url: `file:${file}`, dataDir: dir.path, log: silent, migrations, isConfirmedLater });
/** Without what SQLite keeps beside a file that this process has open or had open. */
const names = () =>
  readdirSync(dir.path)
    .filter((name) => !/\.lock$|-wal$|-shm$/.test(name))
    .sort();
/** What a database has, whoever could open it. */
function contentOf(path: string): unknown[] {
  const db = new Libsql(`file:${path}?immutable=1`);
  const applied = db.prepare("SELECT name FROM migrations ORDER BY name").all() as { name: string }[];
  const rows = db.prepare("SELECT a FROM one ORDER BY a").all() as { a: string }[];
  db.close();
  return [applied.map(({ name }) => name), rows.map(({ a }) => a)];
}

beforeEach(() => {
  dir = temporaryDir();
  file = join(dir.path, "berth.db");
});
afterEach(() => dir.remove());

describe("a copy", () => {
  test("is made before migrations of a database that has some, readable only by its owner", async () => {
    await (await open([one])).close();
    expect(names()).toEqual(["berth.db"]);
    await (await open([one])).close();
    expect(names()).toEqual(["berth.db"]);
    await (await open([one, two])).close();
    const [copy] = copiesOf(file);
    expect(copy?.file).toMatch(/berth\.db\.before-\d+\.\d+\.\d+-0002_two$/);
    expect(statSync(copy?.file ?? "").mode & 0o777).toBe(0o600);
    expect(contentOf(copy?.file ?? "")).toEqual([["0001_one"], ["x"]]);
    expect(names()).toHaveLength(2);
  });

  test("has what is still in the log of a killed process", async () => {
    const script = `import { openDatabase } from ${JSON.stringify(join(import.meta.dir, "../database.ts"))};
      import { createLog } from ${JSON.stringify(join(import.meta.dir, "../../telemetry/log.ts"))};
      const database = await openDatabase({ url: "file:${file}", dataDir: "${dir.path}", log: createLog({ level: "silent", format: "json" }), migrations: ${JSON.stringify([one])} });
      await database.write([{ sql: "INSERT INTO one VALUES ('in the log')", args: [] }]);
      process.kill(process.pid, "SIGKILL");`;
    const child = launch({ command: [bun, "-e", script], env: {}, dir: import.meta.dir });
    expect(await child.exited).toBe(137);
    expect(statSync(`${file}-wal`).size).toBeGreaterThan(0);
    await (await open([one, two])).close();
    expect(contentOf(copiesOf(file)[0]?.file ?? "")).toEqual([["0001_one"], ["in the log", "x"]]);
  });

  test("stays beside one other: the older ones are deleted once a start is confirmed", async () => {
    const steps = [one, two, three, step("0005_five", "SELECT 1"), step("0006_six", "SELECT 1")];
    for (let count = 1; count <= steps.length; count++) await (await open(steps.slice(0, count))).close();
    expect(copiesOf(file).map((copy) => copy.file.slice(-8))).toEqual(["0006_six", "005_five"]);
  });
});

describe("a start that fails", () => {
  test("in the middle of the migrations puts the copy back, and says how to go on", async () => {
    await (await open([one])).close();
    const error = await startErrorOf(open([one, two, three, broken]));
    expect(error).toContain("nowhere");
    expect(error).toContain("again as it was before");
    expect(contentOf(file)).toEqual([["0001_one"], ["x"]]);
    expect(names().filter((name) => !name.includes(".before-"))).toEqual(["berth.db"]);
    // The version from before starts, and so does a mended one.
    await (await open([one])).close();
    await (await open([one, two, three])).close();
    expect(contentOf(file)).toEqual([
      ["0001_one", "0002_two", "0003_three"],
      ["three", "x"],
    ]);
  });

  test("after the migrations goes back, and keeps what it left beside", async () => {
    await (await open([one])).close();
    const database = await open([one, three], true);
    await database.write([{ sql: "INSERT INTO one VALUES ('stored by the failed start')", args: [] }]);
    await database.close();
    expect(readMigrationNote(file)).toMatchObject({ last: "0001_one", isGoingBack: false });
    const undone = goBackBeforeMigration(file);
    expect(contentOf(file)).toEqual([["0001_one"], ["x"]]);
    expect(contentOf(undone?.failed ?? "")[1]).toEqual(["stored by the failed start", "three", "x"]);
    expect(goBackBeforeMigration(file)).toBeUndefined();
  });

  test("can't go back once it was confirmed, nor while the database is open", async () => {
    await (await open([one])).close();
    const database = await open([one, two], true);
    expect(() => goBackBeforeMigration(file)).toThrow("Another process is using the database");
    await database.close();
    confirmMigration(file);
    expect(goBackBeforeMigration(file)).toBeUndefined();
    expect(contentOf(file)[0]).toEqual(["0001_one", "0002_two"]);
  });
});

test("a start that was killed between migrations goes on, with the copy from before the first one", async () => {
  await (await open([one])).close();
  const database = await open([one, two], true);
  await database.close();
  // As if the process had been killed before it was ready: the note is there.
  const error = await startErrorOf(open([one, two, three, broken], true));
  expect(error).toContain("again as it was before");
  expect(contentOf(file)).toEqual([["0001_one"], ["x"]]);
});

test("a kill at any step of going back leaves what the next start completes", async () => {
  await (await open([one])).close();
  for (let steps = 0; steps < 3; steps++) {
    await (await open([one, three], true)).close();
    let left = steps;
    const rename: typeof renameSync = (from, to) => {
      if (left-- === 0) throw new Error("killed");
      renameSync(from, to);
    };
    expect(() => goBackBeforeMigration(file, { rename })).toThrow("killed");
    expect(readMigrationNote(file)?.isGoingBack).toBe(true);
    await (await open([one])).close();
    expect(contentOf(file)).toEqual([["0001_one"], ["x"]]);
    expect(readMigrationNote(file)).toBeUndefined();
  }
});
