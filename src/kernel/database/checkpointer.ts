// Moves the write-ahead log into the database file on a thread of the addon: on ours, each sync would stop the loop for as long as the disk takes.

import { statSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import type { Log } from "../telemetry/log.ts";
import { type Connection, WAL_SIZE_LIMIT_BYTES } from "./connection.ts";

export interface Checkpointer {
  /** To be called after each commit; cheap. */
  afterCommit(): void;
  /** While it is there, commits wait for it: the log needs a moment without them to start over. Never rejects. */
  readonly pause: Promise<void> | undefined;
  /** Waits for what is under way; `closeFile` is for when the database is closed, since it takes SQLite's locks with it. */
  close(): Promise<{ closeFile(): Promise<void> }>;
}

const CHECK_INTERVAL_MS = 1_000;

/** @param connection the one that writes; its automatic checkpoints are switched off as long as this works */
export function createCheckpointer(deps: { path: string; connection: Connection; log: Log }): Checkpointer {
  const { path, connection, log } = deps;
  let background: BackgroundConnection | undefined;
  let timer: Timer | undefined;
  let running: Promise<void> | undefined;
  let pause: Promise<void> | undefined;
  let closed = false;
  connection.run("PRAGMA wal_autocheckpoint = 0");

  function checkLogSize(): void {
    timer = undefined;
    const bytes = statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
    if (closed || running || bytes <= WAL_SIZE_LIMIT_BYTES) return;
    running = runCheckpoint()
      .catch(fallBackToAutoCheckpoint)
      .finally(() => {
        running = undefined;
      });
  }

  /** Most of it goes on beside the commits; they are held only for what came meanwhile. */
  async function runCheckpoint(): Promise<void> {
    background ??= await openBackground(path);
    const { checkpoint, file, restartLog } = background;
    const isBlockedByReader = (await checkpoint()) > 0;
    if (isBlockedByReader) return; // A backup, for instance. The next look finds it gone.
    await file.datasync();
    await checkpoint();
    const finalCheckpoint = checkpoint().then((remainingFrames) => (remainingFrames === 0 ? restartLog() : undefined));
    pause = finalCheckpoint.catch(() => undefined);
    await finalCheckpoint.finally(() => {
      pause = undefined;
    });
  }

  function fallBackToAutoCheckpoint(error: unknown): void {
    closed = true;
    log.warn("The database's log can't be written back in the background; commits do it from now on.", { error });
    connection.run("PRAGMA wal_autocheckpoint = 1000");
  }

  return {
    afterCommit() {
      if (!closed) timer ??= setTimeout(checkLogSize, CHECK_INTERVAL_MS).unref();
    },
    get pause() {
      return pause;
    },
    async close() {
      closed = true;
      clearTimeout(timer);
      await running;
      return { closeFile: async () => background?.file.close() };
    },
  };
}

interface BackgroundConnection {
  /** Gives how many frames could not be written back, because somebody still reads an older state. */
  checkpoint(): Promise<number>;
  /** The first write after a checkpoint begins the log anew, and has to sync it. */
  restartLog(): Promise<void>;
  /** Syncing the database file here leaves little of that to the last checkpoint. */
  file: FileHandle;
}

/** A second connection whose statements run on the addon's own threads. */
async function openBackground(path: string): Promise<BackgroundConnection> {
  const { default: Libsql } = await import("libsql/promise");
  const connection = new Libsql(path, {});
  await connection.exec(`PRAGMA journal_size_limit = ${WAL_SIZE_LIMIT_BYTES}; PRAGMA synchronous = NORMAL`);
  return {
    file: await open(path, "r"),
    async checkpoint() {
      const statement = await connection.prepare("PRAGMA wal_checkpoint(PASSIVE)");
      const rows: { log: number; checkpointed: number }[] = await statement.all();
      const { log = 0, checkpointed = 0 } = rows[0] ?? {};
      return log - checkpointed;
    },
    async restartLog() {
      await connection.exec(`INSERT OR REPLACE INTO meta VALUES ('log_started', '${Date.now()}')`);
    },
  };
}
