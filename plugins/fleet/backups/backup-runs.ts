// Keeps how the latest backups ended, so that a restart still knows of a failure and of the newest good one.
import type { Statement } from "../../../src/kernel/database/database.ts";
import type { Kernel } from "../../../src/kernel/plugin.ts";

export interface BackupRun {
  name: string;
  /** Epoch ms. */
  startedAt: number;
  endedAt: number;
  /** Null if it failed. */
  bytes: number | null;
  /** Why it failed. */
  error: string | null;
}

/** What is known of the past. Times in epoch ms. */
export interface BackupHistory {
  /** When the newest good backup was begun. */
  newestAt: number | undefined;
  /** When the latest one was begun, whatever became of it. */
  latestAt: number | undefined;
  /** Of the latest one, if it failed. */
  failure: { at: number; error: string } | undefined;
}

const MAX_RUNS = 200;
const RECORD =
  "INSERT OR REPLACE INTO backup_runs (started_at, ended_at, name, bytes, error) VALUES (?1, ?2, ?3, ?4, ?5)";
const FORGET = `DELETE FROM backup_runs WHERE started_at <=
  (SELECT started_at FROM backup_runs ORDER BY started_at DESC LIMIT 1 OFFSET ${MAX_RUNS})`;
const HISTORY = `SELECT started_at, ended_at, error,
  (SELECT max(started_at) FROM backup_runs WHERE error IS NULL) AS newest_at
  FROM backup_runs ORDER BY started_at DESC LIMIT 1`;

export const recordStatements = ({ startedAt, endedAt, name, bytes, error }: BackupRun): Statement[] => [
  { sql: RECORD, args: [startedAt, endedAt, name, bytes, error] },
  { sql: FORGET, args: [] },
];

export async function readHistory(database: Pick<Kernel["database"], "read">): Promise<BackupHistory> {
  const { rows } = await database.read(HISTORY);
  const [latest] = rows;
  if (!latest) return { newestAt: undefined, latestAt: undefined, failure: undefined };
  const { error } = latest;
  return {
    newestAt: latest.newest_at === null ? undefined : Number(latest.newest_at),
    latestAt: Number(latest.started_at),
    failure: error === null ? undefined : { at: Number(latest.ended_at), error: String(error) },
  };
}
