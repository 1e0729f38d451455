// Reads SQLite's write-ahead log as a file: its header, and the frames of whole transactions, whose checksums are chained
// (https://sqlite.org/fileformat2.html#the_write_ahead_log).

import { closeSync, openSync, readSync } from "node:fs";

/** A place between two transactions of a log. */
export interface LogPosition {
  /** Both salts of the log, which are new each time that it restarts. */
  generation: string;
  /** Frames before this place. */
  frame: number;
  /** The checksum of all frames before this place, which that of the next frame goes on from. */
  sums: readonly [number, number];
}

export interface LogHeader {
  pageSize: number;
  /** Before the first frame. */
  start: LogPosition;
}

/** What transactions have changed. */
export interface Changes {
  end: LogPosition;
  pageSize: number;
  /** Pages of the database after the last transaction. */
  databasePages: number;
  /** Of each changed page, where the file has its newest content. */
  pages: Map<number, number>;
}

const HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
/** With checksums of little-endian words, as machines of today write them. */
const MAGIC = 0x377f0682;
const FRAMES_PER_READ = 128;

/** Undefined if there is no log, or none that has been begun. */
export function readLogHeader(path: string): LogHeader | undefined {
  const file = openIfThere(path);
  if (file === undefined) return undefined;
  try {
    return parseHeader(file);
  } finally {
    closeSync(file);
  }
}

/**
 * Reads the transactions after a place of the same generation. Undefined if the file is not of that generation, also if it
 * has got another one meanwhile.
 *
 * @param until the frame at which a log ends that is not written any more; more is not read, and less is damage
 */
export function readChanges(path: string, from: LogPosition, until?: number): Changes | undefined {
  const file = openIfThere(path);
  if (file === undefined) return undefined;
  try {
    const header = parseHeader(file);
    if (header?.start.generation !== from.generation) return undefined;
    const changes = scan(file, header.pageSize, from.frame === 0 ? header.start : from, until);
    if (until !== undefined && changes.end.frame !== until) return undefined;
    return parseHeader(file)?.start.generation === from.generation ? changes : undefined;
  } finally {
    closeSync(file);
  }
}

function scan(file: number, pageSize: number, from: LogPosition, until = Number.POSITIVE_INFINITY): Changes {
  const frameBytes = FRAME_HEADER_BYTES + pageSize;
  const buffer = Buffer.alloc(frameBytes * FRAMES_PER_READ);
  const pages = new Map<number, number>();
  /** Of the transaction that is being read. */
  let open: [page: number, at: number][] = [];
  let [a, b] = from.sums;
  let end = from;
  let databasePages = 0;
  for (let frame = from.frame; frame < until; ) {
    const at = HEADER_BYTES + frame * frameBytes;
    const length = readSync(file, buffer, 0, buffer.length, at);
    const whole = Math.min(Math.floor(length / frameBytes), until - frame);
    for (let n = 0; n < whole; n++) {
      const bytes = buffer.subarray(n * frameBytes, (n + 1) * frameBytes);
      if (bytes.toString("hex", 8, 16) !== from.generation) return { end, pageSize, databasePages, pages };
      [a, b] = checksum(bytes.subarray(0, 8), a, b);
      [a, b] = checksum(bytes.subarray(FRAME_HEADER_BYTES), a, b);
      if (bytes.readUInt32BE(16) !== a || bytes.readUInt32BE(20) !== b) return { end, pageSize, databasePages, pages };
      frame++;
      open.push([bytes.readUInt32BE(0), at + n * frameBytes + FRAME_HEADER_BYTES]);
      const size = bytes.readUInt32BE(4);
      if (size === 0) continue;
      for (const [page, place] of open) pages.set(page, place);
      open = [];
      databasePages = size;
      end = { generation: from.generation, frame, sums: [a, b] };
    }
    if (whole < FRAMES_PER_READ) break;
  }
  return { end, pageSize, databasePages, pages };
}

function parseHeader(file: number): LogHeader | undefined {
  const bytes = Buffer.alloc(HEADER_BYTES);
  if (readSync(file, bytes, 0, HEADER_BYTES, 0) < HEADER_BYTES || bytes.readUInt32BE(0) !== MAGIC) return undefined;
  const sums = checksum(bytes.subarray(0, 24), 0, 0);
  if (bytes.readUInt32BE(24) !== sums[0] || bytes.readUInt32BE(28) !== sums[1]) return undefined;
  const generation = bytes.toString("hex", 16, 24);
  return { pageSize: bytes.readUInt32BE(8), start: { generation, frame: 0, sums } };
}

/** SQLite's, over pairs of words. */
function checksum(bytes: Buffer, first: number, second: number): [number, number] {
  let [a, b] = [first | 0, second | 0];
  const words = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  for (let at = 0; at < bytes.length; at += 8) {
    a = (a + words.getInt32(at, true) + b) | 0;
    b = (b + words.getInt32(at + 4, true) + a) | 0;
  }
  return [a >>> 0, b >>> 0];
}

function openIfThere(path: string): number | undefined {
  try {
    return openSync(path, "r");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}
