// The web's routes of agents: reads are answered here, writes go to the backend in the caller's name.
import { Elysia } from "elysia";
import { type BackendTransport, passOn, unwrap } from "../../src/backend.ts";
import { contextOf, openRoutes } from "../../src/http.ts";
import type { Idempotency } from "../../src/idempotency.ts";
import { mayAnswer } from "../../src/openapi/told.ts";
import type { auth, Identity } from "../auth/index.ts";
import type { Agents } from "./agents.ts";
import type { AgentsBackend } from "./backend.ts";
import { configAnswer, configErrors, configRequest, configResponses } from "./config-answer.ts";
import type { Configs } from "./configs.ts";
import type { createAgentGuards } from "./guards.ts";
import {
  agentAnswer,
  agentList,
  changeBody,
  changed,
  configVersions,
  deleted,
  provisionBody,
  provisioned,
  provisionedList,
  provisioningErrors,
  restoreBody,
  type Views,
} from "./model.ts";

interface Deps {
  backend: BackendTransport;
  idempotency: Idempotency;
  identities: ReturnType<typeof auth.setup>["service"]["identities"];
  guards: ReturnType<typeof createAgentGuards>;
  agents: Agents;
  configs: Configs;
  views: Views;
}

/** When `DELETE /api/agents/:id` was deprecated: with the first version of the interface (RFC 9745). */
const DEPRECATED = "@1767225600";

