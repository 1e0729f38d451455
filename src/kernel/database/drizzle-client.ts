// Connects drizzle to Berth's reads and write queue, through the client interface of libSQL that its session expects.

import type { Client, InArgs, InStatement, InValue, ResultSet } from "@libsql/client";
import { LibSQLDatabase } from "drizzle-orm/libsql/driver-core";
import { LibSQLSession } from "drizzle-orm/libsql/session";
import { SQLiteAsyncDialect } from "drizzle-orm/sqlite-core";
import type { Statement } from "./statements.ts";

interface DatabaseAccess {
  read(sql: string, args: readonly InValue[]): Promise<ResultSet>;
  write(statements: Statement[]): Promise<ResultSet[]>;
}

/** Reading queries run at once; writing ones go through the write queue. */
export function createDrizzle(database: DatabaseAccess): LibSQLDatabase {
  const dialect = new SQLiteAsyncDialect();
  return new LibSQLDatabase(
    "async",
    dialect,
    new LibSQLSession(createLibsqlClient(database), dialect, undefined, {}, undefined),
    undefined,
  );
}

const READ_QUERY = /^\s*(?:select|values|with|explain|pragma)\b/i;
const WRITE_KEYWORD = /\b(?:insert|update|delete|replace)\b/i;

function createLibsqlClient({ read, write }: DatabaseAccess): Client {
  const run = async (input: InStatement, args?: InArgs): Promise<ResultSet> => {
    const statement = toStatement(input, args);
    if (READ_QUERY.test(statement.sql) && !(/^\s*with\b/i.test(statement.sql) && WRITE_KEYWORD.test(statement.sql)))
      return read(statement.sql, statement.args);
    const [result] = await write([statement]);
    if (!result) throw new Error("A write gave no result.");
    return result;
  };
  const batch = (statements: (InStatement | [string, InArgs?])[]) =>
    write(statements.map((input) => (Array.isArray(input) ? toStatement(input[0], input[1]) : toStatement(input))));

  return {
    execute: run,
    batch,
    migrate: batch,
    transaction: () => Promise.reject(transactionsUnsupported()),
    executeMultiple: () => Promise.reject(transactionsUnsupported()),
    sync: () => Promise.resolve(undefined),
    close: noop,
    reconnect: noop,
    closed: false,
    protocol: "file",
  };
}

function toStatement(input: InStatement, args: InArgs = []): Statement {
  const { sql, args: inputArgs = [] } = typeof input === "string" ? { sql: input, args } : input;
  if (!Array.isArray(inputArgs)) throw new TypeError("Arguments are given by position.");
  return { sql, args: inputArgs };
}

const transactionsUnsupported = () =>
  new Error("There are no interactive transactions: put the statements into one write().");

function noop(): void {
  return;
}
