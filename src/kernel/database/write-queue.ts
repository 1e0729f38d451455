// Queues every write and commits the batches of one turn of the event loop together, in order.

import type { ResultSet } from "@libsql/client";
import { AppError } from "../errors.ts";
import type { Log } from "../telemetry/log.ts";
import { databaseUnavailable } from "./errors.ts";
import type { Statement } from "./statements.ts";

/** The result of one batch: the results of its statements, or the error that undid it. */
export type Outcome = { results: ResultSet[] } | { error: unknown };

/**
 * Writes the first batches, at least one, and returns an outcome for each of them. Every batch is atomic, and a failing
 * one does not affect the others.
 *
 * @param note makes a statement that is written in the same transaction, from the outcomes of its batches
 */
export type Commit = (batches: readonly Statement[][], note?: CommitNote) => Outcome[] | Promise<Outcome[]>;
export type CommitNote = (outcomes: readonly Outcome[]) => Statement;

export interface WriteQueue {
  write(statements: Statement[]): Promise<ResultSet[]>;
  /** As `write`, for a batch that takes long: it is committed alone, by `commitLong`. */
  writeLong(statements: Statement[]): Promise<ResultSet[]>;
  /** The 503 of the last write; undefined after a successful one. */
  readonly storageError: AppError | undefined;
  /** Batches that wait, or are being committed. */
  size(): number;
  /** Resolves when all waiting batches are written; later ones are rejected. */
  close(): Promise<void>;
}

interface PendingWrite {
  statements: Statement[];
  isLong: boolean;
  queuedAt: number;
  resolve(results: ResultSet[]): void;
  reject(error: unknown): void;
}

const MAX_GROUP_SIZE = 256;

export function createWriteQueue(deps: {
  commit: Commit;
  commitLong: (batch: readonly Statement[]) => Promise<ResultSet[]>;
  log: Log;
  /** Is told of each commit; `waitedMs`: how long its first batch has waited for it. */
  onFlush: (batches: number, ms: number, waitedMs: number) => void;
}): WriteQueue {
  const { commit, commitLong, log, onFlush } = deps;
  let pending: PendingWrite[] = [];
  let running: Promise<void> | undefined;
  let storageError: AppError | undefined;
  let closed = false;

  /** Commits one group per turn of the event loop, until no batch waits. */
  async function drain(): Promise<void> {
    while (pending.length > 0) {
      await new Promise<void>((resolve) => setImmediate(resolve));
      const group = nextGroup();
      const started = performance.now();
      const outcomes = await commitGroup(group);
      pending = pending.slice(outcomes.length);
      deliverOutcomes(group, outcomes);
      onFlush(outcomes.length, performance.now() - started, started - (group[0]?.queuedAt ?? started));
    }
    running = undefined;
  }

  /** A long batch, or the batches before the next long one. */
  function nextGroup(): PendingWrite[] {
    const end = pending.findIndex(({ isLong }) => isLong);
    return pending.slice(0, end < 0 ? MAX_GROUP_SIZE : Math.min(Math.max(end, 1), MAX_GROUP_SIZE));
  }

  async function commitGroup(group: PendingWrite[]): Promise<Outcome[]> {
    const [first] = group;
    try {
      if (first?.isLong) return [{ results: await commitLong(first.statements) }];
      return await commit(group.map((entry) => entry.statements));
    } catch (error) {
      return group.map(() => ({ error }));
    }
  }

  function deliverOutcomes(group: readonly PendingWrite[], outcomes: readonly Outcome[]): void {
    outcomes.forEach((outcome, index) => {
      const entry = group[index];
      if (!entry) return;
      if ("error" in outcome) {
        if (outcome.error instanceof AppError && outcome.error.status === 503) storageError = outcome.error;
        entry.reject(outcome.error);
        return;
      }
      storageError = undefined;
      entry.resolve(outcome.results);
      entry.statements.forEach((statement, at) => {
        const result = outcome.results[at];
        if (!statement.after || !result) return;
        try {
          statement.after(result);
        } catch (error) {
          log.error("an after-commit callback failed", { error });
        }
      });
    });
  }

  function enqueue(statements: Statement[], isLong: boolean): Promise<ResultSet[]> {
    if (statements.length === 0) return Promise.resolve([]);
    if (closed) return Promise.reject(databaseUnavailable("The service is shutting down."));
    return new Promise((resolve, reject) => {
      pending.push({ statements, isLong, queuedAt: performance.now(), resolve, reject });
      running ??= drain();
    });
  }

  return {
    write: (statements) => enqueue(statements, false),
    async writeLong(statements) {
      if (statements.some(({ sql }) => /^\s*SELECT\b|\bRETURNING\b/i.test(sql)))
        throw new TypeError("A long batch returns no rows.");
      return enqueue(statements, true);
    },
    get storageError() {
      return storageError;
    },
    size: () => pending.length,
    async close() {
      closed = true;
      await running;
    },
  };
}
