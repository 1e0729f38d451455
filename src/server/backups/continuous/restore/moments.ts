// Finds the moments that can be restored, and the backup from which the way to one of them begins.

import { isArchiveName } from "../../../../../plugins/fleet/backups/backup-names.ts";
import type { KeptBackup } from "../../../../../plugins/fleet/backups/backup-work.ts";
import { programName } from "../../../../kernel/config/program-name.ts";
import { StartError } from "../../../../kernel/errors.ts";
import { readManifest } from "../../make-backup.ts";
import type { LogPlace } from "../../manifest.ts";
import type { BackupStorage } from "../../place/storage.ts";
import { parseLogNames, restorableSpans, type Span } from "./stored-log.ts";

/**
 * The newest backup that has nothing from after a moment. Throws StartError if there is none.
 *
 * @param backups newest first
 * @param source `latest`, or the name of the only one that may be taken
 */
export async function backupBefore(
  storage: BackupStorage,
  backups: readonly KeptBackup[],
  at: number,
  source: string,
): Promise<string> {
  const wanted = backups.filter(({ name }) => source === "latest" || name === source);
  for (const { name, createdAt } of wanted) {
    if (createdAt > at) continue;
    const log = isArchiveName(name) ? ((await readManifest(storage, name))?.log ?? []) : [];
    if (log.every((place) => place.at <= at)) return name;
  }
  const oldest = wanted.at(-1);
  throw new StartError(
    oldest
      ? `The oldest backup that could be taken is of ${new Date(oldest.createdAt).toISOString()}, after ${new Date(at).toISOString()}. ${programName()} backups lists what can be restored.`
      : `There is no backup ${source} at ${storage.addressOf("")}. ${programName()} backups lists them.`,
  );
}

/** Oldest first; none without a continuous copy. */
export async function restorableMoments(storage: BackupStorage, backups: readonly KeptBackup[]): Promise<Span[]> {
  const files = parseLogNames((await storage.list()).map(({ name }) => name));
  if (files.length === 0) return [];
  return restorableSpans(await logPlaces(storage, backups), files);
}

/** Of each backup that is part of a continuous copy. */
export async function logPlaces(storage: BackupStorage, backups: readonly KeptBackup[]): Promise<LogPlace[][]> {
  const names = backups.map(({ name }) => name).filter(isArchiveName);
  const places = await Promise.all(names.map(async (name) => (await readManifest(storage, name))?.log ?? []));
  return places.filter(({ length }) => length > 0);
}
