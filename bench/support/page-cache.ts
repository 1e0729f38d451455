// Takes files out of the system's page cache, so that a program reads them from the disk as after a start of the machine.

import { run } from "../../tests/support/process.ts";

const TIMEOUT_MS = 120_000;

/**
 * Writes a file's new pages to the disk, then drops all its pages from the cache (by dd, with `POSIX_FADV_DONTNEED`; needs no root).
 * Pages that a process has mapped stay, so no process may have the file open. Linux only. Throws if dd fails.
 */
export async function dropFromCache(file: string): Promise<void> {
  await dd(`if=${file}`, `of=${file}`, "count=0", "conv=notrunc,fsync");
  await dd(`if=${file}`, "iflag=nocache", "count=0");
}

/** Copies a file to the disk and returns the time in ms: the pace of the disk. */
export async function copyToDisk(from: string, to: string): Promise<number> {
  const began = performance.now();
  await dd(`if=${from}`, `of=${to}`, "bs=1M", "conv=fdatasync");
  return performance.now() - began;
}

async function dd(...args: string[]): Promise<void> {
  const { exitCode, stderr } = await run(["dd", ...args], { PATH: process.env.PATH ?? "" }, "/", TIMEOUT_MS);
  if (exitCode !== 0) throw new Error(`dd failed: ${stderr}`);
}
