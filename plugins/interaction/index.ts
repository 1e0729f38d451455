// Interaction: routes by which people and programs talk to their agent, and by which the web changes it on the backend.
import { plugin } from "../../src/kernel/plugin.ts";
import { agents } from "../agents/index.ts";
import { auth } from "../auth/index.ts";
import { channels } from "../channels/index.ts";
import { clientChats } from "../client-chats/index.ts";
import { runtime } from "../runtime/index.ts";
import { skills } from "../skills/index.ts";
import { createAgentActions } from "./agent-actions.ts";
import { createAgentViews } from "./agent-views.ts";
import { webRoutes } from "./web-routes.ts";

export const interaction = plugin("interaction", (host) => {
  const services = {
    identities: host.use(auth).identities,
    agents: host.use(agents),
    runtime: host.use(runtime),
    channels: host.use(channels),
    skills: host.use(skills),
    clientChats: host.use(clientChats),
  };
  const actions = createAgentActions({ ...host.kernel, ...services });
  return {
    service: {},
    web: webRoutes({ ...services, ...actions, views: createAgentViews(services) }),
    lateRoutes: {
      web: [async () => (await import("./credential-routes.ts")).credentialRoutes({ ...host.kernel, ...services })],
      backend: [async () => (await import("./backend-routes.ts")).backendRoutes(services)],
    },
  };
});
