// Keeps the process running that copies what changes, for as long as the service runs.

import type { CopyListener } from "../../../../plugins/fleet/backups/backup-work.ts";
import type { Environment } from "../../../kernel/config/config.ts";
import { SECOND } from "../../../kernel/util/time.ts";
import { programCommand } from "../backup-process.ts";
import { type CopyMessage, FINISH } from "./copy-message.ts";

const RESTART_MS = 5 * SECOND;
/** What can't be stored until then is stored after the next start. */
const FINISH_MS = 5 * SECOND;

export interface CopyProcess {
  /** Call it after the databases are closed: what they have written last is copied, too. */
  stop(): Promise<void>;
}

export function startCopyProcess(env: Environment, listener: CopyListener): CopyProcess {
  let isStopped = false;
  let retry: Timer | undefined;
  let child = start();

  function start() {
    const started = Bun.spawn([...programCommand(), "backup", "--follow"], {
      env,
      stdin: "ignore",
      stdout: "ignore",
      stderr: "pipe",
      serialization: "json",
      ipc: (message: CopyMessage) => listener.onRound(message),
    });
    // At the priority of the service: it needs little, and has a time to keep.
    void ended(started);
    return started;
  }

  async function ended({ stderr, exited }: { stderr: ReadableStream<Uint8Array>; exited: Promise<number> }) {
    const [code, text] = await Promise.all([exited, new Response(stderr).text()]);
    if (isStopped) return;
    const [line = ""] = text.trim().split("\n").slice(-1);
    const problem = line.replace(/^berth: /, "") || `The process that copies ended with the code ${code}.`;
    listener.onRound({ copiedAt: undefined, bytes: 0, segments: 0, needsBackup: undefined, problem });
    retry = setTimeout(() => {
      child = start();
    }, RESTART_MS);
    retry.unref();
  }

  return {
    async stop() {
      isStopped = true;
      clearTimeout(retry);
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.send(FINISH);
      const timer = setTimeout(() => child.kill("SIGKILL"), FINISH_MS);
      await child.exited;
      clearTimeout(timer);
    },
  };
}
