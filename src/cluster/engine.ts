// The port to what keeps a cluster's logs and leases. `nats/nats-engine.ts` is the real one.

/** Somebody else has appended to the log: this node does not own the cell any more. Nothing was written. */
export class Moved extends Error {
  override readonly name = "Moved";
}

/** The engine did not answer, or has no quorum: whether an entry was appended is not known. */
export class EngineUnavailable extends Error {
  override readonly name = "EngineUnavailable";
}

export interface LogMessage {
  /** Counts the messages of the log from 1, without gaps. */
  number: number;
  bytes: Uint8Array;
}

/** The log of one cell. */
export interface LogEngine {
  /** Bytes of the largest message that it takes. */
  readonly maxBytes: number;
  /**
   * Appends a message if the number of the last one is still `last`, and returns its own. Rejects with `Moved` or
   * `EngineUnavailable`. The same bytes may be sent again after `EngineUnavailable`: at most one of the sends is appended.
   */
  append(last: number, bytes: Uint8Array): Promise<number>;
  /** The numbers of the oldest message that is kept, and of the last one (an empty log: 1 and 0); bytes of all. */
  bounds(): Promise<{ first: number; last: number; bytes: number }>;
  /** The messages after this number, then those that come, until the signal aborts. Rejects with `EngineUnavailable`. */
  follow(after: number, signal: AbortSignal): AsyncIterable<LogMessage>;
  /** One message, as the quorum knows it; undefined for a number that is not kept, or not yet written. */
  read(number: number): Promise<Uint8Array | undefined>;
  /** Deletes the messages up to this number. The next one comes after it, also if the log ends before. */
  trim(upTo: number): Promise<void>;
}

export interface TableEntry {
  key: string;
  /** Undefined once it was deleted. */
  value: string | undefined;
  /** Grows with each change of the table. */
  revision: number;
}

/** A small table that all nodes see: of nodes, or of cells. */
export interface Table {
  /** An entry as the quorum knows it; undefined if there is none. */
  find(key: string): Promise<TableEntry | undefined>;
  put(key: string, value: string): Promise<void>;
  /** Writes if the entry has still this revision; 0: if there is none. Returns the new revision; undefined if it has another. */
  swap(key: string, value: string, revision: number): Promise<number | undefined>;
  remove(key: string): Promise<void>;
  /** All entries as they are now. */
  list(): Promise<TableEntry[]>;
  /** All entries, then each change, until the signal aborts. */
  watch(signal: AbortSignal): AsyncIterable<TableEntry>;
}

/** Large files that all nodes can read. */
export interface BlobStore {
  put(name: string, content: ReadableStream<Uint8Array>): Promise<void>;
  /** Undefined if there is none. The content is read as fast as it is taken, and errors if it is not whole. */
  get(name: string): Promise<ReadableStream<Uint8Array> | undefined>;
  remove(name: string): Promise<void>;
  list(): Promise<{ name: string; size: number }[]>;
  /**
   * Deletes what puts have left that were interrupted longer ago than this, by default ten minutes, and returns of how many. It looks
   * at all blobs.
   */
  sweep(olderThanMs?: number): Promise<number>;
}

/** `nodes` are machines, `processes` those of their cells other than the first. */
export type TableName = "nodes" | "processes" | "cells" | "orders";

export interface Engine {
  /** In words for operators, such as `nats 2.15.1, 3 servers`. */
  describe(): string;
  /** How many servers keep a copy of everything. */
  readonly servers: number;
  /** Opens the log of a cell, which is created at its first use. */
  log(cell: number): Promise<LogEngine>;
  /** Deletes a cell's log. */
  removeLog(cell: number): Promise<void>;
  /** With `under`: of the entries whose keys begin with it, which their names then leave out. */
  table(name: TableName, under?: `${number}.`): Promise<Table>;
  blobs(name: "snapshots" | "files"): Promise<BlobStore>;
  close(): Promise<void>;
}
