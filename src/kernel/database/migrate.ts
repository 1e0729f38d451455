// Migrates the schema, or the tables of a third-party plugin: applies each migration once, in one batch with the row that records it.
// An empty database gets all of them in one batch, which is one entry of a cluster's log.

import type { Migration } from "../../../migrations/index.ts";
import type { Log } from "../telemetry/log.ts";
import { DatabaseNewer } from "./errors.ts";
import { splitStatements } from "./sql-splitter.ts";
import type { Statement } from "./statements.ts";

interface DatabaseAccess {
  read(sql: string): Promise<{ rows: ArrayLike<Record<number, unknown>> }>;
  write(statements: Statement[]): Promise<unknown>;
}

/** Called before the first one, if the database has others already. */
export type BeforeMigration = (last: string, first: string) => Promise<void>;

/** Where the applied ones are recorded, and what to say if there is one that is not in the manifest. */
interface Ledger {
  table: string;
  /** Before each recorded name. */
  prefix: string;
  newer(name: string): string;
}

const BERTH: Ledger = {
  table: "migrations",
  prefix: "",
  newer: (name) =>
    `The database was written by a newer version of Berth (it has ${name}). Use that version, or restore a backup made before.`,
};

/**
 * Applies the missing migrations in order. Throws `DatabaseNewer`, with nothing changed, if the database has a migration
 * that is not in the manifest.
 *
 * @returns the names of the applied ones
 */
export const migrate = (
  access: DatabaseAccess,
  manifest: readonly Migration[],
  log: Log,
  before?: BeforeMigration,
): Promise<string[]> => applyMissing(access, manifest, log, BERTH, before);

/** As `migrate`, for the tables of a third-party plugin. */
export const migratePlugin = (access: DatabaseAccess, plugin: string, manifest: readonly Migration[], log: Log) =>
  applyMissing(access, manifest, log, {
    table: "plugin_migrations",
    // Encoded, so that the prefix of no plugin begins with that of another.
    prefix: `${encodeURIComponent(plugin)}/`,
    newer: (name) =>
      `The database has the migration ${name} of the plugin ${plugin}, which its file doesn't list. Use the newer file, or restore a backup made before.`,
  });

async function applyMissing(
  access: DatabaseAccess,
  manifest: readonly Migration[],
  log: Log,
  ledger: Ledger,
  before?: BeforeMigration,
): Promise<string[]> {
  const { table, prefix } = ledger;
  const createTable = `CREATE TABLE IF NOT EXISTS ${table} (name TEXT PRIMARY KEY, applied_at INTEGER NOT NULL) STRICT, WITHOUT ROWID`;
  const alreadyApplied = await readApplied(access, ledger);
  const known = new Set(manifest.map((migration) => migration.name));
  const unknownMigration = [...alreadyApplied].find((name) => !known.has(name));
  if (unknownMigration !== undefined) throw new DatabaseNewer(ledger.newer(unknownMigration));
  const missing = manifest.filter((migration) => !alreadyApplied.has(migration.name));
  const [first] = missing;
  const last = [...alreadyApplied].sort().at(-1);
  if (first && last !== undefined) await before?.(last, first.name);
  const groups = alreadyApplied.size === 0 && missing.length > 0 ? [missing] : missing.map((migration) => [migration]);
  for (const group of groups) {
    const steps = group.flatMap(({ name, sql }): Statement[] => [
      ...splitStatements(sql).map((text) => ({ sql: text, args: [] })),
      { sql: `INSERT INTO ${table} (name, applied_at) VALUES (?, ?)`, args: [prefix + name, Date.now()] },
    ]);
    try {
      await access.write([{ sql: createTable, args: [] }, ...steps]);
    } catch (error) {
      // Another process on the same server may have applied them first.
      const applied = await readApplied(access, ledger);
      if (!group.every(({ name }) => applied.has(name))) throw error;
    }
    log.debug("migrations were applied", { migrations: group.map(({ name }) => prefix + name) });
  }
  return missing.map((migration) => migration.name);
}

async function readApplied(access: DatabaseAccess, { table, prefix }: Ledger): Promise<Set<string>> {
  const found = await access.read(`SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = '${table}'`);
  if (found.rows.length === 0) return new Set();
  const { rows } = await access.read(`SELECT name FROM ${table}`);
  const names = Array.from(rows, (row) => String(row[0]));
  return new Set(names.filter((name) => name.startsWith(prefix)).map((name) => name.slice(prefix.length)));
}
