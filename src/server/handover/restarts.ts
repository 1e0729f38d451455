// Restarts the service in its process, by the command `berth restart` or SIGHUP: the program is executed again, with the sockets.
import { version } from "../../../package.json";
import { leaveNote } from "../../../plugins/admin/operator-notes.ts";
import { restoreCopy } from "../../kernel/database/before-migration/migration-copy.ts";
import { localDatabasePath } from "../../kernel/database/database-path.ts";
import { AppError } from "../../kernel/errors.ts";
import type { CommandHandlers } from "../control-socket.ts";
import type { RunningServer } from "../serve.ts";
import type { Program } from "./hand-over.ts";
import type { Inherited } from "./inherited.ts";

/** What `berth restart` reads before and after. */
export interface ProcessState {
  version: string;
  pid: number;
  /** The path of the program. */
  file: string;
  /** Epoch ms of the start, or of the last restart. */
  startedAt: number;
  /** Milliseconds that requests waited at the last restart. */
  pausedMs: number | null;
}

export interface RestartOptions {
  running(): RunningServer;
  program: Program;
  startedAt: number;
  inherited: Inherited | undefined;
}

export function createRestarts({ running, program, startedAt, inherited }: RestartOptions) {
  const pausedMs = inherited ? startedAt - inherited.since : null;
  const state: ProcessState = { version, pid: process.pid, file: program.file, startedAt, pausedMs };
  let isRestarting = false;

  /** `restored` is a copy of the database that takes its place in between. */
  async function restart({ isChecked, restored, operator }: Readonly<Record<string, string>> = {}): Promise<void> {
    if (isRestarting) throw new AppError(409, "RESTARTING", "The service is restarting already.");
    isRestarting = true;
    try {
      if (isChecked !== "yes") await (await import("./check.ts")).checkProgram(program);
      if (operator !== undefined) noteRestart(operator);
    } catch (error) {
      isRestarting = false;
      throw error;
    }
    // Later, so that the command is answered before.
    setTimeout(() => {
      running()
        .handOver(program, restored === undefined ? undefined : () => restore(restored))
        .catch((error: unknown) => {
          process.stderr.write(`berth: ${error instanceof Error ? error.message : String(error)}\n`);
          process.exit(1);
        });
    }, 20);
  }

  /** The next start writes it to the audit log. A signal has no operator. */
  function noteRestart(operator: string): void {
    const target = { kind: "service", id: "", name: "" };
    const at = new Date().toISOString();
    try {
      leaveNote(running().config.dataDir, { action: "service.restart", target, details: { version }, operator, at });
    } catch (error) {
      running().log.warn("the audit log does not get this restart", { error });
    }
  }

  function restore(copy: string): void {
    const path = localDatabasePath(running().config.database.url);
    if (path !== undefined) restoreCopy(path, copy);
  }

  const commands: CommandHandlers = {
    "process.state": async () => state,
    async "process.restart"(args) {
      await restart(args);
      return state;
    },
    /** Tries another program with the settings of this service. */
    async "process.check"({ file = "" }) {
      const [, ...args] = program.args;
      await (await import("./check.ts")).checkProgram({ ...program, file, args: [file, ...args] });
      return {};
    },
  };
  return {
    commands,
    logRestart(): void {
      const connections = inherited?.listeners.reduce((sum, one) => sum + one.connections.length, 0);
      const parts = inherited && { endedMs: inherited.ended - inherited.since, startedMs: startedAt - inherited.ended };
      running().log.info("restarted", { from: inherited?.from, version, pausedMs, ...parts, connections });
    },
    onSignal: () =>
      void restart().catch((error: unknown) =>
        running().log.error("the service goes on as it is: no restart", { error }),
      ),
  };
}
