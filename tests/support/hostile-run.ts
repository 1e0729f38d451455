// Runs hostile programs in a sandbox of this process, and prints what they have left behind as JSON. The process has nothing else to
// do, so that what it measures is theirs.
//
// BERTH_HOSTILE_TEST=secret bun tests/support/hostile-run.ts PROGRAMS
import { readFileSync } from "node:fs";
import { createSandbox } from "../../plugins/sandbox/runner/sandbox.ts";
import { families } from "./hostile-programs.ts";

export interface HostileReport {
  outcomes: number;
  /** The longest time for which the main thread kept one turn of the event loop busy. */
  busyMs: number;
  /** Whether an outcome has the secret. */
  hasLeaked: boolean;
  hasChangedGlobals: boolean;
  threads: number;
  /** Resident memory that has not come back. */
  rssBytes: number;
  /** What the next sandbox makes of `1 + 1`. */
  next: unknown;
}

export const THREADS = 4;
const MB = 1024 * 1024;
/** It is in the environment of the process. */
export const SECRET = "a-secret-of-the-process";

/** Milliseconds of processor time that the main thread has used, which other processes don't affect; Linux only. */
const mainThreadMs = () => Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, "utf8").split(" ")[0]) / 1e6;

function watchLoop(): () => number {
  let longest = 0;
  let before = mainThreadMs();
  const timer = setInterval(() => {
    const now = mainThreadMs();
    longest = Math.max(longest, now - before);
    before = now;
  }, 1);
  return () => {
    clearInterval(timer);
    return longest;
  };
}

const globalNames = () =>
  JSON.stringify([
    Object.getOwnPropertyNames(globalThis).sort(),
    ...[Object, Array, Function, Promise, String].map(({ prototype }) => Object.getOwnPropertyNames(prototype)),
  ]);

async function runHostile(count: number): Promise<HostileReport> {
  const sandbox = createSandbox({
    limits: { timeMs: 50, memoryBytes: 16 * MB },
    queue: { threads: THREADS, perAgent: count, total: count, waitMs: 600_000, idleMs: 60_000 },
  });
  const { signal } = new AbortController();
  const kinds = Object.values(families);
  const programs = Array.from({ length: count }, (_, n) => kinds[n % kinds.length]?.(n) ?? "");
  const run = (code: string, agentId = "agent") =>
    sandbox.run({
      agentId,
      program: { code },
      files: [{ name: "input.txt", mediaType: "text/plain", bytes: new Uint8Array(1000) }],
      signal,
    });

  const globals = globalNames();
  // The first programs start the threads and fill their pools, whose memory is not that of the others.
  await Promise.all(programs.slice(0, count / 4).map((code) => run(code)));
  Bun.gc(true);
  const rss = process.memoryUsage.rss();
  const longestTurn = watchLoop();
  const outcomes = await Promise.all(programs.map((code, n) => run(code, String(n % 7))));
  const busyMs = longestTurn();
  const threads = sandbox.threads();
  sandbox.stop();
  Bun.gc(true);
  const rssBytes = process.memoryUsage.rss() - rss;
  const fresh = createSandbox();
  const next = await fresh.run({ agentId: "agent", program: { code: "return 1 + 1" }, files: [], signal });
  fresh.stop();
  return {
    outcomes: outcomes.length,
    busyMs,
    hasLeaked: JSON.stringify(outcomes).includes(SECRET),
    hasChangedGlobals: globalNames() !== globals,
    threads,
    rssBytes,
    next,
  };
}

if (import.meta.main) console.log(JSON.stringify(await runHostile(Number(Bun.argv[2]))));
