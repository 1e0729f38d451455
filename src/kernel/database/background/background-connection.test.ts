// Tests that long statements leave the event loop free, and that other writes wait for a long one.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { migrations } from "../../../../migrations/index.ts";
import { fileDatabase, type TestDatabase } from "../../../../tests/support/database.ts";

let opened: TestDatabase;
beforeAll(async () => {
  opened = await fileDatabase();
});
afterAll(() => opened.remove());

const ROWS = 200_000;
const NUMBERS = `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${ROWS})`;
const FILL = `${NUMBERS} INSERT INTO meta (key, value) SELECT 'n' || i, 'x' FROM n`;
const COUNT = "SELECT count(*) AS n FROM meta WHERE key GLOB 'n*'";

/** Counts the turns of the event loop until the work ends. */
async function turnsDuring(work: Promise<unknown>): Promise<number> {
  let over = false;
  const end = () => {
    over = true;
  };
  work.then(end, end);
  let turns = 0;
  for (; !over; turns++) await new Promise((resolve) => setTimeout(resolve, 1));
  return turns;
}

test("a long write blocks neither the event loop nor reads; other writes follow it", async () => {
  const { database } = opened;
  const order: string[] = [];
  const long = database.writeLong([{ sql: FILL, args: [], after: () => order.push("long") }]);
  const short = database.write([
    { sql: "INSERT INTO meta VALUES ('after', '')", args: [], after: () => order.push("short") },
  ]);
  const turns = turnsDuring(long);
  expect((await database.read(COUNT)).rows[0]?.n).toBe(0);
  expect((await long)[0]?.rowsAffected).toBe(ROWS);
  await short;
  expect(order).toEqual(["long", "short"]);
  expect(await turns).toBeGreaterThan(5);
  expect((await database.read(COUNT)).rows[0]?.n).toBe(ROWS);
});

test("a long read leaves the event loop free", async () => {
  const read = opened.database.readLong(
    `SELECT count(*) AS n FROM (${NUMBERS} SELECT max(i) OVER (ORDER BY i) FROM n)`,
  );
  expect(await turnsDuring(read)).toBeGreaterThan(5);
  expect((await read).rows[0]?.n).toBe(ROWS);
});

test("the garbage collector does not wait for a long read", async () => {
  const { database } = opened;
  for (let n = 0; n < 50; n++) await database.readLong(`SELECT ${n} AS n`);
  const read = database.readLong(`SELECT count(*) AS n FROM (${NUMBERS} SELECT max(i) OVER (ORDER BY i) FROM n)`);
  const turns = turnsDuring(read);
  Bun.gc(true);
  expect(await turns).toBeGreaterThan(5);
});

test("a statement of a long write reports the row that it inserted, never that of an argument", async () => {
  const numbered = "CREATE TABLE numbered (seq INTEGER PRIMARY KEY, key TEXT UNIQUE, value TEXT) STRICT";
  const { database, remove } = await fileDatabase([...migrations, { name: "0999_numbered", sql: numbered }]);
  const reported: unknown[] = [];
  const after = ({ lastInsertRowid, rowsAffected }: { lastInsertRowid?: bigint | undefined; rowsAffected: number }) =>
    reported.push([lastInsertRowid, rowsAffected]);
  const insert = "INSERT INTO numbered VALUES (?, ?, ?) ON CONFLICT DO NOTHING";
  await database.writeLong([
    { sql: insert, args: [7_000, "a", "x"], after },
    { sql: insert, args: [9_000, "a", "x"], after },
    { sql: "UPDATE numbered SET value = ? WHERE key = ?", args: ["y", "a"], after },
    { sql: insert, args: [8_000, "b", "ü".repeat(100_000)], after },
  ]);
  expect(reported).toEqual([
    [7_000n, 1],
    [undefined, 0],
    [undefined, 1],
    [8_000n, 1],
  ]);
  await remove();
});

test("close waits for a long write", async () => {
  const { database, remove } = await fileDatabase();
  const long = database.writeLong([{ sql: FILL, args: [] }]);
  await remove();
  expect((await long)[0]?.rowsAffected).toBe(ROWS);
});
