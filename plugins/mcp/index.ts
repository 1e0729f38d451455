// The plugin of MCP servers: agents use the tools of servers that their configuration names (Model Context Protocol).
import { rm } from "node:fs/promises";
import { plugin } from "../../src/kernel/plugin.ts";
import { agentStats } from "../agent-stats/index.ts";
import { agents, findMissingCredentials, unknownName } from "../agents/index.ts";
import { auth } from "../auth/index.ts";
import { skills } from "../skills/index.ts";
import { createConnections } from "./connections/connections.ts";
import { createSignInStore } from "./connections/sign-in-store.ts";
import { createMcpService } from "./mcp-service.ts";
import { createServerStore } from "./server-store.ts";
import { createServerViews } from "./server-views.ts";
import { mcpSettings } from "./settings.ts";
import { createTargets } from "./targets.ts";
import { createMcpSkills } from "./tools/skill-source.ts";
import { isToolNameOf } from "./tools/tool-names.ts";

export const mcp = plugin("mcp", ({ kernel, use }) => {
  const agentService = use(agents);
  const authService = use(auth);
  const skillService = use(skills);
  const { commands } = kernel.config.of(mcpSettings);
  const servers = createServerStore(kernel);
  const signIns = createSignInStore(kernel);
  const connections = createConnections();
  const targets = createTargets({ ...kernel, agents: agentService, signIns });
  const service = createMcpService({
    ...kernel,
    agents: agentService,
    targets,
    servers,
    signIns,
    connections,
    onTools: skillService.invalidate,
  });
  skillService.register(createMcpSkills(service));
  skillService.registerExpectedTools(({ mcpServers = new Map() }) => {
    const servers = [...mcpServers.keys()];
    return (name) => servers.some((server) => isToolNameOf(server, name));
  });

  /** Agents whose new configuration names servers. */
  const configured = new Set<string>();
  agentService.registerConfigEffects((agentId, text, isFirst) => {
    if (text.includes("mcpServers")) configured.add(agentId);
    return isFirst ? [] : servers.pruneStatements(agentId, text);
  });
  /** Connects to servers that are new or at another address, and leaves those that are gone. */
  async function followConfiguration(agentId: string): Promise<void> {
    const wanted = new Set((await service.records(agentId)).map(({ target }) => target.key.digest));
    await connections.retain(agentId, ({ digest }) => wanted.has(digest));
  }
  agentService.onConfigured((agentId) => {
    if (!configured.delete(agentId) && connections.count(agentId) === 0) return;
    void followConfiguration(agentId).catch((error) => {
      kernel.log.error("the MCP servers of an agent could not be read", { agentId, error });
    });
  });
  agentService.registerConfigCheck(async (agentId, { mcpServers }) => {
    if (!mcpServers?.size) return [];
    const known = new Map((await servers.list(agentId)).map((record) => [record.name, record.tools]));
    const ofTools = [...mcpServers].flatMap(([server, { tools = [], reads = [] }]) => {
      const names = known.get(server)?.map(({ name }) => name);
      if (!names?.length) return [];
      return [...tools.map((name) => ["tools", name] as const), ...reads.map((name) => ["reads", name] as const)]
        .filter(([, name]) => !names.includes(name))
        .map(([key, name]) => ({
          path: `mcpServers.${server}.${key}`,
          message: unknownName("This server has no such tool.", name, names),
        }));
    });
    const ofCommands = [...mcpServers].flatMap(([server, settings]) => {
      const problem = settings.command === undefined ? undefined : targets.commandProblem(settings);
      return problem ? [{ path: `mcpServers.${server}.${problem.key}`, message: problem.message }] : [];
    });
    const ofHeaders = await findMissingCredentials(agentId, "mcpServers", mcpServers, agentService.credentials);
    return [...ofCommands, ...ofTools, ...ofHeaders];
  });
  // The accounts that a former owner has signed in to are not the new owner's.
  agentService.onTransfer((agentId) => [signIns.forgetAgentStatement(agentId)]);
  authService.onAccountReclaim((userId) => [signIns.forgetUserStatement(userId)]);
  agentService.onDelete(async (agentId) => {
    await connections.close(agentId);
    if (commands.length > 0) await rm(targets.folderOf(agentId), { recursive: true, force: true });
  });
  use(agentStats).addConnectionGauge(connections.count);

  const { guards } = agentService;
  const views = createServerViews({ targets, servers, signIns });
  const deps = { ...kernel, guards, views, commands, signIns, targets, service, agents: agentService };
  return {
    service: {},
    lateRoutes: {
      web: [
        async () =>
          (await import("./routes.ts")).webRoutes({
            ...deps,
            identities: authService.identities,
            addresses: targets.addresses,
          }),
      ],
      backend: [async () => (await import("./routes.ts")).backendRoutes(deps)],
    },
    stop: connections.closeAll,
  };
});
