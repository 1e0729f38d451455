// Runs `berth audit verify`: checks the hashes of the audit log, also while the service runs.
import type { ChainReport } from "../../../kernel/audit/verify.ts";
import { environment } from "../../../kernel/config/config.ts";
import { programName } from "../../../kernel/config/program-name.ts";
import { loadAllSettings } from "../../settings.ts";
import { UsageError } from "../options.ts";

/** Returns the exit code: 0, 1 if the log is not as it was written, or 2 with the usage on standard error. */
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

function linesOf({ ok, entries, begunAt, pruned, head, breaks }: ChainReport): string[] {
  if (ok && begunAt === 0) return [`Nothing is sealed yet: ${entries} entries. The service seals them once it runs.`];
  const since = begunAt === 0 ? "" : `, chained since ${new Date(begunAt).toISOString()}`;
  const before = pruned === 0 ? "" : `; ${pruned} older ones were deleted after two years`;
  const found = breaks.map(({ seq, problem }) => `  entry ${seq}: ${problem}`);
  if (!ok) return [`The audit log is NOT as it was written (${entries} entries${since}${before}):`, ...found];
  return [
    `The audit log is as it was written: ${entries} entries${since}${before}.`,
    `Head: ${head.seq}:${head.mac}`,
    `Note the head elsewhere; ${programName()} audit verify --head … then also shows whether the end was cut off since.`,
  ];
}
