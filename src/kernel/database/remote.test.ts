// Tests a database server: outages, and two processes that start on it at once.

import { afterEach, beforeEach, expect, test } from "bun:test";
import { silent } from "../../../tests/support/database.ts";
import { eventually } from "../../../tests/support/eventually.ts";
import { temporaryDir } from "../../../tests/support/process.ts";
import { type Sqld, startSqld } from "../../../tests/support/sqld.ts";
import { StartError } from "../errors.ts";
import { openDatabase } from "./database.ts";

let sqld: Sqld;
let dir: ReturnType<typeof temporaryDir>;
const open = (url = sqld.url) => openDatabase({ url, dataDir: dir.path, log: silent });
const remember = (key: string) => ({ sql: "INSERT INTO meta VALUES (?, 'x')", args: [key] });

beforeEach(async () => {
  dir = temporaryDir();
  sqld = await startSqld();
});
afterEach(async () => {
  await sqld.stop();
  dir.remove();
});

test("two processes that start at once apply each migration once", async () => {
  const empty = await startSqld({ isEmpty: true });
  const databases = await Promise.all([open(empty.url), open(empty.url), open(empty.url)]);
  const counts = await Promise.all(databases.map((database) => database.read("SELECT name FROM migrations")));
  expect(new Set(counts.map((result) => result.rows.length)).size).toBe(1);
  for (const database of databases) await database.close();
  await empty.stop();
});

test("while the server is down, everything is a 503 with its cause; afterwards all works again", async () => {
  const database = await open();
  await database.write([remember("before")]);
  await sqld.kill();
  const away = { status: "rejected", reason: { status: 503, code: "DATABASE_UNAVAILABLE", cause: expect.anything() } };
  const outcomes = await Promise.allSettled([
    database.write([remember("a")]),
    database.write([remember("b")]),
    database.read("SELECT 1"),
    database.ready(),
  ]);
  expect(outcomes).toMatchObject([away, away, away, away]);

  await sqld.restart();
  await eventually(() => database.ready());
  await database.write([remember("after")]);
  const { rows } = await database.read("SELECT key FROM meta WHERE key <> 'ready' ORDER BY key");
  expect(rows.map((row) => row.key)).toEqual(["after", "before"]);
  await database.close();
});

test("when it answers again, whoever keeps rows in memory is told once that writes may have been made", async () => {
  const database = await open();
  let told = 0;
  database.onLostAnswer(() => told++);
  await database.write([remember("before")]);
  await sqld.kill();
  await Promise.allSettled([database.write([remember("a")]), database.read("SELECT 1")]);
  await Promise.allSettled([database.write([remember("b")])]);
  expect(told).toBe(0);
  await sqld.restart();
  await eventually(() => told > 0);
  await database.write([remember("after")]);
  expect(told).toBe(1);
  await database.close();
});

test("a start without the server fails with one line", async () => {
  await sqld.kill();
  const error: unknown = await open().catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(StartError);
  expect(String(error)).toContain("can't be reached");
  expect(String(error)).not.toContain("\n");
});
