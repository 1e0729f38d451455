// Names the backups of the database in the data folder, for the service and for `berth doctor`.
import { readdir } from "node:fs/promises";
import { join } from "node:path";

const FOLDER = "database-backups";
export const BACKUP_NAME = /^berth-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z\.db$/;

export const backupFolder = (dataDir: string) => join(dataDir, FOLDER);

/** Epoch ms. */
export const timeOfBackup = (name: string) =>
  Date.parse(name.slice("berth-".length, -".db".length).replace(/T(\d\d)-(\d\d)-(\d\d)-/, "T$1:$2:$3."));

/** The newest backup; undefined without one. */
export async function newestDatabaseBackup(
  dataDir: string,
): Promise<{ folder: string; name: string; createdAt: number } | undefined> {
  const folder = backupFolder(dataDir);
  const names = (await readdir(folder).catch(() => [])).filter((name) => BACKUP_NAME.test(name)).sort();
  const name = names.at(-1);
  return name === undefined ? undefined : { folder, name, createdAt: timeOfBackup(name) };
}
