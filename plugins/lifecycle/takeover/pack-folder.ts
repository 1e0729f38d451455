// Packs the files of a folder that can be taken over into a zip. It is read by the operator's command, with the operator's rights:
// so links are never followed, and only files with known names are opened.
import { constants } from "node:fs";
import { open, readdir } from "node:fs/promises";
import { join } from "node:path";
import { zipSync } from "fflate";
import { FOLDER_LIMITS, hasSafePath, isOpenFolder, isWanted, MAX_FILE } from "./wanted-files.ts";

/** Bytes of all files: the zip is sent to the service as one message. */
const MAX_TOTAL = 24 * 1024 * 1024;
/** Entries of all folders that are looked at. */
const MAX_ENTRIES = 20_000;
/** The same bytes for the same files: a zip has no earlier time. */
const TIME = new Date("1980-01-02T00:00:00Z");

export interface PackedFolder {
  /** Undefined if there is nothing to take over. */
  zip: Uint8Array | undefined;
  /** Paths of links, which are left out. */
  links: string[];
  /** Paths of files that are too large, or more than there is room for. */
  tooLarge: string[];
}

/** Throws the errors of the file system for a folder that can't be read. */
export async function packFolder(root: string): Promise<PackedFolder> {
  const files = new Map<string, Uint8Array>();
  const [links, tooLarge]: [string[], string[]] = [[], []];
  let [entries, total] = [0, 0];

  async function visit(folder: string): Promise<void> {
    const found = await readdir(join(root, folder), { withFileTypes: true });
    for (const entry of found.sort((one, other) => (one.name < other.name ? -1 : 1))) {
      if (++entries > MAX_ENTRIES) return;
      const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
      if (entry.isDirectory() && isOpenFolder(path)) await visit(path);
      else if (!isWanted(path) || !hasSafePath(path)) continue;
      else if (entry.isSymbolicLink()) links.push(path);
      else if (entry.isFile()) await add(path);
    }
  }

  async function add(path: string): Promise<void> {
    // The flags hold also if the file is replaced by a link or a pipe at this moment.
    const file = await open(join(root, path), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const { size } = await file.stat();
      const hasRoom = files.size < FOLDER_LIMITS.files && size <= MAX_FILE && total + size <= MAX_TOTAL;
      if (!hasRoom) return void tooLarge.push(path);
      const bytes = await file.readFile();
      total += bytes.length;
      files.set(path, bytes);
    } finally {
      await file.close();
    }
  }

  await visit("");
  const zip = files.size === 0 ? undefined : zipSync(Object.fromEntries(files), { level: 1, mtime: TIME });
  return { zip, links, tooLarge };
}
