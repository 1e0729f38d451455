// Tests that the write-ahead log is checkpointed in the background and stays bounded.

import { expect, test } from "bun:test";
import { statSync } from "node:fs";
import { fileDatabase } from "../../../../tests/support/database.ts";
import { eventually } from "../../../../tests/support/eventually.ts";
import { WAL_SIZE_LIMIT_BYTES } from "../connection.ts";

test("a log that has grown is checkpointed while the database is open, then restarts", async () => {
  const { database, remove } = await fileDatabase();
  const file = database.file ?? "";
  const write = (key: string) =>
    database.write([{ sql: "INSERT INTO meta VALUES (?, hex(zeroblob(1000000)))", args: [key] }]);
  const emptySize = statSync(file).size;
  for (let n = 0; n < 12; n++) await write(`k${n}`);
  expect(statSync(`${file}-wal`).size).toBeGreaterThan(WAL_SIZE_LIMIT_BYTES);
  expect(statSync(file).size).toBe(emptySize);
  await eventually(() => statSync(`${file}-wal`).size <= WAL_SIZE_LIMIT_BYTES);
  expect(statSync(file).size).toBeGreaterThan(24_000_000);
  await remove();
});

test("with constant writes, the log does not grow without limit", async () => {
  const { database, remove } = await fileDatabase();
  const log = `${database.file}-wal`;
  let written = 0;
  const write = async () => {
    while (written < 200_000_000) {
      await database.write([
        { sql: "INSERT OR REPLACE INTO meta VALUES (?, hex(randomblob(100000)))", args: [`k${written % 50}`] },
      ]);
      written += 200_000;
      await Bun.sleep(2);
    }
  };
  await Promise.all([write(), write(), write()]);
  expect(statSync(log).size).toBeLessThan(written * 0.7);
  expect((await database.read("PRAGMA quick_check")).rows[0]?.[0]).toBe("ok");
  await remove();
});
