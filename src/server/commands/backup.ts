// Runs `berth backup`, which may run beside the service, `berth backups`, and `berth restore`.

import { existsSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { timeOfBackup } from "../../../plugins/fleet/backups/backup-names.ts";
import { backupSettings } from "../../../plugins/fleet/settings.ts";
import { ERASURES_FILE } from "../../../plugins/privacy/settings.ts";
import { clusterSettings } from "../../cluster/settings.ts";
import { type Config, environment } from "../../kernel/config/config.ts";
import { programName } from "../../kernel/config/program-name.ts";
import { StartError } from "../../kernel/errors.ts";
import { count } from "../../kernel/util/text/count.ts";
import { withFullStop } from "../../kernel/util/text/full-stop.ts";
import { MINUTE } from "../../kernel/util/time.ts";
import type { BackupMessage } from "../backups/backup-process.ts";
import { restorableMoments } from "../backups/continuous/restore/moments.ts";
import { backUpDatabase } from "../backups/database-copy.ts";
import { listBackups, makeBackup, makeBackupFile } from "../backups/make-backup.ts";
import { openStorage } from "../backups/place/open-storage.ts";
import { copyOfCell, restoreBackup } from "../backups/restore-backup.ts";
import { cellsOf } from "../backups/staging.ts";
import { requireDatabase } from "../cells/existing-database.ts";
import { cellDatabaseUrl, cellDataDir, foldersOfCells } from "../cells/folders.ts";
import { loadAllSettings } from "../settings.ts";
import { UsageError } from "./options.ts";

/** @param name of the backup; given by the service that has started this process, as is `isForCopy` */
export async function backupCommand(
  file: string | undefined,
  name: string | undefined,
  isForCopy: boolean,
): Promise<number> {
  const form = file === undefined ? undefined : formOf(file);
  const config = loadAllSettings(environment());
  requireDatabase(config);
  if (file === undefined) return backUpToPlace(config, name, isForCopy);
  const isArchive = form === "archive";
  const result = isArchive ? await backUpToFile(config, file) : copyDatabases(config, file);
  await note(config, "backup.create", resolve(file));
  return print(`${result} ${keyHint(config)}\n`);
}

/** What a name asks for. Throws UsageError, so that no name leads to something else than what it says. */
export function formOf(file: string): "archive" | "database" {
  if (/^[a-z0-9]+:\/\//i.test(file))
    throw new UsageError(
      `${file} is an address, and backup FILE writes a file. For a bucket set BACKUP_TO=s3://bucket/prefix, then run: ${programName()} backup`,
    );
  const form = ARCHIVE_FILE.test(file) ? "archive" : file.endsWith(".db") ? "database" : undefined;
  if (form === undefined)
    throw new UsageError(
      `${file} does not say what to write. A name that ends in .tar.gz is an archive of everything (.tar.gz.age an encrypted one), one that ends in .db the database alone.`,
    );
  const folder = dirname(resolve(file));
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return form;
  throw new StartError(`There is no folder ${folder}. Make it, or mount its disk, then try again.`);
}

const ARCHIVE_FILE = /\.(?:tar\.gz|tgz)(?:\.age)?$/;

async function backUpToPlace(config: Config, name: string | undefined, isForCopy: boolean): Promise<number> {
  const tell = startedByService();
  const onProgress = (progress: number) => tell({ progress });
  const { backup, problem } = await makeBackup(config, { ...(name !== undefined && { name }), isForCopy, onProgress });
  // The service records its own.
  if (!process.send) await note(config, "backup.create", backup.name, { problem: problem ?? null });
  tell({ made: backup, problem });
  if (problem !== undefined) process.stderr.write(`${problem}\n`);
  const address = openStorage(config).addressOf(backup.name);
  return print(`${address}: ${mebibytes(backup.bytes)}, ${WORDS[backup.verified]}. ${keyHint(config)}\n`);
}

/** Sends messages to the service that has started this process. This process ends with it: nobody would know of its work. */
function startedByService(): (message: BackupMessage) => void {
  if (!process.send) return () => undefined;
  process.on("disconnect", () => process.exit(1));
  return (message) => void process.send?.(message);
}

async function backUpToFile(config: Config, file: string): Promise<string> {
  const { recipients } = config.of(backupSettings);
  const isEncrypted = file.endsWith(".age");
  if (isEncrypted && recipients.length === 0)
    throw new StartError("BACKUP_ENCRYPT_TO has no key to encrypt to. Set it, or leave .age out of the name.");
  if (!isEncrypted && recipients.length > 0)
    throw new StartError(
      "BACKUP_ENCRYPT_TO is set, so an archive is encrypted. Give it a name that ends in .tar.gz.age.",
    );
  const { path, bytes, verified } = await makeBackupFile(config, file);
  return `${path}: ${mebibytes(bytes)}, ${WORDS[verified]}.`;
}

/** The database alone, which SQLite opens. Throws StartError in a cluster with several cells, of which no machine has all. */
function copyDatabases(config: Config, file: string): string {
  if (config.of(clusterSettings).url !== undefined && foldersOfCells(config).length > 0)
    throw new StartError("This cluster has several cells. A name that ends in .tar.gz takes all of them.");
  const target = resolve(file);
  // Cell 0 comes last: it knows which cell has a name, so a name that is used in a copy of another cell is in its copy, too.
  const copies = cellsOf(config)
    .toReversed()
    .map((cell) => backUpDatabase(cellDatabaseUrl(config, cell), copyOfCell(target, cell)))
    .toReversed();
  const bytes = copies.reduce((sum, copy) => sum + copy.bytes, 0);
  return `${copies.map(({ path }) => path).join(", ")}: ${mebibytes(bytes)}, ${WORDS.copied}. It has no files of agents; a name that ends in .tar.gz takes them in.`;
}

/** Copies what changes until the service that has started this process ends it. */
export async function followCommand(): Promise<number> {
  const { follow, requireService } = await import("../backups/continuous/follow.ts");
  const { FINISH } = await import("../backups/continuous/copy-message.ts");
  const tell = requireService();
  const config = loadAllSettings(environment());
  process.on("disconnect", () => process.exit(1));
  // A terminal and systemd send them to all processes of the service, which says by itself when it has closed the database.
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => undefined);
  await follow(
    config,
    tell,
    new Promise<void>((resolve) => process.on("message", (text) => text === FINISH && resolve())),
  );
  process.exit(0);
}

export async function restoreCommand(
  given: string | undefined,
  time: string | undefined,
  identityFile: string | undefined,
): Promise<number> {
  const source = given ?? (time === undefined ? undefined : "latest");
  if (!source) {
    process.stderr.write(`Usage: ${programName()} restore BACKUP [--at TIME] [--identity FILE]\n`);
    return 2;
  }
  const at = time === undefined ? undefined : parseMoment(time, Date.now());
  const config = loadAllSettings(environment());
  const { from, storage, kept, files, reached } = await restoreBackup(config, source, { identityFile, at });
  await note(config, "backup.restore", from, { files, kept });
  if (reached?.problem !== undefined) process.stderr.write(`${reached.problem}\n`);
  if (at !== undefined) process.stderr.write(distanceText(at, reached?.at ?? timeOfBackup(basename(from))));
  const { takeErasures } = await import("../backups/erasure-lists.ts");
  const notes = await takeErasures(config, storage, { identityFile, isNew: kept.length === 0 });
  for (const note of notes) process.stderr.write(`${note}\n`);
  const { erased, problem, needsService } = await eraseAgain(config);
  const before = kept.length > 0 ? ` What was there before is kept as ${kept.join(", ")}.` : "";
  const andFiles = files > 0 ? `, with ${count(files, "file")}` : "";
  print(`Restored from ${from}${andFiles}.${reachedText(reached?.at)}${before}${erased} ${neededKey(config)}\n`);
  if (problem !== undefined) process.stderr.write(`${problem}\n`);
  // What was stored after the damage is lost, or people who were erased are back: a script must not go on to a start.
  return reached?.problem === undefined && (problem === undefined || needsService) ? 0 : 1;
}

/** Throws UsageError. Other forms than ISO 8601 with a zone would be read as another time than is meant. */
export function parseMoment(text: string, now: number): number {
  const [, date = ""] = /^(\d{4}-\d\d-\d\d)T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)$/.exec(text) ?? [];
  const day = Date.parse(date);
  const at = Date.parse(text);
  // The 30th of February would be a day in March.
  if (Number.isNaN(at) || Number.isNaN(day) || !new Date(day).toISOString().startsWith(date))
    throw new UsageError(
      `--at ${text} is no time with a zone. Write it as 2026-11-26T14:03:05Z, which is UTC, or with the distance to UTC: 2026-11-26T15:03:05+01:00.`,
    );
  if (at <= now) return at;
  throw new UsageError(
    `--at ${text} is in the future: it is ${new Date(now).toISOString()}. For the newest state: ${programName()} restore latest`,
  );
}

