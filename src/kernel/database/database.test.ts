// Tests the database interface, equally over a local file and over a libSQL server.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { eq, sql } from "drizzle-orm";
import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { migrations } from "../../../migrations/index.ts";
import { fileDatabase, serverDatabase, type TestDatabase } from "../../../tests/support/database.ts";
import {
  type Database,
  GuardFailed,
  guard,
  insertedRowid,
  isUniqueViolation,
  type Statement,
  statement,
  statementTemplate,
} from "./database.ts";

const things = sqliteTable("things", {
  id: text().primaryKey(),
  name: text().unique(),
  count: integer().notNull().default(0),
  fresh: integer({ mode: "boolean" }),
  tags: text({ mode: "json" }).$type<string[]>(),
});

const withThings = [
  ...migrations,
  {
    name: "0999_things",
    sql: `CREATE TABLE things (id TEXT PRIMARY KEY, name TEXT UNIQUE, count INTEGER NOT NULL DEFAULT 0, fresh INTEGER, tags TEXT) STRICT;
      CREATE TABLE raw (value ANY) STRICT;
      CREATE TABLE children (thing TEXT NOT NULL REFERENCES things (id) ON DELETE CASCADE) STRICT;`,
  },
];

const insert = (id: string, name: string | null = null): Statement => ({
  sql: "INSERT INTO things (id, name) VALUES (?, ?)",
  args: [id, name],
});
/** Returns the error with which a promise rejects. */
const failure = (promise: Promise<unknown>) =>
  promise.then(
    () => new Error("It succeeded."),
    (error: unknown) => error,
  );
const increment = (id: string): Statement => ({ sql: "UPDATE things SET count = count + 1 WHERE id = ?", args: [id] });

