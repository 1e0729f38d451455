// Restores a backup of any form: fetched, decrypted, unpacked and checked beside the data folder's files before anything is replaced.

import { existsSync, mkdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { manifestNameOf } from "../../../plugins/fleet/backups/backup-names.ts";
import { backupSettings, parseS3Place } from "../../../plugins/fleet/settings.ts";
import { clusterSettings } from "../../cluster/settings.ts";
import type { Config } from "../../kernel/config/config.ts";
import { programName } from "../../kernel/config/program-name.ts";
import { StartError } from "../../kernel/errors.ts";
import { KEPT_FOLDERS } from "../../kernel/files.ts";
import { cellDatabaseUrl, cellDataDir } from "../cells/folders.ts";
import { DATABASE_FILE, DESCRIPTION_FILE, kindOf, toDamaged, unpackInto } from "./archive.ts";
import { backupBefore } from "./continuous/restore/moments.ts";
import { type Reached, rollForward } from "./continuous/restore/roll-forward.ts";
import { checkDatabaseCopy, restoreDatabase } from "./database-copy.ts";
import { readIdentities } from "./encryption.ts";
import { listBackups, readManifest } from "./make-backup.ts";
import type { BackupManifest } from "./manifest.ts";
import { moveFiles } from "./moved-files.ts";
import { createFolderStorage } from "./place/folder-storage.ts";
import { openStorage } from "./place/open-storage.ts";
import { createS3Storage } from "./place/s3-storage.ts";
import type { BackupStorage } from "./place/storage.ts";
import { cellsOf, folderOfCell, linkFiles } from "./staging.ts";

const WORK_FOLDER = "restore-work";

export interface Restored {
  /** Where it came from. */
  from: string;
  storage: BackupStorage;
  /** What was kept of what was there before: databases and folders of files. */
  kept: string[];
  /** How many files were put in place. */
  files: number;
  /** If the continuous copy was put on top of the backup: how far. */
  reached?: Reached | undefined;
}

export interface RestoreBackupOptions {
  /** For an encrypted one; default: BACKUP_IDENTITY_FILE. */
  identityFile?: string | undefined;
  /** Epoch ms: with `latest`, what came later is left out. */
  at?: number | undefined;
}

/**
 * @param source a file, `s3://bucket/key`, the name of a backup in BACKUP_TO, or `latest`
 * @throws StartError, with nothing replaced, if the backup can't be opened, is damaged or newer, or the service runs
 */
export async function restoreBackup(
  config: Config,
  source: string,
  { identityFile, at }: RestoreBackupOptions = {},
): Promise<Restored> {
  const { storage, name } = await findSource(config, source, at);
  const from = storage.addressOf(name);
  const found = await storage.read(name);
  if (!found) throw new StartError(`There is no backup at ${from}. ${listHint()}`);
  const { kind, body } = await peek(found.body);
  if (kind === "database") {
    await body.cancel();
    return restoreCopies(config, storage, name);
  }
  if (kind === "other") {
    await body.cancel();
    throw new StartError(
      `${from} is damaged, or no backup: it is neither a database nor an archive that Berth has made.`,
    );
  }
  const identities = kind === "encrypted" ? identitiesFor(config, from, identityFile) : [];
  const folder = join(config.dataDir, WORK_FOLDER);
  try {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const manifest = await unpack(storage, name, body, identities, folder);
    // A backup that is asked for by its name is restored as it is.
    const places = source === "latest" || at !== undefined ? (manifest?.log ?? []) : [];
    let reached: Reached | undefined;
    for (const place of places) {
      const target = join(folder, folderOfCell(place.cell));
      const of = await rollForward({
        storage,
        place,
        folder: target,
        identities,
        until: at ?? Number.POSITIVE_INFINITY,
      });
      if (at !== undefined && of.problem !== undefined && of.at < at)
        throw notReached(name, place.at, of.at, of.problem);
      reached = { at: Math.max(reached?.at ?? 0, of.at), problem: reached?.problem ?? of.problem };
    }
    return { from, storage, ...replaceBy(config, folder, from), reached };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The operator chooses another moment, if the way to the wanted one ends before it. */
function notReached(name: string, begin: number, end: number, problem: string): StartError {
  const reachable = end > begin ? `latest --at ${new Date(end).toISOString()}` : name;
  return new StartError(
    `${problem} It is before the wanted moment, so nothing was replaced. What can be restored: ${programName()} restore ${reachable}`,
  );
}

async function findSource(
  config: Config,
  source: string,
  at: number | undefined,
): Promise<{ storage: BackupStorage; name: string }> {
  const { s3 } = config.of(backupSettings);
  if (at !== undefined && (source.startsWith("s3:") || source.includes("/")))
    throw new StartError(`--at takes the name of a backup in BACKUP_TO, or latest, and not ${source}. ${listHint()}`);
  if (source.startsWith("s3:")) {
    const [, place = "", name = ""] = /^(s3:\/\/[^/]+(?:\/.*)?)\/([^/]+)$/.exec(source) ?? [];
    const parsed = parseS3Place(place);
    if (!parsed) throw new StartError(`${source} is no address of a backup: s3://bucket/prefix/name. ${listHint()}`);
    return { storage: createS3Storage(parsed, s3), name };
  }
  const path = resolve(source);
  if (at === undefined && existsSync(path)) {
    if (!statSync(path).isFile()) throw new StartError(`${path} is a folder. Give one of the backups in it.`);
    return { storage: createFolderStorage(dirname(path)), name: path.slice(dirname(path).length).replace(/^\//, "") };
  }
  if (source.includes("/")) throw new StartError(`There is no backup at ${path}. ${listHint()}`);
  const storage = openStorage(config);
  const backups = await listBackups(storage);
  if (at !== undefined) return { storage, name: await backupBefore(storage, backups, at, source) };
  const newest = backups[0]?.name;
  if (source === "latest" && newest !== undefined) return { storage, name: newest };
  if (backups.some(({ name }) => name === source)) return { storage, name: source };
  const place = storage.addressOf(source === "latest" ? "" : source);
  throw new StartError(`There is no backup at ${path}, and none at ${place}. ${listHint()}`);
}

const listHint = () => `${programName()} backups lists them.`;

/** Finds what a file is, and returns it as a whole. */
async function peek(bytes: ReadableStream<Uint8Array>) {
  const reader = bytes.getReader();
  const first: Uint8Array[] = [];
  let length = 0;
  while (length < 32) {
    const { done, value } = await reader.read();
    if (done) break;
    first.push(value);
    length += value.length;
  }
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = first.length > 0 ? { done: false, value: first.shift() } : await reader.read();
        if (done || value === undefined) controller.close();
        else controller.enqueue(value);
      },
      cancel: () => reader.cancel(),
    },
    { highWaterMark: 0 },
  );
  return { kind: kindOf(Buffer.concat(first)), body };
}

function identitiesFor(config: Config, from: string, identityFile: string | undefined): string[] {
  const file = identityFile ?? config.of(backupSettings).identityFile;
  if (file !== undefined) return readIdentities(resolve(file));
  throw new StartError(
    `${from} is encrypted. Give the file of a key that opens it: ${programName()} restore ${from} --identity FILE`,
  );
}

/** Also compares the checksum, where a manifest has one: what was not encrypted could have been changed. */
async function unpack(
  storage: BackupStorage,
  name: string,
  body: ReadableStream<Uint8Array>,
  identities: readonly string[],
  folder: string,
): Promise<BackupManifest | undefined> {
  const manifest = await readManifest(storage, name);
  const hash = new Bun.CryptoHasher("sha256");
  const watched = body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        hash.update(chunk);
        controller.enqueue(chunk);
      },
    }),
  );
  const from = storage.addressOf(name);
  try {
    await unpackInto(folder, watched, identities);
  } catch (error) {
    throw toDamaged(from, error);
  }
  if (manifest && hash.digest("hex") !== manifest.sha256)
    throw new StartError(`${from} is not the file that ${manifestNameOf(name)} describes. Choose another one.`);
  return manifest;
}

