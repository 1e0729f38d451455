// Tests that hostile programs leave the process untouched: each ends, none delays the event loop, and memory comes back.
//
// `HOSTILE_PROGRAMS` sets how many are run; the same number runs the same programs.
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { families } from "../../../tests/support/hostile-programs.ts";
import { createSandbox } from "./sandbox.ts";

const PROGRAMS = Number(process.env.HOSTILE_PROGRAMS ?? 1000);
const WARM_UP = PROGRAMS / 4;
const SECRET = "a-secret-of-the-process";
const THREADS = 4;
const MB = 1024 * 1024;

/** Milliseconds of processor time that the main thread has used, which other processes don't affect; Linux only. */
const mainThreadMs = () => Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, "utf8").split(" ")[0]) / 1e6;

/** Measures the longest time for which the main thread kept one turn of the event loop busy. */
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

test.skipIf(process.platform !== "linux")(
  `${PROGRAMS} hostile programs leave the process untouched`,
  async () => {
    process.env.BERTH_HOSTILE_TEST = SECRET;
    const sandbox = createSandbox({
      limits: { timeMs: 50, memoryBytes: 16 * MB },
      queue: { threads: THREADS, perAgent: PROGRAMS, total: PROGRAMS, waitMs: 600_000, idleMs: 60_000 },
    });
    const { signal } = new AbortController();
    const count = Object.keys(families).length;
    const run = (code: string, agentId = "agent") =>
      sandbox.run({
        agentId,
        program: { code },
        files: [{ name: "input.txt", mediaType: "text/plain", bytes: new Uint8Array(1000) }],
        signal,
      });
    const programs = Array.from({ length: PROGRAMS }, (_, n) => Object.values(families)[n % count]?.(n) ?? "");

    const globals = Object.getOwnPropertyNames(globalThis).sort();
    const prototypes = [Object, Array, Function, Promise, String].map(({ prototype }) =>
      Object.getOwnPropertyNames(prototype),
    );
    // The first programs start the threads and fill their pools, whose memory is not that of the others.
    await Promise.all(programs.slice(0, WARM_UP).map((code) => run(code)));
    Bun.gc(true);
    const rss = process.memoryUsage.rss();
    const longestTurn = watchLoop();

    const outcomes = await Promise.all(programs.map((code, n) => run(code, String(n % 7))));

    const busyMs = longestTurn();
    expect(busyMs).toBeLessThan(50);
    expect(outcomes).toHaveLength(PROGRAMS);
    expect(JSON.stringify(outcomes)).not.toContain(SECRET);
    expect(Object.getOwnPropertyNames(globalThis).sort()).toEqual(globals);
    expect(
      [Object, Array, Function, Promise, String].map(({ prototype }) => Object.getOwnPropertyNames(prototype)),
    ).toEqual(prototypes);
    expect(sandbox.threads()).toBeLessThanOrEqual(THREADS);
    sandbox.stop();
    Bun.gc(true);
    expect(process.memoryUsage.rss() - rss).toBeLessThan(64 * MB);
    const next = createSandbox();
    const program = { code: "return 1 + 1" };
    expect(await next.run({ agentId: "agent", program, files: [], signal })).toMatchObject({ ok: true, value: "2" });
    next.stop();
  },
  600_000,
);
