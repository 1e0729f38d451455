// Makes the databases that migrated.ts copies.

import { cpSync, existsSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { migrations } from "../../migrations/index.ts";
import { openDatabase } from "../../src/kernel/database/database.ts";
import { createLog } from "../../src/kernel/telemetry/log.ts";
import { startSqld } from "./sqld.ts";

const log = createLog({ level: "silent", format: "json" });

/** A later run with other migrations finds no copy of these in the folder for temporary files. */
const ownName = (kind: string) => `berth-migrated-${Bun.hash(JSON.stringify(migrations)).toString(36)}.${kind}`;

/**
 * Returns the path of a file, or of the data folder of a libSQL server, with all migrations. It appears there whole. Two
 * processes that make it at once make the same, and a folder can't replace another.
 */
export async function madeTemplate(kind: "db" | "sqld", path = join(tmpdir(), ownName(kind))): Promise<string> {
  if (existsSync(path)) return path;
  const dir = mkdtempSync(join(dirname(path), "berth-migrated-"));
  try {
    renameSync(kind === "db" ? await migratedFile(dir) : await migratedServer(dir), path);
  } catch (error) {
    if (!existsSync(path)) throw error;
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
  return path;
}

async function migratedFile(dir: string): Promise<string> {
  const path = join(dir, "berth.db");
  await migrate(`file:${path}`, dir);
  return path;
}

async function migratedServer(dir: string): Promise<string> {
  const path = join(dir, "sqld");
  const server = await startSqld({ isEmpty: true });
  try {
    await migrate(server.url, dir);
    await server.kill();
    cpSync(server.dataDir, path, { recursive: true });
  } finally {
    await server.stop();
  }
  return path;
}

async function migrate(url: string, dataDir: string): Promise<void> {
  const database = await openDatabase({ url, dataDir, log });
  await database.close();
}
