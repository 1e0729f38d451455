// Moves unpacked files to where they belong.

import { existsSync, mkdirSync, readdirSync, renameSync } from "node:fs";
import { dirname, join } from "node:path";

/** A file takes the place of one of the same name at once. Returns how many there are. */
export function moveFiles(from: string, to: string): number {
  if (!existsSync(from)) return 0;
  const entries = readdirSync(from, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  for (const entry of entries) {
    const source = join(entry.parentPath, entry.name);
    const target = join(to, source.slice(from.length + 1));
    mkdirSync(dirname(target), { recursive: true, mode: 0o700 });
    renameSync(source, target);
  }
  return entries.length;
}
