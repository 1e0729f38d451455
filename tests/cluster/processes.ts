// Finds, stops and kills the processes of a machine: the first one, and one for each other cell that the machine has.
import type { Berth } from "../support/berth.ts";
import { eventually } from "../support/eventually.ts";
import { run } from "../support/process.ts";

/** The pids of the processes of a machine's cells other than the first, by cell. */
export async function cellProcesses({ pid }: Pick<Berth, "pid">): Promise<Map<number, number>> {
  const { stdout } = await run(["/bin/ps", "-A", "-o", "pid=,ppid=,args="], {}, "/");
  const found = stdout.matchAll(/^ *(\d+) +(\d+) .*? cells run (\d+) /gm);
  return new Map(
    [...found].flatMap(([, own, parent, cell]) => (Number(parent) === pid ? [[Number(cell), Number(own)]] : [])),
  );
}

/** The pid of the process that has a cell on a machine; cell 0 is in its first process. */
export const processOf = (node: Berth, cell: number) =>
  cell === 0
    ? Promise.resolve(node.pid)
    : eventually(async () => (await cellProcesses(node)).get(cell), { timeoutMs: 30_000, what: `cell ${cell} runs` });

/** Ends all processes of a machine at once, as a loss of power does. */
export async function losePower(node: Berth): Promise<void> {
  for (const pid of (await cellProcesses(node)).values()) signal(pid, "SIGKILL");
  // It is over when the last of them has closed its output.
  await node.kill();
}

/** Stops a process for a time, in which it does nothing and knows nothing of it. */
export async function suspend(pid: number, ms: number): Promise<void> {
  signal(pid, "SIGSTOP");
  try {
    await Bun.sleep(ms);
  } finally {
    signal(pid, "SIGCONT");
  }
}

export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    // It has ended by itself.
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
  }
}
