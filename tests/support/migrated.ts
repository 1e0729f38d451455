// Spares tests of other things the migrations of a new database, which take a quarter of a second: they copy a migrated one.

import { chmodSync, copyFileSync, cpSync, existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";

/** Puts a database with all migrations into the data folder, unless there is one. */
export async function placeMigratedDatabase(dataDir: string): Promise<void> {
  const file = join(dataDir, "berth.db");
  if (existsSync(file)) return;
  const source = await template("db");
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  copyFileSync(source, file);
  chmodSync(file, 0o600);
}

/** Makes the data folder of a libSQL server whose database has all migrations. */
export async function placeMigratedServer(dataDir: string): Promise<void> {
  cpSync(await template("sqld"), dataDir, { recursive: true });
}

/**
 * All processes of a run by `npm test` share the copies, because each test file starts with fresh modules. Only the first one
 * loads the code that makes them.
 */
async function template(kind: "db" | "sqld"): Promise<string> {
  const folder = process.env.BERTH_TEST_TEMPLATES;
  const shared = folder ? join(folder, `berth-migrated.${kind}`) : undefined;
  if (shared !== undefined && existsSync(shared)) return shared;
  const { madeTemplate } = await import("./migrated-template.ts");
  return madeTemplate(kind, shared);
}
