// The port to what keeps the write-ahead log of a local file, whose frames are gone once it restarts.

/** All its methods are called while nothing is committed. They don't throw for what can be done without them. */
export interface LogKeeper {
  /** Before the file is opened. This process has locked it. */
  opening(): void;
  /**
   * All frames are in the database file, and the log may restart with the next write.
   * @param frames how many it has
   */
  ending(frames: number): Promise<void>;
  /** After a write. */
  noteNext(): void;
  /** After the file was closed. */
  closed(): void;
}
