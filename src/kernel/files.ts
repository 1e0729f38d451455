// Names the folders of files that belong to the database, and the port to where a cluster keeps them for every machine.

/** Folders of the data folder with files that belong to rows of the database: a cluster shares them, and a backup has them. */
export const KEPT_FOLDERS = ["uploads", "knowledge", "backups"] as const;

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
