// The messages between the process and a thread of the sandbox.

/** A file that the program can read. */
export interface InputFile {
  name: string;
  /** As its source claims. */
  mediaType: string;
  /** Bytes, if known. */
  size?: number;
  /** Its content, or why the program can't have it. */
  bytes?: Uint8Array<ArrayBuffer>;
  error?: string;
}

/** A file that the program has written. */
export interface OutputFile {
  name: string;
  bytes: Uint8Array<ArrayBuffer>;
}

/** What is run: the body of an async function, whose `return` is the value, or a script among the files, with arguments. */
export type Program = { code: string } | { script: string; args: readonly string[] };

export interface RunOutcome {
  /** The program ran to its end. */
  ok: boolean;
  /** What it printed, with `\n` after each line. */
  printed: string;
  /** What it returned, as text; "" for nothing. */
  value: string;
  /** Why it did not run to its end; "" if it did. */
  error: string;
  files: OutputFile[];
}

/** The limits that tests shorten. */
export interface RunLimits {
  /** Milliseconds. */
  timeMs: number;
  memoryBytes: number;
}

/** To a thread. */
export interface RunCommand {
  program: Program;
  files: readonly InputFile[];
  limits: RunLimits;
}

/** From a thread. */
export interface FromThread {
  ended: RunOutcome;
}
