// Writes ledger rows that have no other write to join: in groups, and again with the next ones if the database fails.

import type { Database } from "../../../src/kernel/database/database.ts";
import { sqliteCode } from "../../../src/kernel/database/errors.ts";
import { AppError } from "../../../src/kernel/errors.ts";
import type { Log } from "../../../src/kernel/telemetry/log.ts";
import type { Journal } from "./journal.ts";
import { insertStatements, type LedgerRow } from "./ledger-row.ts";

/** A row that waits for its write, with a callback for after the write. */
export interface PendingRow {
  row: LedgerRow;
  onWritten(): void;
}

export interface RowWriter {
  /** Writes the row within 50 ms. */
  write(entry: PendingRow): void;
  /** Adds rows to those that `flush` writes. */
  queue(entries: readonly PendingRow[]): void;
  /** Writes all rows now. Never rejects. */
  flush(): Promise<void>;
}

interface Deps {
  database: Pick<Database, "write">;
  log: Pick<Log, "error">;
  journal: Pick<Journal, "remove"> | undefined;
}

const FLUSH_MS = 50;
const FLUSH_ROWS = 200;
/** Rows kept while the database can't be written. Beyond it the oldest are dropped, and the log says how many. */
const MAX_PENDING_ROWS = 20_000;

export function createRowWriter({ database, log, journal }: Deps): RowWriter {
  let pendingRows: PendingRow[] = [];
  let timer: Timer | undefined;
  let flushing: Promise<void> = Promise.resolve();

  function flushSoon(ms: number): void {
    if (timer && ms > 0) return;
    clearTimeout(timer);
    timer = setTimeout(() => void flush(), ms);
  }

  function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    flushing = flushing.then(writePendingRows);
    return flushing;
  }

  /** Never rejects: rows whose write fails stay pending and are written with the next ones. */
  async function writePendingRows(): Promise<void> {
    while (pendingRows.length > 0) {
      const entries = pendingRows;
      pendingRows = [];
      try {
        await insertPending(entries);
      } catch (error) {
        const lost = Math.max(0, entries.length + pendingRows.length - MAX_PENDING_ROWS);
        pendingRows = [...entries, ...pendingRows].slice(lost);
        log.error("the ledger could not be written; it will be with the next calls", {
          rows: pendingRows.length,
          lost,
          error,
        });
        return;
      }
    }
  }

  async function insertPending(pending: readonly PendingRow[]): Promise<void> {
    const statements = insertStatements(pending.map(({ row }) => row));
    const last = statements.at(-1);
    if (last) last.after = () => pending.forEach(({ onWritten }) => void onWritten());
    try {
      await database.write(statements);
    } catch (error) {
      // A storage failure passes. A row that can never be stored must not block the others.
      if (!isPermanentError(error)) throw error;
      if (pending.length > 1) for (const entry of pending) await insertPending([entry]);
      else giveUp(pending, error);
    }
  }

  function giveUp(entries: readonly PendingRow[], error: unknown): void {
    for (const { row, onWritten } of entries) {
      log.error("a row of the ledger can't be stored and is dropped", { row: JSON.stringify(row), error });
      journal?.remove(row[0], true);
      onWritten();
    }
  }

  return {
    write(entry) {
      pendingRows.push(entry);
      flushSoon(pendingRows.length >= FLUSH_ROWS ? 0 : FLUSH_MS);
    },
    queue(entries) {
      pendingRows.push(...entries);
    },
    flush,
  };
}

/** Whether a retry would fail again: the table or the database rejects the value. */
const isPermanentError = (error: unknown) =>
  error instanceof AppError
    ? error.status < 500
    : sqliteCode(error).startsWith("SQLITE_CONSTRAINT") || error instanceof TypeError || error instanceof RangeError;
