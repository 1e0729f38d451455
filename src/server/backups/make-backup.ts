// Makes a backup of the whole service: stages it, stores it, reads it back, writes its manifest, and then deletes old ones.

import { existsSync, rmSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { version } from "../../../package.json";
import {
  backupNameAt,
  isArchiveName,
  isBackupName,
  isCopyName,
  manifestNameOf,
  timeOfBackup,
} from "../../../plugins/fleet/backups/backup-names.ts";
import type { KeptBackup, Verification } from "../../../plugins/fleet/backups/backup-work.ts";
import { backupSettings } from "../../../plugins/fleet/settings.ts";
import { clusterSettings } from "../../cluster/settings.ts";
import type { Config } from "../../kernel/config/config.ts";
import { DatabaseInUse } from "../../kernel/database/database.ts";
import { type Lock, lockDatabase } from "../../kernel/database/file-lock.ts";
import { StartError } from "../../kernel/errors.ts";
import { MINUTE } from "../../kernel/util/time.ts";
import { packFolder } from "./archive.ts";
import { readIdentities } from "./encryption.ts";
import { type BackupManifest, formatManifest, parseManifest, toKeptBackup } from "./manifest.ts";
import { createFolderStorage } from "./place/folder-storage.ts";
import { noteUsedFolder, openStorage, usedNote } from "./place/open-storage.ts";
import type { BackupStorage } from "./place/storage.ts";
import { expiredBackups, expiredLogs, leftovers } from "./retention.ts";
import { type Staged, stageBackup } from "./staging.ts";
import { verifyBackup } from "./verification.ts";

/** Below the data folder, so that a copy of the database never leaves its disk unencrypted. */
const WORK_FOLDER = "backup-work";
/** A backup that a killed service has begun ends by itself within seconds. */
const LOCK_WAIT_MS = 2 * MINUTE;
const LOCK_RETRY_MS = 250;

export interface MakeBackupOptions {
  /** Default: a name of the present time. */
  name?: string;
  /** The continuous copy has asked for it. */
  isForCopy?: boolean;
  /** From 0 to 1. */
  onProgress?: (progress: number) => void;
  now?: number;
}

/** The complete backups, newest first, with the copies of the database that earlier versions made. Throws StartError. */
export async function listBackups(storage: BackupStorage): Promise<KeptBackup[]> {
  const files = await storage.list();
  const names = new Set(files.map(({ name }) => name));
  const archives = await Promise.all(
    files
      .filter(({ name }) => isArchiveName(name) && names.has(manifestNameOf(name)))
      .map(async ({ name, bytes }) => {
        const manifest = await readManifest(storage, name);
        return manifest?.bytes === bytes ? [toKeptBackup(manifest)] : [];
      }),
  );
  const copies = files
    .filter(({ name }) => isCopyName(name))
    .map(({ name, bytes }): KeptBackup => ({ name, bytes, createdAt: timeOfBackup(name), verified: "copied" }));
  return [...archives.flat(), ...copies].sort((a, b) => b.createdAt - a.createdAt);
}

/** Undefined if the backup is not complete. */
export async function readManifest(storage: BackupStorage, name: string): Promise<BackupManifest | undefined> {
  const file = await storage.read(manifestNameOf(name));
  return file && parseManifest(await new Response(file.body).text(), name);
}

/** Deletes a backup that somebody wants to be deleted. After the last one, backups begin anew. */
export async function deleteBackup(config: Config, name: string): Promise<void> {
  const storage = openStorage(config);
  const others = (await storage.list()).filter((file) => isBackupName(file.name) && file.name !== name);
  await removeBackup(storage, name);
  if (others.length === 0) rmSync(usedNote(config), { force: true });
}

/** The manifest goes first: what has none is not offered. */
async function removeBackup(storage: BackupStorage, name: string): Promise<void> {
  if (isArchiveName(name)) await storage.remove(manifestNameOf(name));
  await storage.remove(name);
}

/**
 * Makes a backup in the place of BACKUP_TO, and then deletes those that are too many. One is made at a time.
 *
 * @returns `problem`: what could not be done besides; the backup itself is complete
 * @throws StartError, with nothing left behind
 */
export async function makeBackup(
  config: Config,
  { name: wantedName, isForCopy = false, onProgress = () => undefined, now = Date.now() }: MakeBackupOptions = {},
): Promise<{ backup: KeptBackup; problem: string | undefined }> {
  const { recipients, keep } = config.of(backupSettings);
  const name = wantedName ?? backupNameAt(now, recipients.length > 0);
  const storage = openStorage(config);
  const lock = await waitForBackupLock(config);
  try {
    const finished = await readManifest(storage, name);
    const manifest: BackupManifest = finished ?? {
      ...(await store(config, storage, name, onProgress, now)),
      ...(isForCopy && { isForCopy }),
    };
    if (!finished) await writeManifest(storage, manifest);
    noteUsedFolder(config);
    const { storeErasures } = await import("./erasure-lists.ts");
    const problems = [
      await problemOf("The list of erasures could not be stored", () => storeErasures(config, storage)),
      await problemOf("Old backups could not be deleted", () => prune(storage, keep, now)),
    ].filter((problem) => problem !== undefined);
    return { backup: toKeptBackup(manifest), problem: problems.length > 0 ? problems.join(" ") : undefined };
  } finally {
    lock.release();
  }
}

/** Makes one backup as a file of any name, and deletes nothing. Throws StartError, with nothing left behind. */
export async function makeBackupFile(
  config: Config,
  file: string,
): Promise<{ path: string; bytes: number; verified: Verification }> {
  const path = resolve(file);
  if (existsSync(path)) throw new StartError(`${path} exists already. Choose another name.`);
  const lock = await waitForBackupLock(config);
  try {
    const { bytes, verified } = await store(config, createFolderStorage(dirname(path)), basename(path));
    return { path, bytes, verified };
  } finally {
    lock.release();
  }
}

const STAGE_ATTEMPTS = 5;
/** A move of an account takes one to three seconds. */
const STAGE_PAUSE_MS = 3_000;

/** Stores and verifies; nothing is left of a backup that fails. The copy of the database is gone before it is read back. */
async function store(
  config: Config,
  storage: BackupStorage,
  name: string,
  onProgress: (progress: number) => void = () => undefined,
  now = Date.now(),
): Promise<BackupManifest> {
  const { identityFile } = config.of(backupSettings);
  const recipients = name.endsWith(".age") ? config.of(backupSettings).recipients : [];
  const identities = recipients.length === 0 ? [] : identityFile && readIdentities(identityFile);
  const folder = join(config.dataDir, WORK_FOLDER);
  try {
    const staged = await stage(config, folder, now);
    onProgress(0.3);
    const databases = new Map<string, string>();
    for (const one of staged.databases) databases.set(one, await checksumOf(join(folder, one)));
    onProgress(0.4);
    const hash = new Bun.CryptoHasher("sha256");
    let bytes = 0;
    async function* counted() {
      for await (const chunk of packFolder(folder, recipients)) {
        hash.update(chunk);
        bytes += chunk.length;
        onProgress(0.4 + 0.4 * Math.min(1, bytes / staged.bytes));
        yield chunk;
      }
    }
    await storage.write(name, counted(), staged.bytes);
    rmSync(folder, { recursive: true, force: true });
    onProgress(0.8);
    const sha256 = hash.digest("hex");
    const verified = await verifyBackup(storage, name, { bytes, sha256, databases }, identities || undefined);
    const createdAt = new Date(now).toISOString();
    const { cells, files } = staged;
    return {
      format: "berth.backup",
      version: 1,
      name,
      createdAt,
      program: version,
      bytes,
      sha256,
      recipients,
      cells,
      files,
      verified,
      ...(staged.log.length > 0 && { log: staged.log }),
    };
  } catch (error) {
    await storage.remove(name).catch(() => undefined);
    throw error;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Copies the cells again if accounts have moved between them meanwhile. Throws StartError if they go on to do so. */
async function stage(config: Config, folder: string, now: number): Promise<Staged> {
  for (let attempt = 1; attempt <= STAGE_ATTEMPTS; attempt++) {
    if (attempt > 1) await Bun.sleep(STAGE_PAUSE_MS);
    // What a killed process, or the attempt before, left.
    rmSync(folder, { recursive: true, force: true });
    const staged = (await stageOfCluster(config, folder, now)) ?? stageBackup(config, folder, now);
    if (staged.cells === 1) return staged;
    const { hasEachAccountOnce } = await import("../cells/each-account-once.ts");
    if (hasEachAccountOnce(folder, staged.databases.toReversed())) return staged;
  }
  throw new StartError(
    "Accounts moved between the cells each time while these were copied. Make the backup again once the moves are over.",
  );
}

/** What belongs to a cluster is loaded only in one. */
async function stageOfCluster(config: Config, folder: string, now: number): Promise<Staged | undefined> {
  if (config.of(clusterSettings).url === undefined) return undefined;
  return (await import("../cluster/stage-backup.ts")).stageCluster(config, folder, now);
}

async function writeManifest(storage: BackupStorage, manifest: BackupManifest): Promise<void> {
  const text = new TextEncoder().encode(formatManifest(manifest));
  async function* once() {
    yield text;
  }
  await storage.write(manifestNameOf(manifest.name), once(), text.length);
}

/** A backup is complete without it. */
const problemOf = (what: string, work: () => Promise<void>): Promise<string | undefined> =>
  work().then(
    () => undefined,
    (error: unknown) => `${what}: ${error instanceof Error ? error.message : error}`,
  );

async function prune(
  storage: BackupStorage,
  keep: ReturnType<typeof backupSettings.build>["keep"],
  now: number,
): Promise<void> {
  const backups = await listBackups(storage);
  const complete = backups.map(({ name }) => name);
  const expired = keep ? expiredBackups(backups, keep, now) : [];
  for (const name of expired) await removeBackup(storage, name);
  const files = (await storage.list()).map(({ name }) => name);
  for (const file of leftovers(files, new Set(complete), now)) await storage.remove(file);
  const kept = complete.filter((name) => !expired.includes(name));
  if (keep) for (const file of expiredLogs(files, kept)) await storage.remove(file);
}

async function checksumOf(path: string): Promise<string> {
  const hash = new Bun.CryptoHasher("sha256");
  for await (const chunk of Bun.file(path).stream()) hash.update(chunk);
  return hash.digest("hex");
}

const waitForBackupLock = ({ dataDir }: Pick<Config, "dataDir">) =>
  waitForLock(
    join(dataDir, "backup"),
    "Another backup of this data folder is being made. Wait until it has ended, then try again.",
  );

/** For what a process that was killed may still do for a moment. Throws StartError with the text if it goes on. */
export async function waitForLock(path: string, text: string): Promise<Lock> {
  const deadline = Date.now() + LOCK_WAIT_MS;
  for (;;) {
    try {
      return lockDatabase(path);
    } catch (error) {
      if (!(error instanceof DatabaseInUse)) throw error;
      if (Date.now() > deadline) throw new StartError(text);
      await Bun.sleep(LOCK_RETRY_MS);
    }
  }
}
