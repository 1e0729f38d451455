// Makes a backup in a process of its own, so that the service is not blocked meanwhile, and gives plugins the other work on backups.

import { setPriority } from "node:os";
import { join } from "node:path";
import type { BackupWork, KeptBackup, MakeOptions } from "../../../plugins/fleet/backups/backup-work.ts";
import type { Config, Environment } from "../../kernel/config/config.ts";
import { deleteBackup, listBackups } from "./make-backup.ts";
import { openStorage } from "./place/open-storage.ts";

/** What the process tells the service. */
export type BackupMessage = { progress: number } | { made: KeptBackup; problem: string | undefined };

/** Behind the requests of people: a backup may take longer. */
const NICENESS = 10;

/** The command line of this program, without arguments. */
export function programCommand(): string[] {
  const isCompiled = import.meta.dir.startsWith("/$bunfs/");
  return [process.execPath, ...(isCompiled ? [] : [join(import.meta.dir, "../main.ts")])];
}

/** The work on backups with this program, environment and working directory. */
export function createBackupWork(config: Config, env: Environment, warn: (text: string) => void): BackupWork {
  return {
    make: (options) => makeInProcess(env, options, warn),
    list: async () => listBackups(openStorage(config)),
    read: async (name) => openStorage(config).read(name),
    remove: async (name) => deleteBackup(config, name),
  };
}

/** Runs `berth backup`, which ends with this process. Rejects with the sentence that it printed. */
async function makeInProcess(
  env: Environment,
  { name, isForCopy, signal, onProgress }: MakeOptions,
  warn: (text: string) => void,
): Promise<KeptBackup> {
  let made: KeptBackup | undefined;
  const child = Bun.spawn([...programCommand(), "backup", "--name", name, ...(isForCopy ? ["--for-copy"] : [])], {
    env,
    signal,
    stdin: "ignore",
    stdout: "ignore",
    stderr: "pipe",
    serialization: "json",
    ipc(message: BackupMessage) {
      if ("progress" in message) return onProgress(message.progress);
      made = message.made;
      if (message.problem !== undefined) warn(message.problem);
    },
  });
  lowerPriority(child.pid);
  const [code, text] = await Promise.all([child.exited, new Response(child.stderr).text()]);
  if (code === 0 && made) return made;
  const [line = ""] = text.trim().split("\n").slice(-1);
  throw new Error(line.replace(/^berth: /, "") || `The backup ended with the code ${code}.`);
}

function lowerPriority(pid: number): void {
  try {
    setPriority(pid, NICENESS);
  } catch {
    // It has ended already, or the system allows it to nobody.
  }
}
