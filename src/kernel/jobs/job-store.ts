// Builds the SQL of the jobs table: enqueuing, claiming, and storing the outcome of a job.
// `lease` tells the claims of a job apart, so that the outcome of an earlier run changes nothing. `lease_until` is not used any
// more: it is from versions in which several backends shared a database.

import type { Row } from "@libsql/client";
import { type Database, guard, type Statement } from "../database/database.ts";
import { MINUTE } from "../util/time.ts";

export interface EnqueueOptions {
  /** Epoch ms. Default: now. */
  runAt?: number;
  /**
   * At most one job of a kind and key waits. Enqueuing it again keeps the waiting one (at the earlier of both times), lets
   * a running one run once more afterwards, and revives a parked one.
   */
  uniqueKey?: string;
  /** Failures until the job is parked. Default 8. */
  maxAttempts?: number;
}

/** A job that this process has claimed. */
export interface ClaimedJob {
  id: string;
  kind: string;
  payload: unknown;
  /** 1 at the first try. */
  attempt: number;
  maxAttempts: number;
  lease: string;
}

export const insertJobStatement = (
  id: string,
  kind: string,
  payload: unknown,
  options: EnqueueOptions,
  now: number,
): Statement => ({
  sql: `INSERT INTO jobs (id, kind, unique_key, payload, run_at, max_attempts, created_at) VALUES (?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (kind, unique_key) WHERE unique_key IS NOT NULL DO UPDATE SET
      payload = excluded.payload,
      rerun_at = CASE state WHEN 'running' THEN min(excluded.run_at, coalesce(rerun_at, excluded.run_at)) END,
      run_at = CASE state WHEN 'queued' THEN min(excluded.run_at, run_at) WHEN 'failed' THEN excluded.run_at ELSE run_at END,
      attempt = CASE state WHEN 'failed' THEN 0 ELSE attempt END,
      state = CASE state WHEN 'failed' THEN 'queued' ELSE state END`,
  args: [
    id,
    kind,
    options.uniqueKey ?? null,
    JSON.stringify(payload ?? null),
    options.runAt ?? now,
    options.maxAttempts ?? 8,
    now,
  ],
});

/** Queues a parked job again. Guard `job.failed`: there is no such job. */
export const retryStatements = (id: string, now: number): Statement[] => [
  {
    sql: "UPDATE jobs SET state = 'queued', attempt = 0, run_at = ? WHERE id = ? AND state = 'failed'",
    args: [now, id],
  },
  guard("job.failed"),
];

/** Deletes a parked job. Guard `job.failed`: there is no such job. */
export const discardStatements = (id: string): Statement[] => [
  { sql: "DELETE FROM jobs WHERE id = ? AND state = 'failed'", args: [id] },
  guard("job.failed"),
];

/** Inserts the only job of a recurring kind. A shorter interval than before takes effect at once. */
export const insertRecurringStatement = (id: string, kind: string, intervalMs: number, now: number): Statement => ({
  sql: `INSERT INTO jobs (id, kind, unique_key, payload, run_at, max_attempts, created_at) VALUES (?, ?, 'every', 'null', ?, 3, ?)
    ON CONFLICT (kind, unique_key) WHERE unique_key IS NOT NULL DO UPDATE SET run_at = excluded.run_at
    WHERE state = 'queued' AND run_at > excluded.run_at`,
  args: [id, kind, now + intervalMs, now],
});

/** Makes the statements that change the state of jobs, and the queries of the worker. */
export function createJobStore(database: Database) {
  return {
    /** Returns the time (epoch ms) of the next due job by kind, for kinds that have one. */
    async dueTimes(kinds: readonly string[]): Promise<Map<string, number>> {
      const { rows } = await database.read(
        `SELECT value AS kind, (SELECT min(run_at) FROM jobs WHERE kind = value AND state = 'queued') AS due FROM json_each(?)`,
        [JSON.stringify(kinds)],
      );
      return new Map(rows.filter((row) => row.due !== null).map((row) => [String(row.kind), Number(row.due)]));
    },

    async countDueBefore(kind: string, time: number): Promise<number> {
      const sql = "SELECT count(*) AS count FROM jobs WHERE kind = ? AND state = 'queued' AND run_at < ?";
      const { rows } = await database.readLong(sql, [kind, time]);
      return Number(rows[0]?.count);
    },

    /** Claims up to `limit` due jobs of each kind. */
    async claim(requests: readonly { kind: string; limit: number }[], now: number): Promise<ClaimedJob[]> {
      const lease = Bun.randomUUIDv7();
      const results = await database.write(
        requests.map(({ kind, limit }) => ({
          sql: `UPDATE jobs SET state = 'running', attempt = attempt + 1, lease = ? WHERE id IN
              (SELECT id FROM jobs WHERE kind = ? AND state = 'queued' AND run_at <= ? ORDER BY run_at LIMIT ?)
            RETURNING id, kind, payload, attempt, max_attempts, lease`,
          args: [lease, kind, now, limit],
        })),
      );
      return results.flatMap((result) => result.rows.map(toClaimedJob));
    },

    /**
     * Releases the running jobs of the process before. From its third attempt on, a job waits a minute, since it may be what ends
     * the process.
     */
    releaseStatement: (now: number): Statement => ({
      sql: `UPDATE jobs SET state = 'queued', lease = NULL, run_at = CASE WHEN attempt < 3 THEN ? ELSE ? END WHERE state = 'running'`,
      args: [now, now + MINUTE],
    }),

    /** Deletes a completed job, with its effects. Guard `job.done`: the claim is lost, or the job was enqueued again. */
    completeStatements: ({ id, lease }: ClaimedJob, effects: readonly Statement[]): Statement[] => [
      { sql: "DELETE FROM jobs WHERE id = ? AND lease = ? AND rerun_at IS NULL", args: [id, lease] },
      guard("job.done"),
      ...effects,
    ],

    /** Queues a job again, for `runAt` or the earlier time of a new request. Guard `job.lease`: the claim is lost. */
    requeueStatements: (
      { id, lease }: ClaimedJob,
      next: { runAt: number; attempt: number; error: string | null },
      effects: readonly Statement[] = [],
    ): Statement[] => [
      {
        sql: `UPDATE jobs SET state = 'queued', run_at = min(?, coalesce(rerun_at, ?)), rerun_at = NULL, attempt = ?, last_error = ?,
          lease = NULL WHERE id = ? AND lease = ?`,
        args: [next.runAt, next.runAt, next.attempt, next.error, id, lease],
      },
      guard("job.lease"),
      ...effects,
    ],

    /** Parks a failed job until it is enqueued again, or queues it if that has happened while it ran. */
    parkStatements: ({ id, lease }: ClaimedJob, error: string): Statement[] => [
      {
        sql: `UPDATE jobs SET state = CASE WHEN rerun_at IS NULL THEN 'failed' ELSE 'queued' END, run_at = coalesce(rerun_at, run_at),
          attempt = CASE WHEN rerun_at IS NULL THEN attempt ELSE 0 END, rerun_at = NULL, last_error = ?, lease = NULL
          WHERE id = ? AND lease = ?`,
        args: [error, id, lease],
      },
      guard("job.lease"),
    ],
  };
}

const toClaimedJob = (row: Row): ClaimedJob => ({
  id: String(row.id),
  kind: String(row.kind),
  payload: JSON.parse(String(row.payload)),
  attempt: Number(row.attempt),
  maxAttempts: Number(row.max_attempts),
  lease: String(row.lease),
});
