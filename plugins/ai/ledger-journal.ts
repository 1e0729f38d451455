// What kill -9 must not take from the ledger: calls that are under way, and rows that are not in the database yet, in a file.
import { closeSync, ftruncateSync, openSync, readFileSync, renameSync, writeFileSync, writeSync } from "node:fs";
import type { Log } from "../../src/log.ts";
import { isRow, type Row } from "./ledger-rows.ts";

/**
 * A file of lines that are only appended: a write by a process that is killed stays, since the system has it (a power
 * failure may take the last seconds). What is put in one turn of the event loop is appended together. The file begins
 * anew whenever nothing in it is needed any more.
 */
export interface Journal {
  /** The row as it is to be written unless another takes its place: at first what a call may cost, then what it did. */
  put(row: Row): void;
  /** Settles when all that was put is in the file, or could not be written. Undefined: it is there already. */
  kept(): Promise<void> | undefined;
  /** The row is in the database, or its call was never made. */
  drop(id: string, needsMark: boolean): void;
  /** Rows that an earlier process left, the last of each call. They stay until they are dropped. */
  left(): Row[];
  close(): void;
}

/** Bytes after which the file begins anew: with nothing in it, or with what is still needed. */
const EMPTY_AT = 256 * 1024;
const REWRITE_AT = 4 * 1024 * 1024;
const COMPLAIN_EVERY_MS = 60_000;

export function createJournal(path: string, log: Pick<Log, "error" | "warn">): Journal {
  const needed = new Map<string, string>();
  /** Lines that are not in the file yet. */
  let pending = "";
  let keeping: Promise<void> | undefined;
  let file: number | undefined;
  let size = 0;
  /** The file may end within a line, after a write that failed. */
  let torn = false;
  let complainedAt = 0;

  /** A disk that is full keeps nobody from calling a model: the database says so louder. */
  function attempt(step: () => void): void {
    try {
      step();
    } catch (error) {
      if (Date.now() - complainedAt < COMPLAIN_EVERY_MS) return;
      complainedAt = Date.now();
      log.error("the ledger's journal can't be written; a crash now may lose calls from the ledger", { error });
    }
  }

  /** One write for all calls of this turn of the event loop: each by itself would cost more than the rest of the ledger. */
  function append(line: string): void {
    pending += line;
    keeping ??= new Promise((resolve) => {
      setImmediate(() => {
        flush();
        resolve();
      });
    });
  }

  function flush(): void {
    keeping = undefined;
    const lines = pending;
    pending = "";
    if (lines !== "") attempt(() => write(lines));
    beginAnew();
  }

  function write(lines: string): void {
    file ??= openSync(path, "a", 0o600);
    const text = torn ? `\n${lines}` : lines;
    torn = true;
    const written = writeSync(file, text);
    torn = written < Buffer.byteLength(text);
    size += written;
  }

  function beginAnew(): void {
    if (pending !== "") return;
    if (needed.size === 0 && size > EMPTY_AT) attempt(empty);
    else if (size > REWRITE_AT) attempt(rewrite);
  }

  function empty(): void {
    file ??= openSync(path, "a", 0o600);
    ftruncateSync(file);
    size = 0;
  }

  function rewrite(): void {
    const lines = [...needed.values()].join("");
    writeFileSync(`${path}.new`, lines, { mode: 0o600 });
    renameSync(`${path}.new`, path);
    if (file !== undefined) closeSync(file);
    file = openSync(path, "a", 0o600);
    size = lines.length;
  }

  return {
    put(row) {
      const line = `${JSON.stringify(row)}\n`;
      needed.set(row[0], line);
      append(line);
    },
    kept: () => keeping,
    drop(id, needsMark) {
      if (!needed.delete(id)) return;
      if (needsMark) append(`${JSON.stringify(id)}\n`);
      beginAnew();
    },
    left() {
      const rows = new Map<string, Row>();
      for (const line of linesOf(path)) {
        const value = parsed(line);
        if (typeof value === "string") rows.delete(value);
        else if (isRow(value)) rows.set(value[0], value);
        else log.warn("a line of the ledger's journal can't be read; it is left out", { bytes: line.length });
      }
      for (const row of rows.values()) needed.set(row[0], `${JSON.stringify(row)}\n`);
      if (rows.size > 0) size = EMPTY_AT + 1;
      return [...rows.values()];
    },
    close() {
      flush();
      if (needed.size === 0 && file !== undefined) attempt(empty);
      if (file !== undefined) closeSync(file);
      file = undefined;
    },
  };
}

function linesOf(path: string): string[] {
  try {
    return readFileSync(path, "utf8").split("\n").filter(Boolean);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
    throw error;
  }
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    // The last line of a disk that was full.
    return undefined;
  }
}
