// Tests a database server: outages, two processes that start on it at once, and that one backend at a time writes it.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { silent } from "../../../../tests/support/database.ts";
import { eventually } from "../../../../tests/support/eventually.ts";
import { temporaryDir } from "../../../../tests/support/process.ts";
import { type Sqld, startSqld } from "../../../../tests/support/sqld.ts";
import { StartError } from "../../errors.ts";
import { DatabaseInUse, type DatabaseOptions, openDatabase } from "../database.ts";

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

describe("one backend at a time", () => {
  const other = { machine: "other", host: "harbour", pid: 4242 };
  /** Short times, and a holder on another machine, so that only signs of life tell whether it is alive. */
  const asBackend = (more: Partial<NonNullable<DatabaseOptions["backend"]>> = {}) => {
    const backend = { onLost: () => undefined, renewMs: 50, expiryMs: 500, ...more };
    return openDatabase({ url: sqld.url, dataDir: dir.path, log: silent, backend });
  };

  test("writes a database: a second one is refused, and may start as soon as the first has ended", async () => {
    const first = await asBackend({ holder: other });
    const refusal: unknown = await asBackend().catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(DatabaseInUse);
    expect(String(refusal)).toContain("Another backend uses the database of DATABASE_URL: process 4242 on harbour.");
    await first.write([remember("first")]);
    await first.close();
    const second = await asBackend();
    await second.write([remember("second")]);
    await second.close();
  });

  test("takes over from one that gives no sign of life, which writes nothing from then on", async () => {
    const lost = Promise.withResolvers<void>();
    const frozen = await asBackend({ holder: other, renewMs: 60_000, onLost: lost.resolve });
    const next = await asBackend();
    await next.write([remember("next")]);
    const refused = { status: 503, code: "DATABASE_UNAVAILABLE", message: expect.stringContaining("Another backend") };
    expect(await frozen.write([remember("late")]).catch((error: unknown) => error)).toMatchObject(refused);
    await lost.promise;
    await frozen.close();
    await next.write([remember("later")]);
    const { rows } = await next.read("SELECT key FROM meta WHERE key <> 'ready' ORDER BY key");
    expect(rows.map((row) => row.key)).toEqual(["later", "next"]);
    await next.close();
  });

  test("notices by itself that another one has taken over", async () => {
    const lost = Promise.withResolvers<void>();
    const replaced = await asBackend({ holder: other, onLost: lost.resolve });
    const outside = await open();
    await outside.write([{ sql: "UPDATE backend_lock SET holder = 'somebody else'", args: [] }]);
    await lost.promise;
    await outside.close();
    await replaced.close();
  });

  test("starts at once after one of the same machine that was killed", async () => {
    const killed = Bun.spawn(["true"]);
    await killed.exited;
    const here = await asBackend();
    const [machine] = (await here.read("SELECT machine FROM backend_lock")).rows.map((row) => String(row.machine));
    await here.write([{ sql: "UPDATE backend_lock SET holder = 'killed', pid = ?", args: [killed.pid] }]);
    await here.close();
    expect(machine).toBeTruthy();
    const next = await asBackend({ expiryMs: 600_000 });
    await next.write([remember("next")]);
    await next.close();
  });

  test("what else writes the database, such as a web surface, goes on", async () => {
    const backend = await asBackend({ holder: other });
    const web = await open();
    await web.write([remember("web")]);
    await web.close();
    await backend.close();
  });
});
