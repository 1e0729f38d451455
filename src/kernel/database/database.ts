// Opens the libSQL database, a local file or a server, migrates its schema, and sends every write through one queue.

import type { InValue, ResultSet } from "@libsql/client";
import type { LibSQLDatabase } from "drizzle-orm/libsql/driver-core";
import { type Migration, migrations } from "../../../migrations/index.ts";
import { programName } from "../config/program-name.ts";
import { AppError, StartError } from "../errors.ts";
import type { Log } from "../telemetry/log.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { COMPACT } from "./background/compaction.ts";
import type { LogKeeper } from "./background/log-keeper.ts";
import { hasUnconfirmedMigrations } from "./before-migration/note-path.ts";
import { createDatabaseMetrics } from "./database-metrics.ts";
import { localDatabasePath } from "./database-path.ts";
import { createDrizzle } from "./drizzle-client.ts";
import { ensureWritable, openFile, reason, type StorageEngine } from "./local-engine.ts";
import { migrate } from "./migrate.ts";
import { openServer } from "./remote/remote.ts";
import type { ServerLockOptions } from "./remote/server-lock.ts";
import type { Statement } from "./statements.ts";
import { createWriteQueue } from "./write-queue.ts";

export { DatabaseDamaged, DatabaseInUse, DatabaseNewer, GuardFailed, isUniqueViolation } from "./errors.ts";
export { guard, insertedRowid, preparedQuery, type Statement, statement, statementTemplate } from "./statements.ts";

export interface Database {
  /** For reads (prepare them once) and for building statements. Writes through it use the queue too. */
  readonly drizzle: LibSQLDatabase;
  /** The path of a local database, which only this process writes; undefined for a server. */
  readonly file: string | undefined;
  /**
   * Writes one batch atomically. Batches are written in the order of the calls, and those of one turn of the event loop
   * in one commit. Rejects with `GuardFailed`, the constraint's error (`isUniqueViolation`), or 503 `STORAGE_UNAVAILABLE` or
   * `DATABASE_UNAVAILABLE`. Constraints must be immediate ones.
   */
  write(statements: Statement[]): Promise<ResultSet[]>;
  /**
   * As `write`, for a batch that takes more than a few milliseconds. On a file it runs on another thread: reads go on, and
   * other writes wait. Its statements report `rowsAffected` and `lastInsertRowid`, but return no rows (`RETURNING`, `SELECT`).
   */
  writeLong(statements: Statement[]): Promise<ResultSet[]>;
  /** Runs one query, which sees every write that has resolved. */
  read(sql: string, args?: readonly InValue[]): Promise<ResultSet>;
  /**
   * As `read`, for a query that takes more than a few milliseconds: on a file it runs on another thread. Let it return few
   * rows, since they are converted on the main thread.
   */
  readLong(sql: string, args?: readonly InValue[]): Promise<ResultSet>;
  /**
   * Calls the listener when a server answers again after it has left writes unanswered. Their callers got a 503, and no
   * `after` was called; yet they may be in the database, so what is kept in memory of its rows has to be read again. Never
   * called for a file.
   */
  onLostAnswer(listener: () => void): void;
  /** Moves the log of a file into the file while others read and write, so that closing it has little left to do. */
  checkpoint(): Promise<void>;
  /**
   * Empties the log of a file, which holds earlier versions of pages, so that nothing deleted is left in it. False if a long
   * reader, such as a backup, keeps it from that for some seconds.
   */
  truncateLog(): Promise<boolean>;
  /**
   * Writes the file anew, without remains of what was deleted. Reads go on; writes wait, some seconds for each gigabyte. False
   * where that is not possible: on a server, and in a cluster.
   */
  compact(): Promise<boolean>;
  /** Checks that the database can be read and, if the last write failed, written. Throws a 503 otherwise. */
  ready(): Promise<boolean>;
  /** Writes the waiting batches, then releases the file. */
  close(): Promise<void>;
}

export interface DatabaseOptions {
  /** `file:` with a path, or `http:`, `https:`, `libsql:`, `ws:`, `wss:`. */
  url: string;
  authToken?: string | undefined;
  /** Created if it is missing; must be writable. */
  dataDir: string;
  log: Log;
  metrics?: Metrics;
  /** Default: the migrations of this binary. */
  migrations?: readonly Migration[];
  /**
   * The caller confirms migrations of a file (`confirmMigration`), or undoes them (`goBackBeforeMigration`). Default: they are confirmed
   * once they have succeeded.
   */
  isConfirmedLater?: boolean;
  /** Of a file: takes the place of what writes it, before anything is written. */
  replicate?: (storage: StorageEngine) => Promise<Pick<StorageEngine, "commit" | "commitLong">>;
  /**
   * Of a server: this process is a backend, of which a database has one. `onLost` is called once another one has taken it over,
   * which happens only while this one gives no sign of life.
   */
  backend?: Pick<ServerLockOptions, "onLost" | "renewMs" | "expiryMs" | "holder">;
  /** Of a file: keeps its write-ahead log for a copy. */
  keepLog?: (file: string, log: Log) => LogKeeper;
}

