// The limits of the sandbox. QuickJS also ends code after about a hundred million steps.
import { MINUTE, SECOND } from "../../../src/kernel/util/time.ts";

/** The limits of one program. */
export const LIMITS = {
  /** From the start of the program; waiting for a free thread does not count. */
  timeMs: 10 * SECOND,
  memoryBytes: 64 * 1024 * 1024,
  /** Of the program with all its modules. */
  sourceBytes: 2 * 1024 * 1024,
  /** Characters of what it prints, and of its value. */
  output: 15_000,
  /** Calls of the host. */
  calls: 200,
  /** Bytes of a file that it reads, and of all of them. */
  inputBytes: 2_000_000,
  inputsBytes: 6_000_000,
  /** Files that it writes, and their bytes together. */
  outputFiles: 4,
  outputBytes: 2_000_000,
  /** Serialized arguments of a call: a written file. */
  callBytes: 4 * 1024 * 1024,
  /** The serialized files that it reads. */
  loadBytes: 24 * 1024 * 1024,
} as const;

/** The queue in front of the threads. */
export const QUEUE = {
  threads: 2,
  /** Programs that wait. */
  perAgent: 8,
  total: 100,
  waitMs: 20 * SECOND,
  /** A thread without work is ended, which gives its memory back. */
  idleMs: MINUTE / 4,
} as const;