/** A copy of the database alone; those of other cells have names that end in their number. */
function restoreCopies(config: Config, storage: BackupStorage, name: string): Restored {
  const from = storage.addressOf(name);
  const files = cellsOf(config).map((cell) => copyOfCell(from, cell));
  const missing = files.findIndex((file) => !existsSync(file));
  if (missing >= 0)
    throw new StartError(
      from.startsWith("s3:")
        ? `${from} is a copy of the database alone. Download it, then restore the file.`
        : `The backup has no file of cell ${missing}: ${files[missing]} is missing.`,
    );
  const kept = files.flatMap((file, cell) => restoreDatabase(file, cellDatabaseUrl(config, cell)).replaced ?? []);
  return { from, storage, kept, files: 0 };
}

/** Each cell has a copy of its own: that of cell 0 has the given name, the others end in their number. */
export const copyOfCell = (file: string, cell: number) => (cell === 0 ? file : `${file}.${cell}`);

/** The databases come last and are replaced by a rename: files that no row knows do no harm. */
function replaceBy(config: Config, folder: string, from: string): Pick<Restored, "kept" | "files"> {
  const inBackup = cellsIn(folder);
  // A cluster takes over as many as the machine has that begins it.
  const isAlone = config.of(clusterSettings).url === undefined;
  const cells = isAlone ? cellsOf(config) : Array.from({ length: inBackup }, (_, cell) => cell);
  if (inBackup !== cells.length)
    throw new StartError(`${from} is of a service with CELLS=${inBackup}. Set CELLS to that number, then restore it.`);
  for (const cell of cells) checkDatabaseCopy(join(folder, folderOfCell(cell), DATABASE_FILE));
  const kept: string[] = [];
  let files = 0;
  for (const cell of cells) {
    const source = join(folder, folderOfCell(cell));
    const dataDir = cellDataDir(config, cell);
    const { replaced } = restoreDatabase(join(source, DATABASE_FILE), cellDatabaseUrl(config, cell), {
      isTemporary: true,
      beforeReplacement(suffix) {
        for (const one of KEPT_FOLDERS) {
          const target = join(dataDir, one);
          if (existsSync(target) && linkFiles(target, target + suffix) > 0) kept.push(target + suffix);
          files += moveFiles(join(source, one), target);
        }
      },
    });
    if (replaced !== undefined) kept.unshift(replaced);
  }
  return { kept, files };
}

function cellsIn(folder: string): number {
  try {
    const description: unknown = JSON.parse(readFileSync(join(folder, DESCRIPTION_FILE), "utf8"));
    const cells = typeof description === "object" && description !== null && Reflect.get(description, "cells");
    return Number(cells);
  } catch (cause) {
    throw new StartError("The archive has no description, so it was not made by Berth, or not as a whole.", { cause });
  }
}
