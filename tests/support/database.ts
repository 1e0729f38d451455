// Databases for tests: a temporary file, or a real server, behind the same openDatabase.

import { join } from "node:path";
import type { Migration } from "../../migrations/index.ts";
import { type Database, openDatabase } from "../../src/kernel/database/database.ts";
import { createLog } from "../../src/kernel/telemetry/log.ts";
import { temporaryDir } from "./process.ts";
import { startSqld } from "./sqld.ts";

export const silent = createLog({ level: "silent", format: "json" });

/** A database that is thrown away with `remove()`. */
export interface TestDatabase {
  database: Database;
  dir: string;
  remove(): Promise<void>;
}

/** In a file of its own folder. */
export async function fileDatabase(migrations?: readonly Migration[]): Promise<TestDatabase> {
  const dir = temporaryDir();
  const url = `file:${join(dir.path, "berth.db")}`;
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

/** On a libSQL server of its own. */
export async function serverDatabase(migrations?: readonly Migration[]): Promise<TestDatabase> {
  const dir = temporaryDir();
  const sqld = await startSqld();
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
