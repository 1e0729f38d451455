// The figures of an agent: taken on the backend, shown on the web, by an agent's id and by `/api/instance/:userId`.
import { Elysia, type Static } from "elysia";
import { AppError } from "../../src/kernel/errors.ts";
import { type BackendTransport, unwrap } from "../../src/kernel/http/backend-transport.ts";
import type { Kernel, ServiceOf } from "../../src/kernel/plugin.ts";
import type { Agent, agents as agentsPlugin } from "../agents/index.ts";
import type { auth, Identity } from "../auth/index.ts";
import { backendStats, mockStatsOf, statsResponse, toStats } from "./model.ts";
import type { AgentStatsService } from "./stats-service.ts";

type Accounts = ServiceOf<typeof auth>;

interface Deps {
  config: Kernel["config"];
  backend: BackendTransport;
  accounts: Pick<Accounts, "users" | "identities">;
  agents: Pick<ServiceOf<typeof agentsPlugin>, "guards">;
  agentStats: AgentStatsService;
}

interface StatsRequest {
  agent: Agent;
  identity: Identity;
  request: Request;
}

const tags = ["Agents"];
const STATS_ACTION = "agent.stats";
/** A backend that takes longer for some figures can't be reached. */
const BACKEND_TIMEOUT_MS = 5_000;

export type AgentStatsBackend = ReturnType<typeof backendRoutes>;

export const backendRoutes = ({ accounts, agents, agentStats }: Deps) =>
  new Elysia({ name: "agent-stats.backend" }).use(agents.guards).get(
    "/api/agents/:id/stats",
    async ({ agent }) => {
      const plan = (await accounts.users.byId(agent.userId))?.plan ?? "free";
      return toStats(agent, plan, await agentStats.statsOf(agent.id));
    },
    {
      agentCall: STATS_ACTION,
      response: { 200: backendStats },
      detail: { tags, summary: "Figures of an agent" },
    },
  );

export function webRoutes({ config, backend, accounts, agents, agentStats }: Deps) {
  async function stats({ agent: { id }, identity, request }: StatsRequest): Promise<Static<typeof statsResponse>> {
    const grant = accounts.identities.createGrant(identity, request, STATS_ACTION, id);
    try {
      const statsRoute = backend.client<AgentStatsBackend>(grant).api.agents({ id }).stats;
      const response = await statsRoute.get({ fetch: { signal: AbortSignal.timeout(BACKEND_TIMEOUT_MS) } });
      const { id: agentId, plan: _, runtimeVersion: __, pids, ...live } = unwrap(response);
      // Sockets are kept on this side.
      const all = config.role === "web" ? String(Number(pids) + agentStats.connectionsOf(id)) : pids;
      return { stats: { agentId, ...live, pids: all }, status: "ok" };
    } catch (error) {
      if (!(error instanceof AppError && error.code === "BACKEND_UNAVAILABLE")) throw error;
      return { stats: mockStatsOf(id), status: "mock" };
    }
  }
  const description =
    "Each figure is that of this agent: see the operating guide for how it is taken. " +
    "`status` is `mock`, and the figures are empty, only while the backend can't be reached.";

  return new Elysia({ name: "agent-stats.web" })
    .use(agents.guards)
    .get("/api/agents/:id/stats", stats, {
      ownAgent: { scope: "read", kind: "data" },
      response: { 200: statsResponse },
      detail: { tags, summary: "Figures of an agent", description },
    })
    .get("/api/instance/:userId/stats", stats, {
      ownInstance: "read",
      response: { 200: statsResponse },
      detail: { tags: ["Life cycle"], summary: "Figures of an agent, by its id or by the caller's own", description },
    });
}
