// The door to libSQL: one local file with one connection, or a server; one queue for every write; the schema brought up to date.

import { accessSync, closeSync, constants, mkdirSync, openSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { InValue, ResultSet } from "@libsql/client";
import type { LibSQLDatabase } from "drizzle-orm/libsql/driver-core";
import { type Migration, migrations } from "../../../migrations/index.ts";
import { AppError, StartError } from "../errors.ts";
import type { Log } from "../telemetry/log.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { createCheckpointer } from "./checkpointer.ts";
import { openConnection } from "./connection.ts";
import { createDrizzle } from "./drizzle-client.ts";
import { toStorageError } from "./errors.ts";
import { inspectFile } from "./file-inspection.ts";
import { lockDatabase } from "./file-lock.ts";
import { createLocalCommit } from "./group-commit.ts";
import { migrate } from "./migrate.ts";
import { createRemoteClient, createRemoteCommit, remoteRead } from "./remote.ts";
import type { Statement } from "./statements.ts";
import { type Commit, createWriteQueue } from "./write-queue.ts";

export { DatabaseDamaged, DatabaseInUse, DatabaseNewer, GuardFailed, isUniqueViolation } from "./errors.ts";
export { guard, type Statement, statement, statementTemplate } from "./statements.ts";

export interface Database {
  /** For reads (prepare them once) and for building statements. Its own writes wait in the queue too. */
  readonly drizzle: LibSQLDatabase;
  /** The file, when the database is a local one: then this process is the only one that writes. */
  readonly file: string | undefined;
  /**
   * Writes one batch, all or nothing, in the order of the calls; what is called together is committed together.
   * Rejects with `GuardFailed`, the constraint's error (`isUniqueViolation`), or 503 `STORAGE_UNAVAILABLE` or
   * `DATABASE_UNAVAILABLE`. Constraints must be immediate ones.
   */
  write(statements: Statement[]): Promise<ResultSet[]>;
  /** One query, seeing every write that has resolved. */
  read(sql: string, args?: readonly InValue[]): Promise<ResultSet>;
  /** True when the database can be read, and written if the last write failed; throws a 503 otherwise. */
  ready(): Promise<boolean>;
  /** Writes what waits, then lets go of the file. */
  close(): Promise<void>;
}

export interface DatabaseOptions {
  /** `file:` with a path, or `http:`, `https:`, `libsql:`, `ws:`, `wss:`. */
  url: string;
  authToken?: string | undefined;
  /** Made when it isn't there; must be writable. */
  dataDir: string;
  log: Log;
  metrics?: Metrics;
  /** Default: those of this binary. */
  migrations?: readonly Migration[];
}

/** Opens the database and brings its schema up to date. Throws `StartError`, with nothing changed, when it must not be used. */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const path = localDatabasePath(options.url);
  ensureWritable(options.dataDir);
  const engine = path === undefined ? await openServer(options) : openFile(path, options);
  const recordCommit = options.metrics && createCommitRecorder(options.metrics);
  const onFlush = (batches: number, ms: number) => {
    engine.afterCommit();
    recordCommit?.(batches, ms);
  };
  const queue = createWriteQueue({ commit: engine.commit, log: options.log, onFlush });
  const { read } = engine;
  const { write } = queue;

  const close = async () => {
    await queue.close();
    await engine.close();
  };
  try {
    await migrate({ read, write }, options.migrations ?? migrations, options.log);
  } catch (error) {
    await close();
    if (!(error instanceof AppError)) throw error;
    throw new StartError(`${error.message} (${reason(error.cause)})`, { cause: error });
  }

  return {
    drizzle: createDrizzle({ read, write }),
    file: path,
    write,
    read,
    async ready() {
      if (queue.storageError) await write([{ sql: "INSERT OR REPLACE INTO meta VALUES ('ready', '')", args: [] }]);
      await read("SELECT 1");
      return true;
    },
    close,
  };
}

/** The path of a `file:` address, relative ones from the working directory; undefined for a server's. */
export function localDatabasePath(url: string): string | undefined {
  if (/^(?:https?|libsql|wss?):\/\//.test(url)) return undefined;
  const path = /^file:(?!\/\/(?!\/))([^?#]+)$/.exec(url)?.[1];
  if (path === undefined || path === ":memory:") {
    throw new StartError("DATABASE_URL must be file:<path>, or the http(s), libsql or ws(s) address of a server.");
  }
  return path.startsWith("///") ? fileURLToPath(url) : resolve(decodeURIComponent(path));
}

interface StorageEngine {
  commit: Commit;
  read(sql: string, args?: readonly InValue[]): Promise<ResultSet>;
  afterCommit(): void;
  close(): Promise<void>;
}

function openFile(path: string, { log, migrations: manifest = migrations }: DatabaseOptions): StorageEngine {
  ensureWritable(dirname(path));
  inspectFile(path, new Set(manifest.map((migration) => migration.name)));
  const lock = lockDatabase(path);
  try {
    // SQLite gives the files beside it the mode of this one.
    closeSync(openSync(path, "a", 0o600));
    const connection = openConnection(path);
    const checkpointer = createCheckpointer({ path, connection, log });
    const commit = createLocalCommit(connection);
    return {
      async commit(batches) {
        await checkpointer.pause;
        return commit(batches);
      },
      afterCommit: checkpointer.afterCommit,
      async read(sql, args) {
        try {
          return connection.run(sql, args);
        } catch (error) {
          throw toStorageError(error);
        }
      },
      async close() {
        const { closeFile } = await checkpointer.close();
        connection.close();
        await closeFile();
        lock.release();
      },
    };
  } catch (error) {
    lock.release();
    throw new StartError(`The database ${path} can't be opened (${reason(error)}).`, { cause: error });
  }
}

async function openServer({ url, authToken }: DatabaseOptions): Promise<StorageEngine> {
  const client = await createRemoteClient(url, authToken);
  return {
    commit: createRemoteCommit(client),
    read: (sql, args = []) => remoteRead(client, sql, args),
    afterCommit: () => undefined,
    close: async () => client.close(),
  };
}

function ensureWritable(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    const advice = "Choose another DATA_DIR or change its permissions.";
    throw new StartError(`${folder} can't be written (${reason(error)}). ${advice}`, { cause: error });
  }
}

/** An error's text on one line. */
const reason = (error: unknown) => (error instanceof Error ? error.message : String(error)).replace(/\s+/g, " ");

function createCommitRecorder(metrics: Metrics): (batches: number, ms: number) => void {
  const batches = metrics.counter("berth_database_batches_total", "Batches written to the database.");
  const groups = metrics.counter("berth_database_commits_total", "Commits, each of one or more batches.");
  const time = metrics.histogram(
    "berth_database_commit_seconds",
    "Time one commit took.",
    [0.0002, 0.001, 0.005, 0.02, 0.1, 1],
  );
  return (count, ms) => {
    batches.inc(count);
    groups.inc();
    time.observe(ms / 1000);
  };
}
