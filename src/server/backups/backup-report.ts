// Reports for `berth doctor` whether the place of the backups can be read, and whether the newest is as young as the schedule wants.

import { backupSettings } from "../../../plugins/fleet/settings.ts";
import type { Config } from "../../kernel/config/config.ts";
import { programName } from "../../kernel/config/program-name.ts";
import { InvalidCron, readCron, requireRuns } from "../../kernel/util/cron/cron.ts";
import { HOUR } from "../../kernel/util/time.ts";
import { encryptTo } from "./encryption.ts";
import { listBackups, openStorage } from "./make-backup.ts";

/** The same as of the service's own alert. */
const GRACE_MS = HOUR;

/** Empty if no backups are set up. Lines that start with `!` are warnings. */
export async function backupReport(config: Config, now = Date.now()): Promise<string> {
  const { schedule, recipients } = config.of(backupSettings);
  if (schedule === undefined) return "";
  try {
    const cron = await readCron(schedule, Intl.DateTimeFormat().resolvedOptions().timeZone);
    requireRuns(cron, now);
    // Finds a key that is misspelt.
    if (recipients.length > 0) await encryptTo(recipients, new Blob([]).stream());
    const storage = openStorage(config);
    const [newest] = await listBackups(storage);
    const place = storage.addressOf("");
    if (!newest) return `! There is no backup at ${place} yet. ${programName()} backup makes one now.\n`;
    const expected = cron.next(newest.createdAt);
    const made = `The newest backup at ${place} is of ${new Date(newest.createdAt).toISOString()}`;
    return expected !== undefined && now > expected + GRACE_MS
      ? `! ${made}, and that of ${new Date(expected).toISOString()} is missing. The console and the log of the service say why.\n`
      : `${made}.\n`;
  } catch (error) {
    if (error instanceof InvalidCron) return `! BACKUP_SCHEDULE: ${error.message}\n`;
    return `! Backups: ${error instanceof Error ? error.message : String(error)}\n`;
  }
}
