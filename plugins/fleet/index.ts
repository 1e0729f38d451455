// The fleet plugin: what admins see of the whole instance, and what they may do to it. It reads the tables of the plugins
// that it reports on, and writes none of them.
import { plugin } from "../../src/kernel/plugin.ts";
import { DAY } from "../../src/kernel/util/time.ts";
import { admin } from "../admin/index.ts";
import { agents } from "../agents/index.ts";
import { ai } from "../ai/index.ts";
import { auth } from "../auth/index.ts";
import { channels } from "../channels/index.ts";
import { lifecycle } from "../lifecycle/index.ts";
import { backendRoutes } from "./backend-routes.ts";
import { createFigureRecorder } from "./figures/figures.ts";
import { createFleetActions } from "./fleet-actions.ts";
import { createFleetReports } from "./fleet-reports.ts";
import { createDatabaseBackups } from "./instance/database-backups.ts";
import { createSettingsReport } from "./instance/settings-report.ts";
import { createStorageReport } from "./instance/storage.ts";
import { createFleetCounts } from "./reports/counts.ts";
import { createDailySums } from "./reports/daily-sums.ts";
import { dayOf } from "./reports/days.ts";
import { createFleetAgents } from "./reports/fleet-agents.ts";
import { createFleetJobs } from "./reports/fleet-jobs.ts";
import { createFleetUsage } from "./reports/fleet-usage.ts";
import { createOverview } from "./reports/overview.ts";
import { webRoutes } from "./web-routes.ts";

export type { BackUpDatabase } from "./instance/database-backups.ts";
export type { SettingsReport } from "./instance/settings-report.ts";

/** Days that are summed in advance: the reports that open first show a month. */
const SUMMED_DAYS = 32;

export const fleet = plugin("fleet", (host) => {
  const { kernel } = host;
  const { identities, users } = host.use(auth);
  const agentService = host.use(agents);
  const services = { ai: host.use(ai), channels: host.use(channels), lifecycle: host.use(lifecycle) };
  const dailySums = createDailySums(kernel);
  const usage = createFleetUsage({ ...kernel, dailySums });
  const counts = createFleetCounts({ ...kernel, usage });
  const figures = createFigureRecorder(kernel);
  const settings = createSettingsReport();
  const storage = createStorageReport(kernel);
  const backups = createDatabaseBackups(kernel);
  const parts = { ...kernel, ...services, counts, figures, settings: settings.read, storage, backups };
  const reports = createFleetReports({
    ...parts,
    overview: createOverview(parts),
    agents: createFleetAgents(parts),
    jobs: createFleetJobs(kernel),
    usage,
  });
  const actions = createFleetActions({ ...parts, admin: host.use(admin), agents: agentService, users });

  kernel.jobs.every("fleet.sum-usage", DAY, async () => {
    const today = dayOf(Date.now());
    await dailySums.ensure(today - SUMMED_DAYS, today);
  });

  return {
    service: {
      /** Sets where the report of the settings in force comes from. */
      registerSettingsReport: settings.registerSettingsReport,
      /** Sets how a copy of the database is written. */
      registerDatabaseBackup: backups.registerDatabaseBackup,
      figures,
    },
    web: webRoutes({ ...kernel, identities, reports }),
    backend: backendRoutes({ guards: identities.guards, reports, actions }),
    start: figures.start,
    stop: figures.stop,
  };
});
