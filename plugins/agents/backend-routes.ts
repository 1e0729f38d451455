// Backend routes of agents. Only the backend writes agents; the web surface forwards its callers' changes to them.
import { Elysia, type Static } from "elysia";
import { GuardFailed } from "../../src/kernel/database/database.ts";
import { documentErrors } from "../../src/kernel/http/openapi/route-documentation.ts";
import { contextOf } from "../../src/kernel/http/request-context.ts";
import { languageOf } from "../../src/kernel/pages/language.ts";
import type { auth } from "../auth/index.ts";
import type { createAgentGuards } from "./agent-guards.ts";
import { type Agent, type AgentStore, agentNotFound } from "./agent-store.ts";
import {
  configErrors,
  configRequestDocs,
  configResponse,
  configResponseDocs,
  extractConfigText,
  warningsMember,
} from "./configuration/config-response.ts";
import { CONFIG_GUARD, type ConfigStore, changedFields } from "./configuration/config-store.ts";
import {
  agentDetail,
  agentListQuery,
  agentListResponse,
  changedResponse,
  changeErrors,
  configVersionsResponse,
  createChangeBody,
  createProvisionBody,
  deletedResponse,
  listAgents,
  provisionedResponse,
  provisioningErrors,
  restoreConfigBody,
  type Views,
} from "./model.ts";
import { type createProvisioner, findTierWarnings, requireModel, requireName } from "./ownership/provisioner.ts";
import { configOfTemplate } from "./templates/templates.ts";

type AuthService = ReturnType<typeof auth.setup>["service"];

interface Deps {
  authService: Pick<AuthService, "identities" | "users">;
  guards: ReturnType<typeof createAgentGuards>;
  agents: AgentStore;
  configs: ConfigStore;
  provision: ReturnType<typeof createProvisioner>;
  views: Views;
}

export type AgentsBackend = ReturnType<typeof backendRoutes>;

