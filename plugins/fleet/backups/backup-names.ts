// Names the files of backups. A name holds the time at which the backup was begun, so names sort by age.

/** Of an archive: a gzipped tar, which ends in `.age` if it is encrypted. */
const ARCHIVE = /^berth-(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d)-(\d{3})Z\.tar\.gz(\.age)?$/;
/** Of a copy of the database alone, as versions before archives made it. */
const COPY = /^berth-(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d)-(\d{3})Z\.db$/;
const MANIFEST_SUFFIX = ".json";
/** Of a file that is being written to a folder. */
export const UNFINISHED_SUFFIX = ".unfinished";

export const backupNameAt = (at: number, isEncrypted: boolean) =>
  `berth-${new Date(at).toISOString().replace(/[:.]/g, "-")}.tar.gz${isEncrypted ? ".age" : ""}`;

export const isArchiveName = (name: string) => ARCHIVE.test(name);
export const isCopyName = (name: string) => COPY.test(name);
export const isBackupName = (name: string) => isArchiveName(name) || isCopyName(name);
export const isEncryptedName = (name: string) => name.endsWith(".age");

/** The name of the file that says that a backup is complete and what it holds. It is written last. */
export const manifestNameOf = (name: string) => name + MANIFEST_SUFFIX;

/** The backup that a manifest, or a file that is being written, belongs to; undefined for any other name. */
export function archiveOf(fileName: string): string | undefined {
  const name = fileName.replace(/\.unfinished$/, "").replace(/\.json$/, "");
  return isArchiveName(name) ? name : undefined;
}

/** Epoch ms. */
export function timeOfBackup(name: string): number {
  const [, day, hours, minutes, seconds, ms] = ARCHIVE.exec(name) ?? COPY.exec(name) ?? [];
  return Date.parse(`${day}T${hours}:${minutes}:${seconds}.${ms}Z`);
}
