// Checks what the machine gives the service: the right time, and space on the disk.
import { statfs } from "node:fs/promises";
import { count } from "../../../kernel/util/text/count.ts";
import { MINUTE, SECOND } from "../../../kernel/util/time.ts";
import { type CheckResult, reasonOf } from "./check.ts";

const MIB = 1024 ** 2;

/** @param offsets how far this clock is ahead of those of servers elsewhere, in ms; their times are whole seconds */
export function checkClock(offsets: readonly number[]): CheckResult {
  const [offset] = offsets.toSorted((a, b) => Math.abs(a) - Math.abs(b));
  if (offset === undefined) return { level: "note", text: "Clock: no server elsewhere answered to compare with." };
  const seconds = Math.round(Math.abs(offset) / SECOND);
  const where = offset > 0 ? "ahead" : "behind";
  if (Math.abs(offset) < 30 * SECOND)
    return { level: "good", text: "Clock: it agrees with those of servers elsewhere." };
  return {
    level: Math.abs(offset) < 5 * MINUTE ? "warning" : "broken",
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
    if (free < 256 * MIB) return { level: "broken", text, action };
    if (free < 1024 * MIB || share < 0.05) return { level: "warning", text, action };
    if (files > 0 && ffree / files < 0.02)
      return { level: "warning", text: `Disk: it has room, but for ${count(ffree, "more file")} only.`, action };
    return { level: "good", text };
  } catch (error) {
    return {
      level: "note",
      text: `Disk: ${dataDir} can't be measured (${reasonOf(error)}). The first start makes it.`,
    };
  }
}
