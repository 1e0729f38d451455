// The figures of an agent: taken on the backend, shown on the web, by an agent's id and by `/api/instance/:userId`.
import { Elysia, type Static } from "elysia";
import { type BackendTransport, unwrap } from "../../src/backend.ts";
import { AppError } from "../../src/errors.ts";
import type { Kernel, ServiceOf } from "../../src/plugin.ts";
import type { Agent, agents as agentsPlugin } from "../agents/index.ts";
import type { auth, Identity } from "../auth/index.ts";
import type { Figures } from "./figures.ts";
import { backendStats, mockOf, statsAnswer, toStats } from "./model.ts";

type Accounts = ServiceOf<typeof auth>;

interface Deps {
  config: Kernel["config"];
  backend: BackendTransport;
  accounts: Pick<Accounts, "users" | "identities">;
  agents: Pick<ServiceOf<typeof agentsPlugin>, "guards">;
  figures: Figures;
}

interface Asked {
  agent: Agent;
  identity: Identity;
  request: Request;
}

const tags = ["Agents"];
const ACTION = "agent.stats";
/** A backend that takes longer for some figures can't be reached. */
const PATIENCE = 5_000;

export type FiguresBackend = ReturnType<typeof backendRoutes>;

export const backendRoutes = ({ accounts, agents, figures }: Deps) =>
  new Elysia({ name: "figures.backend" }).use(agents.guards).get(
    "/api/agents/:id/stats",
    async ({ agent }) => {
      const plan = (await accounts.users.byId(agent.userId))?.plan ?? "free";
      return toStats(agent, plan, await figures.of(agent.id));
    },
    {
      agentCall: ACTION,
      response: { 200: backendStats },
      detail: { tags, summary: "Figures of an agent" },
    },
  );

export function webRoutes({ config, backend, accounts, agents, figures }: Deps) {
  async function stats({ agent: { id }, identity, request }: Asked): Promise<Static<typeof statsAnswer>> {
    const granted = accounts.identities.grant(identity, request, ACTION, id);
    try {
      const ask = backend.client<FiguresBackend>(granted).api.agents({ id }).stats;
      const answer = await ask.get({ fetch: { signal: AbortSignal.timeout(PATIENCE) } });
      const { id: agentId, plan: _, runtimeVersion: __, pids, ...live } = unwrap(answer);
      // Sockets are kept on this side.
      const all = config.role === "web" ? String(Number(pids) + figures.kept(id)) : pids;
      return { stats: { agentId, ...live, pids: all }, status: "ok" };
    } catch (error) {
      if (!(error instanceof AppError && error.code === "BACKEND_UNAVAILABLE")) throw error;
      return { stats: mockOf(id), status: "mock" };
    }
  }
  const description =
    "Each figure is that of this agent: see the operating guide for how it is taken. " +
    "`status` is `mock`, and the figures are empty, only while the backend can't be reached.";

  return new Elysia({ name: "figures.web" })
    .use(agents.guards)
    .get("/api/agents/:id/stats", stats, {
      ownAgent: { scope: "read", kind: "data" },
      response: { 200: statsAnswer },
      detail: { tags, summary: "Figures of an agent", description },
    })
    .get("/api/instance/:userId/stats", stats, {
      ownInstance: "read",
      response: { 200: statsAnswer },
      detail: { tags: ["Life cycle"], summary: "Figures of an agent, by its id or by the caller's own", description },
    });
}
