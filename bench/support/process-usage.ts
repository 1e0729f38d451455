// Reads what a process uses from /proc: memory and processor time. Linux only.

import { readFileSync } from "node:fs";

/** Resident memory of a process in bytes (`/proc/PID/smaps_rollup`): all, and the part that is not backed by files. Linux only. */
export function memoryOf(pid: number): { rss: number; own: number } {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
  const field = (name: string) => Number(new RegExp(`^${name}: +(\\d+) kB`, "m").exec(text)?.[1] ?? 0) * 1024;
  return { rss: field("Rss"), own: field("Anonymous") };
}

/** Processor time of all threads of a process, in ms (`/proc/PID/stat`). Linux only. */
export function cpuOf(pid: number): number {
  const text = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 10;
}
