// The contract of a kind of data that is kept for a while.

/** How much of a kind is older than a time. */
export interface Measured {
  rows: number;
  /** About as many bytes as its texts take; without those of indexes. */
  bytes: number;
  /** Epoch ms; undefined if there is none. */
  oldest: number | undefined;
}

/**
 * Deletes about `limit` rows that were made before `before` (epoch ms), in one short write, and returns how many. 0 means that there
 * is none left. A kill between two calls loses nothing: the next run goes on.
 */
export type DeleteBatch = (before: number, limit: number) => Promise<number>;

/** One kind of data with the time for which it is kept. */
export interface KeptKind {
  /** In one word, such as `messages`: the operator names it, and metrics show it. */
  name: string;
  /** What is deleted, for a table. */
  what: string;
  /** Undefined: forever. */
  keepMs: number | undefined;
  /** The variable that sets the time. A kind without one has a time of its own, which the operator can't change. */
  setting?: string;
  /** How often old rows are looked for; default: once a day. */
  everyMs?: number;
  /** Run one after the other, each until nothing is left. They find the oldest rows by an index. */
  steps: readonly DeleteBatch[];
  /** Runs only when an operator asks, off the event loop. */
  measure(before: number): Promise<Measured>;
}

/** What a run is told. */
export interface RunOptions {
  signal?: AbortSignal;
  /** Ends the run while the service is busy; the next one goes on. Default: it only goes slower. */
  stopsUnderLoad?: boolean;
  /** The database is on a server, which each batch has to reach. */
  isRemote?: boolean;
  onProgress?: (deleted: number) => void;
}
