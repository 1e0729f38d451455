// drizzle over our own reads and writes, through the interface of libSQL's client that its session expects.

import type { Client, InArgs, InStatement, InValue, ResultSet } from "@libsql/client";
import { LibSQLDatabase } from "drizzle-orm/libsql/driver-core";
import { LibSQLSession } from "drizzle-orm/libsql/session";
import { SQLiteAsyncDialect } from "drizzle-orm/sqlite-core";
import type { Statement } from "./statements.ts";

interface Access {
  read(sql: string, args: readonly InValue[]): Promise<ResultSet>;
  write(statements: Statement[]): Promise<ResultSet[]>;
}

/** Queries read at once; queries that change something wait in the queue like every write. */
export function drizzleOver(access: Access): LibSQLDatabase {
  const dialect = new SQLiteAsyncDialect();
  return new LibSQLDatabase(
    "async",
    dialect,
    new LibSQLSession(clientOver(access), dialect, undefined, {}, undefined),
    undefined,
  );
}

const READS = /^\s*(?:select|values|with|explain|pragma)\b/i;
const CHANGES = /\b(?:insert|update|delete|replace)\b/i;

function clientOver({ read, write }: Access): Client {
  const run = async (given: InStatement, args?: InArgs): Promise<ResultSet> => {
    const step = toStatement(given, args);
    if (READS.test(step.sql) && !(/^\s*with\b/i.test(step.sql) && CHANGES.test(step.sql)))
      return read(step.sql, step.args);
    const [result] = await write([step]);
    if (!result) throw new Error("A write gave no result.");
    return result;
  };
  const batch = (statements: (InStatement | [string, InArgs?])[]) =>
    write(statements.map((given) => (Array.isArray(given) ? toStatement(given[0], given[1]) : toStatement(given))));

  return {
    execute: run,
    batch,
    migrate: batch,
    transaction: () => Promise.reject(noTransactions()),
    executeMultiple: () => Promise.reject(noTransactions()),
    sync: () => Promise.resolve(undefined),
    close: noop,
    reconnect: noop,
    closed: false,
    protocol: "file",
  };
}

function toStatement(given: InStatement, args: InArgs = []): Statement {
  const { sql, args: own = [] } = typeof given === "string" ? { sql: given, args } : given;
  if (!Array.isArray(own)) throw new TypeError("Arguments are given by position.");
  return { sql, args: own };
}

const noTransactions = () => new Error("There are no interactive transactions: put the statements into one write().");

function noop(): void {
  return;
}
