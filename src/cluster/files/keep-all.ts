// Gives all files of this machine's data folder to the others: when it joins them, and after the engine has lost its own.
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { KEPT_FOLDERS } from "../../kernel/files.ts";
import type { BlobStore } from "../engine.ts";

/** Returns how many files there are. Those that are kept already are left out. */
export async function keepAll(dataDir: string, blobs: BlobStore): Promise<number> {
  const kept = new Set((await blobs.list()).map(({ name }) => name));
  let count = 0;
  for (const folder of KEPT_FOLDERS) {
    const entries = await readdir(join(dataDir, folder), { recursive: true, withFileTypes: true }).catch(() => []);
    for (const entry of entries) {
      if (!entry.isFile() || entry.name.endsWith(".unfinished")) continue;
      const path = join(entry.parentPath, entry.name);
      const name = path.slice(dataDir.length + 1);
      if (!kept.has(name)) await blobs.put(name, Bun.file(path).stream());
      count++;
    }
  }
  return count;
}
