// Lists the kinds of background jobs with what waits, is late or has failed, and retries or discards failed ones.
import type { Kernel } from "../../../src/kernel/plugin.ts";
import { SECOND } from "../../../src/kernel/util/time.ts";
import { LATE_MS } from "./counts.ts";
import { createStaleCache } from "./stale-cache.ts";

/** Times are epoch ms. */
export interface JobKind {
  kind: string;
  waiting: number;
  late: number;
  running: number;
  failed: number;
  /** When the next one is due; null if none waits. */
  nextAt: number | null;
  /** Without anything that looks secret. */
  lastError: string | null;
}

/** A job that was given up. Its payload is not shown: it may hold private texts. */
export interface FailedJob {
  id: string;
  kind: string;
  attempts: number;
  error: string | null;
  createdAt: number;
}

const KINDS = `SELECT kind, sum(state = 'queued') AS waiting, sum(state = 'queued' AND run_at < ?) AS late,
    sum(state = 'running') AS running, sum(state = 'failed') AS failed,
    min(CASE WHEN state = 'queued' THEN run_at END) AS next,
    max(CASE WHEN state = 'queued' THEN last_error END) AS error
  FROM jobs GROUP BY kind ORDER BY kind LIMIT 200`;
const FAILED = `SELECT id, kind, attempt, last_error, created_at FROM jobs WHERE state = 'failed' AND id < ?
  ORDER BY id DESC LIMIT ?`;

/** Sorts after every id. */
const LAST_ID = "~";

export function createFleetJobs({ database, log }: Pick<Kernel, "database" | "log">, now = Date.now) {
  const cached = createStaleCache<JobKind[]>({ freshMs: 2 * SECOND, staleMs: 20 * SECOND, now });

  const kinds = () =>
    cached("kinds", async () => {
      const { rows } = await database.readLong(KINDS, [now() - LATE_MS]);
      return rows.map((row) => ({
        kind: String(row.kind),
        waiting: Number(row.waiting),
        late: Number(row.late),
        running: Number(row.running),
        failed: Number(row.failed),
        nextAt: row.next === null ? null : Number(row.next),
        lastError: row.error === null ? null : log.redactForms(String(row.error)),
      }));
    });

  return {
    kinds,
    /** Newest first. Errors are shown without anything that looks secret. */
    async failed(limit: number, after = LAST_ID): Promise<{ jobs: FailedJob[]; next: string | null }> {
      const { rows } = await database.read(FAILED, [after, limit + 1]);
      const jobs = rows.slice(0, limit).map((row) => ({
        id: String(row.id),
        kind: String(row.kind),
        attempts: Number(row.attempt),
        error: row.last_error === null ? null : log.redactForms(String(row.last_error)),
        createdAt: Number(row.created_at),
      }));
      return { jobs, next: rows.length > limit ? (jobs.at(-1)?.id ?? null) : null };
    },
  };
}

export type FleetJobs = ReturnType<typeof createFleetJobs>;