const TRUNCATE_ATTEMPTS = 20;
const TRUNCATE_PAUSE_MS = 100;
/** Loaded only by a start that migrates, or that follows one which did not get to serve. */
const migrationCopies = () => import("./before-migration/migration-copy.ts");

/** Opens the database and migrates its schema. Throws `StartError`, with nothing changed, if it can't be used. */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const path = localDatabasePath(options.url);
  ensureWritable(options.dataDir);
  const manifest = options.migrations ?? migrations;
  const knownMigrations = new Set(manifest.map(({ name }) => name));
  const recorder = options.metrics && createDatabaseMetrics(options.metrics, path);
  // The copies of a cluster are migrated by its log, and each machine has one.
  const copiedFile = options.replicate ? undefined : path;
  if (copiedFile !== undefined && hasUnconfirmedMigrations(copiedFile))
    (await migrationCopies()).finishGoingBack(copiedFile);
  const storage =
    path === undefined
      ? await openServer(options.url, options.authToken, options.backend && { ...options.backend, log: options.log })
      : openFile(path, knownMigrations, options.log, {
          onCheckpoint: recorder?.onCheckpoint,
          keeper: options.keepLog?.(path, options.log),
        });
  const engine = options.replicate ? await replicated(storage, options.replicate) : storage;
  if (path !== undefined && !options.replicate) await refuseCopy(storage, path);
  const onFlush = (batches: number, ms: number, waitedMs: number) => {
    engine.afterCommit();
    recorder?.onCommit(batches, ms, waitedMs);
  };
  const queue = createWriteQueue({ commit: engine.commit, commitLong: engine.commitLong, log: options.log, onFlush });
  options.metrics?.gauge(
    "berth_database_queue_batches",
    "Batches that wait for their commit, or are being committed.",
    queue.size,
  );
  const { read } = engine;
  const { write, writeLong } = queue;

  const close = async () => {
    await queue.close();
    await engine.close();
  };
  try {
    await engine.claim?.();
    await migrate({ read, write }, manifest, options.log, async (last, first) => {
      if (copiedFile === undefined) return;
      await read("PRAGMA wal_checkpoint(TRUNCATE)");
      await (await migrationCopies()).copyBeforeMigration(copiedFile, last, first);
    });
    const isConfirmed = copiedFile !== undefined && !options.isConfirmedLater && hasUnconfirmedMigrations(copiedFile);
    if (isConfirmed) (await migrationCopies()).confirmMigration(copiedFile);
  } catch (error) {
    // Closing may fail for the same reason, such as a full disk; the first error is the one to tell.
    await close().catch(() => undefined);
    const undone =
      copiedFile !== undefined && hasUnconfirmedMigrations(copiedFile)
        ? (await migrationCopies()).goBackBeforeMigration(copiedFile, { hasOnlyMigrations: true })
        : undefined;
    if (undone) throw new StartError(migrationFailed(error, undone.version), { cause: error });
    if (!(error instanceof AppError)) throw error;
    throw new StartError(`${error.message} (${reason(error.cause)})`, { cause: error });
  }

  return {
    drizzle: createDrizzle({ read, write }),
    file: path,
    write,
    writeLong,
    read,
    readLong: (sql, args = []) => engine.readLong(sql, args),
    async compact() {
      if (path === undefined || options.replicate) return false;
      await writeLong([{ sql: COMPACT, args: [] }]);
      return true;
    },
    checkpoint: async () => engine.checkpoint?.(),
    async truncateLog() {
      for (let attempt = 0; attempt < TRUNCATE_ATTEMPTS; attempt++) {
        if ((await engine.truncateLog?.()) ?? true) return true;
        await Bun.sleep(TRUNCATE_PAUSE_MS);
      }
      return false;
    },
    onLostAnswer: (listener) => engine.onLostAnswer?.(listener),
    async ready() {
      if (queue.storageError) await write([{ sql: "INSERT OR REPLACE INTO meta VALUES ('ready', '')", args: [] }]);
      await read("SELECT 1");
      return true;
    },
    close,
  };
}

const migrationFailed = (error: unknown, version: string) =>
  `The change of the database to version ${version} failed (${reason(error instanceof AppError && error.cause ? error.cause : error)}). The database is again as it was before. Start the version from before: put its file back in place of this one, and start it.`;

async function replicated(
  storage: StorageEngine,
  replicate: NonNullable<DatabaseOptions["replicate"]>,
): Promise<StorageEngine> {
  try {
    return { ...storage, ...(await replicate(storage)) };
  } catch (error) {
    await storage.close();
    throw error;
  }
}

/** What is written to a cluster's copy without its log would be on this machine alone, and make its copies differ. */
async function refuseCopy(storage: StorageEngine, path: string): Promise<void> {
  const { rows } = await storage.read("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'log_progress'");
  if (rows.length === 0) return;
  await storage.close();
  const program = programName();
  throw new StartError(
    `${path} is a copy of a cluster's database. Serve it with CLUSTER_URL, and run commands while it is served; or make it a database of its own: ${program} cluster leave`,
  );
}
