// Moves the write-ahead log into the database file from a thread of the addon, since doing it on ours stops the loop for as long as the disk takes.

import { statSync } from "node:fs";
import type { Log } from "../log.ts";
import { type Connection, SMALL_LOG_BYTES } from "./connection.ts";

export interface Checkpointer {
  /** To be called after each commit; cheap. */
  noticed(): void;
  /** Waits for what is under way. */
  close(): Promise<void>;
}

const LOOK_EVERY_MS = 1_000;
/** Above this, writers that never pause keep the log from starting over, so the short rest is done on our own thread. */
const LARGE_LOG_BYTES = 32 * 1024 * 1024;
const SHORT_REST_FRAMES = 1_000;
const ROUNDS = 3;
/** Where the addon's threads are not to be had, SQLite does it at every commit that finds this many pages in the log. */
const OWN_THREAD = "PRAGMA wal_autocheckpoint = 1000";

/** @param connection the one that writes; its automatic checkpoints are switched off as long as this works */
export function createCheckpointer(deps: { path: string; connection: Connection; log: Log }): Checkpointer {
  const { path, connection, log } = deps;
  let background: ReturnType<typeof openBackground> | undefined;
  let timer: Timer | undefined;
  let running: Promise<void> | undefined;
  let closed = false;
  connection.run("PRAGMA wal_autocheckpoint = 0");

  const logBytes = () => statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;

  function look(): void {
    timer = undefined;
    if (closed || running || logBytes() <= SMALL_LOG_BYTES) return;
    running = work().finally(() => {
      running = undefined;
    });
  }

  async function work(): Promise<void> {
    try {
      background ??= openBackground(path);
      const checkpoint = await background;
      for (let round = 0; round < ROUNDS; round++) {
        const rest = await checkpoint();
        if (rest === 0) return;
        if (rest > SHORT_REST_FRAMES || logBytes() < LARGE_LOG_BYTES) continue;
        connection.run("PRAGMA wal_checkpoint(PASSIVE)");
        return;
      }
    } catch (error) {
      closed = true;
      log.warn("The database's log can't be written back in the background; commits do it from now on.", { error });
      connection.run(OWN_THREAD);
    }
  }

  return {
    noticed() {
      if (!closed) timer ??= setTimeout(look, LOOK_EVERY_MS).unref();
    },
    async close() {
      closed = true;
      clearTimeout(timer);
      await running;
    },
  };
}

/** A second connection whose statements run on the addon's own threads. Gives how many frames are left in the log. */
async function openBackground(path: string): Promise<() => Promise<number>> {
  const { default: Libsql } = await import("libsql/promise");
  const connection = new Libsql(path, {});
  return async () => {
    const statement = await connection.prepare("PRAGMA wal_checkpoint(PASSIVE)");
    const rows: { log: number; checkpointed: number }[] = await statement.all();
    const [result] = rows;
    return result ? result.log - result.checkpointed : 0;
  };
}
