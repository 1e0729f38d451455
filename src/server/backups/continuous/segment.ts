// A segment of the continuous copy: the pages that transactions have changed, in their newest content, and the files that came with them, as
// an archive like that of a backup. It is put on top of a copy that has everything before it.

import { closeSync, ftruncateSync, openSync, readFileSync, readSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { writeAll } from "./physical-copy.ts";
import type { Changes } from "./wal.ts";

export const SEGMENT_FILE = "segment.json";
export const PAGES_FILE = "pages";
const PAGE_NUMBER_BYTES = 4;
const READ_BYTES = 256 * 1024;

export interface Segment {
  format: "berth.log";
  version: 1;
  cell: number;
  chain: string;
  number: number;
  /** The SHA-256 of the segment before it, as it is stored; empty for the first. */
  previous: string;
  /** The logs that it goes through, with the frames after which and up to which their transactions are in it. */
  logs: { generation: string; from: number; to: number }[];
  pageSize: number;
  /** Of the database after it. */
  databasePages: number;
  pages: number;
  /** Of the file with the pages. */
  sha256: string;
  /** Epoch ms. */
  at: number;
}

/** Where the pages of one log are. */
export type ChangedLog = { path: string } & Pick<Changes, "pages" | "pageSize" | "databasePages">;

/** Writes the pages of logs that follow each other, each page once, in the order of their numbers. */
export function writePages(
  folder: string,
  logs: readonly ChangedLog[],
): Pick<Segment, "pageSize" | "databasePages" | "pages" | "sha256"> {
  const last = logs.at(-1);
  if (!last) throw new TypeError("There is no log.");
  const { pageSize } = last;
  const databasePages = logs.findLast((log) => log.databasePages > 0)?.databasePages ?? 0;
  const newest = new Map<number, [log: number, at: number]>();
  for (const [n, { pages }] of logs.entries()) for (const [page, at] of pages) newest.set(page, [n, at]);
  const files = logs.map(({ path }) => openSync(path, "r"));
  const target = openSync(join(folder, PAGES_FILE), "w", 0o600);
  const hash = new Bun.CryptoHasher("sha256");
  let count = 0;
  try {
    const record = Buffer.alloc(PAGE_NUMBER_BYTES + pageSize);
    for (const page of [...newest.keys()].sort((a, b) => a - b)) {
      const [log, at] = newest.get(page) ?? [0, 0];
      // The database has become smaller.
      if (page > databasePages) continue;
      record.writeUInt32LE(page, 0);
      readSync(files[log] ?? -1, record, PAGE_NUMBER_BYTES, pageSize, at);
      hash.update(record);
      for (let done = 0; done < record.length; ) done += writeSync(target, record, done);
      count++;
    }
  } finally {
    for (const file of [target, ...files]) closeSync(file);
  }
  return { pageSize, databasePages, pages: count, sha256: hash.digest("hex") };
}

export const writeDescription = (folder: string, segment: Segment) =>
  writeFileSync(join(folder, SEGMENT_FILE), `${JSON.stringify(segment)}\n`, { mode: 0o600 });

/** Reads the description of an unpacked segment, and checks its pages. Throws if it is not whole. */
export function readSegment(folder: string): Segment {
  const segment: Segment = JSON.parse(readFileSync(join(folder, SEGMENT_FILE), "utf8"));
  if (segment.format !== "berth.log" || segment.version !== 1) throw new Error("it is of an unknown format");
  if (hashOf(join(folder, PAGES_FILE)) !== segment.sha256) throw new Error("its pages are not those that were written");
  return segment;
}

function hashOf(path: string): string {
  const hash = new Bun.CryptoHasher("sha256");
  const buffer = Buffer.alloc(READ_BYTES);
  const file = openSync(path, "r");
  try {
    for (let read = 1; read > 0; ) {
      read = readSync(file, buffer, 0, buffer.length, null);
      hash.update(buffer.subarray(0, read));
    }
  } finally {
    closeSync(file);
  }
  return hash.digest("hex");
}

/** Puts the pages into a database that has everything before them. */
export function applySegment(folder: string, { pageSize, databasePages }: Segment, database: string): void {
  const pages = openSync(join(folder, PAGES_FILE), "r");
  const target = openSync(database, "r+");
  try {
    const record = Buffer.alloc(PAGE_NUMBER_BYTES + pageSize);
    while (readSync(pages, record, 0, record.length, null) === record.length)
      writeAll(target, record.subarray(PAGE_NUMBER_BYTES), (record.readUInt32LE(0) - 1) * pageSize);
    ftruncateSync(target, databasePages * pageSize);
  } finally {
    closeSync(target);
    closeSync(pages);
  }
}
