// Registers the metrics of the process: memory, processor time, descriptors, and the lag of the event loop.
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import type { Metrics } from "./metric-types.ts";

const LAG_INTERVAL_MS = 500;
/** Linux lists the descriptors of the process there; elsewhere these two metrics have no sample. */
const DESCRIPTORS = "/proc/self/fd";

/** The names are those of Prometheus' own client libraries. */
export function registerProcessMetrics({
  gauge,
  measured,
}: Pick<Metrics, "gauge" | "measured">): Pick<Metrics, "takeWorstLag" | "stop"> {
  const startedAt = Date.now() - process.uptime() * 1000;
  gauge("process_resident_memory_bytes", "Resident memory.", () => process.memoryUsage.rss());
  gauge("process_start_time_seconds", "When the process started, since the epoch.", () => startedAt / 1000);
  gauge("process_uptime_seconds", "Time since the process started.", () => process.uptime());
  measured(
    {
      process_cpu_seconds_total: ["CPU time used, by user and system together."],
      process_open_fds: ["Descriptors in use: files and connections."],
      process_max_fds: ["Descriptors that the process may have."],
    },
    async () => {
      const { user, system } = process.cpuUsage();
      const cpu = { process_cpu_seconds_total: (user + system) / 1e6 };
      if (!existsSync(DESCRIPTORS)) return { ...cpu, process_open_fds: [], process_max_fds: [] };
      const limit = /^Max open files +(\d+)/m.exec(await readFile("/proc/self/limits", "utf8"))?.[1];
      return { ...cpu, process_open_fds: (await readdir(DESCRIPTORS)).length, process_max_fds: Number(limit) };
    },
  );

  let worst = 0;
  let worstTaken = 0;
  let due = performance.now() + LAG_INTERVAL_MS;
  const timer = setInterval(() => {
    const now = performance.now();
    worst = Math.max(worst, now - due);
    worstTaken = Math.max(worstTaken, now - due);
    due = now + LAG_INTERVAL_MS;
  }, LAG_INTERVAL_MS);
  timer.unref();
  gauge("berth_event_loop_lag_seconds", "Worst delay of a timer since the last scrape.", () => {
    const seconds = Math.max(worst, performance.now() - due, 0) / 1000;
    worst = 0;
    return seconds;
  });
  return {
    takeWorstLag() {
      const ms = Math.max(worstTaken, performance.now() - due, 0);
      worstTaken = 0;
      return ms;
    },
    stop: () => clearInterval(timer),
  };
}
