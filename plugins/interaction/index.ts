// Interaction: routes by which people and programs talk to their agent, and by which the web changes it on the backend.
import { Elysia } from "elysia";
import { plugin } from "../../src/kernel/plugin.ts";
import { agents } from "../agents/index.ts";
import { auth } from "../auth/index.ts";
import { channels } from "../channels/index.ts";
import { clientChats } from "../client-chats/index.ts";
import { runtime } from "../runtime/index.ts";
import { skills } from "../skills/index.ts";
import { createAgentActions } from "./agent-actions.ts";
import { createAgentViews } from "./agent-views.ts";
import { backendRoutes } from "./backend-routes.ts";
import { credentialRoutes } from "./credential-routes.ts";
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
    web: new Elysia({ name: "interaction.all" })
      .use(webRoutes({ ...services, ...actions, views: createAgentViews(services) }))
      .use(credentialRoutes({ ...host.kernel, ...services })),
    backend: backendRoutes(services),
  };
});
