// The door to libSQL: one local file with one connection, or a server; one queue for every write; the schema brought up to date.

import { accessSync, closeSync, constants, mkdirSync, openSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { InValue, ResultSet } from "@libsql/client";
import type { LibSQLDatabase } from "drizzle-orm/libsql/driver-core";
import { type Migration, migrations } from "../migrations/index.ts";
import { createCheckpointer } from "./database/checkpoint.ts";
import { drizzleOver } from "./database/client.ts";
import { localCommit } from "./database/commit.ts";
import { openConnection } from "./database/connection.ts";
import { translated } from "./database/errors.ts";
import { inspectFile } from "./database/inspect.ts";
import { lockDatabase } from "./database/lock.ts";
import { migrate } from "./database/migrate.ts";
import { type Commit, createQueue } from "./database/queue.ts";
import { connectRemote, remoteCommit, remoteRead } from "./database/remote.ts";
import type { Statement } from "./database/statements.ts";
import { AppError, StartError } from "./errors.ts";
import type { Log } from "./log.ts";
import type { Metrics } from "./metrics.ts";

export { DatabaseDamaged, DatabaseInUse, DatabaseNewer, GuardFailed, isUniqueViolation } from "./database/errors.ts";
export { guard, type Statement, statement, template } from "./database/statements.ts";

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
  const path = databaseFile(options.url);
  makeWritable(options.dataDir);
  const backend = path === undefined ? await openServer(options) : openFile(path, options);
  const measure = options.metrics && writeMetrics(options.metrics);
  const flushed = (batches: number, ms: number) => {
    backend.committed();
    measure?.(batches, ms);
  };
  const queue = createQueue({ commit: backend.commit, log: options.log, flushed });
  const { read } = backend;
  const { write } = queue;

  const close = async () => {
    await queue.close();
    await backend.close();
  };
  try {
    await migrate({ read, write }, options.migrations ?? migrations, options.log);
  } catch (error) {
    await close();
    if (!(error instanceof AppError)) throw error;
    throw new StartError(`${error.message} (${reason(error.cause)})`, { cause: error });
  }

  return {
    drizzle: drizzleOver({ read, write }),
    file: path,
    write,
    read,
    async ready() {
      if (queue.trouble) await write([{ sql: "INSERT OR REPLACE INTO meta VALUES ('ready', '')", args: [] }]);
      await read("SELECT 1");
      return true;
    },
    close,
  };
}

/** The path of a `file:` address, relative ones from the working directory; undefined for a server's. */
export function databaseFile(url: string): string | undefined {
  if (/^(?:https?|libsql|wss?):\/\//.test(url)) return undefined;
  const path = /^file:(?!\/\/(?!\/))([^?#]+)$/.exec(url)?.[1];
  if (path === undefined || path === ":memory:") {
    throw new StartError("DATABASE_URL must be file:<path>, or the http(s), libsql or ws(s) address of a server.");
  }
  return path.startsWith("///") ? fileURLToPath(url) : resolve(decodeURIComponent(path));
}

interface Backend {
  commit: Commit;
  read(sql: string, args?: readonly InValue[]): Promise<ResultSet>;
  committed(): void;
  close(): Promise<void>;
}

function openFile(path: string, { log, migrations: manifest = migrations }: DatabaseOptions): Backend {
  makeWritable(dirname(path));
  inspectFile(path, new Set(manifest.map((migration) => migration.name)));
  const lock = lockDatabase(path);
  try {
    // SQLite gives the files beside it the mode of this one.
    closeSync(openSync(path, "a", 0o600));
    const connection = openConnection(path);
    const checkpointer = createCheckpointer({ path, connection, log });
    const commit = localCommit(connection);
    return {
      async commit(batches) {
        await checkpointer.pause;
        return commit(batches);
      },
      committed: checkpointer.noticed,
      async read(sql, args) {
        try {
          return connection.run(sql, args);
        } catch (error) {
          throw translated(error);
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

async function openServer({ url, authToken }: DatabaseOptions): Promise<Backend> {
  const client = await connectRemote(url, authToken);
  return {
    commit: remoteCommit(client),
    read: (sql, args = []) => remoteRead(client, sql, args),
    committed: () => undefined,
    close: async () => client.close(),
  };
}

function makeWritable(folder: string): void {
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

function writeMetrics(metrics: Metrics): (batches: number, ms: number) => void {
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
