// The one place that knows what is kept for how long: plugins register each kind of data, and jobs delete what is older.
import type { Database } from "../database/database.ts";
import type { Jobs } from "../jobs/jobs.ts";
import type { Log } from "../telemetry/log.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { DAY } from "../util/time.ts";
import { deleteInBatches } from "./deletion.ts";
import type { KeptKind, RunOptions } from "./kept-kind.ts";

export interface Retention {
  /** Registers a kind of data. A job deletes what is older than its time. */
  register(kind: KeptKind): void;
  kinds(): readonly KeptKind[];
  /** Deletes what is older than `before`, in small batches; returns the number of rows. One run at a time. */
  deleteBefore(kind: KeptKind, before: number, options?: RunOptions): Promise<number>;
}

interface Deps {
  jobs: Pick<Jobs, "every">;
  metrics: Metrics;
  log: Log;
  database: Pick<Database, "file">;
}

export function createRetention({ jobs, metrics, log, database }: Deps): Retention {
  const kinds: KeptKind[] = [];
  const deleted = metrics.counter(
    "berth_retention_deleted_total",
    "Rows that were deleted because their time was over, by kind.",
    ["kind"],
  );
  /** Two runs at once would take twice the share of the database. */
  let last: Promise<unknown> = Promise.resolve();

  const deleteBefore: Retention["deleteBefore"] = (kind, before, options = {}) => {
    const onBatch = (rows: number) => deleted.labels({ kind: kind.name }).inc(rows);
    const run = last.then(() =>
      deleteInBatches(kind.steps, before, { ...options, isRemote: database.file === undefined, onBatch }),
    );
    last = run.catch(() => undefined);
    return run;
  };

  return {
    register(kind) {
      kinds.push(kind);
      const { name, keepMs } = kind;
      if (keepMs === undefined) return;
      jobs.every(`retention.${name}`, kind.everyMs ?? DAY, async ({ signal }) => {
        const rows = await deleteBefore(kind, Date.now() - keepMs, { signal, stopsUnderLoad: true });
        if (rows > 0) log.info("deleted what was older than its time", { kind: name, rows });
      });
    },
    kinds: () => kinds,
    deleteBefore,
  };
}
