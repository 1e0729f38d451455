// The port to where a cluster keeps the files of the data folder, so that every machine finds them.

/** On a single machine there is none. Paths are relative to the data folder, with slashes. */
export interface SharedFiles {
  /** Resolves once the file is kept. Throws 503 `FILES_UNAVAILABLE`. */
  keep(path: string): Promise<void>;
  /** Brings a file that this machine does not have; false if there is none. Throws 503 `FILES_UNAVAILABLE`. */
  bring(path: string): Promise<boolean>;
  /** What can't be forgotten now is forgotten by the next sweep of its owner. */
  forget(paths: readonly string[]): Promise<void>;
  /** What is kept below a folder, whose path ends with a slash. */
  list(folder: string): Promise<{ path: string; size: number }[]>;
}
