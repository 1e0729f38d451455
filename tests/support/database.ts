// Opens databases for tests with `openDatabase`: in a temporary file, or on a real libSQL server.

import { join } from "node:path";
import type { Migration } from "../../migrations/index.ts";
import { type Database, openDatabase } from "../../src/kernel/database/database.ts";
import { createLog } from "../../src/kernel/telemetry/log.ts";
import { placeMigratedDatabase } from "./migrated.ts";
import { temporaryDir } from "./process.ts";
import { startSqld } from "./sqld.ts";

export const silent = createLog({ level: "silent", format: "json" });

/** A database that `remove()` closes and deletes. */
export interface TestDatabase {
  database: Database;
  dir: string;
  remove(): Promise<void>;
}

/** Opens a database in a file in a temporary folder. */
export async function fileDatabase(migrations?: readonly Migration[]): Promise<TestDatabase> {
  const dir = temporaryDir();
  const url = `file:${join(dir.path, "berth.db")}`;
  if (!migrations) await placeMigratedDatabase(dir.path);
  const database = await openDatabase({ url, dataDir: dir.path, log: silent, ...(migrations && { migrations }) });
  return {
    database,
    dir: dir.path,
    async remove() {
      await database.close();
      dir.remove();
    },
  };
}

/** Starts a libSQL server and opens its database. */
export async function serverDatabase(migrations?: readonly Migration[]): Promise<TestDatabase> {
  const dir = temporaryDir();
  const sqld = await startSqld({ isEmpty: migrations !== undefined });
  const database = await openDatabase({
    url: sqld.url,
    dataDir: dir.path,
    log: silent,
    ...(migrations && { migrations }),
  });
  return {
    database,
    dir: dir.path,
    async remove() {
      await database.close();
      await sqld.stop();
      dir.remove();
    },
  };
}
