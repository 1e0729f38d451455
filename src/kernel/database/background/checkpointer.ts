// Checkpoints the write-ahead log on a thread of the addon, because on the main thread each sync would block the event loop.

import { statSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import type { Log } from "../../telemetry/log.ts";
import { type Connection, openReadOnly, WAL_SIZE_LIMIT_BYTES } from "../connection.ts";
import type { LogKeeper } from "./log-keeper.ts";

export interface Checkpointer {
  /** Must be called after each commit; it only starts a timer. */
  afterCommit(): void;
  /** Commits wait for this promise, if there is one: the log can restart only while nothing is committed. Never rejects. */
  readonly pause: Promise<void> | undefined;
  /** Makes a checkpoint now, whatever the size of the log. Never rejects. */
  checkpoint(): Promise<void>;
  /** Runs the work while there is no checkpoint. */
  holdWhile<Result>(work: () => Promise<Result>): Promise<Result>;
  /** Waits for a running checkpoint. Call `closeFile` after the database is closed: it releases SQLite's locks (POSIX). */
  close(): Promise<{ closeFile(): Promise<void> }>;
}

const CHECK_INTERVAL_MS = 1_000;
/** More are not from commits of the last milliseconds, but from before: another reader still uses them. */
const MAX_REMAINING_FRAMES = 2_000;

/** @param connection the one that writes; its automatic checkpoints are off as long as background ones work */
export function createCheckpointer(deps: {
  path: string;
  connection: Connection;
  log: Log;
  /** Is told how long a checkpoint has taken. */
  onCheckpoint?: ((ms: number) => void) | undefined;
  keeper?: LogKeeper | undefined;
}): Checkpointer {
  const { path, connection, log, onCheckpoint, keeper } = deps;
  let background: BackgroundConnection | undefined;
  let timer: Timer | undefined;
  let running: Promise<void> | undefined;
  let pause: Promise<void> | undefined;
  let closed = false;
  const holder = keeper && createRestartHolder(path);
  connection.run("PRAGMA wal_autocheckpoint = 0");

  function checkLogSize(): void {
    timer = undefined;
    if (!running) keeper?.noteNext();
    const bytes = statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
    if (!closed && !running && bytes > WAL_SIZE_LIMIT_BYTES) void startCheckpoint();
  }

  function startCheckpoint(): Promise<void> {
    running = runCheckpoint()
      .catch(fallBackToAutoCheckpoint)
      .finally(() => {
        running = undefined;
      });
    return running;
  }

  /** Copies most frames while commits continue, and holds commits only for the frames that were added meanwhile. */
  async function runCheckpoint(): Promise<void> {
    background ??= await openBackground(path);
    const startedAt = performance.now();
    const { checkpoint, file } = background;
    try {
      holder?.hold();
      const isBehind = (await checkpoint()).remaining > 0;
      if (isBehind && !holder) return; // A reader, for instance a backup, blocks it; the next check tries again.
      await file.datasync();
      // Who begins to read when all frames are in the file reads that alone, and holds nothing.
      if (isBehind) holder?.hold();
      const { remaining } = await checkpoint();
      if (holder && remaining > MAX_REMAINING_FRAMES) return;
      const finalCheckpoint = finish(background);
      pause = finalCheckpoint.catch(() => undefined);
      await finalCheckpoint.finally(() => {
        pause = undefined;
      });
    } finally {
      holder?.release();
    }
    onCheckpoint?.(performance.now() - startedAt);
  }

  async function finish({ checkpoint, restartLog }: BackgroundConnection): Promise<void> {
    if (holder) {
      // A commit that has begun to wait before the pause was set could restart the log without its copy.
      await new Promise((resolve) => setImmediate(resolve));
      holder.release();
    }
    const { frames, remaining } = await checkpoint();
    if (remaining > 0) return;
    await keeper?.ending(frames);
    await restartLog();
    keeper?.noteNext();
  }

  function fallBackToAutoCheckpoint(error: unknown): void {
    closed = true;
    log.warn("background checkpoints failed; commits do them from now on", { error });
    connection.run("PRAGMA wal_autocheckpoint = 1000");
  }

  return {
    afterCommit() {
      if (!closed) timer ??= setTimeout(checkLogSize, CHECK_INTERVAL_MS).unref();
    },
    get pause() {
      return pause;
    },
    async checkpoint() {
      while (running) await running;
      if (!closed) await startCheckpoint();
    },
    async holdWhile(work) {
      while (running) await running;
      const result = work();
      running = result
        .then(
          () => undefined,
          () => undefined,
        )
        .finally(() => {
          running = undefined;
        });
      return result;
    },
    async close() {
      closed = true;
      clearTimeout(timer);
      await running;
      holder?.close();
      return { closeFile: async () => background?.file.close() };
    },
  };
}

/**
 * Keeps commits from restarting the log: the first one after all frames are in the file would do it. As long as this reads, frames are
 * only added, and a checkpoint writes those that were there before.
 */
function createRestartHolder(path: string) {
  let reader: Connection | undefined;
  const release = () => {
    if (reader?.inTransaction) reader.run("COMMIT");
  };
  return {
    /** Also takes in the frames that were added since. */
    hold() {
      reader ??= openReadOnly(path);
      release();
      reader.run("BEGIN");
      reader.run("SELECT 1 FROM sqlite_schema LIMIT 1");
    },
    release,
    close() {
      release();
      reader?.close();
    },
  };
}

interface BackgroundConnection {
  /** Returns the log's frames, and how many could not be copied, because a reader still uses an older state. */
  checkpoint(): Promise<{ frames: number; remaining: number }>;
  /** Writes a row: the first write after a checkpoint restarts the log, and has to sync it. */
  restartLog(): Promise<void>;
  /** For syncing the database file before the last checkpoint, which then has little left to sync. */
  file: FileHandle;
}

/** Opens a second connection, whose statements run on threads of the addon. */
async function openBackground(path: string): Promise<BackgroundConnection> {
  const { default: Libsql } = await import("libsql/promise");
  const connection = new Libsql(path, {});
  await connection.exec(`PRAGMA journal_size_limit = ${WAL_SIZE_LIMIT_BYTES}; PRAGMA synchronous = NORMAL`);
  // Prepared once: when the garbage collector frees a statement, the main thread waits until the connection is idle.
  const statement = await connection.prepare("PRAGMA wal_checkpoint(PASSIVE)");
  return {
    file: await open(path, "r"),
    async checkpoint() {
      const rows: { log: number; checkpointed: number }[] = await statement.all();
      const { log = 0, checkpointed = 0 } = rows[0] ?? {};
      return { frames: log, remaining: log - checkpointed };
    },
    async restartLog() {
      await connection.exec(`INSERT OR REPLACE INTO meta VALUES ('log_started', '${Date.now()}')`);
    },
  };
}
