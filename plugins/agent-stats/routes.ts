// Defines the routes of an agent's statistics: the backend measures them, the web surface shows them by agent and by user.

import { Elysia, type Static } from "elysia";
import { AppError } from "../../src/kernel/errors.ts";
import { unwrap } from "../../src/kernel/http/backend/backend-response.ts";
import type { BackendTransport } from "../../src/kernel/http/backend/backend-transport.ts";
import { documentDeprecated } from "../../src/kernel/http/openapi/route-documentation.ts";
import type { Kernel, ServiceOf } from "../../src/kernel/plugin.ts";
import { SECOND } from "../../src/kernel/util/time.ts";
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
/** A backend that takes longer counts as unreachable. */
const BACKEND_TIMEOUT_MS = 5 * SECOND;

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
      detail: {
        tags,
        summary: "Show an agent's statistics",
        description:
          "Load of the process, and how well the agent answers: messages per hour, answer time, success rate.",
      },
    },
  );

export function webRoutes({ config, backend, accounts, agents, agentStats }: Deps) {
  async function stats({ agent: { id }, identity, request }: StatsRequest): Promise<Static<typeof statsResponse>> {
    const grant = accounts.identities.createGrant(identity, request, STATS_ACTION, id);
    try {
      const statsRoute = backend.client<AgentStatsBackend>(grant).api.agents({ id }).stats;
      const response = await statsRoute.get({ fetch: { signal: AbortSignal.timeout(BACKEND_TIMEOUT_MS) } });
      const { id: agentId, plan: _, runtimeVersion: __, pids, ...live } = unwrap(response);
      // Clients' sockets are open in the web process, so the backend has not counted them.
      const total = config.role === "web" ? String(Number(pids) + agentStats.connectionsOf(id)) : pids;
      return { stats: { agentId, ...live, pids: total }, status: "ok" };
    } catch (error) {
      if (!(error instanceof AppError && error.code === "BACKEND_UNAVAILABLE")) throw error;
      return { stats: mockStatsOf(id), status: "mock" };
    }
  }
  const description =
    "All values are this agent's own; docs/operating.md says how each is measured. " +
    "`status` is `mock`, and all values are 0, only while the backend can't be reached.";

  return new Elysia({ name: "agent-stats.web" })
    .use(agents.guards)
    .get("/api/agents/:id/stats", stats, {
      ownAgent: { scope: "read", kind: "data" },
      response: { 200: statsResponse },
      detail: {
        tags,
        summary: "Show an agent's statistics",
        description,
      },
    })
    .get("/api/instance/:userId/stats", stats, {
      ownInstance: "read",
      response: { 200: statsResponse },
      detail: documentDeprecated(
        {
          tags: ["Life cycle"],
          summary: "Show an agent's statistics, by its id or by the caller's user id",
          description,
        },
        "GET /api/agents/{id}/stats",
      ),
    });
}
