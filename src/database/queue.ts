// The one queue that every write goes through: what waits together is written together, in order.

import type { ResultSet } from "@libsql/client";
import { AppError } from "../errors.ts";
import type { Log } from "../log.ts";
import { unavailable } from "./errors.ts";
import type { Statement } from "./statements.ts";

/** What became of one batch: its results, or the error that undid it. */
export type Outcome = { results: ResultSet[] } | { error: unknown };

/**
 * Writes some or all of the batches, from the first on, and says what became of each that it handled. Every batch is
 * all or nothing, and one that fails doesn't touch the others.
 */
export type Commit = (batches: readonly Statement[][]) => Outcome[] | Promise<Outcome[]>;

export interface Queue {
  write(statements: Statement[]): Promise<ResultSet[]>;
  /** The error that keeps writes from being stored, until one is stored again. */
  readonly trouble: AppError | undefined;
  /** Resolves when all that waits is written; refuses what comes after. */
  close(): Promise<void>;
}

interface Waiting {
  statements: Statement[];
  resolve(results: ResultSet[]): void;
  reject(error: unknown): void;
}

const MAX_GROUP = 256;

export function createQueue(deps: { commit: Commit; log: Log; flushed: (batches: number, ms: number) => void }): Queue {
  const { commit, log, flushed } = deps;
  let waiting: Waiting[] = [];
  let running: Promise<void> | undefined;
  let trouble: AppError | undefined;
  let closed = false;

  /** Until nothing waits: one group for each turn of the event loop. */
  async function drain(): Promise<void> {
    while (waiting.length > 0) {
      await new Promise<void>((resolve) => setImmediate(resolve));
      const group = waiting.slice(0, MAX_GROUP);
      const started = performance.now();
      const outcomes = await handled(group);
      waiting = waiting.slice(outcomes.length);
      settle(group, outcomes);
      flushed(outcomes.length, performance.now() - started);
    }
    running = undefined;
  }

  async function handled(group: Waiting[]): Promise<Outcome[]> {
    try {
      return await commit(group.map((entry) => entry.statements));
    } catch (error) {
      return group.map(() => ({ error }));
    }
  }

  function settle(group: readonly Waiting[], outcomes: readonly Outcome[]): void {
    outcomes.forEach((outcome, index) => {
      const entry = group[index];
      if (!entry) return;
      if ("error" in outcome) {
        if (outcome.error instanceof AppError && outcome.error.status === 503) trouble = outcome.error;
        entry.reject(outcome.error);
        return;
      }
      trouble = undefined;
      entry.resolve(outcome.results);
      entry.statements.forEach((statement, at) => {
        const result = outcome.results[at];
        if (!statement.after || !result) return;
        try {
          statement.after(result);
        } catch (error) {
          log.error("What should follow a write failed.", { error });
        }
      });
    });
  }

  return {
    write(statements) {
      if (statements.length === 0) return Promise.resolve([]);
      if (closed) return Promise.reject(unavailable("The service is shutting down."));
      return new Promise((resolve, reject) => {
        waiting.push({ statements, resolve, reject });
        running ??= drain();
      });
    },
    get trouble() {
      return trouble;
    },
    async close() {
      closed = true;
      await running;
    },
  };
}
