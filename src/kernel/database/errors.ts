// What can go wrong with the database, told apart: a start that is refused, a guard, a storage that is gone, a taken value.

import { AppError, StartError } from "../errors.ts";

/** The start is refused since another process holds the database file. */
export class DatabaseInUse extends StartError {}

/** What stands in the file can't be read as what it should be. */
export class DatabaseDamaged extends StartError {}

/** The file has migrations that this binary doesn't know. */
export class DatabaseNewer extends StartError {}

/** A batch was undone as a whole because the statement before `guard(name)` changed no row. */
export class GuardFailed extends Error {
  override readonly name = "GuardFailed";

  constructor(readonly guard: string) {
    super(`Guard failed: ${guard}`);
  }
}

/** SQLite's result code by name (`SQLITE_FULL`, `SQLITE_CONSTRAINT_UNIQUE`, …) of an error or what caused it, else "". */
export function sqliteCode(error: unknown): string {
  for (let at = error; at instanceof Error; at = at.cause) {
    const code: unknown = Reflect.get(at, "extendedCode") ?? Reflect.get(at, "code");
    if (typeof code === "string" && code.startsWith("SQL")) return code;
  }
  return "";
}

/**
 * True when a row with this value is already there, for both clients and however deeply the error is wrapped.
 *
 * @param column `table.column`, where only that one is meant
 */
export function isUniqueViolation(error: unknown, column?: string): boolean {
  for (let at = error; at instanceof Error; at = at.cause) {
    const columns = /UNIQUE constraint failed: (.*)/.exec(at.message)?.[1];
    if (columns !== undefined) return column === undefined || columns.split(/,\s*/).includes(column);
  }
  return false;
}

/** Storage that can't be written turns into a 503 that says so; every other error stays what it is. */
export function toStorageError(error: unknown): unknown {
  if (error instanceof AppError) return error;
  const code = sqliteCode(error);
  if (/^SQLITE_(FULL|READONLY|IOERR|CANTOPEN|PERM)/.test(code)) {
    return new AppError(
      503,
      "STORAGE_UNAVAILABLE",
      "The disk is full or not writable. Nothing was changed.",
      {},
      { cause: error },
    );
  }
  if (/^SQLITE_(CORRUPT|NOTADB)/.test(code)) {
    return new AppError(
      503,
      "STORAGE_UNAVAILABLE",
      "The database file is damaged. Nothing was changed.",
      {},
      { cause: error },
    );
  }
  if (/^SQLITE_(BUSY|LOCKED)/.test(code)) return databaseUnavailable("Another program holds the database.", error);
  return error;
}

/** 503: the database can't be asked right now. */
export const databaseUnavailable = (message: string, cause?: unknown) =>
  new AppError(503, "DATABASE_UNAVAILABLE", message, {}, { cause });
