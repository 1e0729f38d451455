// A consistent copy of the database beside the running service, and the way back from one.

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
import { type Migration, migrations as ours } from "../migrations/index.ts";
import { openReadOnly } from "./database/connection.ts";
import { sqliteCode } from "./database/errors.ts";
import { inspectFile } from "./database/inspect.ts";
import { lockDatabase } from "./database/lock.ts";
import { databaseFile } from "./database.ts";
import { StartError } from "./errors.ts";

/**
 * Writes a checked copy of the database as it is now. The service may run and write meanwhile: it isn't held up, as
 * long as this runs in another process. The copy holds the sealed secrets; what opens them (the secret key) isn't in it.
 *
 * @throws StartError when the target exists, can't be written, or the database is damaged or a server's
 */
export function backup(databaseUrl: string, target: string): { path: string; bytes: number } {
  const source = localFile(databaseUrl);
  const path = resolve(target);
  if (!existsSync(source)) throw new StartError(`There is no database at ${source} yet.`);
  if (existsSync(path)) throw new StartError(`${path} exists already. Choose another name.`);
  const unfinished = `${path}.unfinished`;
  try {
    mkdirSync(dirname(path), { recursive: true });
    rmSync(unfinished, { force: true });
    closeSync(openSync(unfinished, "wx", 0o600));
    const connection = openReadOnly(source);
    try {
      connection.run("VACUUM INTO ?", [unfinished]);
    } finally {
      connection.close();
    }
    inspectFile(unfinished, known(ours), true);
    flush(unfinished);
    renameSync(unfinished, path);
    return { path, bytes: statSync(path).size };
  } catch (error) {
    rmSync(unfinished, { force: true });
    throw refused("The backup was not made", error);
  }
}

/**
 * Puts a backup in the place of the database. What was there is kept beside it, under a name with the time.
 *
 * @returns where the replaced database is now, if there was one
 * @throws StartError, with nothing changed, when the backup is damaged or newer than this binary, or the database is in use
 */
export function restore(
  from: string,
  databaseUrl: string,
  migrations: readonly Migration[] = ours,
): { path: string; replaced: string | undefined } {
  const path = localFile(databaseUrl);
  const source = resolve(from);
  if (!existsSync(source) || statSync(source).size === 0) throw new StartError(`There is no backup at ${source}.`);
  inspectFile(source, known(migrations), true);
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const lock = lockDatabase(path);
  const unfinished = `${path}.restoring`;
  try {
    copyFileSync(source, unfinished);
    chmodSync(unfinished, 0o600);
    inspectFile(unfinished, known(migrations), true);
    flush(unfinished);
    const replaced = existsSync(path) ? setAside(path) : undefined;
    renameSync(unfinished, path);
    return { path, replaced };
  } catch (error) {
    rmSync(unfinished, { force: true });
    throw refused("The backup was not restored", error);
  } finally {
    lock.release();
  }
}

/** Gives the database a second name before the first is taken over, so that at no moment it has none. */
function setAside(path: string): string {
  const kept = `${path}.replaced-${new Date().toISOString().replace(/[:.]/g, "-")}`;
  // A write-ahead log holds what a crash left out of the file: it goes with it, and never meets the new one.
  for (const suffix of ["", "-wal"]) if (existsSync(path + suffix)) linkOrCopy(path + suffix, kept + suffix);
  for (const suffix of ["-wal", "-shm"]) rmSync(path + suffix, { force: true });
  return kept;
}

function linkOrCopy(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch {
    // Not every file system has hard links.
    copyFileSync(from, to);
  }
}

function flush(path: string): void {
  const descriptor = openSync(path, "r+");
  fsyncSync(descriptor);
  closeSync(descriptor);
}

function localFile(databaseUrl: string): string {
  const path = databaseFile(databaseUrl);
  if (path !== undefined) return path;
  throw new StartError("The database is on a server. Use that server's own backup and restore.");
}

const known = (migrations: readonly Migration[]) => new Set(migrations.map((migration) => migration.name));

function refused(what: string, error: unknown): unknown {
  if (error instanceof StartError) return error;
  const full = sqliteCode(error).startsWith("SQLITE_FULL") ? "the disk is full" : String(error);
  return new StartError(`${what}: ${full.replace(/\s+/g, " ")}`, { cause: error });
}
