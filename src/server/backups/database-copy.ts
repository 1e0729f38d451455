// Writes a consistent copy of the database, also while the service runs, and puts one in place.

import {
  chmodSync,
  closeSync,
  copyFileSync,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { dirname, resolve } from "node:path";
import { migrations as builtInMigrations, type Migration } from "../../../migrations/index.ts";
import { openConnection, openReadOnly } from "../../kernel/database/connection.ts";
import { localDatabasePath } from "../../kernel/database/database-path.ts";
import { sqliteCode } from "../../kernel/database/errors.ts";
import { inspectFile } from "../../kernel/database/file-inspection.ts";
import { lockDatabase } from "../../kernel/database/file-lock.ts";
import { StartError } from "../../kernel/errors.ts";
import { copyPages, writeAll } from "./continuous/physical-copy.ts";

/** Up to this size a database is written anew, which takes about a second: its copy is small, and has no remains of deleted rows. */
const ANEW_BYTES = 128 * 1024 * 1024;
/** With a larger share of free pages, a copy without them is worth three times the time. */
const MAX_FREE_SHARE = 0.25;
/** Of the header: how the file is written and read. 1: by a journal, 2: by a write-ahead log, which a copy does not have. */
const FORMAT_VERSIONS = { at: 18, journal: Uint8Array.of(1, 1) };

/** A large database is copied page by page, at the disk's pace; one that is small, or has many free pages, is written anew. */
export function copyDatabase(source: string, target: string, anewBytes = ANEW_BYTES): void {
  const connection = openReadOnly(source);
  try {
    const numberOf = (pragma: string) => Number(connection.run(`PRAGMA ${pragma}`).rows[0]?.[0]);
    const isSmall = statSync(source).size <= anewBytes;
    if (isSmall || numberOf("freelist_count") > MAX_FREE_SHARE * numberOf("page_count")) {
      connection.run("VACUUM INTO ?", [target]);
      return;
    }
  } finally {
    connection.close();
  }
  copyPages(source, target);
  const descriptor = openSync(target, "r+");
  try {
    if (statSync(target).size > 0) writeAll(descriptor, FORMAT_VERSIONS.journal, FORMAT_VERSIONS.at);
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Writes a copy of the database and checks it. The service may run and write meanwhile, and is not blocked if this runs in
 * another process. The copy holds the sealed secrets, but not the secret key that opens them.
 *
 * @param copy writes into an empty file
 * @throws StartError if the target exists or can't be written, or if the database is damaged or on a server
 */
export function backUpDatabase(
  databaseUrl: string,
  target: string,
  copy: (source: string, target: string) => void = copyDatabase,
): { path: string; bytes: number } {
  const source = requireLocalFile(databaseUrl);
  const path = resolve(target);
  if (!existsSync(source)) throw new StartError(`There is no database at ${source} yet.`);
  if (existsSync(path)) throw new StartError(`${path} exists already. Choose another name.`);
  const temporaryPath = `${path}.unfinished`;
  try {
    mkdirSync(dirname(path), { recursive: true });
    rmSync(temporaryPath, { force: true });
    closeSync(openSync(temporaryPath, "wx", 0o600));
    copy(source, temporaryPath);
    inspectFile(temporaryPath, migrationNames(builtInMigrations), true);
    syncFile(temporaryPath);
    renameSync(temporaryPath, path);
    return { path, bytes: statSync(path).size };
  } catch (error) {
    rmSync(temporaryPath, { force: true });
    throw toStartError("The backup was not made", error);
  }
}

export interface RestoreOptions {
  /** Default: those of this binary. */
  migrations?: readonly Migration[];
  /** Whether the backup's file may be moved instead of copied. */
  isTemporary?: boolean;
  /** Called once the database is locked and the backup was checked, right before the database is replaced. */
  beforeReplacement?: (keptSuffix: string) => void;
}

/** Throws StartError if a copy of the database is missing, damaged, or newer than this binary. */
export function checkDatabaseCopy(from: string, migrations: readonly Migration[] = builtInMigrations): void {
  const source = resolve(from);
  if (!existsSync(source) || statSync(source).size === 0) throw new StartError(`There is no backup at ${source}.`);
  inspectFile(source, migrationNames(migrations), true);
}

/**
 * Replaces the database by a copy, and keeps the old database beside it, under a name with the time.
 *
 * @returns the path of the replaced database, if there was one
 * @throws StartError, with nothing changed, if the copy is damaged or newer than this binary, or the database is in use
 */
export function restoreDatabase(
  from: string,
  databaseUrl: string,
  { migrations = builtInMigrations, isTemporary = false, beforeReplacement }: RestoreOptions = {},
): { path: string; replaced: string | undefined } {
  const path = requireLocalFile(databaseUrl);
  const source = resolve(from);
  checkDatabaseCopy(source, migrations);
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const lock = lockDatabase(path);
  const temporaryPath = `${path}.restoring`;
  try {
    if (isTemporary) renameSync(source, temporaryPath);
    else copyFileSync(source, temporaryPath);
    chmodSync(temporaryPath, 0o600);
    // A copy may differ from what was checked.
    if (!isTemporary) inspectFile(temporaryPath, migrationNames(migrations), true);
    leaveLog(temporaryPath);
    syncFile(temporaryPath);
    const suffix = `.replaced-${new Date().toISOString().replace(/[:.]/g, "-")}`;
    beforeReplacement?.(suffix);
    const replaced = existsSync(path) ? keepReplacedFile(path, suffix) : undefined;
    renameSync(temporaryPath, path);
    return { path, replaced };
  } catch (error) {
    rmSync(temporaryPath, { force: true });
    throw toStartError("The backup was not restored", error);
  } finally {
    lock.release();
  }
}

/** A backup of a cluster's copy has its place in a log, which has gone on. What is restored has no part in it. */
function leaveLog(path: string): void {
  const connection = openConnection(path);
  try {
    connection.run("DROP TABLE IF EXISTS log_progress");
    connection.run("PRAGMA journal_mode = DELETE");
  } finally {
    connection.close();
  }
}

/** Gives the old database a second name before the first one is replaced, so that it always has a name. */
function keepReplacedFile(path: string, suffix: string): string {
  const keptPath = path + suffix;
  // The write-ahead log may hold commits that are not in the file yet. It must never be applied to the new file.
  for (const suffix of ["", "-wal"]) if (existsSync(path + suffix)) linkOrCopy(path + suffix, keptPath + suffix);
  for (const suffix of ["-wal", "-shm"]) rmSync(path + suffix, { force: true });
  return keptPath;
}

function linkOrCopy(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch {
    // Not every file system has hard links.
    copyFileSync(from, to);
  }
}

function syncFile(path: string): void {
  const descriptor = openSync(path, "r+");
  fsyncSync(descriptor);
  closeSync(descriptor);
}

export function requireLocalFile(databaseUrl: string): string {
  const path = localDatabasePath(databaseUrl);
  if (path !== undefined) return path;
  throw new StartError("The database is on a server. Use that server's own backup and restore.");
}

const migrationNames = (migrations: readonly Migration[]) => new Set(migrations.map((migration) => migration.name));

function toStartError(what: string, error: unknown): unknown {
  if (error instanceof StartError) return error;
  const reason = sqliteCode(error).startsWith("SQLITE_FULL") ? "the disk is full" : String(error);
  return new StartError(`${what}: ${reason.replace(/\s+/g, " ")}`, { cause: error });
}
