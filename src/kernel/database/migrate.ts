// Migrates the schema: applies each migration once, in one batch with the row that records it.

import type { Migration } from "../../../migrations/index.ts";
import type { Log } from "../telemetry/log.ts";
import { DatabaseNewer } from "./errors.ts";
import { splitStatements } from "./sql-splitter.ts";
import type { Statement } from "./statements.ts";

interface DatabaseAccess {
  read(sql: string): Promise<{ rows: ArrayLike<Record<number, unknown>> }>;
  write(statements: Statement[]): Promise<unknown>;
}

const CREATE_MIGRATIONS_TABLE =
  "CREATE TABLE IF NOT EXISTS migrations (name TEXT PRIMARY KEY, applied_at INTEGER NOT NULL) STRICT, WITHOUT ROWID";

/**
 * Applies the missing migrations in order. Throws `DatabaseNewer`, with nothing changed, if the database has a migration
 * that is not in the manifest.
 *
 * @returns the names of the applied ones
 */
export async function migrate(access: DatabaseAccess, manifest: readonly Migration[], log: Log): Promise<string[]> {
  const alreadyApplied = await readApplied(access);
  const known = new Set(manifest.map((migration) => migration.name));
  const unknownMigration = [...alreadyApplied].find((name) => !known.has(name));
  if (unknownMigration !== undefined) {
    throw new DatabaseNewer(
      `The database was written by a newer version of Berth (it has ${unknownMigration}). Use that version, or restore a backup made before.`,
    );
  }
  const missing = manifest.filter((migration) => !alreadyApplied.has(migration.name));
  for (const { name, sql } of missing) {
    const steps = [CREATE_MIGRATIONS_TABLE, ...splitStatements(sql)].map(
      (text): Statement => ({ sql: text, args: [] }),
    );
    steps.push({ sql: "INSERT INTO migrations (name, applied_at) VALUES (?, ?)", args: [name, Date.now()] });
    try {
      await access.write(steps);
    } catch (error) {
      // Another process on the same server may have applied it first.
      if (!(await readApplied(access)).has(name)) throw error;
    }
    log.debug("a migration was applied", { migration: name });
  }
  return missing.map((migration) => migration.name);
}

async function readApplied(access: DatabaseAccess): Promise<Set<string>> {
  const migrationsTable = await access.read("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'migrations'");
  if (migrationsTable.rows.length === 0) return new Set();
  const { rows } = await access.read("SELECT name FROM migrations");
  return new Set(Array.from(rows, (row) => String(row[0])));
}
