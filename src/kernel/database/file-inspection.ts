// Checks a database file before it is opened for writing, so that an unusable one is rejected unchanged.

import { closeSync, openSync, readSync, statSync } from "node:fs";
import { programName } from "../config/program-name.ts";
import { StartError } from "../errors.ts";
import { openReadOnly } from "./connection.ts";
import { DatabaseDamaged, DatabaseNewer, sqliteCode } from "./errors.ts";

/** Files up to this size are checked in full at each start (about 5 ms); larger ones by header, length and schema. */
const FULL_CHECK_BYTES = 2 * 1024 * 1024;

/**
 * Throws a `StartError` if the file is damaged, belongs to another program, or was written by a newer version.
 * A missing or empty file is valid.
 *
 * @param knownMigrations names of this binary's migrations
 * @param full check every page even of a large file
 * @returns the names of the file's migrations, in order
 */
export function inspectFile(path: string, knownMigrations: ReadonlySet<string>, full = false): string[] {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (size === 0) return [];
  const hasPendingLog = (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;
  checkHeader(path, size, hasPendingLog);

  const connection = openReadOnly(path, { immutable: !hasPendingLog });
  try {
    if (full || size <= FULL_CHECK_BYTES) {
      const verdict = connection.run("PRAGMA quick_check(1)").rows[0]?.[0];
      if (verdict !== "ok") throw damagedError(path, verdict);
    }
    // A copy of a cluster notes its place in the log before the first migration.
    const found = connection.run("SELECT name FROM sqlite_schema WHERE type = 'table' AND name != 'log_progress'");
    const tables = found.rows.map((row) => row[0]);
    if (tables.length > 0 && !tables.includes("migrations")) {
      throw new DatabaseDamaged(`The file ${path} is a database of another program. Choose another file.`);
    }
    if (tables.length === 0) return [];
    const names = connection.run("SELECT name FROM migrations ORDER BY name").rows.map((row) => String(row[0]));
    const unknownMigration = names.find((name) => !knownMigrations.has(name));
    if (unknownMigration === undefined) return names;
    throw new DatabaseNewer(
      `The database ${path} was written by a newer version of Berth (it has ${unknownMigration}). Use that version, or restore a backup made before.`,
    );
  } catch (error) {
    if (error instanceof StartError) throw error;
    throw /^SQLITE_(?:CORRUPT|NOTADB|IOERR|ERROR)/.test(sqliteCode(error)) ? damagedError(path, error) : error;
  } finally {
    connection.close();
  }
}

/** Checks the first 100 bytes (https://sqlite.org/fileformat2.html#the_database_header) and the file's length. */
function checkHeader(path: string, size: number, hasPendingLog: boolean): void {
  const header = new DataView(new ArrayBuffer(100));
  const descriptor = openSync(path, "r");
  try {
    readSync(descriptor, header, 0, 100, 0);
  } finally {
    closeSync(descriptor);
  }
  const magic = new TextDecoder().decode(header.buffer.slice(0, 16));
  if (size < 512 || magic !== "SQLite format 3\0") throw damagedError(path, "it has no SQLite header");
  const pageSize = header.getUint16(16) === 1 ? 65_536 : header.getUint16(16);
  const countIsValid = header.getUint32(24) === header.getUint32(92);
  if (!hasPendingLog && countIsValid && size < header.getUint32(28) * pageSize)
    throw damagedError(path, "it is truncated");
}

const damagedError = (path: string, cause: unknown) => {
  const reason = cause instanceof Error ? cause.message : String(cause).replace(/\s+/g, " ");
  return new DatabaseDamaged(
    `The database ${path} is damaged (${reason}). Restore a backup: ${programName()} restore FILE`,
    {
      cause,
    },
  );
};
