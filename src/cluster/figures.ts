// Counts what a node of a cluster does, for /metrics: also while it has no cell, and over all cells that it has had.
import type { Counter, Histogram, Metrics } from "../kernel/telemetry/metrics.ts";

const COUNTERS = {
  fenced: ["berth_cluster_fenced_total", "Times that this node gave a cell up because it could not write it any more."],
  logLost: [
    "berth_cluster_log_lost_total",
    "Times that the engine had lost entries of a log, which this node's file had.",
  ],
  relayed: ["berth_cluster_relayed_total", "Requests that this node sent on to the owner."],
} as const;
type Counted = keyof typeof COUNTERS;

export interface Observed {
  /** Cells of the cluster. */
  cells: number;
  /** Cells that this node owns. */
  owned: number;
  /** Cells that it should follow and can't. */
  stuck: number;
  /** No other machine reaches this one. */
  isUnreachable?: boolean;
  /** Milliseconds for which the lease is trusted without a renewal. */
  trustedMs: number;
  /** Entries of the log. */
  behind: number;
}

export interface ClusterFigures {
  count(what: Counted): void;
  appended(ms: number): void;
  /** Milliseconds from the decision to own the cell until it was served. */
  tookOver(ms: number): void;
  watch(read: () => Observed): void;
  /** Registers everything in the metrics of a cell, or of a node without one. */
  register(metrics: Metrics): void;
}

export function createClusterFigures(): ClusterFigures {
  const counts: Record<Counted, number> = { fenced: 0, logLost: 0, relayed: 0 };
  const sinks: { counters: Record<Counted, Counter>; appends: Histogram }[] = [];
  let takeoverMs = 0;
  let read: () => Observed = () => ({ cells: 0, owned: 0, stuck: 0, trustedMs: 0, behind: 0 });
  return {
    count(what) {
      counts[what]++;
      for (const { counters } of sinks) counters[what].inc();
    },
    appended(ms) {
      for (const { appends } of sinks) appends.observe(ms / 1000);
    },
    tookOver(ms) {
      takeoverMs = ms;
    },
    watch(next) {
      read = next;
    },
    register(metrics) {
      const counterOf = (what: Counted) => {
        const [name, help] = COUNTERS[what];
        const counter = metrics.counter(name, help);
        counter.inc(counts[what]);
        return counter;
      };
      const counters = { fenced: counterOf("fenced"), logLost: counterOf("logLost"), relayed: counterOf("relayed") };
      const appends = metrics.histogram(
        "berth_cluster_append_seconds",
        "Time until a group of writes was in the log and in the file.",
        [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5],
      );
      // One of a node without a cell, and one of the cell that it has; a cell that has ended is not rendered any more.
      sinks.push({ counters, appends });
      metrics.gauge("berth_cluster_cells", "Cells that the cluster has.", () => read().cells);
      metrics.gauge("berth_cluster_owned", "Cells that this node owns.", () => read().owned);
      metrics.gauge(
        "berth_cluster_stuck",
        "Cells that this node should follow and can't: they have no standby.",
        () => read().stuck,
      );
      metrics.gauge(
        "berth_cluster_unreachable",
        "1 while no other machine reaches this one at its NODE_ADDRESS, so that it gives its cells away.",
        () => Number(read().isUnreachable ?? false),
      );
      metrics.gauge(
        "berth_cluster_lease_seconds",
        "Time for which this node's lease is trusted without a renewal; 0 when it ran out.",
        () => read().trustedMs / 1000,
      );
      metrics.gauge(
        "berth_cluster_behind_entries",
        "Entries of the log that this node's copy has still to apply.",
        () => Math.max(0, read().behind),
      );
      metrics.gauge(
        "berth_cluster_takeover_seconds",
        "Time of this node's last takeover, from its decision until the cell was served.",
        () => takeoverMs / 1000,
      );
    },
  };
}
