// Whose agent it is, settled before the body is read: on the web by session, on the backend by service token, session or API key.
import { Elysia } from "elysia";
import { AppError, forbidden } from "../../src/errors.ts";
import { contextOf, createMemo, guarded } from "../../src/http.ts";
import { guardedBy } from "../../src/openapi/told.ts";
import type { auth, Caller, Identity, Scope } from "../auth/index.ts";
import { type Agent, type Agents, noSuchAgent } from "./agents.ts";

type Identities = ReturnType<typeof auth.setup>["service"]["identities"];

export const beingUpdated = () =>
  new AppError(409, "OPERATION_IN_PROGRESS", "This agent is being updated. Try again as soon as that has ended.");

/** What a refusal looks like: 404 for data, 403 with the failure body for life cycle (interface, "Authentication" 2). */
export type AgentRouteKind = "data" | "lifecycle";

export interface OwnAgent {
  /** What the session or key must be good for. */
  scope: Scope;
  kind: AgentRouteKind;
}

/**
 * The action that a service token must name, on a data route unless told otherwise; `scope` as in `Identities.authorize`.
 * What `changes` something that an undone update would put back is refused while one is under way.
 */
export type AgentCall = string | { action: string; kind?: AgentRouteKind; scope?: Scope; changes?: boolean };

const FAILURE = { success: false, status: "error" };

/** The same for an agent that does not exist and for one of somebody else, so that nobody can ask which ids there are. */
const refusal = (kind: AgentRouteKind): AppError =>
  kind === "data" ? noSuchAgent() : forbidden("NOT_YOUR_AGENT", "You have no agent with this id.", FAILURE);

/** Also where the body is refused before the operation is asked. */
function failsAs(kind: AgentRouteKind, request: Request): void {
  if (kind === "lifecycle") contextOf(request).failure = FAILURE;
}

const refusalCodes = (kind: AgentRouteKind) =>
  kind === "data" ? { 403: "MISSING_SCOPE", 404: "AGENT_NOT_FOUND" } : { 403: ["MISSING_SCOPE", "NOT_YOUR_AGENT"] };

const callOf = (what: AgentCall) => ({
  kind: "data" as const,
  scope: undefined,
  changes: false,
  ...(typeof what === "string" ? { action: what } : what),
});

/**
 * Route macros for routes with an `:id`. `ownAgent: { scope, kind }` on the web gives `identity` and `agent`, and so does
 * `ownInstance: scope` for those with a `:userId`;
 * `agentCall: action` on the backend gives `caller` and `agent`, for the owner, or a service token in the owner's name for
 * this agent and this action. An admin is nobody's owner, on neither side.
 */
export function createAgentGuards(identities: Identities, agents: Agents, isUpdating: (agentId: string) => boolean) {
  const owned = createMemo<{ identity: Identity; agent: Agent }>();
  const called = createMemo<{ caller: Caller; agent: Agent }>();

  async function own(request: Request, id: string, { scope, kind }: OwnAgent) {
    const identity = await identities.authenticate(request, scope);
    const agent = await agents.find(id);
    return remember(request, identity, agent, kind);
  }

  /** `/api/instance/:userId` takes an agent's id, or the caller's own for the agent that it speaks to. Contract §5. */
  async function instance(request: Request, id: string, scope: Scope) {
    const identity = await identities.authenticate(request, scope);
    const { id: userId } = identity.user;
    const agent = id === userId ? await agents.current(userId) : await agents.find(id);
    return remember(request, identity, agent, "lifecycle");
  }

  function remember(request: Request, identity: Identity, agent: Agent | undefined, kind: AgentRouteKind) {
    if (agent?.userId !== identity.user.id) throw refusal(kind);
    failsAs(kind, request);
    return owned.set(request, { identity, agent });
  }

  async function call(request: Request, id: string, what: AgentCall) {
    const { action, kind, scope } = callOf(what);
    const caller = await identities.authorize(request, action, scope);
    const agent = caller.agentId === undefined || caller.agentId === id ? await agents.find(id) : undefined;
    if (agent?.userId !== caller.userId) throw refusal(kind);
    failsAs(kind, request);
    return called.set(request, { caller, agent });
  }

  /** Asked when the body is there, right before the work. */
  async function callNow(request: Request, id: string, what: AgentCall) {
    const found = called.get(request) ?? (await call(request, id, what));
    if (callOf(what).changes && isUpdating(found.agent.id)) throw beingUpdated();
    return found;
  }
  const callCodes = (what: AgentCall) => {
    const { kind, changes } = callOf(what);
    return { ...refusalCodes(kind), ...(changes && { 409: "OPERATION_IN_PROGRESS" }) };
  };

  type Context = { request: Request; params: unknown };
  return new Elysia({ name: "agents.guards" }).macro({
    ownAgent: (options: OwnAgent) => ({
      ...guarded(async ({ request, params }) => void (await own(request, params.id ?? "", options))),
      detail: guardedBy(["session", "apiKey"], refusalCodes(options.kind)),
      resolve: async ({ request, params }: Context) =>
        owned.get(request) ?? (await own(request, idOf(params), options)),
    }),
    ownInstance: (scope: Scope) => ({
      ...guarded(async ({ request, params }) => void (await instance(request, params.userId ?? "", scope))),
      detail: guardedBy(["session", "apiKey"], refusalCodes("lifecycle")),
      resolve: async ({ request, params }: Context) =>
        owned.get(request) ?? (await instance(request, idOf(params, "userId"), scope)),
    }),
    agentCall: (options: AgentCall) => ({
      ...guarded(async ({ request, params }) => void (await call(request, params.id ?? "", options))),
      detail: guardedBy(["serviceToken", "session", "apiKey"], callCodes(options)),
      resolve: ({ request, params }: Context) => callNow(request, idOf(params), options),
    }),
  });
}

function idOf(params: unknown, name = "id"): string {
  const id: unknown = typeof params === "object" && params !== null ? Reflect.get(params, name) : undefined;
  return typeof id === "string" ? id : "";
}