export function backendRoutes({ authService, guards, agents, configs, provision, views }: Deps) {
  const detail = { tags: ["Agents"] };

  type Change = { agent: Agent; body: Static<ReturnType<typeof createChangeBody>>; request: Request };
  async function change({ agent, body: { name, model, configVersion }, request }: Change) {
    const config = extractConfigText(contextOf(request).bodyText);
    if (config !== undefined) await configs.requireValid(config);
    const fields = {
      ...(name === undefined ? {} : { name: requireName(name) }),
      ...(model === undefined ? {} : { model: requireModel(model) }),
    };
    const saveConfig =
      config === undefined
        ? undefined
        : {
            statements: configs.saveStatements(agent.id, config, configVersion),
            changed: changedFields(await configs.text(agent.id), config),
          };
    const changedAgent = await agents.change(agent.id, fields, saveConfig).catch(async (error: unknown) => {
      throw error instanceof GuardFailed && error.guard === CONFIG_GUARD ? await configs.changedError(agent.id) : error;
    });
    const plan = (await authService.users.byId(changedAgent.userId))?.plan ?? "free";
    const isConfigured = config !== undefined || model !== undefined;
    const warnings = isConfigured ? await configs.warnings(agent.id, config ?? (await configs.text(agent.id))) : [];
    return { agent: views.detail(changedAgent, plan), status: "updated" as const, ...warningsMember(warnings) };
  }
  const changeRouteOptions = {
    agentCall: { action: "agent.change", changes: true },
    body: createChangeBody(),
    response: { 200: changedResponse },
    detail: {
      ...detail,
      summary: "Change an agent's name, model or configuration",
      description: "`PUT` and `PATCH` are the same: fields that are left out stay as they are.",
      ...documentErrors(changeErrors),
    },
  };

  return new Elysia({ name: "agents.backend" })
    .use(authService.identities.guards)
    .use(guards)

    .post(
      "/api/agents",
      async ({ body: { name, model, template, tier }, caller: { userId, isAdmin }, request, status }) => {
        const own = extractConfigText(contextOf(request).bodyText);
        const config = template === undefined ? own : configOfTemplate(template, languageOf(request), own);
        const agent = await provision({ userId, isAdmin, name, model, config, tier });
        const plan = tier === undefined ? "" : ((await authService.users.byId(userId))?.plan ?? "free");
        const warnings = [...(await configs.warnings(agent.id, config ?? "{}")), ...findTierWarnings(tier, plan)];
        return status(201, { ...views.provisionedResponse(agent), ...warningsMember(warnings) });
      },
      {
        granted: "agent.provision",
        body: createProvisionBody(),
        response: { 201: provisionedResponse },
        detail: {
          ...detail,
          summary: "Provision an agent for the caller",
          description:
            "Makes an agent, which starts at once. `config` is its configuration, which is laid over the template's if there is one. An admin needs no plan; other accounts need one with room for another agent.",
          ...documentErrors({ ...provisioningErrors, 409: "AGENT_GONE" }),
        },
      },
    )
    .get(
      "/api/agents",
      async ({ caller, query }) => ({
        ...(await listAgents(agents, views, caller.userId, query)),
        status: "ok" as const,
      }),
      {
        granted: "agent.list",
        query: agentListQuery,
        response: { 200: agentListResponse },
        detail: {
          ...detail,
          summary: "The caller's agents, newest first",
          description: "Without a credential the list is empty, not refused. `nextCursor` leads to the next page.",
          operationId: "listAgents",
        },
      },
    )
    .get(
      "/api/agents/:id",
      async ({ agent }) => views.detail(agent, (await authService.users.byId(agent.userId))?.plan ?? "free"),
      {
        agentCall: "agent.read",
        response: { 200: agentDetail },
        detail: {
          ...detail,
          summary: "An agent in detail",
          description: "Status and why it is so, plan, public address, runtime version and verification.",
        },
      },
    )
    .get("/api/agents/:id/config", async ({ agent }) => configResponse(await configs.text(agent.id), "ok"), {
      agentCall: "agent.read",
      detail: {
        ...detail,
        summary: "An agent's configuration, exactly as it was given",
        description: "Byte for byte what was stored last, unknown keys included.",
        responses: configResponseDocs("ok"),
      },
    })
    .get("/api/agents/:id/config/versions", async ({ agent }) => views.versions(await configs.versions(agent.id)), {
      agentCall: "agent.read",
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
        agentCall: "agent.read",
        detail: {
          ...detail,
          summary: "One version of the configuration, exactly as it was given",
          description: "The content of a version, byte for byte.",
          ...documentErrors({ 404: "VERSION_NOT_FOUND" }),
          responses: configResponseDocs("ok"),
        },
      },
    )
    .patch("/api/agents/:id", change, changeRouteOptions)
    .put("/api/agents/:id", change, changeRouteOptions)
    .post(
      "/api/agents/:id/config/restore",
      async ({ agent: { id }, body: { version } }) => {
        const text = await configs.restore(id, version);
        return configResponse(text, "updated", await configs.warnings(id, text));
      },
      {
        agentCall: { action: "agent.configure", changes: true },
        body: restoreConfigBody,
        detail: {
          ...detail,
          summary: "Restore an earlier version of the configuration, as the newest version",
          description: "The earlier version stays as it is; a copy of it becomes the newest.",
          operationId: "restoreAgentConfig",
          ...documentErrors({ 404: "VERSION_NOT_FOUND" }),
          responses: configResponseDocs("updated"),
        },
      },
    )
    .put(
      "/api/agents/:id/config",
      async ({ agent, request }) => {
        const text = contextOf(request).bodyText ?? "";
        await configs.save(agent.id, text);
        return configResponse(text, "updated", await configs.warnings(agent.id, text));
      },
      {
        agentCall: { action: "agent.configure", changes: true },
        detail: {
          ...detail,
          summary: "Replace an agent's configuration",
          description:
            "The body becomes the whole configuration, as the newest version; earlier versions are kept and can be restored. It takes effect with the agent's next turn.",
          ...documentErrors(configErrors),
          requestBody: configRequestDocs(),
          responses: configResponseDocs("updated"),
        },
      },
    )
    .delete(
      "/api/agents/:id",
      async ({ agent: { id } }) => {
        if (!(await agents.remove(id))) throw agentNotFound();
        return { success: true as const, id, deleted: true as const };
      },
      {
        agentCall: "agent.delete",
        response: { 200: deletedResponse },
        detail: {
          ...detail,
          summary: "Remove an agent and its data",
          description: "Deletes the agent with its conversations, memory, files and backups. This can't be undone.",
        },
      },
    );
}
