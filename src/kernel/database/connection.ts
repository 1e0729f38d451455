// A synchronous connection to a local file, which caches prepared statements and returns rows in libSQL's shape.

import type { InValue, ResultSet } from "@libsql/client";
import Libsql from "libsql";
import { createResultSet, createRowFactory, toBoundValue } from "./values.ts";

export interface Connection {
  /** Runs one statement. Throws the addon's SqliteError, with `code` and `rawCode`. */
  run(sql: string, args?: readonly InValue[]): ResultSet;
  /** The names of a query's columns. */
  columnsOf(sql: string): string[];
  /** True between BEGIN and COMMIT; false again after SQLite itself has rolled back. */
  readonly inTransaction: boolean;
  close(): void;
}

/**
 * The size that a restarted log keeps, since writing into existing space is cheaper than extending a file. A longer log
 * is due for a checkpoint.
 */
export const WAL_SIZE_LIMIT_BYTES = 16 * 1024 * 1024;
const MAX_PREPARED = 500;
const NO_ARGS: readonly InValue[] = [];

/** Opens a file for reading and writing. The caller creates it first, readable only by its owner. */
export function openConnection(path: string): Connection {
  const connection = connect(new Libsql(path), true);
  connection.run("PRAGMA busy_timeout = 200");
  connection.run("PRAGMA journal_mode = WAL");
  connection.run("PRAGMA synchronous = NORMAL");
  connection.run("PRAGMA foreign_keys = ON");
  // What is deleted is overwritten, so that an erased text is not left in the file.
  connection.run("PRAGMA secure_delete = ON");
  connection.run("PRAGMA cache_size = -8192");
  connection.run("PRAGMA temp_store = MEMORY");
  connection.run(`PRAGMA journal_size_limit = ${WAL_SIZE_LIMIT_BYTES}`);
  return connection;
}

/**
 * Opens a file for reading, also while another process serves it. With `immutable`, for a file that no process writes
 * and that has no WAL, no further file is created in the folder.
 */
export function openReadOnly(path: string, options: { immutable?: boolean } = {}): Connection {
  const escaped = path.replace(/[%?#]/g, encodeURIComponent);
  const connection = connect(new Libsql(`file:${escaped}?${options.immutable ? "immutable=1" : "mode=ro"}`), false);
  connection.run("PRAGMA busy_timeout = 2000");
  return connection;
}

interface Prepared {
  run(args: readonly InValue[]): ResultSet;
}

function connect(db: Libsql.Database, writable: boolean): Connection {
  const cache = new Map<string, Prepared>();

  return {
    run(sql, args = NO_ARGS) {
      const known = cache.get(sql);
      if (known) return known.run(args);
      const prepared = prepare(db, sql);
      if (SCHEMA_CHANGE.test(sql)) {
        const result = prepared.run(args);
        cache.clear(); // Prepared statements hold the old columns.
        return result;
      }
      if (cache.size >= MAX_PREPARED) for (const oldest of cache.keys()) if (cache.delete(oldest)) break;
      cache.set(sql, prepared);
      return prepared.run(args);
    },
    columnsOf: (sql) =>
      db
        .prepare(sql)
        .columns()
        .map(({ name }) => name),
    get inTransaction() {
      return db.inTransaction;
    },
    close() {
      // The addon releases the file only when its statements are garbage-collected, so the log is emptied here.
      if (writable) prepare(db, "PRAGMA wal_checkpoint(TRUNCATE)").run(NO_ARGS);
      cache.clear();
      db.close();
    },
  };
}

const SCHEMA_CHANGE = /^\s*(?:create|alter|drop|vacuum|reindex|attach|detach|pragma)\b/i;
const READ_QUERY = /^\s*(?:select|values|pragma|explain)\b/i;

function prepare(db: Libsql.Database, sql: string): Prepared {
  const native = db.prepare<unknown[]>(sql);
  let arity = -1;
  const values = (args: readonly InValue[]) => {
    // With fewer arguments, the addon would keep the values that were bound before.
    if (arity < 0) arity = args.length;
    else if (args.length !== arity)
      throw new TypeError(`The statement took ${arity} arguments before, now ${args.length}.`);
    return args.map(toBoundValue);
  };

  if (!native.reader) {
    return {
      run(args) {
        const { changes, lastInsertRowid } = native.run(values(args));
        return createResultSet([], [], [], changes, BigInt(lastInsertRowid));
      },
    };
  }

  native.raw(true);
  native.safeIntegers(true);
  const definitions = native.columns();
  const columns = definitions.map((column) => column.name);
  const types = definitions.map((column) => column.type ?? "");
  const row = createRowFactory(columns);
  const isWrite = !READ_QUERY.test(sql) && /\breturning\b/i.test(sql);
  return {
    run(args) {
      const found = native.all(values(args));
      const rows = found.map((raw) => row(raw as unknown[]));
      return createResultSet(columns, types, rows, isWrite ? rows.length : 0, undefined);
    },
  };
}
