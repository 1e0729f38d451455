// The gateway to an agent: its token, and the socket at /agent/:id that carries chat frames to it and the growing reply back.
import { ownsDatabase, plugin } from "../../src/plugin.ts";
import { agents } from "../agents/index.ts";
import { auth } from "../auth/index.ts";
import { figures } from "../figures/index.ts";
import { backendRoutes } from "./backend.ts";
import { createEntrance } from "./entrance.ts";
import { createGateway } from "./gateway.ts";
import { createLogLines } from "./log-lines.ts";
import { createRights } from "./rights.ts";
import { createTalk } from "./talk.ts";
import { createGatewayTokens } from "./tokens.ts";
import { webRoutes } from "./web.ts";

const STRANGERS_OUT = "gateway.strangers-out";

export const gateway = plugin("gateway", (host) => {
  const { kernel } = host;
  const accounts = host.use(auth);
  const hosted = host.use(agents);
  const tokens = createGatewayTokens(kernel);
  const parts = { ...kernel, ...accounts, agents: hosted, tokens };
  const sockets = createGateway({
    ...parts,
    alone: ownsDatabase(kernel),
    admit: createEntrance(parts),
    ended: createRights(parts),
    follow: createLogLines({ ...kernel, logs: hosted.logs }).follow,
    line: hosted.views.line,
    talk: (admitted, isStopping, idle) => createTalk({ ...kernel, isStopping }, admitted, idle),
  });

  host.use(figures).keeps(sockets.kept);

  // A token that a stranger was shown opens nothing for the owner's agents: each gets another.
  accounts.onTakeover((userId) => [kernel.jobs.enqueue(STRANGERS_OUT, { userId })]);
  kernel.jobs.handle(STRANGERS_OUT, async (payload) => {
    const { userId } = payload as { userId: string };
    for (const { id } of await hosted.list(userId)) await tokens.rotate(id);
  });

  return {
    service: {},
    web: webRoutes(parts),
    backend: backendRoutes(parts),
    sockets: [sockets.route],
    stop: sockets.close,
  };
});
