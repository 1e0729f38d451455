// Tests that hostile programs leave the process untouched: each ends, none delays the event loop, and memory comes back.
//
// `HOSTILE_PROGRAMS` sets how many are run; the same number runs the same programs.
import { expect, test } from "bun:test";
import { type HostileReport, SECRET, THREADS } from "../../../tests/support/hostile-run.ts";

const PROGRAMS = Number(process.env.HOSTILE_PROGRAMS ?? 1000);
const MB = 1024 * 1024;

test.skipIf(process.platform !== "linux")(
  `${PROGRAMS} hostile programs leave the process untouched`,
  async () => {
    const program = Bun.resolveSync("../../../tests/support/hostile-run.ts", import.meta.dir);
    const env = { ...process.env, BERTH_HOSTILE_TEST: SECRET };
    const child = Bun.spawn([process.execPath, program, String(PROGRAMS)], { env, stdout: "pipe", stderr: "pipe" });
    const [printed, errors] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
    expect(errors).toBe("");
    const { busyMs, threads, rssBytes, ...report } = JSON.parse(printed) as HostileReport;
    expect(report).toMatchObject({
      outcomes: PROGRAMS,
      hasLeaked: false,
      hasChangedGlobals: false,
      next: { ok: true, value: "2" },
    });
    expect(busyMs).toBeLessThan(50);
    expect(threads).toBeLessThanOrEqual(THREADS);
    // Each thread's allocator keeps about as much as one program may have; a leak of 1 MB a program would be ten times that.
    expect(rssBytes).toBeLessThan(2 * THREADS * 16 * MB);
  },
  600_000,
);
