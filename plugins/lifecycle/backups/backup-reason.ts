// Reads the reason of a backup from its first line.
import { readElements } from "./backup-file.ts";

/** An operation that may have to be undone, or its owner's wish. */
const BACKUP_REASONS = ["update", "rollback", "reset-memory", "manual"] as const;
export type BackupReason = (typeof BACKUP_REASONS)[number];

/** The reason in a backup's first line; undefined in an older or damaged file. */
export async function reasonOf(file: string): Promise<BackupReason | undefined> {
  try {
    for await (const header of readElements(file)) {
      const { reason } = JSON.parse(header) as { reason?: unknown };
      return BACKUP_REASONS.find((known) => known === reason);
    }
  } catch {
    // Whether a file is whole is checked before it is restored; here it only lacks a reason.
  }
  return undefined;
}
