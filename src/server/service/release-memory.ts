// Returns memory that only the start needed to the system: garbage, free memory, and pages of the program's own files.
import { closeSync, openSync, readFileSync, readSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { SECOND } from "../../kernel/util/time.ts";
import { openCLibrary } from "../c-library.ts";

/** `madvise`: unmaps pages, which come back from the page cache when they are touched. */
const MADV_DONTNEED = 4;
/** In the upper half of an entry of `/proc/self/pagemap`: the page is that of a file, so this process has not changed it. */
const IS_OF_FILE = 1 << 29;
/** The section of the binary in which Bun keeps the modules of the program; only Bun reads it. */
const MODULES = ".bun";

interface Range {
  from: number;
  to: number;
}

/** A second in which the process used less of a processor, in microseconds, counts as idle. */
const IDLE_CPU_US = 15_000;

/** Microseconds of processor time since it was ready. A process that has used more has compiled code that its users need. */
const WORKED_US = 500_000;

/** @param atReady processor time of the process when its start was over */
export async function releaseMemory(atReady: NodeJS.CpuUsage): Promise<void> {
  // A container may hide these files of the system, or the binary may be executable alone: then the pages stay.
  await dropFilePages().catch(() => undefined);
  // The collection holds the event loop for 40 ms, so it waits for a second without requests. Under load, the engine collects by itself.
  await idleSecond();
  collectGarbage(usedSince(atReady));
}

/**
 * Collects garbage, and the compiled code of the start with it. The code of a process that has worked since is kept: it would be slow
 * until it had compiled it again.
 *
 * @param usedUs microseconds of processor time that it has used since it was ready
 */
export function collectGarbage(usedUs: number): void {
  if (usedUs < WORKED_US) Bun.shrink();
  else Bun.gc(true);
}

async function idleSecond(): Promise<void> {
  for (;;) {
    const before = process.cpuUsage();
    await sleep(SECOND, undefined, { ref: false });
    if (usedSince(before) < IDLE_CPU_US) return;
  }
}

function usedSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

/**
 * Drops the pages of the program and its addons that the start has read. Two kinds are safe to drop, since this process can't
 * have changed them: those that it can't write, and those of the binary's modules. Linux only.
 */
export async function dropFilePages(): Promise<void> {
  if (process.platform !== "linux") return;
  const libc = await openCLibrary({
    madvise: { args: ["u64", "u64", "i32"], returns: "i32" },
    getpagesize: { args: [], returns: "i32" },
  });
  if (!libc) return;
  const modules = moduleRanges(libc.getpagesize());
  for (const { from, to } of [...unwritableRanges(readFileSync("/proc/self/smaps", "utf8")), ...modules]) {
    libc.madvise(from, to - from, MADV_DONTNEED);
  }
}

/** The parts of files that are mapped, can't be written, and have no page that the loader has changed. */
export function unwritableRanges(smaps: string): Range[] {
  const found: Range[] = [];
  for (const mapping of smaps.split(/^(?=[\da-f]+-[\da-f]+ )/m)) {
    const [, from = "", to = ""] = /^([\da-f]+)-([\da-f]+) r-[-x]p [\da-f]+ \S+ \d+ +\//.exec(mapping) ?? [];
    if (from === "" || !/^Anonymous: +0 kB$/m.test(mapping) || !/^Private_Dirty: +0 kB$/m.test(mapping)) continue;
    found.push({ from: Number.parseInt(from, 16), to: Number.parseInt(to, 16) });
  }
  return found;
}

/**
 * The pages of the modules that are as they are in the file. None if the program does not run from a binary.
 * @param page the bytes of a page
 */
function moduleRanges(page: number): Range[] {
  const section = modulesSection();
  if (!section) return [];
  const from = Math.ceil(section.from / page) * page;
  const pages = Math.floor(section.to / page) - from / page;
  if (pages <= 0) return [];
  const entries = new Uint32Array(pages * 2);
  const descriptor = openSync("/proc/self/pagemap", "r");
  const bytes = readSync(descriptor, new Uint8Array(entries.buffer), 0, pages * 8, (from / page) * 8);
  closeSync(descriptor);
  const found: Range[] = [];
  for (let n = 0; n < bytes / 8; n++) {
    if (((entries[n * 2 + 1] ?? 0) & IS_OF_FILE) === 0) continue;
    const at = from + n * page;
    const last = found.at(-1);
    if (last?.to === at) last.to += page;
    else found.push({ from: at, to: at + page });
  }
  return found;
}

/** Where the section lies in memory, by the headers of the binary (ELF with 64 bits and fixed addresses). */
function modulesSection(): Range | undefined {
  const descriptor = openSync(process.execPath, "r");
  try {
    const read = (position: number, length: number) => {
      const bytes = Buffer.alloc(length);
      readSync(descriptor, bytes, 0, length, position);
      return bytes;
    };
    const header = read(0, 64);
    const hasFixedAddresses = header.readUInt16LE(16) === 2;
    if (header.toString("latin1", 0, 5) !== "\x7fELF\x02" || !hasFixedAddresses) return undefined;
    const [size, count, names] = [header.readUInt16LE(58), header.readUInt16LE(60), header.readUInt16LE(62)];
    const table = read(Number(header.readBigUInt64LE(40)), size * count);
    const at = (section: number, offset: number) => Number(table.readBigUInt64LE(section * size + offset));
    const strings = read(at(names, 24), at(names, 32)).toString("latin1");
    for (let section = 0; section < count; section++) {
      const name = table.readUInt32LE(section * size);
      if (!strings.startsWith(`${MODULES}\0`, name)) continue;
      return { from: at(section, 16), to: at(section, 16) + at(section, 32) };
    }
    return undefined;
  } finally {
    closeSync(descriptor);
  }
}
