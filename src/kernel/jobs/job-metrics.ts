// Registers the metrics of jobs by kind, which a scrape reads from the database by its indexes of waiting, running and failed jobs.
import type { Database } from "../database/database.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { MINUTE } from "../util/time.ts";
import type { Jobs } from "./jobs.ts";

/** A job counts as late a minute after it was due. */
const LATE_MS = MINUTE;

/** ?1 kinds as JSON, ?2 the time before which a job was due if it is late. */
export const QUEUED_JOBS = `SELECT value AS kind,
    (SELECT count(*) FROM jobs WHERE kind = value AND state = 'queued' AND run_at >= ?2) AS waiting,
    (SELECT count(*) FROM jobs WHERE kind = value AND state = 'queued' AND run_at < ?2) AS late,
    (SELECT min(run_at) FROM jobs WHERE kind = value AND state = 'queued') AS due
  FROM json_each(?1)`;
export const RUNNING_JOBS = "SELECT kind, count(*) AS count FROM jobs WHERE state = 'running' GROUP BY kind";
/** Without the name of the index, SQLite reads the table. */
export const FAILED_JOBS =
  "SELECT kind, count(*) AS count FROM jobs INDEXED BY jobs_failed WHERE state = 'failed' GROUP BY kind";

interface Deps {
  metrics: Metrics;
  database: Pick<Database, "readLong">;
  jobs: Pick<Jobs, "kinds">;
}

export function registerJobMetrics({ metrics, database, jobs }: Deps, now = Date.now): void {
  metrics.measured(
    {
      berth_jobs: [
        "Background jobs by kind; late ones were due for more than a minute, failed ones were given up.",
        "kind",
        "state",
      ],
      berth_jobs_overdue_seconds: ["How long the job of each kind that waits longest has been due.", "kind"],
    },
    async () => {
      const at = now();
      const kinds = jobs.kinds();
      const [queued, running, failed] = await Promise.all([
        database.readLong(QUEUED_JOBS, [JSON.stringify(kinds), at - LATE_MS]),
        database.readLong(RUNNING_JOBS),
        database.readLong(FAILED_JOBS),
      ]);
      const countOf = ({ rows }: typeof running, kind: string) =>
        Number(rows.find((row) => row.kind === kind)?.count ?? 0);
      const ofKinds = queued.rows.map((row) => ({ row, kind: String(row.kind) }));
      return {
        berth_jobs: ofKinds.flatMap(({ row, kind }) => [
          [{ kind, state: "waiting" }, Number(row.waiting)] as const,
          [{ kind, state: "late" }, Number(row.late)] as const,
          [{ kind, state: "running" }, countOf(running, kind)] as const,
          [{ kind, state: "failed" }, countOf(failed, kind)] as const,
        ]),
        berth_jobs_overdue_seconds: ofKinds.map(({ row, kind }) => {
          const seconds = row.due === null ? 0 : Math.max(0, at - Number(row.due)) / 1000;
          return [{ kind }, seconds] as const;
        }),
      };
    },
  );
}
