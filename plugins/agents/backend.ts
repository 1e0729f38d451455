// The backend's routes of agents: the one place where they are written.
import { Elysia } from "elysia";
import { invalid } from "../../src/errors.ts";
import { contextOf } from "../../src/http.ts";
import { mayAnswer } from "../../src/openapi/told.ts";
import type { auth } from "../auth/index.ts";
import { type Agents, noSuchAgent } from "./agents.ts";
import { configAnswer, configErrors, configRequest, configResponses } from "./config-answer.ts";
import type { Configs } from "./configs.ts";
import type { createAgentGuards } from "./guards.ts";
import { agentDetail, deleted, provisionBody, provisioned, provisioningErrors, type Views } from "./model.ts";
import type { createProvision } from "./provision.ts";
import { rawMember } from "./raw-member.ts";

type Accounts = ReturnType<typeof auth.setup>["service"];

interface Deps {
  accounts: Pick<Accounts, "identities" | "users">;
  guards: ReturnType<typeof createAgentGuards>;
  agents: Agents;
  configs: Configs;
  provision: ReturnType<typeof createProvision>;
  views: Views;
}

export type AgentsBackend = ReturnType<typeof backendRoutes>;

export function backendRoutes({ accounts, guards, agents, configs, provision, views }: Deps) {
  const detail = { tags: ["Agents"] };

  return new Elysia({ name: "agents.backend" })
    .use(accounts.identities.guards)
    .use(guards)

    .post(
      "/api/agents",
      async ({ body: { name, model, tier }, caller: { userId, isAdmin }, request, status }) => {
        const config = configOf(contextOf(request).bodyText);
        return status(201, views.provisioned(await provision({ userId, isAdmin, name, model, config, tier })));
      },
      {
        granted: "agent.provision",
        body: provisionBody,
        response: { 201: provisioned },
        detail: {
          ...detail,
          summary: "Provision an agent for the caller",
          ...mayAnswer({ ...provisioningErrors, 409: "AGENT_GONE" }),
        },
      },
    )
    .get(
      "/api/agents/:id",
      async ({ agent }) => views.detail(agent, (await accounts.users.byId(agent.userId))?.plan ?? "free"),
      {
        agentCall: "agent.read",
        response: { 200: agentDetail },
        detail: { ...detail, summary: "An agent in detail" },
      },
    )
    .put(
      "/api/agents/:id/config",
      async ({ agent, request }) => {
        const text = contextOf(request).bodyText ?? "";
        await configs.save(agent.id, text);
        return configAnswer(text, "updated");
      },
      {
        agentCall: "agent.configure",
        detail: {
          ...detail,
          summary: "Replace an agent's configuration",
          ...mayAnswer(configErrors),
          requestBody: configRequest,
          responses: configResponses("updated"),
        },
      },
    )
    .delete(
      "/api/agents/:id",
      async ({ agent: { id } }) => {
        if (!(await agents.remove(id))) throw noSuchAgent();
        return { success: true as const, id, deleted: true as const };
      },
      {
        agentCall: "agent.delete",
        response: { 200: deleted },
        detail: { ...detail, summary: "Remove an agent with all that belongs to it" },
      },
    );
}

/** The configuration in the body of a provisioning, byte for byte; null counts as left out. */
function configOf(bodyText = "{}"): string | undefined {
  const text = rawMember(bodyText, "config");
  if (text === undefined || text === "null") return undefined;
  if (!text.startsWith("{")) {
    throw invalid({ path: "config", message: "A configuration is a JSON object." }, "INVALID_CONFIG");
  }
  return text;
}
