// Decides which files of a place are deleted after a new backup was verified.

import { archiveOf, isArchiveName, timeOfBackup } from "../../../plugins/fleet/backups/backup-names.ts";
import { parseLogName } from "../../../plugins/fleet/backups/log-names.ts";
import { DAY, HOUR } from "../../kernel/util/time.ts";

export interface KeepRule {
  count: number;
  forMs: number | undefined;
}

/** From this age on, a file without a manifest is what a killed process left. A younger one may be being written. */
const UNFINISHED_MS = DAY;

/**
 * The complete backups that are too many or too old, oldest first. The newest is never among them.
 *
 * @param names of the complete backups, in any order
 */
export function expiredBackups(names: readonly string[], { count, forMs }: KeepRule, now: number): string[] {
  const newestFirst = names.filter(isArchiveName).sort().reverse();
  const isOld = (name: string) => forMs !== undefined && now - timeOfBackup(name) > forMs;
  return newestFirst.filter((name, place) => place > 0 && (place >= count || isOld(name))).reverse();
}

/** A clock may be set back: what is from shortly before a backup is kept. */
const CLOCK_STEP_MS = HOUR;

/** The files of the continuous copy that end before the oldest backup that is kept, on top of which they would be put. */
export function expiredLogs(files: readonly string[], kept: readonly string[]): string[] {
  const archives = kept.filter(isArchiveName);
  if (archives.length === 0) return [];
  const oldest = Math.min(...archives.map(timeOfBackup));
  return files.filter((file) => {
    const log = parseLogName(file.replace(/\.unfinished$/, ""));
    return log !== undefined && log.at < oldest - CLOCK_STEP_MS;
  });
}

/** The files of backups that were never completed. */
export function leftovers(files: readonly string[], complete: ReadonlySet<string>, now: number): string[] {
  return files.filter((file) => {
    const name = archiveOf(file);
    return name !== undefined && !complete.has(name) && now - timeOfBackup(name) > UNFINISHED_MS;
  });
}
