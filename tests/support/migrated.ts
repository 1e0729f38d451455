// Spares tests of other things the migrations of a new database, which take 60 ms: they copy a migrated one.

import { chmodSync, copyFileSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { migrations } from "../../migrations/index.ts";
import { openDatabase } from "../../src/kernel/database/database.ts";
import { createLog } from "../../src/kernel/telemetry/log.ts";

/** All processes of a test run share the copy, because each test file starts with fresh modules. The run sets the folder. */
const folder = process.env.BERTH_TEST_TEMPLATES ?? tmpdir();
const template = join(folder, `berth-migrated-${Bun.hash(JSON.stringify(migrations)).toString(36)}.db`);

/** Puts a database with all migrations into the data folder, unless there is one. */
export async function placeMigratedDatabase(dataDir: string): Promise<void> {
  const file = join(dataDir, "berth.db");
  if (existsSync(file)) return;
  if (!existsSync(template)) await makeTemplate();
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  copyFileSync(template, file);
  chmodSync(file, 0o600);
}

/** Two processes that make it at once make the same; the file appears whole. */
async function makeTemplate(): Promise<void> {
  const dir = mkdtempSync(join(folder, "berth-migrated-"));
  try {
    const path = join(dir, "berth.db");
    const log = createLog({ level: "silent", format: "json" });
    const database = await openDatabase({ url: `file:${path}`, dataDir: dir, log });
    await database.close();
    renameSync(path, template);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}
