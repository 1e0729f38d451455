// Checks whether the folders and files that the settings name can be used. Changes nothing.

import { accessSync, constants, existsSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { backupSettings } from "../../../plugins/fleet/settings.ts";
import { skillFolderSettings } from "../../../plugins/skill-folders/settings.ts";
import type { Config, Finding } from "../../kernel/config/config.ts";
import { warning } from "../../kernel/config/section.ts";
import { StartError } from "../../kernel/errors.ts";
import { readIdentities } from "../backups/encryption.ts";

export function checkFileSystem(config: Config): Finding[] {
  const { dataDir, database, secretKey, plugins } = config;
  const findings: Finding[] = [];
  const error = (name: string, text: string) => findings.push({ name, severity: "error", message: `${name}: ${text}` });

  const nearest = nearestExistingParent(dataDir);
  if (!statSync(nearest).isDirectory()) error("DATA_DIR", `${nearest} is not a folder.`);
  else if (!isWritable(nearest)) error("DATA_DIR", `${nearest} can't be written by this user.`);
  const { file } = database;
  if (file && existsSync(file) && !isWritable(file)) error("DATABASE_URL", `${file} can't be written by this user.`);

  if (!database.remote && config.role !== "web") findings.push(...checkBackupFolder(config), ...checkIdentity(config));
  const key = join(dataDir, "secret.key");
  if (!secretKey && existsSync(key) && (statSync(key).mode & 0o077) !== 0) {
    findings.push({
      name: "DATA_DIR",
      severity: "warning",
      message: `${key} can be read by others: its mode should be 0600.`,
    });
  }
  for (const plugin of plugins) if (!existsSync(plugin)) error("PLUGINS", `${plugin} is not there.`);
  const { sharedDir } = config.of(skillFolderSettings);
  if (sharedDir !== undefined && !statSync(sharedDir, { throwIfNoEntry: false })?.isDirectory()) {
    const message = `SKILLS_DIR: ${sharedDir} is not a folder, so no skills are shared.`;
    findings.push({ name: "SKILLS_DIR", severity: "warning", message });
  }
  return findings;
}

/** A bucket is asked by `berth doctor --online`. */
function checkBackupFolder(config: Config): Finding[] {
  const { to } = config.of(backupSettings);
  if (to.kind === "s3") return [];
  const nearest = nearestExistingParent(to.path);
  const parent = dirname(to.path);
  // The first start makes the data folder. Of any other path, only the last part is made.
  if (!existsSync(parent) && parent !== config.dataDir && statSync(nearest).isDirectory()) {
    const text = `there is no folder ${parent}, so no backups can be made there. Mount its disk, or make it.`;
    return [warning("BACKUP_TO", text)];
  }
  if (!statSync(nearest).isDirectory())
    return [warning("BACKUP_TO", `${nearest} is not a folder, so no backups can be made there.`)];
  if (isWritable(nearest)) return [];
  return [warning("BACKUP_TO", `${nearest} can't be written by this user, so no backups can be made there.`)];
}

/** With it, each encrypted backup is opened after it was made. */
function checkIdentity(config: Config): Finding[] {
  const { identityFile, recipients } = config.of(backupSettings);
  if (identityFile === undefined || recipients.length === 0) return [];
  try {
    readIdentities(identityFile);
    return [];
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    const message = `BACKUP_IDENTITY_FILE: ${error.message} Until then, each backup fails.`;
    return [{ name: "BACKUP_IDENTITY_FILE", severity: "warning", message }];
  }
}

const nearestExistingParent = (path: string): string =>
  existsSync(path) ? path : nearestExistingParent(dirname(path));

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
