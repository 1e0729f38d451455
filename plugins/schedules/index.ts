// The plugin of schedules: prompts that an agent gets at set times, each run exactly once.
import { plugin } from "../../src/kernel/plugin.ts";
import { MINUTE } from "../../src/kernel/util/time.ts";
import { type Agent, agents } from "../agents/index.ts";
import { auth } from "../auth/index.ts";
import { runtime } from "../runtime/index.ts";
import { skills, TAINT, type Taint } from "../skills/index.ts";
import { createBackupRows } from "./backup-rows.ts";
import { createScheduleWarnings } from "./config-warnings.ts";
import { syncConfiguredSchedules } from "./configured.ts";
import { createFiring } from "./firing.ts";
import { toScheduleItem } from "./model.ts";
import { createScheduleService, type ScheduleRequest } from "./schedule-service.ts";
import { createScheduleSkill } from "./schedule-skill.ts";
import { createScheduleStore, JOB } from "./schedule-store.ts";
import { createSettlement } from "./settlement.ts";

export { exportedSchedule, type ScheduleRow } from "./backup-rows.ts";

export const schedules = plugin("schedules", ({ kernel, use }) => {
  const agentService = use(agents);
  const authService = use(auth);
  const runtimeService = use(runtime);
  const now = Date.now;
  const store = createScheduleStore({ ...kernel, now });
  const service = createScheduleService({ agents: agentService, runtime: runtimeService, store, now });
  const firing = createFiring({ ...kernel, agents: agentService, runtime: runtimeService, now });
  const backupRows = createBackupRows(kernel);
  kernel.metrics.measured(
    { berth_schedules_late: ["Schedules that were due more than a minute ago and have not run."] },
    async () => ({ berth_schedules_late: await kernel.jobs.countDueBefore(JOB, now() - MINUTE) }),
  );
  agentService.registerConfigCheck(createScheduleWarnings({ findAgent: agentService.find, store }));
  syncConfiguredSchedules({ ...kernel, agents: agentService, store });
  runtimeService.onScheduledSettled(createSettlement({ ...kernel, agents: agentService, now }));
  // A stranger's schedules would go on serving the stranger.
  authService.onAccountReclaim((userId) => [backupRows.pauseAllStatement(userId)]);
  const skill = createScheduleSkill({ agents: agentService, service, store });
  const available = [skill];
  use(skills).register({ id: "built-in", skillsFor: () => available });

  const { guards } = agentService;
  const deps = { guards, store, service, runtime: runtimeService };
  return {
    service: {
      backupRows,
      /** Makes a schedule of prompts with this taint. Throws as `ScheduleService.create`. */
      async create(agent: Agent, request: ScheduleRequest & { prompt: string }, taint: Taint) {
        return toScheduleItem(
          await service.create(agent, request, taint === TAINT.none ? undefined : { taint, id: Bun.randomUUIDv7() }),
        );
      },
    },
    lateRoutes: {
      web: [
        async () => (await import("./routes.ts")).webRoutes({ ...deps, ...kernel, identities: authService.identities }),
      ],
      backend: [async () => (await import("./routes.ts")).backendRoutes({ ...deps, firing })],
    },
  };
});
