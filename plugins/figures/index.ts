// Figures of agents: processor, memory, network, connections, and what became of their messages.
import { plugin } from "../../src/plugin.ts";
import { agents } from "../agents/index.ts";
import { auth } from "../auth/index.ts";
import { createClock } from "./clock.ts";
import { createFigures } from "./figures.ts";
import { backendRoutes, webRoutes } from "./routes.ts";

export type { AgentFigures, CountTurns, Figures } from "./figures.ts";
export type { EndedTurn, Tally } from "./turns.ts";
export { RECENT } from "./turns.ts";

export const figures = plugin("figures", (host) => {
  const { kernel } = host;
  const hosted = host.use(agents);
  const clock = createClock();
  const service = createFigures({ clock });
  service.holds(hosted.held);
  hosted.onDelete(service.forget);

  const parts = { ...kernel, accounts: host.use(auth), agents: hosted, figures: service };
  return {
    service,
    web: webRoutes(parts),
    backend: backendRoutes(parts),
    start: clock.start,
    stop: clock.stop,
  };
});
