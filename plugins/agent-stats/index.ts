// Statistics of agents: CPU, memory, network, connections, and the counts and outcomes of their turns.
import { Elysia } from "elysia";
import { plugin } from "../../src/kernel/plugin.ts";
import { DAY } from "../../src/kernel/util/time.ts";
import { agents } from "../agents/index.ts";
import { auth } from "../auth/index.ts";
import { figureRoutes } from "./figure-routes.ts";
import { createFigureReader } from "./figures.ts";
import { backendRoutes, webRoutes } from "./routes.ts";
import { createSampleClock } from "./sample-clock.ts";
import { createAgentStatsService } from "./stats-service.ts";

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

  const figures = createFigureReader(kernel);
  kernel.jobs.every("agent-stats.expire-figures", DAY, async () => void (await figures.deleteOld()));

  const routeDeps = { ...kernel, accounts: host.use(auth), agents: agentService, agentStats: service };
  return {
    service,
    web: new Elysia({ name: "agent-stats.all" })
      .use(webRoutes(routeDeps))
      .use(figureRoutes({ guards: agentService.guards, figures })),
    backend: backendRoutes(routeDeps),
    start: clock.start,
    stop: clock.stop,
  };
});
