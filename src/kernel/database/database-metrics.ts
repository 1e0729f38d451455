// Registers the metrics of the database: commits, the wait before them, checkpoints, and the sizes of its files.
import { stat } from "node:fs/promises";
import type { Metrics } from "../telemetry/metrics.ts";

export interface DatabaseMetrics {
  /** One commit of some batches, the first of which waited `waitedMs` for it. */
  onCommit(batches: number, ms: number, waitedMs: number): void;
  onCheckpoint(ms: number): void;
}

const SECONDS = [0.0002, 0.001, 0.005, 0.02, 0.1, 1, 5];

/** @param file the path of a local database; a server knows the sizes of its own files */
export function createDatabaseMetrics(metrics: Metrics, file: string | undefined): DatabaseMetrics {
  const batches = metrics.counter("berth_database_batches_total", "Batches written to the database.");
  const groups = metrics.counter("berth_database_commits_total", "Commits, each of one or more batches.");
  const time = metrics.histogram("berth_database_commit_seconds", "Duration of a commit.", SECONDS);
  const wait = metrics.histogram(
    "berth_database_queue_wait_seconds",
    "How long the first batch of a commit has waited for it.",
    SECONDS,
  );
  const checkpoint = metrics.histogram("berth_database_checkpoint_seconds", "Duration of a checkpoint.", SECONDS);
  if (file !== undefined) {
    metrics.measured(
      {
        berth_database_size_bytes: ["Size of the database file."],
        berth_database_wal_size_bytes: ["Size of the write-ahead log."],
      },
      async () => {
        const sizeOf = async (path: string) => (await stat(path).catch(() => undefined))?.size ?? 0;
        return {
          berth_database_size_bytes: await sizeOf(file),
          berth_database_wal_size_bytes: await sizeOf(`${file}-wal`),
        };
      },
    );
  }
  return {
    onCommit(count, ms, waitedMs) {
      batches.inc(count);
      groups.inc();
      time.observe(ms / 1000);
      wait.observe(waitedMs / 1000);
    },
    onCheckpoint: (ms) => checkpoint.observe(ms / 1000),
  };
}
