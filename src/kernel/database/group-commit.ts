// Group commit on a local file: many batches in one transaction, and only a guilty one undone.

import type { ResultSet } from "@libsql/client";
import type { Connection } from "./connection.ts";
import { GuardFailed, sqliteCode, toStorageError } from "./errors.ts";
import type { Statement } from "./statements.ts";
import { createResultSet } from "./values.ts";
import type { Commit, Outcome } from "./write-queue.ts";

/** A group ends after this long, so that other work gets its turn. */
const MAX_GROUP_MS = 8;

/** What a guard that holds answers. */
const EMPTY_RESULT = createResultSet([], [], [], 0, undefined);

/**
 * Commits groups of batches in one transaction each. A group is tried without savepoints first: a statement that fails
 * undoes itself, so a batch that fails at its first one leaves nothing behind. Where one fails later, the group is
 * rolled back and runs again with savepoints. When the transaction as a whole fails (disk full), all of its batches do.
 */
export function createLocalCommit(connection: Connection): Commit {
  return (batches) => runGroup(batches, false) ?? runGroup(batches, true) ?? [];

  function runGroup(batches: readonly Statement[][], useSavepoints: boolean): Outcome[] | undefined {
    const outcomes: Outcome[] = [];
    try {
      connection.run("BEGIN IMMEDIATE");
      const deadline = performance.now() + MAX_GROUP_MS;
      for (const batch of batches) {
        if (useSavepoints) connection.run("SAVEPOINT batch");
        const { outcome, completed } = runBatch(batch);
        if ("error" in outcome) {
          if (!connection.inTransaction) throw outcome.error;
          if (useSavepoints) connection.run("ROLLBACK TO batch");
          else if (completed > 0) {
            connection.run("ROLLBACK");
            return undefined;
          }
        }
        if (useSavepoints) connection.run("RELEASE batch");
        outcomes.push(outcome);
        if (performance.now() > deadline) break;
      }
      connection.run("COMMIT");
      return outcomes;
    } catch (error) {
      if (connection.inTransaction) connection.run("ROLLBACK");
      const failure = { error: toStorageError(error) };
      return batches.map(() => failure);
    }
  }

  /** Runs a batch up to its first error; `ran` counts the statements before it. */
  function runBatch(batch: readonly Statement[]): { outcome: Outcome; completed: number } {
    const results: ResultSet[] = [];
    for (const statement of batch) {
      try {
        // Here the outcome of the statement before is at hand; a server has to be asked in SQL.
        if (statement.guard !== undefined) {
          if (results.at(-1)?.rowsAffected === 0) throw new GuardFailed(statement.guard);
          results.push(EMPTY_RESULT);
          continue;
        }
        results.push(connection.run(statement.sql, statement.args));
      } catch (error) {
        return { outcome: { error: toStorageError(error) }, completed: results.length };
      }
    }
    return { outcome: { results }, completed: results.length };
  }
}

/** The error of a statement, told as the guard's where it is one. */
export function toGuardError(statement: Statement, error: unknown): unknown {
  if (statement.guard === undefined || !sqliteCode(error).startsWith("SQLITE_CONSTRAINT")) return toStorageError(error);
  return new GuardFailed(statement.guard);
}
