// Keeps a copy of the list of erasures beside the backups, which would bring people back, and brings it into the data folder of a restore.

import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { isArchiveName } from "../../../plugins/fleet/backups/backup-names.ts";
import { backupSettings } from "../../../plugins/fleet/settings.ts";
import { ERASURES_FILE } from "../../../plugins/privacy/settings.ts";
import type { Config } from "../../kernel/config/config.ts";
import { programName } from "../../kernel/config/program-name.ts";
import { cellDataDir } from "../cells/folders.ts";
import { AGE_HEADER, decryptBytes, encryptTo, readIdentities } from "./encryption.ts";
import { openStorage } from "./place/open-storage.ts";
import type { BackupStorage } from "./place/storage.ts";
import { cellsOf } from "./staging.ts";

/** A list of a cell. Another data folder's has another id, so that none takes the place of another. */
const NAME = /^berth-erasures-(\d+)-[0-9a-f]{16}\.jsonl(?:\.age)?$/;

/** The lines of a list: the first has its sealed key, each further one an erasure by hashes. */
type Lines = readonly [string, ...string[]];

/** The lists of a service, each with the folder that it is in. */
const listsOf = (config: Config) => cellsOf(config).map((cell) => ({ cell, folder: cellDataDir(config, cell) }));

/** Stores the lists as they are now, encrypted as the backups are. Throws StartError. */
export async function storeErasures(config: Config, storage: BackupStorage, lists = listsOf(config)): Promise<void> {
  const { recipients } = config.of(backupSettings);
  for (const { cell, folder } of lists) {
    const lines = readLines(folder);
    const id = lines && idOf(lines);
    if (!lines || id === undefined) continue;
    const text = new Blob([textOf(lines)]);
    const isEncrypted = recipients.length > 0;
    const body = isEncrypted ? await encryptTo(recipients, text.stream()) : text.stream();
    const bytes = await new Response(body).bytes();
    async function* once() {
      yield bytes;
    }
    await storage.write(`berth-erasures-${cell}-${id}.jsonl${isEncrypted ? ".age" : ""}`, once(), bytes.length);
  }
}

/** After an erasure in a cell, whose list is in its own data folder. Without backups, nothing brings anybody back. */
export async function storeErasuresBesideBackups(config: Config, cell: number): Promise<void> {
  const storage = openStorage(config);
  if (!(await storage.list()).some(({ name }) => isArchiveName(name))) return;
  await storeErasures(config, storage, [{ cell, folder: config.dataDir }]);
}

interface RestoredFrom {
  identityFile?: string | undefined;
  /** Nothing was in the data folder before. A service that was there has its list. */
  isNew: boolean;
}

/**
 * After a restore: joins the lists in BACKUP_TO, and beside the backup, with those of the data folder, and takes the newest where
 * there is none. Returns what the operator should know of lists that are missing.
 */
export async function takeErasures(
  config: Config,
  source: BackupStorage,
  { identityFile = config.of(backupSettings).identityFile, isNew }: RestoredFrom,
): Promise<string[]> {
  const place = openStorage(config);
  // A service stores its list where its backups are, if it has one.
  const isElsewhere = source.addressOf("") !== place.addressOf("");
  const problems = await bringErasures(config, isElsewhere ? [place, source] : [place], () =>
    identityFile === undefined ? [] : readIdentities(resolve(identityFile)),
  );
  if (!isElsewhere || !isNew || listsOf(config).some(({ folder }) => existsSync(join(folder, ERASURES_FILE))))
    return problems;
  return [
    ...problems,
    `No list of erasures was found: people who were erased after this backup was made are there again. If you have the list, put it there as ${join(config.dataDir, ERASURES_FILE)}, then run ${programName()} person reapply before you start the service.`,
  ];
}

/** Returns sentences on lists that were not taken. */
async function bringErasures(
  config: Config,
  places: readonly BackupStorage[],
  identities: () => readonly string[],
): Promise<string[]> {
  const problems: string[] = [];
  const found = new Map<number, { lines: Lines; address: string }[]>();
  for (const place of places) {
    const why = (error: unknown) => (error instanceof Error ? error.message : String(error));
    const files = await place.list().catch((error: unknown) => {
      problems.push(`Whether ${place.addressOf("")} has a list of erasures is not known: ${why(error)}`);
      return [];
    });
    for (const { name } of files) {
      const cell = NAME.exec(name)?.[1];
      if (cell === undefined) continue;
      const address = place.addressOf(name);
      try {
        const bytes = await place.readListed(name);
        const isEncrypted = Buffer.from(bytes.subarray(0, AGE_HEADER.length)).toString("latin1") === AGE_HEADER;
        const lines = parseLines(Buffer.from(isEncrypted ? await decryptBytes(identities(), bytes) : bytes).toString());
        if (lines) found.set(Number(cell), [...(found.get(Number(cell)) ?? []), { lines, address }]);
        else problems.push(`${address} is no list of erasures.`);
      } catch (error) {
        problems.push(`The list of erasures ${address} can't be read: ${why(error)}`);
      }
    }
  }
  for (const { cell, folder } of listsOf(config)) {
    const stored = (found.get(cell) ?? []).sort((a, b) => lastOf(b.lines) - lastOf(a.lines));
    const here = readLines(folder);
    // A list without an erasure gives way to a stored one.
    const first = here && idOf(here) !== undefined ? here : stored[0]?.lines;
    if (!first) continue;
    const same = stored.filter(({ lines }) => idOf(lines) === idOf(first));
    const erasures = new Set([first, ...same.map(({ lines }) => lines)].flatMap(([, ...rest]) => rest));
    write(folder, [first[0], ...erasures]);
    for (const { address } of stored.filter((one) => !same.includes(one)))
      problems.push(
        `${address} is another list of erasures than ${join(folder, ERASURES_FILE)}, so whom it has may be back. Put each in its place in turn, and reapply it.`,
      );
  }
  return problems;
}

/** By its first erasure, which stays when its key is sealed anew; undefined for a list that has none. */
const idOf = ([, first]: Lines) =>
  first === undefined ? undefined : new Bun.CryptoHasher("sha256").update(first).digest("hex").slice(0, 16);

/** Epoch ms of the last erasure. */
const lastOf = ([, ...erasures]: Lines) => Math.max(0, ...erasures.map((line) => Number(fieldOf(line, "at"))));

function readLines(folder: string): Lines | undefined {
  const path = join(folder, ERASURES_FILE);
  return existsSync(path) ? parseLines(readFileSync(path, "utf8")) : undefined;
}

/** Without what a kill has cut. */
function parseLines(text: string): Lines | undefined {
  const [header = "", ...erasures] = text.split("\n");
  if (fieldOf(header, "key") === undefined) return undefined;
  return [header, ...erasures.filter((line) => fieldOf(line, "person") !== undefined)];
}

function fieldOf(line: string, field: string): unknown {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null ? Reflect.get(value, field) : undefined;
  } catch {
    return undefined;
  }
}

const textOf = (lines: Lines) => `${lines.join("\n")}\n`;

function write(folder: string, lines: Lines): void {
  const path = join(folder, ERASURES_FILE);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(`${path}.unfinished`, textOf(lines), { mode: 0o600, flush: true });
  renameSync(`${path}.unfinished`, path);
}
