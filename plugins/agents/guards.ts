// Whose agent it is, settled before the body is read: on the web by session, on the backend by service token or session.
import { Elysia } from "elysia";
import { type AppError, forbidden } from "../../src/errors.ts";
import { guarded } from "../../src/http.ts";
import { guardedBy } from "../../src/openapi/told.ts";
import type { auth, Caller, Identity, Scope } from "../auth/index.ts";
import { type Agent, type Agents, noSuchAgent } from "./agents.ts";

type Identities = ReturnType<typeof auth.setup>["service"]["identities"];

/** What a refusal looks like: 404 for data, 403 with the failure body for life cycle (interface, "Authentication" 2). */
export type AgentRouteKind = "data" | "lifecycle";

export interface OwnAgent {
  /** What the session or key must be good for. */
  scope: Scope;
  kind: AgentRouteKind;
}

/** The action that a service token must name, on a data route unless told otherwise. */
export type AgentCall = string | { action: string; kind: AgentRouteKind };

/** The same for an agent that does not exist and for one of somebody else, so that nobody can ask which ids there are. */
const refusal = (kind: AgentRouteKind): AppError =>
  kind === "data"
    ? noSuchAgent()
    : forbidden("NOT_YOUR_AGENT", "You have no agent with this id.", { success: false, status: "error" });

const refusalCodes = (kind: AgentRouteKind) =>
  kind === "data" ? { 404: "AGENT_NOT_FOUND" } : { 403: "NOT_YOUR_AGENT" };

/**
 * Route macros for routes with an `:id`. `ownAgent: { scope, kind }` on the web gives `identity` and `agent`;
 * `agentCall: action` on the backend gives `caller` and `agent`, for the owner, an admin's own session, or a service
 * token that names this agent and this action.
 */
export function createAgentGuards(identities: Identities, agents: Agents) {
  const owned = new WeakMap<Request, { identity: Identity; agent: Agent }>();
  const called = new WeakMap<Request, { caller: Caller; agent: Agent }>();

  async function own(request: Request, id: string, { kind }: OwnAgent) {
    const identity = await identities.authenticate(request);
    const agent = await agents.find(id);
    if (agent?.userId !== identity.user.id) throw refusal(kind);
    const found = { identity, agent };
    owned.set(request, found);
    return found;
  }

  async function call(request: Request, id: string, what: AgentCall) {
    const { action, kind } = typeof what === "string" ? { action: what, kind: "data" as const } : what;
    const caller = await identities.authorize(request, action);
    const agent = caller.agentId === undefined || caller.agentId === id ? await agents.find(id) : undefined;
    if (!agent || (agent.userId !== caller.userId && !caller.isAdmin)) throw refusal(kind);
    const found = { caller, agent };
    called.set(request, found);
    return found;
  }

  type Context = { request: Request; params: unknown };
  return new Elysia({ name: "agents.guards" }).macro({
    ownAgent: (options: OwnAgent) => ({
      ...guarded(async ({ request, params }) => void (await own(request, params.id ?? "", options))),
      detail: guardedBy(["session"], refusalCodes(options.kind)),
      resolve: async ({ request, params }: Context) =>
        owned.get(request) ?? (await own(request, idOf(params), options)),
    }),
    agentCall: (options: AgentCall) => ({
      ...guarded(async ({ request, params }) => void (await call(request, params.id ?? "", options))),
      detail: guardedBy(["serviceToken", "session"], refusalCodes(typeof options === "string" ? "data" : options.kind)),
      resolve: async ({ request, params }: Context) =>
        called.get(request) ?? (await call(request, idOf(params), options)),
    }),
  });
}

function idOf(params: unknown): string {
  const id: unknown = typeof params === "object" && params !== null ? Reflect.get(params, "id") : undefined;
  return typeof id === "string" ? id : "";
}
