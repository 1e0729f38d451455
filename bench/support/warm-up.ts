// Repeats a load until the service has compiled the code that it runs, so that a benchmark doesn't measure its compiler.

import { readdirSync, readFileSync } from "node:fs";
import { cpuOf } from "./service.ts";

/** Share of the processor time that the compiler's threads may still take. */
const QUIET = 0.04;
const MOST = 15;

/** Repeats `work` until the compiler of `pid` takes less than 4 % of its processor time, or 15 times. Linux only. */
export async function untilCompiled(pid: number, work: () => Promise<unknown>): Promise<void> {
  for (let times = 0; times < MOST; times++) {
    const [compiler, all] = [compilerTime(pid), cpuOf(pid)];
    await work();
    if (compilerTime(pid) - compiler < QUIET * (cpuOf(pid) - all)) return;
  }
}

/** Processor time in ms of the threads that compile JavaScript, while they live. */
function compilerTime(pid: number): number {
  let total = 0;
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    try {
      const stat = readFileSync(`/proc/${pid}/task/${thread}/stat`, "utf8");
      if (!stat.includes("(JITWorker)")) continue;
      const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      total += (Number(fields[11]) + Number(fields[12])) * 10;
    } catch {
      // The thread ended.
    }
  }
  return total;
}
