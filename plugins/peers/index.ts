// The plugin of agents among agents: they ask each other on this host, and by the A2A protocol over hosts.
import { plugin } from "../../src/kernel/plugin.ts";
import { once } from "../../src/kernel/util/cache.ts";
import { agents, findMissingCredentials } from "../agents/index.ts";
import { auth } from "../auth/index.ts";
import { publicPage } from "../public-page/index.ts";
import { runtime } from "../runtime/index.ts";
import { skills } from "../skills/index.ts";
import { createCallBudget } from "./call-budget.ts";
import { createAgentDirectory } from "./local/agent-directory.ts";
import { createAgentSkill } from "./local/agent-skill.ts";
import { createRemoteSkills } from "./remote/remote-skill.ts";
import { webRoutes } from "./web-routes.ts";

/** The tools by which an agent asks another one. */
const CALLING_TOOLS = ["message_agent", "message_public_agent", "message_remote_agent"];

export const peers = plugin("peers", ({ kernel, use }) => {
  const agentService = use(agents);
  const { identities, users } = use(auth);
  const pages = use(publicPage);
  const runtimeService = use(runtime);
  const directory = createAgentDirectory({ agents: agentService, users, publicPage: pages });
  const budget = createCallBudget({
    countEarlierCalls: (agentId, inboxId) => runtimeService.countEndedCalls(agentId, inboxId, CALLING_TOOLS),
  });
  const available = [createAgentSkill({ ...pages, directory, messages: runtimeService.agentMessages, budget })];
  const skillService = use(skills);
  skillService.register({ id: "built-in", skillsFor: () => available });
  skillService.register(createRemoteSkills({ ...kernel, agents: agentService, directory, budget }));
  agentService.registerConfigCheck((agentId, { remoteAgents = new Map() }) =>
    findMissingCredentials(agentId, "remoteAgents", remoteAgents, agentService.credentials),
  );

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
