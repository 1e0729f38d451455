// Reads and writes a libSQL server. Each request is a round trip, so waiting batches are sent together.

import type { Client, InValue, ResultSet } from "@libsql/client";
import { StartError } from "../../errors.ts";
import { databaseUnavailable, sqliteCode, toStorageError } from "../errors.ts";
import { toGuardError } from "../group-commit.ts";
import type { StorageEngine } from "../local-engine.ts";
import type { Statement } from "../statements.ts";
import { createResultSet, createRowFactory, toBoundValue } from "../values.ts";
import type { Commit, Outcome } from "../write-queue.ts";
import type { ServerLock, ServerLockOptions } from "./server-lock.ts";

/** Milliseconds to wait for a response. A write without a response may or may not have happened. */
const TIMEOUT_MS = 20_000;
const RETRY_MS = 1_000;

/**
 * Connects to a server. Nothing is sent yet. Throws `StartError` for an invalid URL.
 *
 * @param lockOptions of a backend, which writes only while no other one does
 */
export async function openServer(
  url: string,
  authToken: string | undefined,
  lockOptions?: ServerLockOptions,
): Promise<StorageEngine> {
  const client = await createRemoteClient(url, authToken);
  const lostAnswers = createLostAnswers(client);
  const lock = lockOptions && (await import("./server-lock.ts")).createServerLock(client, lockOptions);
  const commit = createRemoteCommit(client, lostAnswers.note, lock);
  return {
    claim: async () => {
      await lock?.claim().catch((error: unknown) => {
        throw error instanceof StartError ? error : toRemoteError(error);
      });
    },
    onLostAnswer: lostAnswers.onLost,
    commit,
    async commitLong(batch) {
      const [outcome] = await commit([[...batch]]);
      if (outcome && "results" in outcome) return outcome.results;
      throw outcome?.error;
    },
    read: (sql, args = []) => remoteRead(client, sql, args),
    readLong: (sql, args) => remoteRead(client, sql, args),
    afterCommit: () => undefined,
    async close() {
      lostAnswers.stop();
      await lock?.release();
      client.close();
    },
  };
}

/**
 * Tells, once the server answers again, that it may have written what nobody heard of. It is told by a write, which SQLite
 * does after all that the server is still writing; and once more when the last of what was under way has timed out, since
 * what lies between here and the server may have held a request back.
 */
function createLostAnswers(client: Client) {
  const listeners: (() => void)[] = [];
  let isAsking = false;
  let isStopped = false;
  let again: Timer | undefined;
  const tell = () => {
    for (const listener of listeners) listener();
  };

  async function untilAnswered(): Promise<void> {
    while (!isStopped) {
      try {
        await client.execute("INSERT OR REPLACE INTO meta VALUES ('ready', '')");
        return;
      } catch {
        await new Promise<void>((resolve) => void setTimeout(resolve, RETRY_MS).unref());
      }
    }
  }

  return {
    onLost: (listener: () => void) => void listeners.push(listener),
    note() {
      if (isAsking) return;
      isAsking = true;
      void untilAnswered().then(() => {
        isAsking = false;
        clearTimeout(again);
        if (isStopped) return;
        tell();
        again = setTimeout(tell, TIMEOUT_MS).unref();
      });
    },
    stop() {
      isStopped = true;
      clearTimeout(again);
    },
  };
}

/** Makes the client without sending anything. @libsql/client is loaded only here, since files don't need it. */
export async function createRemoteClient(url: string, authToken: string | undefined): Promise<Client> {
  const { createClient } = await import("@libsql/client");
  try {
    return createClient({
      url,
      ...(authToken ? { authToken } : {}),
      intMode: "bigint",
      fetch: (request: Request) => fetch(request, { signal: AbortSignal.timeout(TIMEOUT_MS) }),
    });
  } catch (error) {
    const reason = error instanceof Error ? error.message : "unknown";
    throw new StartError(`DATABASE_URL is not usable: ${reason}`, { cause: error });
  }
}

