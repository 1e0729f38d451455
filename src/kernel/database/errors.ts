// Database errors, and how to recognise them: a refused start, a failed guard, unavailable storage, a duplicate value.

import { AppError, StartError } from "../errors.ts";

/** Another process holds the lock of the database file. */
export class DatabaseInUse extends StartError {}

/** The file is damaged, or no database of Berth. */
export class DatabaseDamaged extends StartError {}

/** The database has migrations that this binary doesn't know. */
export class DatabaseNewer extends StartError {}

/** A batch was undone because the statement before `guard(name)` changed no row. */
export class GuardFailed extends Error {
  override readonly name = "GuardFailed";

  constructor(readonly guard: string) {
    super(`Guard failed: ${guard}`);
  }
}

/** Returns the name of SQLite's result code (such as `SQLITE_CONSTRAINT_UNIQUE`) of an error or its cause; else "". */
export function sqliteCode(error: unknown): string {
  for (let at = error; at instanceof Error; at = at.cause) {
    const code: unknown = Reflect.get(at, "extendedCode") ?? Reflect.get(at, "code");
    if (typeof code === "string" && code.startsWith("SQL")) return code;
  }
  return "";
}

/**
 * Whether an error, or one of its causes, means that a row with this value exists. Works for both clients.
 *
 * @param column `table.column`, to accept only a violation of this column
 */
export function isUniqueViolation(error: unknown, column?: string): boolean {
  for (let at = error; at instanceof Error; at = at.cause) {
    const columns = /UNIQUE constraint failed: (.*)/.exec(at.message)?.[1];
    if (columns !== undefined) return column === undefined || columns.split(/,\s*/).includes(column);
  }
  return false;
}

/** Whether an error, or one of its causes, means that a row which was referred to does not exist. Works for both clients. */
export function isForeignKeyViolation(error: unknown): boolean {
  for (let at = error; at instanceof Error; at = at.cause) {
    if (at.message.includes("FOREIGN KEY constraint failed")) return true;
  }
  return false;
}

/** Converts an error of unavailable storage into a 503; any other error is returned unchanged. */
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

/** 503: the database can't be reached at the moment. */
export const databaseUnavailable = (message: string, cause?: unknown) =>
  new AppError(503, "DATABASE_UNAVAILABLE", message, {}, { cause });
