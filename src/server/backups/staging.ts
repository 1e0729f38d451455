// Puts together what goes into a backup: checked copies of the databases, and links to the files beside them.

import { copyFileSync, linkSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { version } from "../../../package.json";
import { clusterSettings } from "../../cluster/settings.ts";
import type { Config } from "../../kernel/config/config.ts";
import { KEPT_FOLDERS } from "../../kernel/files.ts";
import { cellDatabaseUrl, cellDataDir } from "../cells/folders.ts";
import { DATABASE_FILE, DESCRIPTION_FILE } from "./archive.ts";
import { readCopyState } from "./continuous/copy-state.ts";
import { isContinuous } from "./continuous/is-continuous.ts";
import { copyPages } from "./continuous/physical-copy.ts";
import { backUpDatabase, requireLocalFile } from "./database-copy.ts";
import type { LogPlace } from "./manifest.ts";

export interface Description {
  format: "berth.backup";
  version: 1;
  program: string;
  createdAt: string;
  cells: number;
}

export interface Staged {
  /** How many there are. */
  cells: number;
  /** Names of the databases' copies within the folder. */
  databases: string[];
  /** Bytes of the databases. */
  bytes: number;
  files: number;
  /** Where the copies are in the logs of a continuous copy; of cells without one, none. */
  log: LogPlace[];
}

export const cellsOf = (config: Pick<Config, "of">) =>
  Array.from({ length: config.of(clusterSettings).cells }, (_, cell) => cell);

/** The folder of a cell within a backup. */
export const folderOfCell = (cell: number) => (cell === 0 ? "" : `cells/${cell}/`);

/**
 * Fills a new folder. A file is linked, so that the backup has it even if it is deleted meanwhile; files are only ever replaced as
 * a whole. Throws StartError.
 */
export function stageBackup(config: Config, folder: string, now: number): Staged {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const cells = cellsOf(config);
  const staged: Staged = { cells: cells.length, databases: [], bytes: 0, files: 0, log: [] };
  // Cell 0 comes last: it knows which cell has a name, so a name that is used in a copy of another cell is in its copy, too.
  for (const cell of cells.toReversed()) {
    const name = folderOfCell(cell) + DATABASE_FILE;
    const url = cellDatabaseUrl(config, cell);
    staged.bytes += isContinuous(config)
      ? backUpInLog(cell, url, join(folder, name), staged.log)
      : backUpDatabase(url, join(folder, name)).bytes;
    staged.databases.push(name);
    for (const kept of KEPT_FOLDERS)
      staged.files += linkFiles(join(cellDataDir(config, cell), kept), join(folder, folderOfCell(cell), kept));
  }
  writeDescription(folder, cells.length, now);
  return staged;
}

export function writeDescription(folder: string, cells: number, now: number): void {
  const createdAt = new Date(now).toISOString();
  const description: Description = { format: "berth.backup", version: 1, program: version, createdAt, cells };
  writeFileSync(join(folder, DESCRIPTION_FILE), `${JSON.stringify(description)}\n`, { mode: 0o600 });
}

/** Copies a database so that segments of its log can be put on top of the copy. Returns its size. */
function backUpInLog(cell: number, url: string, target: string, log: LogPlace[]): number {
  // Read first: what is stored meanwhile is put on top, too.
  const state = readCopyState(requireLocalFile(url));
  const { bytes } = backUpDatabase(url, target, (source, to) => {
    const place = copyPages(source, to);
    if (!state || !place) return;
    const { chain, number, previous } = state;
    log.push({ cell, chain, number, previous, ...place });
  });
  return bytes;
}

/** Links all files below a folder into a new one. Returns how many there are. */
export function linkFiles(from: string, to: string): number {
  let count = 0;
  for (const entry of entriesOf(from)) {
    const source = join(entry.parentPath, entry.name);
    const target = join(to, source.slice(from.length + 1));
    if (!entry.isFile() || entry.name.endsWith(".unfinished")) continue;
    if (linkFile(source, target)) count++;
  }
  return count;
}

/** False if the file is gone. */
export function linkFile(source: string, target: string): boolean {
  mkdirSync(dirname(target), { recursive: true, mode: 0o700 });
  try {
    linkSync(source, target);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return false;
    // Not every file system has hard links, and none has them to another disk.
    copyFileSync(source, target);
  }
  return true;
}

function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { recursive: true, withFileTypes: true });
  } catch (error) {
    if (codeOf(error) === "ENOENT") return [];
    throw error;
  }
}

const codeOf = (error: unknown) => (error instanceof Error && "code" in error ? String(error.code) : "");
