// Web routes of agents: reads are answered here, writes are forwarded to the backend in the caller's name.
import { Elysia } from "elysia";
import { unwrap } from "../../src/kernel/http/backend/backend-response.ts";
import type { BackendTransport } from "../../src/kernel/http/backend/backend-transport.ts";
import { type ForwardOptions, forwardToBackend } from "../../src/kernel/http/backend/forward-to-backend.ts";
import type { Idempotency } from "../../src/kernel/http/idempotency.ts";
import { documentErrors } from "../../src/kernel/http/openapi/route-documentation.ts";
import { openRoutes } from "../../src/kernel/http/route-guards.ts";
import type { auth, Identity } from "../auth/index.ts";
import type { createAgentGuards } from "./agent-guards.ts";
import type { AgentStore } from "./agent-store.ts";
import type { AgentsBackend } from "./backend-routes.ts";
import {
  configErrors,
  configRequestDocs,
  configResponse,
  configResponseDocs,
} from "./configuration/config-response.ts";
import type { ConfigStore } from "./configuration/config-store.ts";
import {
  agentListQuery,
  agentListResponse,
  agentResponse,
  changedResponse,
  changeErrors,
  configVersionsResponse,
  createChangeBody,
  createProvisionBody,
  deletedResponse,
  listAgents,
  provisionedListResponse,
  provisionedResponse,
  provisioningErrors,
  restoreConfigBody,
  type Views,
} from "./model.ts";

interface Deps {
  backend: BackendTransport;
  idempotency: Idempotency;
  identities: ReturnType<typeof auth.setup>["service"]["identities"];
  guards: ReturnType<typeof createAgentGuards>;
  agents: AgentStore;
  configs: ConfigStore;
  views: Views;
}

/**
 * When `DELETE /api/agents/:id` was deprecated, as RFC 9745 writes it: 2026-01-01, with the first version of the API.
 */
const DEPRECATED_SINCE = "@1767225600";

