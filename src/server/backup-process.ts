// Makes a backup of the database in a process of its own, so that the service is not blocked meanwhile.
import { join } from "node:path";
import type { Environment } from "../kernel/config/config.ts";

/** The command line of this program, without arguments. */
export function programCommand(): string[] {
  const isCompiled = import.meta.dir.startsWith("/$bunfs/");
  return [process.execPath, ...(isCompiled ? [] : [join(import.meta.dir, "main.ts")])];
}

/** Runs `berth backup` with this program, environment and working directory. Rejects with the sentence that it printed. */
export async function backUpInProcess(env: Environment, target: string, signal: AbortSignal): Promise<void> {
  const child = Bun.spawn([...programCommand(), "backup", target], {
    env,
    signal,
    stdin: "ignore",
    stdout: "ignore",
    stderr: "pipe",
  });
  const [code, text] = await Promise.all([child.exited, new Response(child.stderr).text()]);
  if (code === 0) return;
  const [line = ""] = text.trim().split("\n").slice(-1);
  throw new Error(line.replace(/^berth: /, "") || `The backup ended with the code ${code}.`);
}
