// Checks what the machine gives the service: the right time, space on the disk, and a backup that can be opened.
import { statfs } from "node:fs/promises";
import { join } from "node:path";
import { newestDatabaseBackup } from "../../../../plugins/fleet/instance/backup-files.ts";
import type { Config } from "../../../kernel/config/config.ts";
import { openReadOnly } from "../../../kernel/database/connection.ts";
import { DAY, MINUTE, SECOND } from "../../../kernel/util/time.ts";
import { type CheckResult, reasonOf } from "./check.ts";

const MIB = 1024 ** 2;
const BACKUP_AGE = 7 * DAY;

/** @param offsets how far this clock is ahead of those of servers elsewhere, in ms; their times are whole seconds */
export function checkClock(offsets: readonly number[]): CheckResult {
  const [offset] = offsets.toSorted((a, b) => Math.abs(a) - Math.abs(b));
  if (offset === undefined) return { level: "note", text: "Clock: no server elsewhere answered to compare with." };
  const seconds = Math.round(Math.abs(offset) / SECOND);
  const where = offset > 0 ? "ahead" : "behind";
  if (Math.abs(offset) < 30 * SECOND)
    return { level: "good", text: "Clock: it agrees with those of servers elsewhere." };
  return {
    level: Math.abs(offset) < 5 * MINUTE ? "warning" : "error",
    text: `Clock: it is ${seconds} s ${where}.`,
    action:
      "Switch on time synchronization (timedatectl set-ntp true). Sign-in codes, signatures and schedules depend on it.",
  };
}

export async function checkDisk(dataDir: string): Promise<CheckResult> {
  const action = "Delete old backups, or give the data folder a larger disk.";
  try {
    const { blocks, bavail, bsize, files, ffree } = await statfs(dataDir);
    const free = bavail * bsize;
    const share = blocks === 0 ? 1 : bavail / blocks;
    const text = `Disk: ${Math.round(free / MIB)} MiB of ${Math.round((blocks * bsize) / MIB)} MiB are free (${Math.round(share * 100)} %).`;
    if (free < 256 * MIB) return { level: "error", text, action };
    if (free < 1024 * MIB || share < 0.05) return { level: "warning", text, action };
    if (files > 0 && ffree / files < 0.02)
      return { level: "warning", text: `Disk: it has room, but for ${ffree} more files only.`, action };
    return { level: "good", text };
  } catch (error) {
    return {
      level: "note",
      text: `Disk: ${dataDir} can't be measured (${reasonOf(error)}). The first start makes it.`,
    };
  }
}

export async function checkBackups({ dataDir, database }: Pick<Config, "dataDir" | "database">): Promise<CheckResult> {
  if (!database.file) return { level: "note", text: "Backups: the database is on a server, which makes its own." };
  const newest = await newestDatabaseBackup(dataDir);
  const action =
    "Make one in the console under Storage, or let the machine run `berth backup FILE` every night, to another disk.";
  if (!newest) {
    return {
      level: "warning",
      text: "Backups: none is in the data folder. Those elsewhere are not known here.",
      action,
    };
  }
  const days = Math.floor((Date.now() - newest.createdAt) / DAY);
  const age = days === 0 ? "from today" : `${days} days old`;
  try {
    const copy = openReadOnly(join(newest.folder, newest.name), { immutable: true });
    const { rows } = copy.run("SELECT count(*) AS count FROM migrations");
    copy.close();
    if (Number(rows[0]?.count) === 0) throw new Error("it is empty");
  } catch (error) {
    return {
      level: "error",
      text: `Backups: the newest, ${newest.name}, can't be opened: ${reasonOf(error)}.`,
      action,
    };
  }
  const isOld = Date.now() - newest.createdAt > BACKUP_AGE;
  const text = `Backups: the newest is ${age}, and can be opened.`;
  return isOld ? { level: "warning", text, action } : { level: "good", text };
}
