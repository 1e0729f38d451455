// Statistics of agents: CPU, memory, network, connections, and the counts and outcomes of their turns.
import { plugin } from "../../src/kernel/plugin.ts";
import { DAY } from "../../src/kernel/util/time.ts";
import { agents } from "../agents/index.ts";
import { auth } from "../auth/index.ts";
import { createFigureReader } from "./figures.ts";
import { createSampleClock } from "./sample-clock.ts";
import { createAgentStatsService } from "./stats-service.ts";

export { addCallsToHours, TURNS_OF_AGENT } from "./figures.ts";
export type { AgentStats, AgentStatsService, LoadTurnHistory } from "./stats-service.ts";
export type { EndedTurn, TurnHistory } from "./turn-counter.ts";
export { RECENT_TURNS } from "./turn-counter.ts";

export const agentStats = plugin("agent-stats", (host) => {
  const { kernel } = host;
  const agentService = host.use(agents);
  const clock = createSampleClock();
  const service = createAgentStatsService({ clock });
  service.addMemoryGauge(agentService.memoryBytes);
  agentService.onDelete(service.forgetAgent);

  const figures = createFigureReader({ ...kernel, prepare: service.prepareFigures });
  kernel.jobs.every("agent-stats.expire-figures", DAY, async () => void (await figures.deleteOld()));

  const routeDeps = { ...kernel, accounts: host.use(auth), agents: agentService, agentStats: service };
  return {
    service,
    lateRoutes: {
      web: [
        async () => (await import("./routes.ts")).webRoutes(routeDeps),
        async () => (await import("./figure-routes.ts")).figureRoutes({ guards: agentService.guards, figures }),
      ],
      backend: [async () => (await import("./routes.ts")).backendRoutes(routeDeps)],
    },
    start: clock.start,
    stop: clock.stop,
  };
});
