// Deletes rows in the middle of a request: right before one of its writes, as a concurrent request or process would.
import type { Statement } from "../../src/kernel/database/database.ts";
import type { TestServer } from "./server.ts";

export interface DeletionRaces {
  /**
   * Sends a request and deletes the rows right before its write of this number (from 1). Returns the answer, and whether
   * the request wrote that often.
   */
  race<Answer>(
    nth: number,
    deletion: Statement[],
    send: () => Promise<Answer>,
  ): Promise<{ answer: Answer; hit: boolean }>;
}

/** Wraps the database of a running test server. */
export function createDeletionRaces({ kernel }: Pick<TestServer, "kernel">): DeletionRaces {
  const { database } = kernel;
  const { write } = database;
  let pending: { left: number; deletion: Statement[] } | undefined;
  Object.assign(database, {
    async write(statements: Statement[]) {
      if (pending && --pending.left === 0) {
        const { deletion } = pending;
        pending = undefined;
        await write(deletion);
      }
      return write(statements);
    },
  });
  return {
    async race(nth, deletion, send) {
      pending = { left: nth, deletion };
      const answer = await send();
      const hit = pending === undefined;
      pending = undefined;
      return { answer, hit };
    },
  };
}
