// Decides which files of a place are deleted after a new backup was verified.

import { archiveOf, isArchiveName, timeOfBackup } from "../../../plugins/fleet/backups/backup-names.ts";
import type { KeptBackup } from "../../../plugins/fleet/backups/backup-work.ts";
import { parseLogName } from "../../../plugins/fleet/backups/log-names.ts";
import { DAY, HOUR } from "../../kernel/util/time.ts";

export interface KeepRule {
  count: number;
  forMs: number | undefined;
}

/** From this age on, a file without a manifest is what a killed process left. A younger one may be being written. */
const UNFINISHED_MS = DAY;

/**
 * The names of the complete backups that are too many or too old, oldest first. The newest is never among them. Those for the
 * continuous copy are counted apart, since anybody who makes it begin anew would else push out the others, and go with older ones.
 *
 * @param complete in any order
 */
export function expiredBackups(
  complete: readonly Pick<KeptBackup, "name" | "isForCopy">[],
  { count, forMs }: KeepRule,
  now: number,
): string[] {
  const newestFirst = complete
    .filter(({ name }) => isArchiveName(name))
    .sort((a, b) => timeOfBackup(b.name) - timeOfBackup(a.name));
  const asked = newestFirst.filter(({ isForCopy }) => !isForCopy).slice(0, count);
  const oldest = asked.at(-1);
  const forCopy = newestFirst
    .filter(({ name, isForCopy }) => isForCopy && (!oldest || timeOfBackup(name) > timeOfBackup(oldest.name)))
    .slice(0, count);
  const counted = new Set([...asked, ...forCopy]);
  const isOld = (name: string) => forMs !== undefined && now - timeOfBackup(name) > forMs;
  return newestFirst
    .filter((backup, place) => place > 0 && (!counted.has(backup) || isOld(backup.name)))
    .map(({ name }) => name)
    .reverse();
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
