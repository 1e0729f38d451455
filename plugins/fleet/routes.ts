// Composes the reports and actions of admins into the routes of both surfaces. Loaded at the first request of an admin.
import type { AnyElysia } from "elysia";
import type { Kernel, ServiceOf } from "../../src/kernel/plugin.ts";
import type { admin } from "../admin/index.ts";
import type { agents } from "../agents/index.ts";
import type { ai } from "../ai/index.ts";
import type { auth } from "../auth/index.ts";
import type { channels } from "../channels/index.ts";
import type { lifecycle } from "../lifecycle/index.ts";
import { backendRoutes } from "./backend-routes.ts";
import type { DatabaseBackups } from "./backups/database-backups.ts";
import { createWholeReports } from "./cells/whole-reports.ts";
import type { FigureRecorder } from "./figures/figures.ts";
import { createFleetActions, type FleetActions } from "./fleet-actions.ts";
import { type CellReports, createFleetReports } from "./fleet-reports.ts";
import type { Runs } from "./instance/runs.ts";
import type { SettingsReport } from "./instance/settings-report.ts";
import { createStorageReport } from "./instance/storage.ts";
import { type LiveSnapshot, takeLiveSnapshot } from "./live-snapshot.ts";
import { createFleetCounts } from "./reports/counts.ts";
import type { DailySums } from "./reports/daily-sums.ts";
import { createFleetAgents } from "./reports/fleet-agents.ts";
import { createFleetJobs } from "./reports/fleet-jobs.ts";
import { createFleetUsage } from "./reports/fleet-usage.ts";
import { createOverview } from "./reports/overview.ts";
import { webRoutes } from "./web-routes.ts";

interface Deps extends Kernel {
  identities: ServiceOf<typeof auth>["identities"];
  users: ServiceOf<typeof auth>["users"];
  mails: ServiceOf<typeof auth>["mails"];
  agents: ServiceOf<typeof agents>;
  ai: ServiceOf<typeof ai>;
  admin: ServiceOf<typeof admin>;
  channels: ServiceOf<typeof channels>;
  lifecycle: ServiceOf<typeof lifecycle>;
  dailySums: DailySums;
  figures: FigureRecorder;
  runs: Runs;
  settings: () => Promise<SettingsReport>;
  backups: DatabaseBackups;
}

export interface FleetRoutes {
  web: AnyElysia;
  backend: AnyElysia;
  /** For the other cells. */
  cellReports: CellReports;
  live: () => Promise<LiveSnapshot>;
  commands: FleetActions["commands"];
}

export function createRoutes(deps: Deps): FleetRoutes {
  const { identities } = deps;
  const usage = createFleetUsage(deps);
  const parts = { ...deps, counts: createFleetCounts({ ...deps, usage }), storage: createStorageReport(deps) };
  const overview = createOverview(parts);
  const reports = createFleetReports({
    ...parts,
    overview,
    agents: createFleetAgents(parts),
    jobs: createFleetJobs(deps),
    usage,
  });
  const actions = createFleetActions(deps);
  const cellReports = { ...reports, overview };
  return {
    cellReports,
    commands: actions.commands,
    live: () => takeLiveSnapshot({ ...deps, reports }),
    web: webRoutes({
      ...deps,
      identities,
      reports,
      wholeReports: deps.cells && createWholeReports(deps.cells, cellReports),
    }),
    backend: backendRoutes({ guards: identities.guards, reports, actions }),
  };
}
