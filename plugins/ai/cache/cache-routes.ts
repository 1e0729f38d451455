// Routes of an agent's response cache: the web surface reads the setting, and forwards changes to the backend.
import { Elysia, t } from "elysia";
import type { BackendTransport } from "../../../src/kernel/http/backend/backend-transport.ts";
import { forwardToBackend } from "../../../src/kernel/http/backend/forward-to-backend.ts";
import { documentErrors } from "../../../src/kernel/http/openapi/route-documentation.ts";
import type { ServiceOf } from "../../../src/kernel/plugin.ts";
import type { agents as agentsPlugin } from "../../agents/index.ts";
import type { auth } from "../../auth/index.ts";
import { DEFAULT_AGE_S, MAX_AGE_S } from "./response-cache.ts";
import type { createTurnCaches, MaxAge } from "./turn-caches.ts";

interface Deps {
  backend: BackendTransport;
  authService: Pick<ServiceOf<typeof auth>, "identities">;
  agents: Pick<ServiceOf<typeof agentsPlugin>, "guards">;
  turnCaches: Pick<ReturnType<typeof createTurnCaches>, "maxAgeOf" | "setMaxAge">;
}

const cacheBody = t.Object({
  enabled: t.Boolean({ error: "enabled is true or false." }),
  maxAgeSeconds: t.Optional(
    t.Number({
      multipleOf: 1,
      minimum: 1,
      maximum: MAX_AGE_S,
      description: `Default ${DEFAULT_AGE_S}`,
      error: `This must be a whole number of seconds from 1 to ${MAX_AGE_S}.`,
    }),
  ),
});
const cacheSettings = t.Object({
  enabled: t.Boolean(),
  maxAgeSeconds: t.Union([t.Integer(), t.Null()], { description: "How old an answer may be; null when it is off" }),
});

const toCacheSettings = (maxAgeS: MaxAge) => ({ enabled: maxAgeS !== undefined, maxAgeSeconds: maxAgeS ?? null });
const ACTION = "agent.cache";
const detail = {
  tags: ["Usage"],
  summary: "Turn an agent's response cache on or off",
  description:
    "If the whole input of a turn (instructions, history, knowledge, tools, model and key) was seen before, the agent gives " +
    "the cached response, which costs nothing. The cache is in memory and separate for each agent.",
};

export const cacheWebRoutes = ({ backend, authService: { identities }, agents, turnCaches }: Deps) =>
  new Elysia({ name: "ai.cache.web" })
    .use(agents.guards)
    .get("/api/agents/:id/cache", async ({ agent }) => toCacheSettings(await turnCaches.maxAgeOf(agent.id)), {
      ownAgent: { scope: "read", kind: "data" },
      response: { 200: cacheSettings },
      detail: { ...detail, summary: "Whether an agent's answers are kept" },
    })
    .put(
      "/api/agents/:id/cache",
      async ({ agent: { id }, identity, request }) => {
        const granted = identities.createGrant(identity, request, ACTION, id);
        return forwardToBackend(backend, granted, request, `/api/agents/${id}/cache`);
      },
      {
        ownAgent: { scope: "write", kind: "data" },
        body: cacheBody,
        response: { 200: cacheSettings },
        detail: { ...detail, ...documentErrors({ 502: "BACKEND_UNAVAILABLE" }) },
      },
    );

export const cacheBackendRoutes = ({ agents, turnCaches }: Pick<Deps, "agents" | "turnCaches">) =>
  new Elysia({ name: "ai.cache.backend" }).use(agents.guards).put(
    "/api/agents/:id/cache",
    async ({ agent: { id }, body: { enabled, maxAgeSeconds = DEFAULT_AGE_S } }) => {
      const maxAgeS = enabled ? maxAgeSeconds : undefined;
      await turnCaches.setMaxAge(id, maxAgeS);
      return toCacheSettings(maxAgeS);
    },
    { agentCall: ACTION, body: cacheBody, response: { 200: cacheSettings }, detail },
  );
