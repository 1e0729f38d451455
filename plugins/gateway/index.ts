// The gateway: a token for each agent, and the WebSocket at /agent/:id that carries messages to it and streams its replies.
import { ownsDatabase, plugin } from "../../src/kernel/plugin.ts";
import { agentStats } from "../agent-stats/index.ts";
import { agents } from "../agents/index.ts";
import { auth } from "../auth/index.ts";
import { createCredentialCheck } from "./credential-check.ts";
import { createGatewaySockets } from "./gateway-sockets.ts";
import { createGatewayTokens } from "./gateway-tokens.ts";
import { createLogTail } from "./log-tail.ts";
import { createSocketAuthentication } from "./socket-authentication.ts";
import { createSocketChat } from "./socket-chat.ts";
import { socketDocumentation } from "./socket-documentation.ts";

const ROTATE_TOKENS = "gateway.strangers-out";

export const gateway = plugin("gateway", (host) => {
  const { kernel } = host;
  const authService = host.use(auth);
  const agentService = host.use(agents);
  const tokens = createGatewayTokens(kernel);
  const deps = { ...kernel, ...authService, agents: agentService, tokens };
  const sockets = createGatewaySockets({
    ...deps,
    isSingleProcess: ownsDatabase(kernel),
    authenticate: createSocketAuthentication(deps),
    findExpired: createCredentialCheck(deps),
    follow: createLogTail({ ...kernel, logs: agentService.logs }).follow,
    line: agentService.views.line,
    chat: (client, isStopping, onIdle) => createSocketChat({ ...kernel, isStopping }, client, onIdle),
  });

  host.use(agentStats).addConnectionGauge(sockets.openCount);

  // The person who loses a reclaimed account may know the tokens of its agents, so each agent gets a new one.
  authService.onAccountReclaim((userId) => [kernel.jobs.enqueueStatement(ROTATE_TOKENS, { userId })]);
  kernel.jobs.handle(ROTATE_TOKENS, async (payload) => {
    const { userId } = payload as { userId: string };
    for (const { id } of await agentService.list(userId)) await tokens.rotate(id);
  });

  return {
    service: {},
    lateRoutes: {
      web: [async () => (await import("./web-routes.ts")).webRoutes(deps)],
      backend: [async () => (await import("./backend-routes.ts")).backendRoutes(deps)],
    },
    sockets: [sockets.route],
    documentedPaths: socketDocumentation,
    securitySchemes: {
      gatewayToken: {
        type: "http",
        scheme: "bearer",
        description: "An agent's own, from `GET /api/agents/:id/token`.",
      },
    },
    stop: sockets.close,
  };
});
