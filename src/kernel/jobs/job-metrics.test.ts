// Tests the metrics of jobs by kind and lateness over a database file.
import { expect, test } from "bun:test";
import { fileDatabase, silent } from "../../../tests/support/database.ts";
import { createMetrics } from "../telemetry/metrics.ts";
import { HOUR, MINUTE } from "../util/time.ts";
import { registerJobMetrics } from "./job-metrics.ts";
import { createJobs } from "./jobs.ts";

test("jobs are counted by kind and state, with how long the first is overdue", async () => {
  const { database, remove } = await fileDatabase();
  const metrics = createMetrics();
  const now = Date.now();
  const jobs = createJobs({ database, log: silent });
  for (const kind of ["mail", "idle"]) jobs.handle(kind, async () => undefined);
  registerJobMetrics({ metrics, database, jobs }, () => now);
  await database.write([
    jobs.enqueueStatement("mail", {}, { runAt: now - 10 * MINUTE }),
    jobs.enqueueStatement("mail", {}, { runAt: now - 10_000 }),
    jobs.enqueueStatement("mail", {}, { runAt: now + HOUR }),
    jobs.enqueueStatement("of an earlier version", {}),
    {
      sql: "INSERT INTO jobs (id, kind, payload, run_at, state, max_attempts, created_at) VALUES ('x', 'mail', '1', 0, 'failed', 3, 0)",
      args: [],
    },
  ]);
  const text = await metrics.scrape();
  const shown = text.split("\n").filter((line) => line.startsWith("berth_jobs"));
  expect(shown).toEqual([
    'berth_jobs{kind="mail",state="waiting"} 2',
    'berth_jobs{kind="mail",state="late"} 1',
    'berth_jobs{kind="mail",state="running"} 0',
    'berth_jobs{kind="mail",state="failed"} 1',
    'berth_jobs{kind="idle",state="waiting"} 0',
    'berth_jobs{kind="idle",state="late"} 0',
    'berth_jobs{kind="idle",state="running"} 0',
    'berth_jobs{kind="idle",state="failed"} 0',
    'berth_jobs_overdue_seconds{kind="mail"} 600',
    'berth_jobs_overdue_seconds{kind="idle"} 0',
  ]);
  expect(await jobs.countDueBefore("mail", now - MINUTE)).toBe(1);
  metrics.stop();
  await remove();
});
