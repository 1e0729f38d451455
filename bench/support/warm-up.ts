// Repeats a load until the service has compiled the code that it runs, so that a benchmark doesn't measure its compiler.

import { readdirSync, readFileSync } from "node:fs";
import { load, type Outcome, type Plan, type Stage } from "./load.ts";
import { cpuOf } from "./process-usage.ts";

/** Share of the processor time that the compiler's threads may still take. */
const QUIET = 0.04;
/** Rounds in a row that must be quiet: the compiler often pauses for one. */
const IN_A_ROW = 2;
const MOST = 30;
const SECONDS = 0.5;

/** Processor time in ms of each thread that compiles JavaScript, by the thread's id. */
export type CompilerTimes = ReadonlyMap<string, number>;

/**
 * Repeats `work` until the compiler of `pid` took less than 4 % of its processor time twice in a row, or 30 times, which is
 * printed. Linux only.
 */
export async function untilCompiled(pid: number, work: () => Promise<unknown>, name = `Process ${pid}`): Promise<void> {
  let quiet = 0;
  let share: number | undefined;
  for (let times = 0; times < MOST && quiet < IN_A_ROW; times++) {
    const [before, all] = [compilerTimes(pid), cpuOf(pid)];
    await work();
    share = shareOf(before, compilerTimes(pid), cpuOf(pid) - all);
    quiet = share !== undefined && share < QUIET ? quiet + 1 : 0;
  }
  if (quiet === IN_A_ROW) return;
  const last = share === undefined ? "one of its threads ended" : `${(100 * share).toFixed(0)} % of the processor time`;
  console.log(`${name} is measured while it still compiles (last: ${last}).`);
}

/** Repeats each stage that names processes until they have compiled their code. `run` is the load that is repeated. */
export async function warmUp(
  stages: readonly Stage[],
  run: (plan: Plan) => Promise<Record<string, Outcome>> = load,
): Promise<void> {
  for (const stage of stages) {
    for (const pid of stage.pids ?? []) {
      await untilCompiled(pid, () => run({ stages: [{ ...stage, seconds: SECONDS }], rounds: 1 }), stage.name);
    }
  }
}

/**
 * The compiler's share (0 to 1) of `all` ms between two looks. Undefined if one of its threads ended in between, since what it took
 * before is not known.
 */
export function shareOf(before: CompilerTimes, after: CompilerTimes, all: number): number | undefined {
  if ([...before.keys()].some((thread) => !after.has(thread))) return undefined;
  let taken = 0;
  for (const [thread, time] of after) taken += time - (before.get(thread) ?? 0);
  return all > 0 ? taken / all : 0;
}

function compilerTimes(pid: number): CompilerTimes {
  const times = new Map<string, number>();
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    try {
      const stat = readFileSync(`/proc/${pid}/task/${thread}/stat`, "utf8");
      if (!stat.includes("(JITWorker)")) continue;
      const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      times.set(thread, (Number(fields[11]) + Number(fields[12])) * 10);
    } catch {
      // The thread ended.
    }
  }
  return times;
}
