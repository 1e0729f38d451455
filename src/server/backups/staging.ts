// Puts together what goes into a backup: checked copies of the databases, and links to the files beside them.

import { copyFileSync, linkSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { version } from "../../../package.json";
import { clusterSettings } from "../../cluster/settings.ts";
import type { Config } from "../../kernel/config/config.ts";
import { KEPT_FOLDERS } from "../../kernel/files.ts";
import { cellDatabaseUrl, cellDataDir } from "../cells/folders.ts";
import { DATABASE_FILE, DESCRIPTION_FILE } from "./archive.ts";
import { backUpDatabase } from "./database-copy.ts";

export interface Description {
  format: "berth.backup";
  version: 1;
  program: string;
  createdAt: string;
  cells: number;
}

export interface Staged {
  /** Names of the databases' copies within the folder. */
  databases: string[];
  /** Bytes of the databases. */
  bytes: number;
  files: number;
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
  const staged: Staged = { databases: [], bytes: 0, files: 0 };
  const cells = cellsOf(config);
  // Cell 0 comes last: it knows which cell has a name, so a name that is used in a copy of another cell is in its copy, too.
  for (const cell of cells.toReversed()) {
    const name = folderOfCell(cell) + DATABASE_FILE;
    staged.bytes += backUpDatabase(cellDatabaseUrl(config, cell), join(folder, name)).bytes;
    staged.databases.push(name);
    for (const kept of KEPT_FOLDERS)
      staged.files += linkFiles(join(cellDataDir(config, cell), kept), join(folder, folderOfCell(cell), kept));
  }
  const createdAt = new Date(now).toISOString();
  const description: Description = {
    format: "berth.backup",
    version: 1,
    program: version,
    createdAt,
    cells: cells.length,
  };
  writeFileSync(join(folder, DESCRIPTION_FILE), `${JSON.stringify(description)}\n`, { mode: 0o600 });
  return staged;
}

/** Links all files below a folder into a new one. Returns how many there are. */
export function linkFiles(from: string, to: string): number {
  let count = 0;
  for (const entry of entriesOf(from)) {
    const source = join(entry.parentPath, entry.name);
    const target = join(to, source.slice(from.length + 1));
    if (!entry.isFile() || entry.name.endsWith(".unfinished")) continue;
    mkdirSync(dirname(target), { recursive: true, mode: 0o700 });
    try {
      linkSync(source, target);
    } catch (error) {
      if (codeOf(error) === "ENOENT") continue;
      // Not every file system has hard links, and none has them to another disk.
      copyFileSync(source, target);
    }
    count++;
  }
  return count;
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