/** Runs one query. Throws 503 `DATABASE_UNAVAILABLE` if the server can't be reached. */
export async function remoteRead(client: Client, sql: string, args: readonly InValue[]): Promise<ResultSet> {
  const values = args.map(toBoundValue);
  try {
    return normaliseResult(await client.execute({ sql, args: values }));
  } catch (error) {
    throw toRemoteError(error);
  }
}

/**
 * Sends all batches as one. If a statement fails, the server has undone them all: its batch fails and the others are sent
 * again. If the server does not answer, all fail: it is unknown whether they were written, and `onLostAnswer` is called.
 * With a lock, all fail once another backend has it.
 */
export function createRemoteCommit(
  client: Client,
  onLostAnswer: () => void = () => undefined,
  lock?: Pick<ServerLock, "fence" | "lost">,
): Commit {
  const before = lock ? [lock.fence] : [];

  return async (batches) => {
    const outcomes = new Map<Statement[], Outcome>();
    let remaining = [...batches];
    while (remaining.length > 0) {
      const sending = remaining;
      const failure = await send(sending, outcomes);
      remaining = sending.filter((batch) => !outcomes.has(batch));
      if (failure === "unknown") {
        for (const batch of remaining) await send([batch], outcomes);
        remaining = [];
      }
    }
    return batches.map((batch) => outcomes.get(batch) ?? { error: new Error("A batch was not handled.") });
  };

  async function send(
    batches: readonly Statement[][],
    outcomes: Map<Statement[], Outcome>,
  ): Promise<"unknown" | undefined> {
    const steps: { batch: Statement[]; statement: Statement; args: InValue[] }[] = [];
    for (const batch of batches) {
      try {
        steps.push(...batch.map((statement) => ({ batch, statement, args: statement.args.map(toBoundValue) })));
      } catch (error) {
        outcomes.set(batch, { error });
      }
    }
    if (steps.length === 0) return undefined;
    try {
      const statements = steps.map(({ statement, args }) => ({ sql: statement.sql, args }));
      const results = await client.batch([...before, ...statements], "write");
      steps.forEach(({ batch }, index) => {
        const result = results[before.length + index];
        const outcome = outcomes.get(batch) ?? { results: [] };
        if ("results" in outcome && result) outcome.results.push(normaliseResult(result));
        outcomes.set(batch, outcome);
      });
      return undefined;
    } catch (error) {
      const index: unknown = error instanceof Error ? Reflect.get(error, "statementIndex") : undefined;
      const at = typeof index === "number" ? index - before.length : steps.length === 1 ? 0 : undefined;
      const step = at === undefined ? undefined : steps[at];
      if (lock && at !== undefined && at < 0) {
        for (const { batch } of steps) outcomes.set(batch, { error: replacedByAnother(error) });
        lock.lost();
      } else if (!isStatementError(error)) {
        for (const { batch } of steps) outcomes.set(batch, { error: unanswered(error) });
        onLostAnswer();
      } else if (step) outcomes.set(step.batch, { error: toGuardError(step.statement, error) });
      else if (batches.length === 1)
        for (const { batch } of steps) outcomes.set(batch, { error: toStorageError(error) });
      else return "unknown";
      return undefined;
    }
  }
}

/** Whether the server has processed and rejected the statements, so that they are certainly not written. */
const isStatementError = (error: unknown) => /^SQL(?:ITE)?_/.test(sqliteCode(error));

const toRemoteError = (error: unknown) =>
  isStatementError(error)
    ? toStorageError(error)
    : databaseUnavailable("The database server can't be reached. Try again.", error);

const replacedByAnother = (error: unknown) =>
  databaseUnavailable("Another backend has taken the database over. Nothing was changed.", error);

const unanswered = (error: unknown) =>
  databaseUnavailable(
    "The database server did not answer. Whether this was stored is not known: look before you send it again.",
    error,
  );

/** Converts rows to the shape of those of a local file: numbers where they are exact. */
function normaliseResult({ columns, columnTypes, rows, rowsAffected, lastInsertRowid }: ResultSet): ResultSet {
  const row = createRowFactory(columns);
  return createResultSet(columns, columnTypes, rows.map(row), rowsAffected, lastInsertRowid);
}
