// The log is written back beside the work, and doesn't grow without end.

import { expect, test } from "bun:test";
import { statSync } from "node:fs";
import { fileDatabase } from "../../tests/support/database.ts";
import { eventually } from "../../tests/support/eventually.ts";
import { SMALL_LOG_BYTES } from "./connection.ts";

test("a log that has grown goes into the file while the database is open, then starts over", async () => {
  const { database, remove } = await fileDatabase();
  const file = database.file ?? "";
  const size = (suffix = "") => statSync(file + suffix).size;
  const write = (key: string, bytes: number) =>
    database.write([{ sql: "INSERT OR REPLACE INTO meta VALUES (?, hex(zeroblob(?)))", args: [key, bytes] }]);
  for (let n = 0; n < 10; n++) await write(`k${n}`, 1_000_000);
  expect(size("-wal")).toBeGreaterThan(2 * SMALL_LOG_BYTES);
  expect(size()).toBeLessThan(SMALL_LOG_BYTES);
  await eventually(() => size() > 20_000_000);
  await eventually(async () => {
    await write("small", 1);
    return size("-wal") <= SMALL_LOG_BYTES;
  });
  await remove();
});
