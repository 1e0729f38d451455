// Copies a database page by page while the service writes to it, and says at which place of its log the copy is. `VACUUM INTO` takes
// three times as long, and numbers pages anew: what the log has of later changes would not fit its copies.

import { closeSync, fsyncSync, ftruncateSync, openSync, readSync, writeSync } from "node:fs";
import { openReadOnly } from "../../../kernel/database/connection.ts";
import { readClosedPlace } from "./log-keeper.ts";
import { type Changes, readChanges, readLogHeader } from "./wal.ts";

export interface CopiedPlace {
  generation: string;
  frame: number;
  /** Epoch ms: everything that was committed before the copy began is in it, and nothing from later than this. */
  at: number;
}

const CHUNK_BYTES = 1024 * 1024;
const MAX_ATTEMPTS = 5;

/**
 * Writes into an empty file. Undefined: the copy is whole, but its place is not known, since the service does not run and has not closed
 * the database itself.
 */
export function copyPages(source: string, target: string): CopiedPlace | undefined {
  // Closed after the connection: closing any descriptor of a file releases the locks that SQLite has on it in this process.
  const from = openSync(source, "r");
  try {
    const connection = openReadOnly(source);
    try {
      // As long as this is being read, the file gets no page of a later transaction.
      connection.run("BEGIN");
      connection.run("SELECT count(*) FROM sqlite_schema");
      return copyLocked(source, from, target);
    } finally {
      // The addon closes the file only when its statements are garbage-collected.
      if (connection.inTransaction) connection.run("COMMIT");
      connection.close();
    }
  } finally {
    closeSync(from);
  }
}

function copyLocked(source: string, from: number, target: string): CopiedPlace | undefined {
  const log = `${source}-wal`;
  const to = openSync(target, "r+");
  try {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const closed = readClosedPlace(source);
      ftruncateSync(to);
      copyAll(from, to);
      const header = readLogHeader(log);
      const changes = header && readChanges(log, header.start);
      if (header && !(changes && copyChanges(log, changes, to))) continue;
      fsyncSync(to);
      const place = changes ? changes.end : closed;
      return place && { generation: place.generation, frame: place.frame, at: Date.now() };
    }
    throw new Error(`The log of ${source} has restarted during each of ${MAX_ATTEMPTS} copies.`);
  } finally {
    closeSync(to);
  }
}

function copyAll(from: number, to: number): void {
  const buffer = Buffer.alloc(CHUNK_BYTES);
  for (let at = 0; ; ) {
    const length = readSync(from, buffer, 0, buffer.length, at);
    if (length === 0) return;
    writeAll(to, buffer.subarray(0, length), at);
    at += length;
  }
}

/** Puts changed pages into a copy. False if the log has restarted meanwhile: then the copy has to be made again. */
function copyChanges(log: string, { pages, pageSize, databasePages, end }: Changes, to: number): boolean {
  const from = openSync(log, "r");
  try {
    const page = Buffer.alloc(pageSize);
    for (const [number, at] of pages) {
      readSync(from, page, 0, pageSize, at);
      writeAll(to, page, (number - 1) * pageSize);
    }
    if (databasePages > 0) ftruncateSync(to, databasePages * pageSize);
  } finally {
    closeSync(from);
  }
  return readLogHeader(log)?.start.generation === end.generation;
}

export function writeAll(file: number, bytes: Uint8Array, at: number): void {
  for (let done = 0; done < bytes.length; ) done += writeSync(file, bytes, done, bytes.length - done, at + done);
}
