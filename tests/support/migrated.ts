// Spares tests of other things the migrations of a new database, which take a quarter of a second: they copy a migrated one.

import { chmodSync, copyFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { migrations } from "../../migrations/index.ts";
import { openDatabase } from "../../src/kernel/database/database.ts";
import { createLog } from "../../src/kernel/telemetry/log.ts";
import { startSqld } from "./sqld.ts";

/** All processes of a test run share the copies, because each test file starts with fresh modules. The run sets the folder. */
const folder = process.env.BERTH_TEST_TEMPLATES ?? tmpdir();
const template = join(folder, `berth-migrated-${Bun.hash(JSON.stringify(migrations)).toString(36)}`);
const log = createLog({ level: "silent", format: "json" });

/** Puts a database with all migrations into the data folder, unless there is one. */
export async function placeMigratedDatabase(dataDir: string): Promise<void> {
  const file = join(dataDir, "berth.db");
  if (existsSync(file)) return;
  const source = `${template}.db`;
  if (!existsSync(source)) await makeTemplate(source, migrateFile);
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  copyFileSync(source, file);
  chmodSync(file, 0o600);
}

/** Makes the data folder of a libSQL server whose database has all migrations. */
export async function placeMigratedServer(dataDir: string): Promise<void> {
  const source = `${template}.sqld`;
  if (!existsSync(source)) await makeTemplate(source, migrateServer);
  cpSync(source, dataDir, { recursive: true });
}

/** What `make` returns appears whole. Two processes that make it at once make the same, and a folder can't replace another. */
async function makeTemplate(path: string, make: (dir: string) => Promise<string>): Promise<void> {
  const dir = mkdtempSync(join(folder, "berth-migrated-"));
  try {
    const made = await make(dir);
    renameSync(made, path);
  } catch (error) {
    if (!existsSync(path)) throw error;
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

async function migrateFile(dir: string): Promise<string> {
  const path = join(dir, "berth.db");
  await migrate(`file:${path}`, dir);
  return path;
}

async function migrateServer(dir: string): Promise<string> {
  const server = await startSqld({ isEmpty: true });
  const path = join(dir, "sqld");
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
