// Opens the place of BACKUP_TO, and remembers a folder that has been used.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join, sep } from "node:path";
import { backupSettings } from "../../../../plugins/fleet/settings.ts";
import type { Config } from "../../../kernel/config/config.ts";
import { createFolderStorage } from "./folder-storage.ts";
import { createS3Storage } from "./s3-storage.ts";
import type { BackupStorage } from "./storage.ts";

/** Where this service keeps its backups. Throws StartError if a bucket has no key. */
export function openStorage(config: Pick<Config, "of" | "dataDir">): BackupStorage {
  const { to, s3 } = config.of(backupSettings);
  if (to.kind === "s3") return createS3Storage(to, s3);
  return createFolderStorage(to.path, () => (usedFolder(config) === to.path ? usedNote(config) : undefined));
}

/** Says to which folder the last backup was made. It is kept apart from there: the disk of that may not be mounted. */
export const usedNote = ({ dataDir }: Pick<Config, "dataDir">) => join(dataDir, "backup-folder");

function usedFolder(config: Pick<Config, "dataDir">): string | undefined {
  const path = usedNote(config);
  return existsSync(path) ? readFileSync(path, "utf8").trim() : undefined;
}

export function noteUsedFolder(config: Pick<Config, "of" | "dataDir">): void {
  const { to } = config.of(backupSettings);
  // One below the data folder is on its disk.
  if (to.kind === "s3" || to.path.startsWith(config.dataDir + sep) || usedFolder(config) === to.path) return;
  writeFileSync(usedNote(config), `${to.path}\n`, { mode: 0o600 });
}
