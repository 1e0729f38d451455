// The overview of the instance in one answer: what is wrong first, then what runs, waits and costs.
import type { Kernel, ServiceOf } from "../../../src/kernel/plugin.ts";
import type { Outages } from "../../../src/kernel/telemetry/outages.ts";
import type { ai as aiPlugin } from "../../ai/index.ts";
import type { channels as channelsPlugin, FleetState } from "../../channels/index.ts";
import type { DatabaseBackups } from "../backups/database-backups.ts";
import type { FigureRecorder } from "../figures/figures.ts";
import type { Runs } from "../instance/runs.ts";
import type { SettingsReport } from "../instance/settings-report.ts";
import type { StorageReport } from "../instance/storage.ts";
import type { FleetCounts } from "./counts.ts";
import { findProblems } from "./problems/find-problems.ts";
import type { Problem } from "./problems/problem.ts";

export interface Overview {
  problems: Problem[];
  counts: FleetCounts;
  channels: Record<FleetState, number>;
  storage: Pick<StorageReport, "database" | "disk">;
}

/** Minutes of which the worst delay counts. */
const LAG_MINUTES = 5;

interface Deps extends Pick<Kernel, "database"> {
  ai: Pick<ServiceOf<typeof aiPlugin>, "providerReports" | "isDemo">;
  channels: Pick<ServiceOf<typeof channelsPlugin>, "fleet">;
  counts: () => Promise<FleetCounts>;
  storage: () => Promise<StorageReport>;
  settings: () => Promise<SettingsReport>;
  backups: Pick<DatabaseBackups, "health">;
  figures: Pick<FigureRecorder, "read">;
  runs: Pick<Runs, "suddenEnds">;
  outages: Pick<Outages, "current">;
}

export function createOverview(deps: Deps) {
  const { database, ai, channels, counts, storage, settings, backups, figures, runs, outages } = deps;
  let databaseCreatedAt: Promise<number> | undefined;

  /** The time of the first migration: a new instance needs no backup yet. */
  async function readCreation(): Promise<number> {
    const { rows } = await database.read("SELECT min(applied_at) AS at FROM migrations");
    return Number(rows[0]?.at ?? Date.now());
  }

  return async (): Promise<Overview> => {
    databaseCreatedAt ??= readCreation().catch((error: unknown) => {
      databaseCreatedAt = undefined;
      throw error;
    });
    const [counted, states, stored, report, health, createdAt, databaseWorks, suddenEnds] = await Promise.all([
      counts(),
      channels.fleet.counts(),
      storage(),
      settings(),
      backups.health(),
      databaseCreatedAt,
      database.ready().catch(() => false),
      runs.suddenEnds(),
    ]);
    const delays = figures.read(1, LAG_MINUTES).figures.lagMs.map((ms) => ms ?? 0);
    const problems = findProblems({
      now: Date.now(),
      counts: counted,
      channels: states,
      providers: ai.providerReports(),
      isDemo: ai.isDemo(),
      databaseWorks,
      backups: database.file === undefined ? undefined : { ...health, databaseCreatedAt: createdAt },
      disk: stored.disk,
      settings: report.findings,
      lagMs: Math.max(...delays),
      suddenEnds,
      outages: [...outages.current.values()],
    });
    return {
      problems,
      counts: counted,
      channels: states,
      storage: { database: stored.database, disk: stored.disk },
    };
  };
}
