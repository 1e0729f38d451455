// Checks that there is a young backup, and that it can be read back as it was written.

import type { KeptBackup } from "../../../../plugins/fleet/backups/backup-work.ts";
import { backupSettings } from "../../../../plugins/fleet/settings.ts";
import type { Config } from "../../../kernel/config/config.ts";
import { openReadOnly } from "../../../kernel/database/connection.ts";
import { DAY } from "../../../kernel/util/time.ts";
import { listBackups, readManifest } from "../../backups/make-backup.ts";
import { openStorage } from "../../backups/place/open-storage.ts";
import type { BackupStorage } from "../../backups/place/storage.ts";
import { verifyBackup } from "../../backups/verification.ts";
import { type BackupFailure, lastFailure } from "../../checks/last-failure.ts";
import { becauseOf, type CheckResult } from "./check.ts";

const BACKUP_AGE = 7 * DAY;
const MAKE_ONE = "Make one in the console under Storage or with `berth backup`";

export async function checkBackups(config: Pick<Config, "of" | "database" | "dataDir">): Promise<CheckResult> {
  if (!config.database.file) {
    return { level: "note", text: "Backups: the database is on a server, which makes its own." };
  }
  const isScheduled = config.of(backupSettings).schedule !== undefined;
  const action = isScheduled
    ? `${MAKE_ONE}; the service makes the next one by BACKUP_SCHEDULE.`
    : `${MAKE_ONE}, and set BACKUP_SCHEDULE so that the service makes its own.`;
  try {
    const storage = openStorage(config);
    const [newest] = await listBackups(storage);
    const failure = lastFailure(config, newest);
    if (failure) return failed(failure, newest);
    if (!newest) return { level: "warning", text: `Backups: there is none at ${storage.addressOf("")}.`, action };
    try {
      await readBack(storage, newest);
    } catch (error) {
      const text = `Backups: the newest, ${newest.name}, can't be opened: ${becauseOf(error)}`;
      return { level: "broken", text, action };
    }
    const days = Math.floor((Date.now() - newest.createdAt) / DAY);
    const text = `Backups: the newest is ${["from today", "from yesterday"][days] ?? `${days} days old`}, and can be opened.`;
    const isOld = Date.now() - newest.createdAt > BACKUP_AGE;
    return isOld ? { level: "warning", text, action } : { level: "good", text };
  } catch (error) {
    const failure = lastFailure(config, undefined);
    if (failure) return failed(failure, undefined);
    return {
      level: "broken",
      text: `Backups: their place can't be read: ${becauseOf(error)}`,
      action: "Check BACKUP_TO and its keys.",
    };
  }
}

function failed({ at, reason }: BackupFailure, newest: KeptBackup | undefined): CheckResult {
  const since = newest ? ` The newest that there is: ${newest.name}.` : "";
  return {
    level: "broken",
    text: `Backups: the last one failed at ${new Date(at).toISOString()}: ${reason}${since}`,
    action: "Remove the reason, then make one in the console under Storage or with `berth backup`.",
  };
}

/** Throws if the backup is not what was written, or if a copy of the database is none. */
async function readBack(storage: BackupStorage, { name, verified }: KeptBackup): Promise<void> {
  if (verified === "copied") {
    const copy = openReadOnly(storage.addressOf(name), { immutable: true });
    const { rows } = copy.run("SELECT count(*) AS count FROM migrations");
    copy.close();
    if (Number(rows[0]?.count) === 0) throw new Error("it is empty");
    return;
  }
  const manifest = await readManifest(storage, name);
  if (!manifest) throw new Error("its manifest is gone");
  const { bytes, sha256 } = manifest;
  await verifyBackup(storage, name, { bytes, sha256, databases: new Map() }, undefined);
}
