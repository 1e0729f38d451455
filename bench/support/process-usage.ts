// Reads what a process uses from /proc: memory and processor time. Linux only.

import { readdirSync, readFileSync } from "node:fs";

/** Resident memory of a process in bytes (`/proc/PID/smaps_rollup`): all, and the part that is not backed by files. Linux only. */
export function memoryOf(pid: number): { rss: number; own: number } {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
  const field = (name: string) => Number(new RegExp(`^${name}: +(\\d+) kB`, "m").exec(text)?.[1] ?? 0) * 1024;
  return { rss: field("Rss"), own: field("Anonymous") };
}

/** Processor time of all threads of a process, in ms, in steps of 10 (`/proc/PID/stat`). Linux only. */
export function cpuOf(pid: number): number {
  const text = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** Processor time of a process's main thread, in ms (`/proc/PID/schedstat`): also for the little that an idle one uses. Linux only. */
export const cpuOfMainThread = (pid: number): number =>
  Number(readFileSync(`/proc/${pid}/schedstat`, "utf8").split(" ")[0]) / 1e6;

/** Processor time of the threads of a process that live, in ms (`/proc/PID/task/ID/schedstat`): for times as short as a start. Linux only. */
export function cpuOfThreads(pid: number): number {
  let total = 0;
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    try {
      total += Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8").split(" ")[0]) / 1e6;
    } catch {
      // The thread ended.
    }
  }
  return total;
}
