// Defines the routes by which an owner reads and changes the settings of an agent's public page, on both surfaces.
import { Elysia } from "elysia";
import { unwrap } from "../../src/kernel/http/backend/backend-response.ts";
import type { BackendTransport } from "../../src/kernel/http/backend/backend-transport.ts";
import { documentErrors } from "../../src/kernel/http/openapi/route-documentation.ts";
import type { ServiceOf } from "../../src/kernel/plugin.ts";
import type { Agent, agents as agentsPlugin } from "../agents/index.ts";
import type { auth } from "../auth/index.ts";
import { parseEmbedOrigins } from "./embed-origins.ts";
import { settings, settingsBody, settingsWithUrl } from "./model.ts";
import type { PublicPageStore } from "./public-page-store.ts";

interface BackendDeps {
  agents: Pick<ServiceOf<typeof agentsPlugin>, "guards">;
  pageStore: PublicPageStore;
}

interface WebDeps extends BackendDeps {
  backend: BackendTransport;
  identities: ServiceOf<typeof auth>["identities"];
  /** The public address of an agent. */
  urlOf(agent: Agent): string;
}

const tags = ["Public page"];

export function settingsWebRoutes({ backend, identities, agents, pageStore, urlOf }: WebDeps) {
  return new Elysia({ name: "public-page.settings" })
    .use(agents.guards)
    .get(
      "/api/agents/:id/public",
      async ({ agent }) => ({ ...(await pageStore.settingsOf(agent.id)), url: urlOf(agent) }),
      {
        ownAgent: { scope: "read", kind: "data" },
        response: { 200: settingsWithUrl },
        detail: {
          tags,
          summary: "Show the settings of an agent's public page",
          description:
            "Whether visitors may talk to the agent at `url`, what greets them, and which sites may embed the page.",
          operationId: "getPublicPage",
        },
      },
    )
    .put(
      "/api/agents/:id/public",
      async ({ agent, identity, request, body }) => {
        const grant = identities.createGrant(identity, request, "agent.public", agent.id);
        const client = backend.client<ReturnType<typeof settingsBackendRoutes>>(grant);
        return { ...unwrap(await client.api.agents({ id: agent.id }).public.put(body)), url: urlOf(agent) };
      },
      {
        ownAgent: { scope: "write", kind: "data" },
        body: settingsBody,
        response: { 200: settingsWithUrl },
        detail: {
          tags,
          summary: "Allow or forbid visitors to talk to an agent at its public address",
          operationId: "setPublicPage",
          description:
            "Forbidden by default. Visitors spend the agent's budget: set one (`budget` in its configuration).",
          ...documentErrors({ 502: "BACKEND_UNAVAILABLE" }),
        },
      },
    );
}

export function settingsBackendRoutes({ agents, pageStore }: BackendDeps) {
  return new Elysia({ name: "public-page.settings.backend" })
    .use(agents.guards)
    .put(
      "/api/agents/:id/public",
      ({ agent, body: { embedOrigins, ...body } }) =>
        pageStore.update(agent.id, { ...body, ...(embedOrigins && { embedOrigins: parseEmbedOrigins(embedOrigins) }) }),
      {
        agentCall: "agent.public",
        body: settingsBody,
        response: { 200: settings },
        detail: {
          tags,
          summary: "Allow or forbid visitors to talk to an agent at its public address",
          description: "Forbidden by default. Visitors spend the agent's budget.",
          operationId: "setPublicPage",
        },
      },
    );
}
