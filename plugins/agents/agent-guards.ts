// Whose agent it is, settled before the body is read: on the web by session, on the backend by service token, session or API key.
import { Elysia } from "elysia";
import { AppError, forbidden } from "../../src/kernel/errors.ts";
import { documentGuard } from "../../src/kernel/http/openapi/route-documentation.ts";
import { contextOf, createRequestMemo } from "../../src/kernel/http/request-context.ts";
import { guarded } from "../../src/kernel/http/route-guards.ts";
import type { auth, Caller, Identity, Scope } from "../auth/index.ts";
import { type Agent, type AgentStore, agentNotFound } from "./agent-store.ts";

type Identities = ReturnType<typeof auth.setup>["service"]["identities"];

export const operationInProgress = () =>
  new AppError(409, "OPERATION_IN_PROGRESS", "This agent is being updated. Try again as soon as that has ended.");

/** What a refusal looks like: 404 for data, 403 with the failure body for life cycle (interface, "Authentication" 2). */
export type AgentRouteKind = "data" | "lifecycle";

export interface OwnAgentOptions {
  /** What the session or key must be good for. */
  scope: Scope;
  kind: AgentRouteKind;
}

/**
 * The action that a service token must name, on a data route unless told otherwise; `scope` as in `Identities.authorize`.
 * What `changes` something that an undone update would put back is refused while one is under way.
 */
export type AgentCallOptions = string | { action: string; kind?: AgentRouteKind; scope?: Scope; changes?: boolean };

const FAILURE_BODY = { success: false, status: "error" };

/** The same for an agent that does not exist and for one of somebody else, so that nobody can ask which ids there are. */
const ownershipError = (kind: AgentRouteKind): AppError =>
  kind === "data" ? agentNotFound() : forbidden("NOT_YOUR_AGENT", "You have no agent with this id.", FAILURE_BODY);

/** Also where the body is refused before the operation is asked. */
function setFailureBody(kind: AgentRouteKind, request: Request): void {
  if (kind === "lifecycle") contextOf(request).errorExtras = FAILURE_BODY;
}

const ownershipErrorCodes = (kind: AgentRouteKind) =>
  kind === "data" ? { 403: "MISSING_SCOPE", 404: "AGENT_NOT_FOUND" } : { 403: ["MISSING_SCOPE", "NOT_YOUR_AGENT"] };

const normalizeAgentCall = (options: AgentCallOptions) => ({
  kind: "data" as const,
  scope: undefined,
  changes: false,
  ...(typeof options === "string" ? { action: options } : options),
});

/**
 * Route macros for routes with an `:id`. `ownAgent: { scope, kind }` on the web gives `identity` and `agent`, and so does
 * `ownInstance: scope` for those with a `:userId`;
 * `agentCall: action` on the backend gives `caller` and `agent`, for the owner, or a service token in the owner's name for
 * this agent and this action. An admin is nobody's owner, on neither side.
 */
export function createAgentGuards(
  identities: Identities,
  agents: AgentStore,
  isUpdating: (agentId: string) => boolean,
) {
  const ownerMemo = createRequestMemo<{ identity: Identity; agent: Agent }>();
  const callerMemo = createRequestMemo<{ caller: Caller; agent: Agent }>();

  async function authenticateOwner(request: Request, id: string, { scope, kind }: OwnAgentOptions) {
    const identity = await identities.authenticate(request, scope);
    const agent = await agents.find(id);
    return requireOwner(request, identity, agent, kind);
  }

  /** `/api/instance/:userId` takes an agent's id, or the caller's own for the agent that it speaks to. Contract §5. */
  async function authenticateInstance(request: Request, id: string, scope: Scope) {
    const identity = await identities.authenticate(request, scope);
    const { id: userId } = identity.user;
    const agent = id === userId ? await agents.resolveCurrent(userId) : await agents.find(id);
    return requireOwner(request, identity, agent, "lifecycle");
  }

  function requireOwner(request: Request, identity: Identity, agent: Agent | undefined, kind: AgentRouteKind) {
    if (agent?.userId !== identity.user.id) throw ownershipError(kind);
    setFailureBody(kind, request);
    return ownerMemo.set(request, { identity, agent });
  }

  async function authorizeCall(request: Request, id: string, options: AgentCallOptions) {
    const { action, kind, scope } = normalizeAgentCall(options);
    const caller = await identities.authorize(request, action, scope);
    const agent = caller.agentId === undefined || caller.agentId === id ? await agents.find(id) : undefined;
    if (agent?.userId !== caller.userId) throw ownershipError(kind);
    setFailureBody(kind, request);
    return callerMemo.set(request, { caller, agent });
  }

  /** Asked when the body is there, right before the work. */
  async function recheckCall(request: Request, id: string, options: AgentCallOptions) {
    const found = callerMemo.get(request) ?? (await authorizeCall(request, id, options));
    if (normalizeAgentCall(options).changes && isUpdating(found.agent.id)) throw operationInProgress();
    return found;
  }
  const callErrorCodes = (options: AgentCallOptions) => {
    const { kind, changes } = normalizeAgentCall(options);
    return { ...ownershipErrorCodes(kind), ...(changes && { 409: "OPERATION_IN_PROGRESS" }) };
  };

  type Context = { request: Request; params: unknown };
  return new Elysia({ name: "agents.guards" }).macro({
    ownAgent: (options: OwnAgentOptions) => ({
      ...guarded(async ({ request, params }) => void (await authenticateOwner(request, params.id ?? "", options))),
      detail: documentGuard(["session", "apiKey"], ownershipErrorCodes(options.kind)),
      resolve: async ({ request, params }: Context) =>
        ownerMemo.get(request) ?? (await authenticateOwner(request, pathParam(params), options)),
    }),
    ownInstance: (scope: Scope) => ({
      ...guarded(async ({ request, params }) => void (await authenticateInstance(request, params.userId ?? "", scope))),
      detail: documentGuard(["session", "apiKey"], ownershipErrorCodes("lifecycle")),
      resolve: async ({ request, params }: Context) =>
        ownerMemo.get(request) ?? (await authenticateInstance(request, pathParam(params, "userId"), scope)),
    }),
    agentCall: (options: AgentCallOptions) => ({
      ...guarded(async ({ request, params }) => void (await authorizeCall(request, params.id ?? "", options))),
      detail: documentGuard(["serviceToken", "session", "apiKey"], callErrorCodes(options)),
      resolve: ({ request, params }: Context) => recheckCall(request, pathParam(params), options),
    }),
  });
}

function pathParam(params: unknown, name = "id"): string {
  const id: unknown = typeof params === "object" && params !== null ? Reflect.get(params, name) : undefined;
  return typeof id === "string" ? id : "";
}
