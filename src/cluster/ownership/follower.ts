// Applies a cell's log to a copy on this node, as long as another node owns the cell.
import { openFile, type StorageEngine } from "../../kernel/database/local-engine.ts";
import type { Log } from "../../kernel/telemetry/log.ts";
import { EngineUnavailable, type LogEngine } from "../engine.ts";
import { applyLog, LogLost } from "../log/catch-up.ts";
import { type Copy, openCopy, type Progress } from "../log/copy.ts";

export interface Follower {
  /** The entry that was applied last. */
  readonly progress: Progress;
  /** Whether it has read anything of the log without an error, or there was nothing to read. */
  readonly hasApplied: boolean;
  /** Ends between two entries, and releases the file. */
  stop(): Promise<void>;
}

export interface FollowerDeps {
  engine: LogEngine;
  file: string;
  /** The id of the cluster. */
  cluster: string;
  /** Of the migrations that this binary knows: a copy of a newer one is not opened. */
  knownMigrations: ReadonlySet<string>;
  log: Log;
  /** Called at the entry of a check: nothing more is applied until it resolves. */
  onCheck?(id: string): Promise<void>;
  /** Called once if the copy can't go on. */
  onBroken(error: unknown): void;
  retryMs?: number;
}

/** Milliseconds for which a log may end before this copy until the log of this machine says so. */
const LOST_MS = 10_000;

export async function startFollower({
  engine,
  file,
  cluster,
  knownMigrations,
  log,
  onCheck,
  onBroken,
  retryMs = 500,
}: FollowerDeps): Promise<Follower> {
  const storage: StorageEngine = openFile(file, knownMigrations, log);
  const stopped = new AbortController();
  let copy: Copy;
  let hasApplied = false;
  /** Since when the log has ended before this copy; infinite once that was said. */
  let lostSince: number | undefined;
  try {
    copy = await openCopy(storage, cluster);
  } catch (error) {
    await storage.close();
    throw error;
  }

  function onMessage(): boolean {
    hasApplied = true;
    lostSince = undefined;
    return stopped.signal.aborted;
  }

  function noteLost(error: LogLost): void {
    lostSince ??= performance.now();
    if (performance.now() - lostSince < LOST_MS) return;
    lostSince = Number.POSITIVE_INFINITY;
    log.warn("the engine has lost entries that this copy has, and the owner of the cell does not begin the log anew", {
      file,
      error,
    });
  }

  async function keepApplying(): Promise<void> {
    while (!stopped.signal.aborted) {
      try {
        await applyLog(engine, copy, stopped.signal, onMessage, onCheck);
      } catch (error) {
        // The owner begins a log anew that has lost entries.
        if (!(error instanceof EngineUnavailable || error instanceof LogLost)) {
          onBroken(error);
          return;
        }
        log.debug("a copy waits for its log", { file, error });
        if (error instanceof LogLost) noteLost(error);
        await Bun.sleep(retryMs);
      }
    }
  }
  const applying = keepApplying();

  return {
    get progress() {
      return copy.progress;
    },
    get hasApplied() {
      return hasApplied;
    },
    async stop() {
      stopped.abort();
      await applying;
      await storage.close();
    },
  };
}