/** What was written in between is not there; the copy may also have had nothing to do. */
function distanceText(wanted: number, reached: number): string {
  if (wanted - reached <= MINUTE) return "";
  const [from, to] = [reached, wanted].map((at) => new Date(at).toISOString());
  return `The last state up to ${to} that the backups have is of ${from}. What the service wrote in between, if anything, is missing.\n`;
}

function neededKey(config: Config): string {
  const needed = `The start needs the key that the backup was made with: ${keyName(config)}`;
  if (config.secretKey || existsSync(join(config.dataDir, "secret.key"))) return `${needed}.`;
  return `${needed}, which is not there. Put it there, or set SECRET_KEY: a start without it is refused.`;
}

const reachedText = (at: number | undefined) =>
  at === undefined ? "" : ` With the continuous copy, it is as it was at ${new Date(at).toISOString()}.`;

interface ErasedAgain {
  /** Begins with a space, if it says anything. */
  erased: string;
  /** Who was erased may be back. */
  problem?: string;
  /** Only the running service can end the problem. */
  needsService?: true;
}

/** Whom the service was asked to forget may be in the backup. Their hashes lie beside the database, and were not replaced. */
export async function eraseAgain(config: Config): Promise<ErasedAgain> {
  if (!cellsOf(config).some((cell) => existsSync(join(cellDataDir(config, cell), ERASURES_FILE))))
    return { erased: "" };
  const byHand = `${programName()} person reapply`;
  const back = "WARNING: People were erased from this service, and the backup may have brought them back.";
  if (cellsOf(config).length > 1)
    return {
      erased: "",
      problem: `${back} Start the service, then run ${byHand} before others use it.`,
      needsService: true,
    };
  try {
    const { runCommand } = await import("./run-command.ts");
    const { erased } = (await runCommand(config, "person.reapply", {})) as { erased: number };
    if (erased === 0) return { erased: "" };
    const again = count(
      erased,
      "person who had been erased was in it, and was",
      "people who had been erased were in it, and were",
    );
    return { erased: ` ${again} erased again.` };
  } catch (error) {
    const why = withFullStop(error instanceof Error ? error.message : String(error));
    return {
      erased: "",
      problem: `${back} They could not be erased again: ${why} Remove the reason, then run ${byHand} before you start the service.`,
    };
  }
}

