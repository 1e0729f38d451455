// The plugin of agents among agents: they ask each other on this host, and by the A2A protocol over hosts.
import { plugin } from "../../src/kernel/plugin.ts";
import { once } from "../../src/kernel/util/cache.ts";
import { agents } from "../agents/index.ts";
import { auth } from "../auth/index.ts";
import { publicPage } from "../public-page/index.ts";
import { runtime } from "../runtime/index.ts";
import { skills } from "../skills/index.ts";
import { createCallBudget } from "./call-budget.ts";
import { createAgentDirectory } from "./local/agent-directory.ts";
import { createAgentSkill } from "./local/agent-skill.ts";
import { webRoutes } from "./web-routes.ts";

export const peers = plugin("peers", ({ kernel, use }) => {
  const agentService = use(agents);
  const { identities, users } = use(auth);
  const pages = use(publicPage);
  const runtimeService = use(runtime);
  const directory = createAgentDirectory({ agents: agentService, users, publicPage: pages });
  const budget = createCallBudget();
  const available = [createAgentSkill({ ...pages, directory, messages: runtimeService.agentMessages, budget })];
  use(skills).register({ id: "built-in", skillsFor: () => available });

  const endpoint = once(async () => {
    const [{ createA2AEndpoint }, { createVisits }] = await Promise.all([
      import("./a2a/endpoint.ts"),
      import("./a2a/visits.ts"),
    ]);
    return createA2AEndpoint({ ...kernel, visits: createVisits({ ...kernel, visitors: pages.visitors }) });
  });
  return {
    service: {},
    web: webRoutes({ agents: agentService, users, publicPage: pages, endpoint }),
    lateRoutes: {
      backend: [
        async () =>
          (await import("./backend-routes.ts")).backendRoutes({
            identities,
            agents: agentService,
            runtime: runtimeService,
            toVisitorError: pages.toVisitorError,
          }),
      ],
    },
  };
});
