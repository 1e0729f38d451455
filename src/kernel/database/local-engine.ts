// Reads and commits on a local file, which it locks, checks and opens with one connection.
import { accessSync, closeSync, constants, existsSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";
import type { InValue, ResultSet } from "@libsql/client";
import { StartError } from "../errors.ts";
import type { Log } from "../telemetry/log.ts";
import { createBackgroundConnection } from "./background/background-connection.ts";
import { createCheckpointer } from "./background/checkpointer.ts";
import { COMPACT, compactFile } from "./background/compaction.ts";
import type { LogKeeper } from "./background/log-keeper.ts";
import { openConnection } from "./connection.ts";
import { databaseUnavailable, toStorageError } from "./errors.ts";
import { inspectFile } from "./file-inspection.ts";
import { lockDatabase } from "./file-lock.ts";
import { createLocalCommit } from "./group-commit.ts";
import type { Statement } from "./statements.ts";
import type { Commit } from "./write-queue.ts";

/** Reads and commits on a file or a server. */
export interface StorageEngine {
  commit: Commit;
  /** Commits one batch without blocking the event loop. Nothing else is committed until it ends. */
  commitLong(batch: readonly Statement[]): Promise<ResultSet[]>;
  read(sql: string, args?: readonly InValue[]): Promise<ResultSet>;
  /** Runs one query without blocking the event loop. */
  readLong(sql: string, args: readonly InValue[]): Promise<ResultSet>;
  afterCommit(): void;
  /** Of a server: takes it for this backend, before anything is written. */
  claim?(): Promise<void>;
  /** Of a file: see `Database.checkpoint`. */
  checkpoint?(): Promise<void>;
  /** Of a file: see `Database.truncateLog`. */
  truncateLog?(): Promise<boolean>;
  /** Of a server: see `Database.onLostAnswer`. */
  onLostAnswer?(listener: () => void): void;
  close(): Promise<void>;
}

/**
 * Opens a local file for this process alone. Throws `StartError`, with nothing changed, if that fails.
 *
 * @param knownMigrations names of this binary's migrations
 */
export function openFile(
  path: string,
  knownMigrations: ReadonlySet<string>,
  log: Log,
  { onCheckpoint, keeper }: { onCheckpoint?: ((ms: number) => void) | undefined; keeper?: LogKeeper | undefined } = {},
): StorageEngine {
  ensureWritable(dirname(path));
  try {
    inspectFile(path, knownMigrations);
  } catch (error) {
    // Another process may be making the tables, which a look finds half-way. A file that no process has had stays without a lock.
    if (existsSync(`${path}.lock`)) lockDatabase(path).release();
    throw error;
  }
  const lock = lockDatabase(path);
  try {
    keeper?.opening();
    // SQLite creates the WAL and its index with the mode of this file.
    closeSync(openSync(path, "a", 0o600));
    const connection = openConnection(path);
    const checkpointer = createCheckpointer({ path, connection, log, onCheckpoint, keeper });
    const commit = createLocalCommit(connection);
    const background = createBackgroundConnection(path);
    let isClosed = false;
    /** A request may still be under way, of a cell whose file is closed because another machine has it now. */
    const requireOpen = () => {
      if (isClosed) throw databaseUnavailable("The service is shutting down.");
    };
    return {
      async commit(batches, note) {
        await checkpointer.pause;
        return commit(batches, note);
      },
      // The checkpointer writes too, and would find the file locked.
      async commitLong(batch) {
        try {
          return await checkpointer.holdWhile(async () => {
            if (batch[0]?.sql !== COMPACT) return background.commit(batch);
            await compactFile(path);
            return [];
          });
        } catch (error) {
          throw toStorageError(error);
        }
      },
      async readLong(sql, args) {
        requireOpen();
        try {
          return await background.read(sql, args, connection.columnsOf(sql));
        } catch (error) {
          throw toStorageError(error);
        }
      },
      checkpoint: checkpointer.checkpoint,
      truncateLog: () =>
        checkpointer.holdWhile(() => {
          keeper?.cutOff();
          return background.truncateLog();
        }),
      afterCommit: checkpointer.afterCommit,
      async read(sql, args) {
        requireOpen();
        try {
          return connection.run(sql, args);
        } catch (error) {
          throw toStorageError(error);
        }
      },
      async close() {
        const { closeFile } = await checkpointer.close();
        isClosed = true;
        await background.close();
        await keeper?.ending(Number(connection.run("PRAGMA wal_checkpoint(PASSIVE)").rows[0]?.[1]));
        connection.close();
        await closeFile();
        keeper?.closed();
        lock.release();
      },
    };
  } catch (error) {
    lock.release();
    throw new StartError(`The database ${path} can't be opened (${reason(error)}).`, { cause: error });
  }
}

/** Creates the folder if it is missing. Throws `StartError` if it can't be written. */
export function ensureWritable(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    const advice = "Choose another DATA_DIR or change its permissions.";
    throw new StartError(`${folder} can't be written (${reason(error)}). ${advice}`, { cause: error });
  }
}

/** Returns an error's message on one line. */
export const reason = (error: unknown) => (error instanceof Error ? error.message : String(error)).replace(/\s+/g, " ");
