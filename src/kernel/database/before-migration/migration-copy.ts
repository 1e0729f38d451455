// Keeps a copy of a database file from before its migrations, and puts it back if the start that ran them fails.
//
// A note beside the file (`berth.db.upgrading`) says which copy belongs to migrations that no start has confirmed yet. It is written once the
// copy is whole, and removed once the service is ready: so a start after a kill knows that copy, and makes no second one of a file
// that is half-way. Each step is a rename, so that a kill at any place leaves a whole file under each name.
import {
  chmodSync,
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  fsyncSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { copyFile, statfs } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { version } from "../../../../package.json";
import { StartError } from "../../errors.ts";
import { lockDatabase } from "../file-lock.ts";
import { migrationNotePath } from "./note-path.ts";

/** What a failed start needs, to go back. */
export interface MigrationNote {
  /** The copy's file, beside the database. */
  copy: string;
  /** The version whose migrations follow. */
  version: string;
  /** The last migration that the copy has. */
  last: string;
  /** Going back has begun, and is begun again by the next start. */
  isGoingBack?: boolean;
}

/** Copies that are kept after a successful start. */
const KEPT_COPIES = 2;
/** Free bytes that a copy leaves, for the migrations and what else is written. */
const SPARE_BYTES = 64 * 1024 * 1024;

const copyPrefix = (path: string) => `${path}.before-`;

/** The note of unconfirmed migrations; undefined if there are none. */
export function readMigrationNote(path: string): MigrationNote | undefined {
  if (!existsSync(migrationNotePath(path))) return undefined;
  const { copy, version, last, isGoingBack } = JSON.parse(
    readFileSync(migrationNotePath(path), "utf8"),
  ) as MigrationNote;
  return { copy: join(dirname(path), basename(copy)), version, last, isGoingBack: isGoingBack === true };
}

/**
 * Copies the file, which this process has locked and whose log is empty. Where the file system can share blocks, that takes no time
 * and no space. Does nothing if migrations of an earlier start are unconfirmed. Throws StartError, with nothing changed, if the disk is too full.
 */
export async function copyBeforeMigration(path: string, last: string, first: string): Promise<void> {
  if (readMigrationNote(path)) return;
  const copy = `${copyPrefix(path)}${version}-${first}`;
  const unfinished = `${copy}.unfinished`;
  rmSync(unfinished, { force: true });
  try {
    await copyFile(path, unfinished, constants.COPYFILE_FICLONE_FORCE);
  } catch {
    await requireSpace(path);
    await copyFile(path, unfinished);
  }
  chmodSync(unfinished, 0o600);
  syncFile(unfinished);
  renameSync(unfinished, copy);
  writeNote(path, { copy: basename(copy), version, last });
}

async function requireSpace(path: string): Promise<void> {
  const { size } = statSync(path);
  const { bavail, bsize } = await statfs(dirname(path));
  if (bavail * bsize >= size + SPARE_BYTES) return;
  const megabytes = (bytes: number) => `${Math.ceil(bytes / 1024 ** 2)} MB`;
  throw new StartError(
    `Version ${version} changes the database, and makes a copy of it first. The disk has ${megabytes(bavail * bsize)} free, and the copy needs ${megabytes(size + SPARE_BYTES)}. Free some space, then start again; nothing was changed.`,
  );
}

/** The migrations stay: forgets the note, and deletes all but the newest copies. */
export function confirmMigration(path: string): void {
  if (!existsSync(migrationNotePath(path))) return;
  rmSync(migrationNotePath(path));
  const copies = copiesOf(path);
  for (const { file } of copies.slice(KEPT_COPIES)) rmSync(file, { force: true });
}

/** The copies beside the database, the newest first. */
export function copiesOf(path: string): { file: string; at: number }[] {
  const prefix = basename(copyPrefix(path));
  return readdirSync(dirname(path))
    .filter((name) => name.startsWith(prefix) && !/\.unfinished$|-(?:wal|shm)$/.test(name))
    .map((name) => join(dirname(path), name))
    .map((file) => ({ file, at: statSync(file).mtimeMs }))
    .sort((a, b) => b.at - a.at);
}

/**
 * Puts the copy of unconfirmed migrations in place of the database, which no process may have open. What was in place is kept as
 * `berth.db.failed`, since a start that fails late may have stored something, unless it has nothing but migrations. Returns the
 * note; undefined if there was nothing to undo.
 */
export function goBackBeforeMigration(
  path: string,
  { hasOnlyMigrations = false, rename = renameSync } = {},
): (MigrationNote & { failed: string }) | undefined {
  const note = readMigrationNote(path);
  if (!note) return undefined;
  const failed = `${path}.failed`;
  const lock = lockDatabase(path);
  try {
    if (!note.isGoingBack) writeNote(path, { ...note, copy: basename(note.copy), isGoingBack: true });
    const restoring = `${path}.restoring`;
    copyFileSync(note.copy, restoring, constants.COPYFILE_FICLONE);
    chmodSync(restoring, 0o600);
    syncFile(restoring);
    // The log belongs to the file that goes, and must never be applied to the copy. Moved first, the log stays readable by its file's new name.
    for (const suffix of ["-wal", ""]) {
      if (existsSync(path + suffix)) rename(path + suffix, failed + suffix);
    }
    rmSync(`${path}-shm`, { force: true });
    rename(restoring, path);
    syncFile(dirname(path), "r");
    rmSync(migrationNotePath(path));
    if (hasOnlyMigrations) for (const suffix of ["", "-wal"]) rmSync(failed + suffix, { force: true });
    return { ...note, failed };
  } finally {
    lock.release();
  }
}

/** Puts a copy in place, at an operator's word. A kill in between is completed by the next start. */
export function restoreCopy(path: string, copy: string): void {
  writeNote(path, { copy: basename(copy), version, last: "", isGoingBack: true });
  goBackBeforeMigration(path);
}

/** Ends what a kill has interrupted. Called before the database is looked at. */
export function finishGoingBack(path: string): void {
  if (readMigrationNote(path)?.isGoingBack) goBackBeforeMigration(path);
}

function writeNote(path: string, note: MigrationNote): void {
  const unfinished = `${migrationNotePath(path)}.unfinished`;
  writeFileSync(unfinished, `${JSON.stringify(note)}\n`, { mode: 0o600 });
  syncFile(unfinished);
  renameSync(unfinished, migrationNotePath(path));
  syncFile(dirname(path), "r");
}

function syncFile(path: string, flags = "r+"): void {
  const descriptor = openSync(path, flags);
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
