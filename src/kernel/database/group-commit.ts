// Commits many batches in one transaction on a local file, and undoes only the batches that fail.

import type { ResultSet } from "@libsql/client";
import type { Connection } from "./connection.ts";
import { GuardFailed, sqliteCode, toStorageError } from "./errors.ts";
import type { Statement } from "./statements.ts";
import { createResultSet } from "./values.ts";
import type { Commit, CommitNote, Outcome } from "./write-queue.ts";

/** Milliseconds after which a group ends, so that the event loop can do other work. */
const MAX_GROUP_MS = 8;

/** The result of a guard that holds. */
const EMPTY_RESULT = createResultSet([], [], [], 0, undefined);

/**
 * Commits each group of batches in one transaction, first without savepoints: a failing statement undoes itself, so a
 * batch that fails at its first statement leaves nothing behind. If a batch fails later, the group is rolled back and
 * runs again with savepoints. If the whole transaction fails (disk full), all its batches fail.
 */
export function createLocalCommit(connection: Connection): Commit {
  return (batches, note) => runGroup(batches, false, note) ?? runGroup(batches, true, note) ?? [];

  function runGroup(
    batches: readonly Statement[][],
    useSavepoints: boolean,
    note: CommitNote | undefined,
  ): Outcome[] | undefined {
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
      if (note) {
        const { sql, args } = note(outcomes);
        connection.run(sql, args);
      }
      connection.run("COMMIT");
      return outcomes;
    } catch (error) {
      if (connection.inTransaction) connection.run("ROLLBACK");
      const failure = { error: toStorageError(error) };
      return batches.map(() => failure);
    }
  }

  /** Runs a batch up to its first error; `completed` counts the statements before it. */
  function runBatch(batch: readonly Statement[]): { outcome: Outcome; completed: number } {
    const results: ResultSet[] = [];
    for (const statement of batch) {
      try {
        // On a file the previous result is known, so the guard's SQL, which is for servers, need not run.
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

/** Converts the error of a statement: GuardFailed if the statement is a guard that failed. */
export function toGuardError(statement: Statement, error: unknown): unknown {
  if (statement.guard === undefined || !sqliteCode(error).startsWith("SQLITE_CONSTRAINT")) return toStorageError(error);
  return new GuardFailed(statement.guard);
}
