// Takes the state of the whole instance at one moment, for `berth top`: sums since the start, what waits, and what is wrong.
import type { Kernel } from "../../src/kernel/plugin.ts";
import type { FigureRecorder } from "./figures/figures.ts";
import type { FleetReports } from "./fleet-reports.ts";

type Overview = Awaited<ReturnType<FleetReports["overview"]>>;
type Providers = Awaited<ReturnType<FleetReports["providers"]>>["providers"];

/** Nothing in it comes from conversations. */
export interface LiveSnapshot extends Omit<Overview, "cells" | "database" | "disk" | "month"> {
  /** Epoch ms. */
  at: number;
  /** Since the start of the process. */
  sums: {
    turns: number;
    failedTurns: number;
    requests: number;
    serverErrors: number;
    modelCalls: number;
    tokens: number;
    costUsd: number;
    /** Processor time in seconds. */
    cpuSeconds: number;
  };
  memoryBytes: number;
  /** The worst delay of a timer in the last whole minute; null in the first one. */
  lagMs: number | null;
  disk: Overview["disk"];
  /** With CELLS: each cell by itself, undefined for one that starts; the rest is all of them together. */
  cells?: (LiveSnapshot | undefined)[];
  providers: Pick<Providers[number], "id" | "label" | "configured" | "demo" | "reachable" | "breaker" | "recent">[];
}

interface Deps extends Pick<Kernel, "metrics"> {
  figures: Pick<FigureRecorder, "read">;
  reports: Pick<FleetReports, "overview" | "providers">;
}

export async function takeLiveSnapshot({ metrics, figures, reports }: Deps): Promise<LiveSnapshot> {
  const [{ database: _, month: __, cells: ___, ...overview }, { providers }] = await Promise.all([
    reports.overview(),
    reports.providers(),
  ]);
  const { user, system } = process.cpuUsage();
  return {
    ...overview,
    at: Date.now(),
    sums: {
      turns: metrics.sum("berth_turns_total"),
      failedTurns: metrics.sum("berth_turns_total", { outcome: "failed" }),
      requests: metrics.sum("berth_http_seconds"),
      serverErrors: metrics.sum("berth_http_seconds", { class: "5xx" }),
      modelCalls: metrics.sum("berth_ai_calls_total"),
      tokens: metrics.sum("berth_ai_tokens_total"),
      costUsd: metrics.sum("berth_ai_cost_usd_total"),
      cpuSeconds: (user + system) / 1e6,
    },
    memoryBytes: process.memoryUsage.rss(),
    lagMs: figures.read(1, 2).figures.lagMs.at(0) ?? null,
    providers: providers
      .filter(({ configured, demo, recent }) => configured || demo || recent.calls > 0)
      .map(({ id, label, configured, demo, reachable, breaker, recent }) => ({
        ...{ id, label, configured, demo, reachable, breaker, recent },
      })),
  };
}
