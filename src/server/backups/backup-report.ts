// Reports for `berth doctor` whether the place of the backups can be read, and whether the newest is as young as the schedule wants.

import { readSchedule } from "../../../plugins/fleet/backups/backup-schedule.ts";
import { backupSettings } from "../../../plugins/fleet/settings.ts";
import type { Config, Finding } from "../../kernel/config/config.ts";
import { programName } from "../../kernel/config/program-name.ts";
import { StartError } from "../../kernel/errors.ts";
import { HOUR } from "../../kernel/util/time.ts";
import { type BackupFailure, lastFailure } from "../checks/last-failure.ts";
import { encryptTo } from "./encryption.ts";
import { listBackups } from "./make-backup.ts";
import { openStorage } from "./place/open-storage.ts";

/** The same as of the service's own alert. */
const GRACE_MS = HOUR;

/** A schedule for which the start would be refused. */
export async function scheduleFindings(config: Config): Promise<Finding[]> {
  const { schedule } = config.of(backupSettings);
  if (schedule === undefined) return [];
  try {
    await readSchedule(schedule);
    return [];
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    return [{ name: "BACKUP_SCHEDULE", severity: "error", message: error.message }];
  }
}

/** Empty if no backups are set up and none has failed. Lines that start with `!` are warnings. */
export async function backupReport(config: Config, now = Date.now()): Promise<string> {
  const { schedule, recipients } = config.of(backupSettings);
  try {
    if (schedule === undefined) return await failureReport(config);
    const cron = await readSchedule(schedule, now);
    // Finds a key that is misspelt.
    if (recipients.length > 0) await encryptTo(recipients, new Blob([]).stream());
    const storage = openStorage(config);
    const [newest] = await listBackups(storage);
    const place = storage.addressOf("");
    const failure = lastFailure(config, newest);
    if (failure) return failureText(failure, newest ? "" : ` There is none at ${place} yet.`);
    if (!newest) return `! There is no backup at ${place} yet. ${programName()} backup makes one now.\n`;
    const expected = cron.next(newest.createdAt);
    const made = `The newest backup at ${place} is of ${new Date(newest.createdAt).toISOString()}`;
    return expected !== undefined && now > expected + GRACE_MS
      ? `! ${made}, and that of ${new Date(expected).toISOString()} is missing. The console and the log of the service say why.\n`
      : `${made}.\n`;
  } catch (error) {
    const failure = lastFailure(config, undefined);
    if (failure) return failureText(failure);
    return `! Backups: ${error instanceof Error ? error.message : String(error)}\n`;
  }
}

async function failureReport(config: Config): Promise<string> {
  const isInFolder = config.of(backupSettings).to.kind === "folder";
  // A bucket is not asked without need.
  if (!lastFailure(config, undefined) && !isInFolder) return "";
  const [newest] = await listBackups(openStorage(config));
  const failure = lastFailure(config, newest);
  return failure ? failureText(failure) : "";
}

const failureText = ({ at, reason }: BackupFailure, more = "") =>
  `! The last backup failed at ${new Date(at).toISOString()}: ${reason}${more} Remove the reason; ${programName()} backup then makes one.\n`;
