// Locks a database file for one process by an exclusive transaction on a side database. The system releases it even
// after kill -9.

import Libsql from "libsql";
import { DatabaseInUse, sqliteCode } from "./errors.ts";

export interface Lock {
  release(): void;
}

/** Locks a database file or throws `DatabaseInUse`. Readers don't need the lock. */
export function lockDatabase(path: string): Lock {
  const lockConnection = new Libsql(`${path}.lock`);
  try {
    lockConnection.exec("PRAGMA busy_timeout = 0; PRAGMA journal_mode = MEMORY");
    lockConnection.exec("BEGIN EXCLUSIVE");
  } catch (error) {
    lockConnection.close();
    if (!sqliteCode(error).startsWith("SQLITE_BUSY")) throw error;
    const advice = "Stop it first, or give this one a DATA_DIR of its own.";
    throw new DatabaseInUse(`Another process is using the database ${path}. ${advice}`, {
      cause: error,
    });
  }
  return {
    release() {
      lockConnection.exec("ROLLBACK");
      lockConnection.close();
    },
  };
}
