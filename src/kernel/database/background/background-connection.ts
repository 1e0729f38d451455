// Runs long statements on a thread of the addon, because on the main thread each would block the event loop until it ends.

import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import type { InValue, ResultSet } from "@libsql/client";
import { toGuardError } from "../group-commit.ts";
import type { Statement } from "../statements.ts";
import { createResultSet, createRowFactory, toBoundValue } from "../values.ts";

/** A second connection to a file, opened at its first use. It does one piece of work at a time. */
export interface BackgroundConnection {
  /** Runs one query, which sees every committed write. */
  read(sql: string, args: readonly InValue[]): Promise<ResultSet>;
  /** Writes one batch in a transaction of its own. The caller makes sure that nothing else writes meanwhile. */
  commit(batch: readonly Statement[]): Promise<ResultSet[]>;
  /** Waits for running work. */
  close(): Promise<void>;
}

/** The part of libsql's asynchronous connection that is used; the package's own types leave it open. */
interface AddonConnection {
  exec(sql: string): Promise<void>;
  prepare(sql: string): Promise<AddonStatement>;
  close(): void;
}

interface AddonStatement {
  /** Whether it returns rows. */
  readonly reader: boolean;
  raw(on: boolean): void;
  safeIntegers(on: boolean): void;
  columns(): { name: string }[];
  /** Runs the statement to its first row on a thread of the addon; further rows are read where it is called. */
  iterate(...args: readonly unknown[]): Promise<Iterable<unknown[]>>;
}

/** The addon copies bytes much faster than it converts text, which it does on the main thread. */
const LONG_TEXT = 64 * 1024;
const ROWS_PER_STEP = 500;

export function createBackgroundConnection(path: string): BackgroundConnection {
  let opened: Promise<AddonConnection> | undefined;
  let last: Promise<unknown> = Promise.resolve();

  function inTurn<Result>(work: (connection: AddonConnection) => Promise<Result>): Promise<Result> {
    const result = last.then(async () => {
      opened ??= open(path);
      return work(await opened);
    });
    last = result.catch(() => undefined);
    return result;
  }

  return {
    read: (sql, args) => inTurn((connection) => run(connection, sql, args)),

    commit: (batch) =>
      inTurn(async (connection) => {
        await connection.exec("BEGIN IMMEDIATE");
        try {
          const results: ResultSet[] = [];
          for (const statement of batch) results.push(await runStatement(connection, statement));
          await connection.exec("COMMIT");
          return results;
        } catch (error) {
          // A full disk has rolled it back already.
          await connection.exec("ROLLBACK").catch(() => undefined);
          throw error;
        }
      }),

    async close() {
      await last;
      (await opened?.catch(() => undefined))?.close();
    },
  };
}

async function open(path: string): Promise<AddonConnection> {
  const { default: Libsql } = await import("libsql/promise");
  const connection: AddonConnection = new Libsql(path, {});
  await connection.exec(
    "PRAGMA busy_timeout = 2000; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON; PRAGMA temp_store = MEMORY; PRAGMA wal_autocheckpoint = 0",
  );
  return connection;
}

async function runStatement(connection: AddonConnection, statement: Statement): Promise<ResultSet> {
  try {
    const result = await run(connection, statement.sql, statement.args);
    if (result.columns.length > 0) return result;
    const { rows } = await run(connection, "SELECT changes()", []);
    return createResultSet([], [], [], Number(rows[0]?.[0]), undefined);
  } catch (error) {
    throw toGuardError(statement, error);
  }
}

/** For a statement that returns rows, `rowsAffected` is their number. */
async function run(connection: AddonConnection, sql: string, args: readonly InValue[]): Promise<ResultSet> {
  const bound = args.map(toBoundValue);
  const isNumbered = /\?\d/.test(sql);
  const isLong = bound.map((value) => isNumbered && typeof value === "string" && value.length > LONG_TEXT);
  const statement = await connection.prepare(isLong.includes(true) ? castLongTexts(sql, isLong) : sql);
  if (statement.reader) {
    statement.raw(true);
    statement.safeIntegers(true);
  }
  const columns = statement.reader ? statement.columns().map(({ name }) => name) : [];
  const iterator = await statement.iterate(bound.map((value, n) => (isLong[n] ? Buffer.from(String(value)) : value)));
  const row = createRowFactory(columns);
  const rows: ResultSet["rows"] = [];
  for (const raw of iterator) {
    rows.push(row(raw));
    if (rows.length % ROWS_PER_STEP === 0) await yieldToEventLoop();
  }
  return createResultSet(
    columns,
    columns.map(() => ""),
    rows,
    rows.length,
    undefined,
  );
}

/** Long texts of numbered parameters (`?1`) are bound as bytes, and become texts again in SQL. */
const castLongTexts = (sql: string, isLong: readonly boolean[]) =>
  sql.replace(/\?(\d+)/g, (parameter, number) =>
    isLong[Number(number) - 1] ? `CAST(${parameter} AS TEXT)` : parameter,
  );
