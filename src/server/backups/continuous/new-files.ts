// Finds the files that came to the data folder since a time, and links them into a segment.

import { type Dirent, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { KEPT_FOLDERS } from "../../../kernel/files.ts";
import { linkFile } from "../staging.ts";

/** File systems note times by the tick of the system's clock, which is behind. */
const CLOCK_TICK_MS = 2_000;

/** Files are only ever added, replaced as a whole, or deleted: each of these changes the time of its folder. Returns how many were linked. */
export function linkNewFiles(dataDir: string, since: number, target: string): number {
  const from = since - CLOCK_TICK_MS;
  let count = 0;
  for (const folder of KEPT_FOLDERS) count += linkFrom(join(dataDir, folder), join(target, folder), from);
  return count;
}

function linkFrom(folder: string, target: string, from: number): number {
  const stat = statSync(folder, { throwIfNoEntry: false });
  if (!stat) return 0;
  const isChanged = stat.mtimeMs >= from;
  let count = 0;
  for (const entry of entriesOf(folder)) {
    const [source, link] = [join(folder, entry.name), join(target, entry.name)];
    if (entry.isDirectory()) count += linkFrom(source, link, from);
    else if (isChanged && entry.isFile() && !entry.name.endsWith(".unfinished")) {
      const file = statSync(source, { throwIfNoEntry: false });
      if (file && Math.max(file.mtimeMs, file.birthtimeMs) >= from && linkFile(source, link)) count++;
    }
  }
  return count;
}

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    // It was deleted meanwhile.
    return [];
  }
}
