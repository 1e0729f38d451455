// Keeps running calls and unwritten ledger rows in an append-only file, so that a killed process does not lose them.
import { closeSync, ftruncateSync, openSync, readFileSync, renameSync, writeFileSync, writeSync } from "node:fs";
import type { Log } from "../../../src/kernel/telemetry/log.ts";
import { isLedgerRow, type LedgerRow } from "./ledger-row.ts";

/** Keeps the calls under way, and those whose rows are not written yet. */
export interface Journal {
  /** Reads what `recover` returns, where that takes a query. */
  load?(): Promise<void>;
  /**
   * Adds or replaces the row of a call: first with its highest cost, then with its actual cost. `isOnly`: no other call is under way
   * whose row could be written with it, so a file is written at once.
   */
  put(row: LedgerRow, isOnly?: boolean): void;
  /** Resolves when all rows are kept; undefined if nothing is pending. A file that can't be written does not reject. */
  whenFlushed(): Promise<void> | undefined;
  /** Removes a row that was stored or voided. With `needsTombstone`, `recover` would return it again otherwise. */
  remove(id: string, needsTombstone: boolean): void;
  /** The rows that an earlier process left, the latest of each call. They stay until they are removed. */
  recover(): LedgerRow[];
  close(): void | Promise<void>;
}

/** Bytes after which the file is truncated when empty of live rows, and compacted otherwise. */
const TRUNCATE_AT_BYTES = 256 * 1024;
const COMPACT_AT_BYTES = 4 * 1024 * 1024;
const LOG_INTERVAL_MS = 60_000;

/**
 * A file of lines that are only appended. Writes survive the end of the process, since the system holds them (a power
 * failure may lose the last seconds). All lines of one turn of the event loop are appended together. The line of the only call under
 * way is appended at once, because no other line can come with it. The file is truncated when none of its lines is needed any more.
 */
export function createJournal(path: string, log: Pick<Log, "error" | "warn">): Journal {
  const liveLines = new Map<string, string>();
  /** Lines that wait for the next write. */
  let pending = "";
  let flushing: Promise<void> | undefined;
  let file: number | undefined;
  let size = 0;
  /** The file may end within a line, after a write that failed. */
  let hasPartialLine = false;
  let lastLoggedAt = 0;

  /** A failed write does not stop calls: with a full disk the writes of the database fail too, and report it. */
  function tryOrLog(step: () => void): void {
    try {
      step();
    } catch (error) {
      if (Date.now() - lastLoggedAt < LOG_INTERVAL_MS) return;
      lastLoggedAt = Date.now();
      log.error("the ledger's journal can't be written; a crash now may lose calls from the ledger", { error });
    }
  }

  /** Collects the lines of this turn of the event loop for one write: single writes would cost more than the rest of the ledger. */
  function append(line: string): void {
    pending += line;
    flushing ??= new Promise((resolve) => {
      setImmediate(() => {
        flush();
        resolve();
      });
    });
  }

  function flush(): void {
    flushing = undefined;
    const lines = pending;
    pending = "";
    if (lines !== "") tryOrLog(() => write(lines));
    compactIfDue();
  }

  function write(lines: string): void {
    file ??= openSync(path, "a", 0o600);
    const text = hasPartialLine ? `\n${lines}` : lines;
    hasPartialLine = true;
    const written = writeSync(file, text);
    hasPartialLine = written < Buffer.byteLength(text);
    size += written;
  }

  function compactIfDue(): void {
    if (pending !== "") return;
    if (liveLines.size === 0 && size > TRUNCATE_AT_BYTES) tryOrLog(truncate);
    else if (size > COMPACT_AT_BYTES) tryOrLog(compact);
  }

  function truncate(): void {
    file ??= openSync(path, "a", 0o600);
    ftruncateSync(file);
    size = 0;
  }

  function compact(): void {
    const lines = [...liveLines.values()].join("");
    writeFileSync(`${path}.new`, lines, { mode: 0o600 });
    renameSync(`${path}.new`, path);
    if (file !== undefined) closeSync(file);
    file = openSync(path, "a", 0o600);
    size = lines.length;
  }

  return {
    put(row, isOnly = false) {
      const line = `${JSON.stringify(row)}\n`;
      liveLines.set(row[0], line);
      if (isOnly && flushing === undefined) tryOrLog(() => write(line));
      else append(line);
    },
    whenFlushed: () => flushing,
    remove(id, needsTombstone) {
      if (!liveLines.delete(id)) return;
      if (needsTombstone) append(`${JSON.stringify(id)}\n`);
      compactIfDue();
    },
    recover() {
      const rows = new Map<string, LedgerRow>();
      for (const line of readLines(path)) {
        const value = parseLine(line);
        if (typeof value === "string") rows.delete(value);
        else if (isLedgerRow(value)) rows.set(value[0], value);
        else log.warn("a line of the ledger's journal can't be read; it is left out", { bytes: line.length });
      }
      for (const row of rows.values()) liveLines.set(row[0], `${JSON.stringify(row)}\n`);
      if (rows.size > 0) size = TRUNCATE_AT_BYTES + 1;
      return [...rows.values()];
    },
    close() {
      flush();
      if (liveLines.size === 0 && file !== undefined) tryOrLog(truncate);
      if (file !== undefined) closeSync(file);
      file = undefined;
    },
  };
}

function readLines(path: string): string[] {
  try {
    return readFileSync(path, "utf8").split("\n").filter(Boolean);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
    throw error;
  }
}

function parseLine(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    // A full disk cut off this line.
    return undefined;
  }
}
