// The backend's routes of agents: the one place where they are written.
import { Elysia, type Static } from "elysia";
import { contextOf } from "../../src/http.ts";
import { mayAnswer } from "../../src/openapi/told.ts";
import type { auth } from "../auth/index.ts";
import { type Agent, type Agents, noSuchAgent } from "./agents.ts";
import { configAnswer, configErrors, configIn, configRequest, configResponses } from "./config-answer.ts";
import type { Configs } from "./configs.ts";
import type { createAgentGuards } from "./guards.ts";
import {
  agentDetail,
  agentList,
  changeBody,
  changed,
  configVersions,
  deleted,
  provisionBody,
  provisioned,
  provisioningErrors,
  restoreBody,
  type Views,
} from "./model.ts";
import { type createProvision, requireModel, requireName } from "./provision.ts";
import { requireConfig } from "./settings.ts";

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

  type Change = { agent: Agent; body: Static<typeof changeBody>; request: Request };
  async function change({ agent, body: { name, model }, request }: Change) {
    const config = configIn(contextOf(request).bodyText);
    if (config !== undefined) requireConfig(config);
    const to = {
      ...(name === undefined ? {} : { name: requireName(name) }),
      ...(model === undefined ? {} : { model: requireModel(model) }),
    };
    const now = await agents.change(agent.id, to, config === undefined ? [] : configs.saving(agent.id, config));
    const plan = (await accounts.users.byId(now.userId))?.plan ?? "free";
    return { agent: views.detail(now, plan), status: "updated" as const };
  }
  const changing = {
    agentCall: { action: "agent.change", changes: true },
    body: changeBody,
    response: { 200: changed },
    detail: { ...detail, summary: "Change an agent's name, model or configuration", ...mayAnswer(configErrors) },
  };

  return new Elysia({ name: "agents.backend" })
    .use(accounts.identities.guards)
    .use(guards)

    .post(
      "/api/agents",
      async ({ body: { name, model, tier }, caller: { userId, isAdmin }, request, status }) => {
        const config = configIn(contextOf(request).bodyText);
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
      "/api/agents",
      async ({ caller }) => {
        const items = (await agents.list(caller.userId)).map(views.item);
        return { agents: items, count: items.length, status: "ok" as const };
      },
      {
        granted: "agent.list",
        response: { 200: agentList },
        detail: { ...detail, summary: "The caller's agents, newest first" },
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
    .get("/api/agents/:id/config", async ({ agent }) => configAnswer(await configs.text(agent.id), "ok"), {
      agentCall: "agent.read",
      detail: {
        ...detail,
        summary: "An agent's configuration, exactly as it was given",
        responses: configResponses("ok"),
      },
    })
    .get("/api/agents/:id/config/versions", async ({ agent }) => views.versions(await configs.versions(agent.id)), {
      agentCall: "agent.read",
      response: { 200: configVersions },
      detail: { ...detail, summary: "The versions of the configuration that are kept, newest first" },
    })
    .get(
      "/api/agents/:id/config/versions/:version",
      async ({ agent, params: { version } }) => configAnswer(await configs.version(agent.id, version), "ok"),
      {
        agentCall: "agent.read",
        detail: {
          ...detail,
          summary: "One version of the configuration, exactly as it was given",
          ...mayAnswer({ 404: "VERSION_NOT_FOUND" }),
          responses: configResponses("ok"),
        },
      },
    )
    .patch("/api/agents/:id", change, changing)
    .put("/api/agents/:id", change, changing)
    .post(
      "/api/agents/:id/config/restore",
      async ({ agent: { id }, body: { version } }) => {
        const text = await configs.version(id, version);
        await configs.save(id, text);
        return configAnswer(text, "updated");
      },
      {
        agentCall: { action: "agent.configure", changes: true },
        body: restoreBody,
        detail: {
          ...detail,
          summary: "Put an earlier version of the configuration in force, as the newest",
          ...mayAnswer({ 404: "VERSION_NOT_FOUND" }),
          responses: configResponses("updated"),
        },
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
        agentCall: { action: "agent.configure", changes: true },
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