describe.each([
  ["a local file", fileDatabase],
  ["a libSQL server", serverDatabase],
] as const)("%s", (_, open) => {
  let opened: TestDatabase;
  let database: Database;
  const ids = async () => (await database.read("SELECT id FROM things ORDER BY id")).rows.map((row) => row.id);

  beforeAll(async () => {
    opened = await open(withThings);
    database = opened.database;
  });
  beforeEach(() =>
    database.write([
      { sql: "DELETE FROM things", args: [] },
      { sql: "DELETE FROM raw", args: [] },
    ]),
  );
  afterAll(() => opened.remove());

  test("a batch is written in order, and its results are in order", async () => {
    const [first, second, third] = await database.write([
      insert("a", "one"),
      increment("a"),
      { sql: "UPDATE things SET count = count + 1 WHERE id = ? RETURNING id, count", args: ["a"] },
    ]);
    expect(first).toMatchObject({ rows: [], rowsAffected: 1 });
    expect(second?.rowsAffected).toBe(1);
    expect(third?.rowsAffected).toBe(1);
    expect(third?.columns).toEqual(["id", "count"]);
    const row = third?.rows[0];
    expect({ ...row }).toEqual({ id: "a", count: 2 });
    expect([row?.[0], row?.[1], row?.length]).toEqual(["a", 2, 2]);
    expect(await database.write([])).toEqual([]);
  });

  test("a statement that changes nothing has 0 changed rows", async () => {
    const [result] = await database.write([increment("nobody")]);
    expect(result?.rowsAffected).toBe(0);
  });

  test("a failing batch is undone, and those committed with it are kept", async () => {
    const outcomes = await Promise.allSettled([
      database.write([insert("a", "x")]),
      database.write([insert("b"), insert("c", "x")]),
      database.write([insert("d", "x")]),
      database.write([insert("e"), increment("e")]),
    ]);
    expect(outcomes.map((outcome) => outcome.status)).toEqual(["fulfilled", "rejected", "rejected", "fulfilled"]);
    expect(await ids()).toEqual(["a", "e"]);
  });

  test("a duplicate value is recognised, by column", async () => {
    await database.write([insert("a", "x")]);
    const byName: unknown = await failure(database.write([insert("b", "x")]));
    const byId: unknown = await failure(database.write([insert("a")]));
    expect(isUniqueViolation(byName)).toBe(true);
    expect(isUniqueViolation(byName, "things.name")).toBe(true);
    expect(isUniqueViolation(byName, "things.id")).toBe(false);
    expect(isUniqueViolation(byId, "things.id")).toBe(true);
    expect(isUniqueViolation(new Error("wrapped", { cause: byId }))).toBe(true);
    const other: unknown = await failure(database.write([{ sql: "INSERT INTO nowhere VALUES (1)", args: [] }]));
    expect(other).toBeInstanceOf(Error);
    expect(isUniqueViolation(other)).toBe(false);
  });

  test("foreign keys are enforced", async () => {
    expect(await failure(database.write([{ sql: "INSERT INTO children VALUES ('nobody')", args: [] }]))).toHaveProperty(
      "message",
      expect.stringContaining("FOREIGN KEY"),
    );
    await database.write([insert("a"), { sql: "INSERT INTO children VALUES ('a')", args: [] }]);
    await database.write([{ sql: "DELETE FROM things", args: [] }]);
    expect((await database.read("SELECT * FROM children")).rows).toEqual([]);
  });

  test("a guard undoes its batch if the statement before it changed nothing", async () => {
    await database.write([insert("a"), guard("made"), increment("a"), guard("there")]);
    const [before, failed, after] = await Promise.allSettled([
      database.write([increment("a")]),
      database.write([insert("b"), increment("nobody"), guard("there"), insert("c")]),
      database.write([insert("d"), guard("made")]),
    ]);
    expect(before.status).toBe("fulfilled");
    expect(after.status).toBe("fulfilled");
    const reason: unknown = failed.status === "rejected" ? failed.reason : undefined;
    expect(reason).toBeInstanceOf(GuardFailed);
    expect(reason).toHaveProperty("guard", "there");
    expect(await ids()).toEqual(["a", "d"]);
    expect((await database.read("SELECT * FROM guard")).rows).toEqual([]);
  });

  test("a long batch has the results and the guards of any other, in the order of the calls", async () => {
    const seen: unknown[] = [];
    const [first, long, failed, last] = await Promise.allSettled([
      database.write([insert("a")]),
      database.writeLong([
        { ...increment("a"), after: ({ rowsAffected }) => seen.push(rowsAffected) },
        guard("there"),
        { sql: "UPDATE things SET name = ?1 WHERE id = ?2 AND '?' <> ?1", args: ["ü".repeat(100_000), "a"] },
      ]),
      database.writeLong([insert("b"), increment("nobody"), guard("there")]),
      database.write([insert("c"), increment("a")]),
    ]);
    expect(failed.status).toBe("rejected");
    expect([first, long, last].map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "fulfilled"]);
    if (long.status === "rejected") throw long.reason;
    expect([long.value[0]?.rowsAffected, long.value[2]?.rowsAffected]).toEqual([1, 1]);
    expect(seen).toEqual([1]);
    expect(failed.status === "rejected" && failed.reason).toHaveProperty("guard", "there");
    expect(await ids()).toEqual(["a", "c"]);
    const { rows } = await database.readLong("SELECT name, count FROM things WHERE id = ?", ["a"]);
    expect({ ...rows[0] }).toEqual({ name: "ü".repeat(100_000), count: 2 });
    expect(isUniqueViolation(await failure(database.writeLong([insert("a")])), "things.id")).toBe(true);
    expect(await database.writeLong([])).toEqual([]);
    const selecting = { sql: "SELECT count FROM things", args: [] };
    expect(await failure(database.writeLong([selecting]))).toBeInstanceOf(TypeError);
    const returning = { sql: "UPDATE things SET count = 9 RETURNING id", args: [] };
    expect(await failure(database.writeLong([returning]))).toBeInstanceOf(TypeError);
    expect((await database.read("SELECT * FROM things WHERE count = 9")).rows).toEqual([]);
  });

  test("an inserted row's number is known in a long batch as in any other, and a missing one is an error", async () => {
    const rowids: unknown[] = [];
    const numbered = (id: string): Statement => ({
      ...insert(id),
      after: (result) => rowids.push(insertedRowid(result)),
    });
    await database.write([numbered("a")]);
    await database.writeLong([numbered("b"), increment("a"), guard("there"), numbered("c")]);
    expect(rowids).toEqual(
      (await database.read("SELECT rowid FROM things ORDER BY id")).rows.map(({ rowid }) => rowid),
    );
    expect(() => insertedRowid({ lastInsertRowid: undefined })).toThrow(TypeError);
  });

  test("a limit inside the SQL holds under parallel writes", async () => {
    const tries = Array.from({ length: 50 }, (_, n) =>
      database.write([
        { sql: "INSERT INTO things (id) SELECT ? WHERE (SELECT count(*) FROM things) < 3", args: [`t${n}`] },
        guard("limit"),
      ]),
    );
    const outcomes = await Promise.allSettled(tries);
    expect(outcomes.filter((outcome) => outcome.status === "fulfilled")).toHaveLength(3);
    expect(await ids()).toHaveLength(3);
  });

  test("an after-commit callback runs once, after the write can be read, and not if it failed", async () => {
    const seen: unknown[] = [];
    const after = (name: string) => (result: { rowsAffected: number }) => seen.push(`${name} ${result.rowsAffected}`);
    await Promise.allSettled([
      database.write([{ ...insert("a", "x"), after: after("a") }]),
      database.write([
        { ...insert("b"), after: after("b") },
        { ...insert("c", "x"), after: after("c") },
      ]),
      database.write([
        { ...insert("d"), after: after("d") },
        { ...increment("d"), after: after("d") },
      ]),
    ]);
    expect(seen).toEqual(["a 1", "d 1", "d 1"]);
    const visible = Promise.withResolvers<unknown>();
    const look = () => visible.resolve(database.read("SELECT count FROM things WHERE id = 'd'"));
    await database.write([{ ...increment("d"), after: look }]);
    expect(await visible.promise).toMatchObject({ rows: [{ count: 2 }] });
  });

  test("a throwing callback breaks nothing", async () => {
    const boom = () => {
      throw new Error("boom");
    };
    await database.write([{ ...insert("a"), after: boom }]);
    await database.write([insert("b")]);
    expect(await ids()).toEqual(["a", "b"]);
  });

  test("values are read as they were written", async () => {
    const keep = async (value: Statement["args"][number]) => {
      await database.write([
        { sql: "DELETE FROM raw", args: [] },
        { sql: "INSERT INTO raw VALUES (?)", args: [value] },
      ]);
      return (await database.read("SELECT value FROM raw")).rows[0]?.value;
    };
    expect(await keep("héllo 🚢")).toBe("héllo 🚢");
    expect(await keep(null)).toBeNull();
    expect(await keep(1.5)).toBe(1.5);
    expect(await keep(-0.25)).toBe(-0.25);
    expect(await keep(1_700_000_000_123)).toBe(1_700_000_000_123);
    expect(await keep(9_007_199_254_740_993n)).toBe(9_007_199_254_740_993n);
    expect(await keep(7n)).toBe(7);
    expect(await keep(true)).toBe(1);
    expect(await keep(new Date(5))).toBe(5);
    const blob = await keep(new Uint8Array([0, 1, 255]));
    expect(blob).toBeInstanceOf(ArrayBuffer);
    expect(blob instanceof ArrayBuffer && [...new Uint8Array(blob)]).toEqual([0, 1, 255]);
  });

  test("values that can't be stored are refused, and the process survives", async () => {
    const store = (value: unknown) =>
      failure(database.write([insert("a"), { ...insert("b"), args: ["b", value as string] }]));
    expect(await store("a\0b")).toMatchObject({ status: 400 });
    expect(await store(undefined)).toBeInstanceOf(TypeError);
    expect(await store({})).toBeInstanceOf(TypeError);
    expect(await store(Number.NaN)).toBeInstanceOf(RangeError);
    expect(await ids()).toEqual([]);
  });

  test("two columns of one name keep their positions", async () => {
    const { rows } = await database.read("SELECT 1 AS x, 2 AS x, 3 AS y");
    expect([rows[0]?.[0], rows[0]?.[1], rows[0]?.[2], rows[0]?.x]).toEqual([1, 2, 3, 1]);
  });

  test("columns are read again after the schema changed", async () => {
    await database.write([{ sql: "CREATE TABLE grows (a INTEGER) STRICT", args: [] }]);
    await database.write([{ sql: "INSERT INTO grows VALUES (1)", args: [] }]);
    const look = async () => (await database.read("SELECT * FROM grows")).columns;
    expect(await look()).toEqual(["a"]);
    await database.write([{ sql: "ALTER TABLE grows ADD COLUMN b INTEGER", args: [] }]);
    expect(await look()).toEqual(["a", "b"]);
    await database.write([{ sql: "DROP TABLE grows", args: [] }]);
  });

  test("drizzle reads, maps, and writes through the queue", async () => {
    const { drizzle } = database;
    const add = drizzle.insert(things).values({ id: "a", name: "one", fresh: true, tags: ["x"] });
    await database.write([statement(add)]);
    const byId = drizzle
      .select()
      .from(things)
      .where(eq(things.id, sql.placeholder("id")))
      .prepare();
    expect(await byId.get({ id: "a" })).toEqual({ id: "a", name: "one", count: 0, fresh: true, tags: ["x"] });
    expect(await byId.get({ id: "b" })).toBeUndefined();
    expect(await byId.all({ id: "a" })).toHaveLength(1);
    const changed = await drizzle
      .update(things)
      .set({ fresh: false })
      .returning({ id: things.id, fresh: things.fresh });
    expect(changed).toEqual([{ id: "a", fresh: false }]);
    expect(await drizzle.all(sql`SELECT id, fresh FROM things`)).toEqual([{ id: "a", fresh: 0 }]);
    expect(await drizzle.delete(things)).toMatchObject({ rowsAffected: 1 });
    expect(String(await failure(drizzle.transaction(() => Promise.resolve())))).toContain(
      "no interactive transactions",
    );
  });

  test("a template fills its placeholders and encodes like drizzle", async () => {
    const { placeholder } = sql;
    const add = statementTemplate(
      database.drizzle
        .insert(things)
        .values({ id: placeholder("id"), tags: placeholder("tags"), fresh: placeholder("fresh") }),
    );
    await database.write([add({ id: "a", tags: ["x"], fresh: true }), add({ id: "b", tags: null, fresh: null })]);
    const rows = await database.drizzle.select().from(things).orderBy(things.id);
    expect(rows).toMatchObject([
      { id: "a", tags: ["x"], fresh: true },
      { id: "b", tags: null, fresh: null },
    ]);
    expect(() => add({ id: "c", fresh: null })).toThrow("tags");
  });

  test("hundreds of concurrent writes keep the order of their calls", async () => {
    await database.write([insert("a")]);
    const order: number[] = [];
    const writes = Array.from({ length: 600 }, (_, n) =>
      database.write([{ ...increment("a"), after: () => order.push(n) }]),
    );
    await Promise.all(writes);
    expect(order).toEqual(Array.from({ length: 600 }, (_, n) => n));
    expect((await database.read("SELECT count FROM things")).rows[0]?.count).toBe(600);
  });

  test("it is ready", async () => {
    expect(await database.ready()).toBe(true);
  });
});

test("what is read or written once a file is closed is refused as for any database that can't be reached", async () => {
  // Its folder goes with this process.
  const { database } = await fileDatabase();
  await database.close();
  const refusal = { status: 503, code: "DATABASE_UNAVAILABLE" };
  await expect(database.read("SELECT 1")).rejects.toMatchObject(refusal);
  await expect(database.readLong("SELECT 1")).rejects.toMatchObject(refusal);
  await expect(database.write([{ sql: "SELECT 1", args: [] }])).rejects.toMatchObject(refusal);
});
