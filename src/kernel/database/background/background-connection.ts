// Runs long statements on a thread of the addon, because on the main thread each would block the event loop until it ends.

import { statSync } from "node:fs";
import type { InValue, ResultSet } from "@libsql/client";
import { toGuardError } from "../group-commit.ts";
import type { Statement } from "../statements.ts";
import { createResultSet, createRowFactory, toBoundValue } from "../values.ts";

/** A second connection to a file, opened at its first use. It does one piece of work at a time. */
export interface BackgroundConnection {
  /**
   * Runs one query, which sees every committed write.
   * @param columns the names of its columns
   */
  read(sql: string, args: readonly InValue[], columns: readonly string[]): Promise<ResultSet>;
  /**
   * Writes one batch in a transaction of its own; its statements return no rows. The caller makes sure that nothing else
   * writes meanwhile.
   */
  commit(batch: readonly Statement[]): Promise<ResultSet[]>;
  /** Moves the log into the file and empties it. False if another connection has kept it from that. */
  truncateLog(): Promise<boolean>;
  /** Waits for running work. */
  close(): Promise<void>;
}

/** The part of libsql's asynchronous connection that is used; the package's own types leave it open. */
interface AddonConnection {
  /** The only call that runs on a thread from its start to its end. It takes no arguments. */
  exec(sql: string): Promise<void>;
  prepare(sql: string): Promise<AddonStatement>;
  close(): void;
}

interface AddonStatement {
  raw(on: boolean): void;
  safeIntegers(on: boolean): void;
  run(args: readonly unknown[]): unknown;
  get(args: readonly unknown[]): unknown[] | undefined;
}

/**
 * `exec` takes no arguments and returns no rows, so both lie in temporary tables. No other statement is prepared later: when
 * the garbage collector frees one, the main thread waits until the connection is idle.
 */
interface Background {
  connection: AddonConnection;
  setArgument: AddonStatement;
  setLongArgument: AddonStatement;
  readOutcome: AddonStatement;
  nextRow: AddonStatement;
}

/** The addon copies bytes much faster than it converts text, which it does on the main thread. */
const LONG_TEXT = 64 * 1024;
const MAX_COLUMNS = 32;
/** The key of a row in `arguments` that is no argument: these are counted from 1. */
const NO_ROW = 0n;
const columnNames = (count: number) => Array.from({ length: count }, (_, n) => `c${n}`).join(", ");

export function createBackgroundConnection(path: string): BackgroundConnection {
  let opened: Promise<Background> | undefined;
  let last: Promise<unknown> = Promise.resolve();

  function inTurn<Result>(work: (background: Background) => Promise<Result>): Promise<Result> {
    const result = last.then(async () => {
      opened ??= open(path);
      return work(await opened);
    });
    last = result.catch(() => undefined);
    return result;
  }

  return {
    read: (sql, args, columns) => inTurn((background) => readRows(background, sql, args, columns)),

    commit: (batch) =>
      inTurn(async (background) => {
        const { connection } = background;
        await connection.exec("BEGIN IMMEDIATE");
        try {
          const results: ResultSet[] = [];
          for (const statement of batch) results.push(await runStatement(background, statement));
          await connection.exec("COMMIT; DELETE FROM temp.arguments");
          return results;
        } catch (error) {
          // A full disk has rolled it back already.
          await connection.exec("ROLLBACK").catch(() => undefined);
          throw error;
        }
      }),

    truncateLog: () =>
      inTurn(async ({ connection }) => {
        // The first copies most pages while others write; the second, which they wait for, only the rest.
        await connection.exec("PRAGMA wal_checkpoint(PASSIVE)");
        await connection.exec("PRAGMA wal_checkpoint(TRUNCATE)");
        return (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) === 0;
      }),

    async close() {
      await last;
      (await opened?.catch(() => undefined))?.connection.close();
    },
  };
}

async function open(path: string): Promise<Background> {
  const { default: Libsql } = await import("libsql/promise");
  const connection: AddonConnection = new Libsql(path, {});
  await connection.exec(`PRAGMA busy_timeout = 2000; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON; PRAGMA secure_delete = ON;
    PRAGMA temp_store = MEMORY; PRAGMA wal_autocheckpoint = 0;
    CREATE TEMP TABLE arguments (number INTEGER PRIMARY KEY, value);
    CREATE TEMP TABLE found (number INTEGER PRIMARY KEY, ${columnNames(MAX_COLUMNS)})`);
  const [setArgument, setLongArgument, readOutcome, nextRow] = await Promise.all([
    connection.prepare("INSERT OR REPLACE INTO temp.arguments VALUES (?, ?)"),
    connection.prepare("INSERT OR REPLACE INTO temp.arguments VALUES (?, CAST(? AS TEXT))"),
    connection.prepare("SELECT changes(), last_insert_rowid()"),
    connection.prepare("SELECT * FROM temp.found WHERE number > ? LIMIT 1"),
  ]);
  for (const statement of [readOutcome, nextRow]) {
    statement.raw(true);
    statement.safeIntegers(true);
  }
  return { connection, setArgument, setLongArgument, readOutcome, nextRow };
}

async function runStatement(background: Background, statement: Statement): Promise<ResultSet> {
  const { connection, readOutcome, setArgument } = background;
  try {
    const sql = withArguments(background, statement.sql, statement.args);
    // Storing an argument sets last_insert_rowid(); this row sets it to 0, which stands for "none". Without arguments
    // nothing may be stored, since a guard reads changes().
    if (statement.args.length > 0) setArgument.run([NO_ROW, null]);
    await connection.exec(sql);
    const [changes, rowid] = readOutcome.get([]) ?? [];
    const inserted = typeof rowid === "bigint" && rowid !== NO_ROW ? rowid : undefined;
    return createResultSet([], [], [], Number(changes), inserted);
  } catch (error) {
    throw toGuardError(statement, error);
  }
}

async function readRows(
  background: Background,
  sql: string,
  args: readonly InValue[],
  columns: readonly string[],
): Promise<ResultSet> {
  const { connection, nextRow } = background;
  const query = withArguments(background, sql, args);
  const row = createRowFactory(columns);
  const rows: ResultSet["rows"] = [];
  try {
    await connection.exec(`INSERT INTO temp.found (${columnNames(columns.length)}) ${query}`);
    for (let raw = nextRow.get([0]); raw; raw = nextRow.get([raw[0]])) rows.push(row(raw.slice(1, columns.length + 1)));
  } finally {
    await connection.exec("DELETE FROM temp.found; DELETE FROM temp.arguments");
  }
  return createResultSet(
    [...columns],
    columns.map(() => ""),
    rows,
    0,
    undefined,
  );
}

/** Stores the arguments; returns the SQL with a subquery in place of each parameter (`?` or `?1`). */
function withArguments({ setArgument, setLongArgument }: Background, sql: string, args: readonly InValue[]): string {
  for (const [n, arg] of args.entries()) {
    const value = toBoundValue(arg);
    if (typeof value === "string" && value.length > LONG_TEXT) setLongArgument.run([n + 1, Buffer.from(value)]);
    else setArgument.run([n + 1, value]);
  }
  let parameters = 0;
  return sql.replace(/'(?:[^']|'')*'|"[^"]*"|\?(\d*)/g, (text, number?: string) => {
    if (number === undefined) return text;
    parameters = number === "" ? parameters + 1 : Math.max(parameters, Number(number));
    return `(SELECT value FROM temp.arguments WHERE number = ${number === "" ? parameters : number})`;
  });
}