export function webRoutes({ backend, idempotency, identities, guards, agents, configs, views }: Deps) {
  const detail = { tags: ["Agents"] };
  const grant = ({ identity, request }: { identity: Identity; request: Request }, action: string, agentId?: string) =>
    identities.createGrant(identity, request, action, agentId);

  const forward = (
    context: { identity: Identity; request: Request },
    action: string,
    path: string,
    agentId?: string,
    options?: ForwardOptions,
  ): Promise<Response> => forwardToBackend(backend, grant(context, action, agentId), context.request, path, options);

  /** `POST /api/agents` and `POST /api/agents/provision` are the same operation. */
  const provision = (context: { identity: Identity; request: Request }) =>
    idempotency.respond({ request: context.request, userId: context.identity.user.id }, () =>
      forward(context, "agent.provision", "/api/agents", undefined, { requestHeaders: ["accept-language"] }),
    );
  const provisionRouteOptions = {
    signedIn: "write" as const,
    body: createProvisionBody(),
    response: { 201: provisionedResponse },
    detail: {
      ...detail,
      summary: "Provision an agent",
      description:
        "`POST /api/agents` and `POST /api/agents/provision` are the same. Makes an agent, which starts at once. `config` is its configuration, which is laid over the template's if there is one. An admin needs no plan; other accounts need one with room for another agent, which the operator gives with `berth user grant EMAIL PLAN` (402 without one, 429 without room). " +
        "The agent's `status` is `running` now, and `active` after a start or restart: both mean that it is up.",
      ...documentErrors({
        ...provisioningErrors,
        409: ["AGENT_GONE", "IDEMPOTENCY_MISMATCH", "IDEMPOTENCY_IN_PROGRESS"],
        502: "BACKEND_UNAVAILABLE",
      }),
    },
  };

  type AgentRequest = { agent: { id: string }; identity: Identity; request: Request };
  const change = ({ agent: { id }, identity, request }: AgentRequest) =>
    forward({ identity, request }, "agent.change", `/api/agents/${id}`, id);
  const changeRouteOptions = {
    ownAgent: { scope: "write", kind: "data" } as const,
    body: createChangeBody(),
    response: { 200: changedResponse },
    detail: {
      ...detail,
      summary: "Change an agent's name, model or configuration",
      description: "`PUT` and `PATCH` are the same: fields that are left out stay as they are.",
      ...documentErrors({ ...changeErrors, 502: "BACKEND_UNAVAILABLE" }),
    },
  };

  return (
    new Elysia({ name: "agents.web" })
      .use(openRoutes)
      .use(identities.guards)
      .use(guards)

      .get(
        "/api/agents",
        async ({ request, query }) => {
          const identity = await identities.authenticateOptional(request, "read");
          const none = { agents: [], count: 0 };
          const page = identity ? await listAgents(agents, views, identity.user.id, query) : none;
          return { ...page, status: "ok" as const };
        },
        {
          open: true,
          query: agentListQuery,
          response: { 200: agentListResponse },
          detail: {
            ...detail,
            summary: "The caller's agents, newest first",
            description:
              "Without a credential the list is empty, not refused; a wrong key is refused (401). `nextCursor` leads to the next page.",
            operationId: "listAgents",
          },
        },
      )
      .post("/api/agents", provision, provisionRouteOptions)
      .post("/api/agents/provision", provision, provisionRouteOptions)
      .get(
        "/api/agents/provision",
        async ({ identity, query }) => ({
          success: true as const,
          ...(await listAgents(agents, views, identity.user.id, query)),
        }),
        {
          signedIn: "read",
          query: agentListQuery,
          response: { 200: provisionedListResponse },
          detail: {
            ...detail,
            summary: "The caller's provisioned agents",
            description: "The same list as `GET /api/agents`, for signed-in callers only.",
            operationId: "listProvisionedAgents",
          },
        },
      )
      .get(
        "/api/agents/:id",
        ({ agent, identity }) => ({ agent: views.detail(agent, identity.user.plan), status: "ok" as const }),
        {
          ownAgent: { scope: "read", kind: "data" },
          response: { 200: agentResponse },
          detail: {
            ...detail,
            summary: "An agent in detail",
            description: "Status and why it is so, plan, public address, runtime version and verification.",
          },
        },
      )
      .patch("/api/agents/:id", change, changeRouteOptions)
      .put("/api/agents/:id", change, changeRouteOptions)
      .delete(
        "/api/agents/:id",
        async ({ agent: { id }, identity, request, set }) => {
          set.headers.deprecation = DEPRECATED_SINCE;
          set.headers.link = `</api/agents/${id}/stop>; rel="successor-version"`;
          const granted = grant({ identity, request }, "agent.delete", id);
          return unwrap(await backend.client<AgentsBackend>(granted).api.agents({ id }).delete());
        },
        {
          ownAgent: { scope: "write", kind: "data" },
          response: { 200: deletedResponse },
          detail: {
            ...detail,
            deprecated: true,
            summary: "Remove an agent; prefer to stop it",
            description:
              "Deletes the agent with its conversations, memory, files and backups. This can't be undone. Deprecated: use `POST /api/agents/{id}/stop`, which keeps them; this goes on working for agents that are really to go.",
            ...documentErrors({ 502: "BACKEND_UNAVAILABLE" }),
          },
        },
      )
      .get("/api/agents/:id/config", async ({ agent }) => configResponse(await configs.text(agent.id), "ok"), {
        ownAgent: { scope: "read", kind: "data" },
        detail: {
          ...detail,
          summary: "An agent's configuration, exactly as it was given",
          description: "Byte for byte what was stored last, unknown keys included.",
          responses: configResponseDocs("ok"),
        },
      })
      // No schema: it would parse the body, which is forwarded and stored byte for byte; the backend checks it.
      .put(
        "/api/agents/:id/config",
        ({ agent: { id }, identity, request }) =>
          forward({ identity, request }, "agent.configure", `/api/agents/${id}/config`, id),
        {
          ownAgent: { scope: "write", kind: "data" },
          detail: {
            ...detail,
            summary: "Replace an agent's configuration",
            description:
              "The body becomes the whole configuration, as the newest version; earlier versions are kept and can be restored. It takes effect with the agent's next turn.",
            ...documentErrors({ ...configErrors, 502: "BACKEND_UNAVAILABLE" }),
            requestBody: configRequestDocs(),
            responses: configResponseDocs("updated"),
          },
        },
      )
      .get("/api/agents/:id/config/versions", async ({ agent }) => views.versions(await configs.versions(agent.id)), {
        ownAgent: { scope: "read", kind: "data" },
        response: { 200: configVersionsResponse },
        detail: {
          ...detail,
          summary: "The stored versions of the configuration, newest first",
          description: "Each change stores a version. The versions are listed without their content.",
        },
      })
      .get(
        "/api/agents/:id/config/versions/:version",
        async ({ agent, params: { version } }) => configResponse(await configs.version(agent.id, version), "ok"),
        {
          ownAgent: { scope: "read", kind: "data" },
          detail: {
            ...detail,
            summary: "One version of the configuration, exactly as it was given",
            description: "The content of a version, byte for byte.",
            ...documentErrors({ 404: "VERSION_NOT_FOUND" }),
            responses: configResponseDocs("ok"),
          },
        },
      )
      .post(
        "/api/agents/:id/config/restore",
        ({ agent: { id }, identity, request }) =>
          forward({ identity, request }, "agent.configure", `/api/agents/${id}/config/restore`, id),
        {
          ownAgent: { scope: "write", kind: "data" },
          body: restoreConfigBody,
          detail: {
            ...detail,
            summary: "Restore an earlier version of the configuration, as the newest version",
            description: "The earlier version stays as it is; a copy of it becomes the newest.",
            operationId: "restoreAgentConfig",
            ...documentErrors({ 404: "VERSION_NOT_FOUND", 409: "OPERATION_IN_PROGRESS", 502: "BACKEND_UNAVAILABLE" }),
            responses: configResponseDocs("updated"),
          },
        },
      )
  );
}