export function webRoutes({ backend, idempotency, identities, guards, agents, configs, views }: Deps) {
  const detail = { tags: ["Agents"] };
  const grant = ({ identity, request }: { identity: Identity; request: Request }, action: string, agentId?: string) =>
    identities.grant(identity, request, action, agentId);

  /** Sends the body on as it came, and the backend's answer back as it is. */
  async function forward(
    context: { identity: Identity; request: Request },
    action: string,
    method: "POST" | "PUT" | "PATCH",
    path: string,
    agentId?: string,
  ): Promise<Response> {
    const answer = await backend.fetch(grant(context, action, agentId), path, {
      method,
      body: contextOf(context.request).bodyText ?? "",
      headers: { "content-type": "application/json" },
    });
    return passOn(answer);
  }

  /** `POST /api/agents` and `POST /api/agents/provision` are one operation. Contract §4. */
  const provision = (context: { identity: Identity; request: Request }) =>
    idempotency.respond({ request: context.request, userId: context.identity.user.id }, () =>
      forward(context, "agent.provision", "POST", "/api/agents"),
    );
  const provisioning = {
    signedIn: "write" as const,
    body: provisionBody,
    response: { 201: provisioned },
    detail: {
      ...detail,
      summary: "Provision an agent",
      ...mayAnswer({
        ...provisioningErrors,
        409: ["AGENT_GONE", "IDEMPOTENCY_MISMATCH", "IDEMPOTENCY_IN_PROGRESS"],
        502: "BACKEND_UNAVAILABLE",
      }),
    },
  };

  type Asked = { agent: { id: string }; identity: Identity; request: Request };
  const change = ({ agent: { id }, identity, request }: Asked) =>
    forward({ identity, request }, "agent.change", request.method === "PUT" ? "PUT" : "PATCH", `/api/agents/${id}`, id);
  const changing = {
    ownAgent: { scope: "write", kind: "data" } as const,
    body: changeBody,
    response: { 200: changed },
    detail: {
      ...detail,
      summary: "Change an agent's name, model or configuration",
      description: "`PUT` and `PATCH` are the same: what is left out stays as it is.",
      ...mayAnswer({ ...configErrors, 502: "BACKEND_UNAVAILABLE" }),
    },
  };

  return (
    new Elysia({ name: "agents.web" })
      .use(openRoutes)
      .use(identities.guards)
      .use(guards)

      .get(
        "/api/agents",
        async ({ request }) => {
          const identity = await identities.recognize(request, "read");
          const items = identity ? (await agents.list(identity.user.id)).map(views.item) : [];
          return { agents: items, count: items.length, status: "ok" as const };
        },
        {
          open: true,
          response: { 200: agentList },
          detail: { ...detail, summary: "The caller's agents, newest first" },
        },
      )
      .post("/api/agents", provision, provisioning)
      .post("/api/agents/provision", provision, provisioning)
      .get(
        "/api/agents/provision",
        async ({ identity }) => {
          const items = (await agents.list(identity.user.id)).map(views.item);
          return { success: true as const, agents: items, count: items.length };
        },
        {
          signedIn: "read",
          response: { 200: provisionedList },
          detail: { ...detail, summary: "The caller's provisioned agents" },
        },
      )
      .get(
        "/api/agents/:id",
        ({ agent, identity }) => ({ agent: views.detail(agent, identity.user.plan), status: "ok" as const }),
        {
          ownAgent: { scope: "read", kind: "data" },
          response: { 200: agentAnswer },
          detail: { ...detail, summary: "An agent in detail" },
        },
      )
      .patch("/api/agents/:id", change, changing)
      .put("/api/agents/:id", change, changing)
      .delete(
        "/api/agents/:id",
        async ({ agent: { id }, identity, request, set }) => {
          set.headers.deprecation = DEPRECATED;
          set.headers.link = `</api/agents/${id}/stop>; rel="successor-version"`;
          const granted = grant({ identity, request }, "agent.delete", id);
          return unwrap(await backend.client<AgentsBackend>(granted).api.agents({ id }).delete());
        },
        {
          ownAgent: { scope: "write", kind: "data" },
          response: { 200: deleted },
          detail: {
            ...detail,
            deprecated: true,
            summary: "Remove an agent; stopping it is the better way",
            ...mayAnswer({ 502: "BACKEND_UNAVAILABLE" }),
          },
        },
      )
      .get("/api/agents/:id/config", async ({ agent }) => configAnswer(await configs.text(agent.id), "ok"), {
        ownAgent: { scope: "read", kind: "data" },
        detail: {
          ...detail,
          summary: "An agent's configuration, exactly as it was given",
          responses: configResponses("ok"),
        },
      })
      // No schema: the body is kept byte for byte, and the backend checks it.
      .put(
        "/api/agents/:id/config",
        ({ agent: { id }, identity, request }) =>
          forward({ identity, request }, "agent.configure", "PUT", `/api/agents/${id}/config`, id),
        {
          ownAgent: { scope: "write", kind: "data" },
          detail: {
            ...detail,
            summary: "Replace an agent's configuration",
            ...mayAnswer({ ...configErrors, 502: "BACKEND_UNAVAILABLE" }),
            requestBody: configRequest,
            responses: configResponses("updated"),
          },
        },
      )
      .get("/api/agents/:id/config/versions", async ({ agent }) => views.versions(await configs.versions(agent.id)), {
        ownAgent: { scope: "read", kind: "data" },
        response: { 200: configVersions },
        detail: { ...detail, summary: "The versions of the configuration that are kept, newest first" },
      })
      .get(
        "/api/agents/:id/config/versions/:version",
        async ({ agent, params: { version } }) => configAnswer(await configs.version(agent.id, version), "ok"),
        {
          ownAgent: { scope: "read", kind: "data" },
          detail: {
            ...detail,
            summary: "One version of the configuration, exactly as it was given",
            ...mayAnswer({ 404: "VERSION_NOT_FOUND" }),
            responses: configResponses("ok"),
          },
        },
      )
      .post(
        "/api/agents/:id/config/restore",
        ({ agent: { id }, identity, request }) =>
          forward({ identity, request }, "agent.configure", "POST", `/api/agents/${id}/config/restore`, id),
        {
          ownAgent: { scope: "write", kind: "data" },
          body: restoreBody,
          detail: {
            ...detail,
            summary: "Put an earlier version of the configuration in force, as the newest",
            ...mayAnswer({ 404: "VERSION_NOT_FOUND", 409: "OPERATION_IN_PROGRESS", 502: "BACKEND_UNAVAILABLE" }),
            responses: configResponses("updated"),
          },
        },
      )
  );
}
