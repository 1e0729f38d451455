// The plugin of Berth as an MCP server: other assistants use an account's agents as tools, by API key or after a sign-in.
import { plugin } from "../../src/kernel/plugin.ts";
import { perHour, perMinute } from "../../src/kernel/security/rate-limits/rate-limiter.ts";
import { once } from "../../src/kernel/util/cache.ts";
import { HOUR } from "../../src/kernel/util/time.ts";
import { agents } from "../agents/index.ts";
import { auth } from "../auth/index.ts";
import { runtime } from "../runtime/index.ts";
import { schedules } from "../schedules/index.ts";
import { skills } from "../skills/index.ts";
import { createAccess } from "./access.ts";
import { createAddresses } from "./addresses.ts";
import { createClients } from "./oauth/clients.ts";
import { createConnectedApps, SECRET_PATTERN } from "./oauth/connected-apps.ts";
import type { McpEndpoint } from "./tools/endpoint.ts";
import { webRoutes } from "./web-routes.ts";

export const mcpServer = plugin("mcp-server", ({ kernel, use }) => {
  const { identities, users, onAccountReclaim } = use(auth);
  const agentService = use(agents);
  const runtimeService = use(runtime);
  const { memories } = use(skills);
  const scheduleService = use(schedules);
  const addresses = createAddresses(kernel.config);
  const apps = createConnectedApps(kernel);
  const clients = createClients(kernel);

  // A stranger may have connected them.
  onAccountReclaim((userId) => [apps.disconnectAllStatement(userId)]);
  kernel.jobs.every("mcp-server.sweep", HOUR, async () => [...apps.sweepStatements(), clients.sweepStatement()]);

  let made: McpEndpoint | undefined;
  const endpoint = once(async () => {
    const { createMcpEndpoint } = await import("./tools/endpoint.ts");
    made = createMcpEndpoint({ ...kernel, agents: agentService, runtime: runtimeService });
    return made;
  });
  return {
    service: {},
    web: webRoutes({ access: createAccess({ ...kernel, identities, users, apps, addresses }), addresses, endpoint }),
    lateRoutes: {
      web: [
        async () => {
          const [{ oauthRoutes }, { createAuthorization }, { createTokenEndpoint }] = await Promise.all([
            import("./oauth/routes.ts"),
            import("./oauth/authorization.ts"),
            import("./oauth/token-endpoint.ts"),
          ]);
          return oauthRoutes({
            ...kernel,
            identities,
            addresses,
            apps,
            authorization: createAuthorization({ clients, apps }),
            endpoint: createTokenEndpoint({ clients, apps }),
          });
        },
      ],
      backend: [
        async () =>
          (await import("./backend-routes.ts")).backendRoutes({
            agents: agentService,
            runtime: runtimeService,
            memories,
            schedules: scheduleService,
          }),
      ],
    },
    rateLimitRules: {
      "oauth-register": { rates: [perMinute(10), perHour(60)] },
      "oauth-token": { rates: [perMinute(60)], deferred: true },
    },
    secretPatterns: [SECRET_PATTERN],
    stop: () => made?.close(),
  };
});
