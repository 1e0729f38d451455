// The web's routes of agents: reads are answered here, writes go to the backend in the caller's name.
import { Elysia } from "elysia";
import { type BackendTransport, unwrap } from "../../src/backend.ts";
import { invalid } from "../../src/errors.ts";
import { contextOf, openRoutes } from "../../src/http.ts";
import type { Idempotency } from "../../src/idempotency.ts";
import { mayAnswer } from "../../src/openapi/told.ts";
import type { auth, Identity } from "../auth/index.ts";
import type { Agents } from "./agents.ts";
import type { AgentsBackend } from "./backend.ts";
import { configAnswer, configErrors, configRequest, configResponses } from "./config-answer.ts";
import type { Configs } from "./configs.ts";
import type { createAgentGuards } from "./guards.ts";
import { LOG_LEVELS, type Logs } from "./logs.ts";
import {
  agentAnswer,
  agentList,
  deleted,
  logsQuery,
  logs as logsSchema,
  provisionBody,
  provisioned,
  provisionedList,
  provisioningErrors,
  type Views,
} from "./model.ts";
import { readLimit } from "./paging.ts";

interface Deps {
  backend: BackendTransport;
  idempotency: Idempotency;
  identities: ReturnType<typeof auth.setup>["service"]["identities"];
  guards: ReturnType<typeof createAgentGuards>;
  agents: Agents;
  configs: Configs;
  logs: Logs;
  views: Views;
}

const LOGS_DEFAULT = 50;
const LOGS_MAX = 100;
/** When `DELETE /api/agents/:id` was deprecated: with the first version of the interface (RFC 9745). */
const DEPRECATED = "@1767225600";

export function webRoutes({ backend, idempotency, identities, guards, agents, configs, logs, views }: Deps) {
  const detail = { tags: ["Agents"] };
  const grant = ({ identity, request }: { identity: Identity; request: Request }, action: string, agentId?: string) =>
    identities.grant(identity, request, action, agentId);

  /** Sends the body on as it came, and the backend's answer back as it is. */
  async function forward(
    context: { identity: Identity; request: Request },
    action: string,
    method: "POST" | "PUT",
    path: string,
    agentId?: string,
  ): Promise<Response> {
    const answer = await backend.fetch(grant(context, action, agentId), path, {
      method,
      body: contextOf(context.request).bodyText ?? "",
      headers: { "content-type": "application/json" },
    });
    return new Response(answer.body, {
      status: answer.status,
      headers: { "content-type": answer.headers.get("content-type") ?? "application/json;charset=utf-8" },
    });
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

  return (
    new Elysia({ name: "agents.web" })
      .use(openRoutes)
      .use(identities.guards)
      .use(guards)

      .get(
        "/api/agents",
        async ({ request }) => {
          const identity = await identities.identify(request);
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
      .get(
        "/api/agents/:id/logs",
        async ({ agent, query }) => {
          const limit = readLimit(query.limit, LOGS_DEFAULT, LOGS_MAX);
          const { lines, total } = await logs.list(agent.id, { limit, level: readLevel(query.level) });
          return { logs: lines.map(views.line), total, limit, status: "ok" as const };
        },
        {
          ownAgent: { scope: "read", kind: "data" },
          query: logsQuery,
          response: { 200: logsSchema },
          detail: { ...detail, summary: "What an agent did, newest first" },
        },
      )
  );
}

function readLevel(given: string | undefined) {
  if (given === undefined) return undefined;
  const level = LOG_LEVELS.find((known) => known === given);
  if (!level) throw invalid({ path: "level", message: `The level is one of: ${LOG_LEVELS.join(", ")}.` });
  return level;
}
