// Group commit on a local file: many batches in one transaction, and only a guilty one undone.

import type { ResultSet } from "@libsql/client";
import type { Connection } from "./connection.ts";
import { GuardFailed, sqliteCode, translated } from "./errors.ts";
import type { Commit, Outcome } from "./queue.ts";
import type { Statement } from "./statements.ts";
import { resultSet } from "./values.ts";

/** A group ends after this long, so that other work gets its turn. */
const MAX_GROUP_MS = 8;

/** What a guard that holds answers. */
const NOTHING = resultSet([], [], [], 0, undefined);

/**
 * Commits groups of batches in one transaction each. A group is tried without savepoints first: a statement that fails
 * undoes itself, so a batch that fails at its first one leaves nothing behind. Where one fails later, the group is
 * rolled back and runs again with savepoints. When the transaction as a whole fails (disk full), all of its batches do.
 */
export function localCommit(connection: Connection): Commit {
  return (batches) => tryGroup(batches, false) ?? tryGroup(batches, true) ?? [];

  function tryGroup(batches: readonly Statement[][], saving: boolean): Outcome[] | undefined {
    const outcomes: Outcome[] = [];
    try {
      connection.run("BEGIN IMMEDIATE");
      const deadline = performance.now() + MAX_GROUP_MS;
      for (const batch of batches) {
        if (saving) connection.run("SAVEPOINT batch");
        const { outcome, ran } = runBatch(batch);
        if ("error" in outcome) {
          if (!connection.inTransaction) throw outcome.error;
          if (saving) connection.run("ROLLBACK TO batch");
          else if (ran > 0) {
            connection.run("ROLLBACK");
            return undefined;
          }
        }
        if (saving) connection.run("RELEASE batch");
        outcomes.push(outcome);
        if (performance.now() > deadline) break;
      }
      connection.run("COMMIT");
      return outcomes;
    } catch (error) {
      if (connection.inTransaction) connection.run("ROLLBACK");
      const refused = { error: translated(error) };
      return batches.map(() => refused);
    }
  }

  /** Runs a batch up to its first error; `ran` counts the statements before it. */
  function runBatch(batch: readonly Statement[]): { outcome: Outcome; ran: number } {
    const results: ResultSet[] = [];
    for (const statement of batch) {
      try {
        // Here the outcome of the statement before is at hand; a server has to be asked in SQL.
        if (statement.guard !== undefined) {
          if (results.at(-1)?.rowsAffected === 0) throw new GuardFailed(statement.guard);
          results.push(NOTHING);
          continue;
        }
        results.push(connection.run(statement.sql, statement.args));
      } catch (error) {
        return { outcome: { error: translated(error) }, ran: results.length };
      }
    }
    return { outcome: { results }, ran: results.length };
  }
}

/** The error of a statement, told as the guard's where it is one. */
export function guarded(statement: Statement, error: unknown): unknown {
  if (statement.guard === undefined || !sqliteCode(error).startsWith("SQLITE_CONSTRAINT")) return translated(error);
  return new GuardFailed(statement.guard);
}
