// The fleet plugin: what admins see of the whole instance, and what they may do to it. It reads the tables of the plugins
// that it reports on, and writes none of them.
import { lateCommands } from "../../src/kernel/late-commands.ts";
import { plugin } from "../../src/kernel/plugin.ts";
import { once } from "../../src/kernel/util/cache.ts";
import { DAY } from "../../src/kernel/util/time.ts";
import { admin } from "../admin/index.ts";
import { agents } from "../agents/index.ts";
import { ai } from "../ai/index.ts";
import { auth } from "../auth/index.ts";
import { channels } from "../channels/index.ts";
import { lifecycle } from "../lifecycle/index.ts";
import { runtime } from "../runtime/index.ts";
import { createDatabaseBackups } from "./backups/database-backups.ts";
import { createFigureRecorder } from "./figures/figures.ts";
import { createRuns } from "./instance/runs.ts";
import { createSettingsReport } from "./instance/settings-report.ts";
import { createDailySums } from "./reports/daily-sums.ts";
import { dayOf } from "./reports/days.ts";

export type { SettingsReport } from "./instance/settings-report.ts";
export type { LiveSnapshot } from "./live-snapshot.ts";

/** Days that are summed in advance: the reports that open first show a month. */
const SUMMED_DAYS = 32;

/** Asked by the other cells. */
const REPORT_QUESTION = "fleet.report";

/** The run is recorded this many milliseconds after the start, so that the start does not wait for the write. */
const OPENING_DELAY_MS = 1_000;

export const fleet = plugin("fleet", (host) => {
  const { kernel } = host;
  const { identities, users, mails } = host.use(auth);
  const services = {
    admin: host.use(admin),
    agents: host.use(agents),
    ai: host.use(ai),
    channels: host.use(channels),
    lifecycle: host.use(lifecycle),
  };
  const dailySums = createDailySums(kernel);
  const runs = createRuns({ ...kernel, resumedTurns: host.use(runtime).resumedTurns });
  const figures = createFigureRecorder({ ...kernel, runs });
  let opening: Timer | undefined;
  const settings = createSettingsReport();
  const backups = createDatabaseBackups(kernel);

  /** Made at the first request of an admin. */
  const routes = once(async () =>
    (await import("./routes.ts")).createRoutes({
      ...kernel,
      identities,
      users,
      mails,
      ...services,
      dailySums,
      figures,
      runs,
      settings: settings.read,
      backups,
    }),
  );

  kernel.cells?.answer(REPORT_QUESTION, async (text) =>
    (await import("./cells/whole-reports.ts")).answerReport((await routes()).cellReports, text),
  );
  kernel.jobs.every("fleet.sum-usage", DAY, async () => {
    const today = dayOf(Date.now());
    await dailySums.ensure(today - SUMMED_DAYS, today);
  });

  return {
    service: {
      /** Sets where the report of the settings in force comes from. */
      registerSettingsReport: settings.registerSettingsReport,
      /** Sets what makes and keeps backups of the whole service. */
      registerBackupWork: backups.registerBackupWork,
      /** Begins to watch the continuous copy, which tells the listener how it goes. */
      listenToCopy: backups.listenToCopy,
      figures,
      /** Over the control socket: for `berth top`, and `berth agent …`. */
      commands: lateCommands(["fleet.live", "agent.freeze", "agent.unfreeze"], async () => {
        const { live, commands } = await routes();
        return { "fleet.live": live, ...commands };
      }),
    },
    lateRoutes: { web: [async () => (await routes()).web], backend: [async () => (await routes()).backend] },
    check: backups.check,
    async start() {
      await backups.start();
      figures.start();
      opening = setTimeout(() => {
        runs.open().catch((error: unknown) => kernel.log.warn("this run could not be recorded", { error }));
      }, OPENING_DELAY_MS);
      opening.unref();
    },
    stop() {
      clearTimeout(opening);
      return figures.stop();
    },
  };
});
