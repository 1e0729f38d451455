// Runs `berth audit verify`: checks the hashes of the audit log, also while the service runs.

import type { ChainReport } from "../../../kernel/audit/verify.ts";
import { environment } from "../../../kernel/config/config.ts";
import { programName } from "../../../kernel/config/program-name.ts";
import { count } from "../../../kernel/util/text/count.ts";
import { loadAllSettings } from "../../settings.ts";
import { UsageError } from "../options.ts";

/** Returns the exit code: 0, 1 if the log is not as it was written or has entries that nothing seals, or 2 with the usage on standard error. */
export async function auditCommand([name, ...rest]: string[], head: unknown): Promise<number> {
  if (name !== "verify" || rest.length > 0) {
    process.stderr.write(`Usage: ${programName()} audit verify [--head N:HASH]  check the audit log\n`);
    return 2;
  }
  if (typeof head === "string" && !/^\d{1,15}:[\w-]{43}$/.test(head))
    throw new UsageError("--head takes a number and a hash, as audit verify prints them: 12:AbC…");
  const { runCommand } = await import("../run-command.ts");
  const args = typeof head === "string" ? { head } : {};
  const report = (await runCommand(loadAllSettings(environment()), "audit.verify", args)) as ChainReport;
  process.stdout.write(`${[...linesOf(report), ""].join("\n")}`);
  return report.ok ? 0 : 1;
}

function linesOf({ ok, entries, begunAt, pruned, head, breaks, late, waiting }: ChainReport): string[] {
  const unsealed = waiting ? [waitingText(waiting, ok)] : [];
  if (begunAt === 0 && breaks.length === 0)
    return waiting ? unsealed : [`Nothing is sealed yet: ${count(entries, "entry", "entries")}.`];
  const since = begunAt === 0 ? "" : `, chained since ${new Date(begunAt).toISOString()}`;
  const before = pruned === 0 ? "" : `; ${pruned} older ones were deleted after two years`;
  const found = breaks.map(({ seq, problem }) => `  entry ${seq}: ${problem}`);
  const checked = count(entries, "entry", "entries");
  const notes = [...late.map(lateText), ...unsealed];
  if (breaks.length > 0)
    return [`The audit log is NOT as it was written (${checked}${since}${before}):`, ...found, ...notes];
  return [
    `${waiting ? "What is sealed of the audit log" : "The audit log"} is as it was written: ${checked}${since}${before}.`,
    ...notes,
    `Head: ${head.seq}:${head.mac}`,
    `Note the head elsewhere; ${programName()} audit verify --head … then also shows whether the end was cut off since.`,
  ];
}

const numbers = ({ first, last }: { first: number; last: number }) =>
  first === last ? `number ${first}` : `numbers ${first} to ${last}`;

const lateText = ({ at, entries, ...range }: ChainReport["late"][number]) =>
  `! ${count(entries, "entry was", "entries were")} found unsealed by a start of ${new Date(at).toISOString()} (${numbers(range)}): a crash left ${entries === 1 ? "it" : "them"} so, or somebody else wrote ${entries === 1 ? "it" : "them"}.`;

function waitingText({ entries, since, ...range }: NonNullable<ChainReport["waiting"]>, isUsual: boolean): string {
  const wait = `${count(entries, "entry waits", "entries wait")} to be sealed since ${new Date(since).toISOString()} (${numbers(range)})`;
  if (isUsual) return `! ${wait}. The service seals an entry right after its commit: run this again.`;
  const [them, they] = entries === 1 ? ["it", "it was"] : ["them", "they were"];
  return `✗ ${wait}: a crash left ${them} so, or somebody else wrote ${them}. Look at ${them} before you start the service, which seals ${them} and notes that ${they} found so.`;
}