export async function backupsCommand(isJson: boolean): Promise<number> {
  const config = loadAllSettings(environment());
  const storage = openStorage(config);
  const backups = await listBackups(storage);
  if (isJson) {
    const items = backups.map(({ createdAt, ...backup }) => ({
      ...backup,
      createdAt: new Date(createdAt).toISOString(),
      address: storage.addressOf(backup.name),
    }));
    return print(`${JSON.stringify(items, null, 2)}\n`);
  }
  if (backups.length === 0)
    return print(`No backup at ${storage.addressOf("")} yet. ${programName()} backup makes one.\n`);
  const rows = backups.map(({ name, bytes, createdAt, verified, isForCopy }) => [
    name,
    mebibytes(bytes),
    ageOf(createdAt),
    `${WORDS[verified]}${isForCopy ? ", for the continuous copy" : ""}`,
  ]);
  const moments = (await restorableMoments(storage, backups)).map(
    ({ from, to }) =>
      `  any moment from ${new Date(from).toISOString()} to ${new Date(to).toISOString()}, by the continuous copy: ${programName()} restore --at TIME\n`,
  );
  const widths = [0, 1, 2].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const lines = rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  "));
  return print(
    `${storage.addressOf("")}\n${lines.map((line) => `  ${line}`).join("\n")}\n${moments.join("")}${programName()} restore NAME puts one in place; latest is the first.\n`,
  );
}

async function note(config: Config, action: string, name: string, details?: Record<string, unknown>): Promise<void> {
  const { noteCommand } = await import("./security/operator-note.ts");
  await noteCommand(config, action, { kind: "backup", id: name, name }, details);
}

const WORDS = {
  opened: "opened and checked",
  checksum: "checksum checked",
  copied: "the database alone, checked when it was copied",
} as const;

function ageOf(at: number): string {
  const minutes = Math.max(0, Math.round((Date.now() - at) / 60_000));
  if (minutes < 120) return `${minutes} min old`;
  return minutes < 2 * 24 * 60 ? `${Math.round(minutes / 60)} h old` : `${Math.round(minutes / 60 / 24)} days old`;
}

const mebibytes = (bytes: number) => `${(bytes / 1024 / 1024).toFixed(1)} MiB`;

const keyHint = (config: Config) =>
  `The secrets in it open only with ${keyName(config)}, which is not in it. Keep a copy of that key too, apart from the backups.`;

/** Where the key is that opens the sealed values of the database. */
const keyName = ({ secretKey, dataDir }: Config) => (secretKey ? "SECRET_KEY" : `${dataDir}/secret.key`);

function print(text: string): number {
  process.stdout.write(text);
  return 0;
}
