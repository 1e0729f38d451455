// Route guards that check an agent's owner before the body is read: by session or API key, on the backend by service
// token too.
import { Elysia } from "elysia";
import { AppError, forbidden } from "../../src/kernel/errors.ts";
import { documentGuard } from "../../src/kernel/http/openapi/route-documentation.ts";
import { contextOf, createRequestMemo } from "../../src/kernel/http/request-context.ts";
import { guarded, guardedFile, type RouteGuard } from "../../src/kernel/http/route-guards.ts";
import { type auth, type Caller, type Identity, OF_CHANGES, requireKnownScopes, type Scope } from "../auth/index.ts";
import { type Agent, type AgentStore, agentNotFound } from "./agent-store.ts";

type Identities = ReturnType<typeof auth.setup>["service"]["identities"];

export const operationInProgress = () =>
  new AppError(409, "OPERATION_IN_PROGRESS", "This agent is being updated. Try again when the update has ended.");

/**
 * How a route refuses a caller who is not the owner: 404 on data routes, 403 with the failure body on life-cycle
 * routes.
 */
export type AgentRouteKind = "data" | "lifecycle";

/** The scope that the session or key must have; `kind` is `data` by default. */
export type OwnAgentOptions = Scope | { scope: Scope; kind?: AgentRouteKind; file?: AdmitFile; large?: AdmitFile };

/**
 * For a route that takes a file (`file`: the body may be of any type, and its bytes are in the request's context), or JSON with
 * files in it (`large`). Called for a caller who may send one, before the body is read: it sets `maxBodyBytes`, or throws.
 */
export type AdmitFile = (request: Request) => void;

/**
 * The action that a service token must name; `kind` is `data` by default, `scope` as in `Identities.authorize`. A route
 * with `changes` is refused during an update of the agent, since undoing the update would lose the change.
 */
export type AgentCallOptions =
  | string
  | { action: string; kind?: AgentRouteKind; scope?: Scope; changes?: boolean; file?: AdmitFile; large?: AdmitFile };

/** What the body of every failure of a life-cycle route holds beside the error. */
export const FAILURE_BODY = { success: false, status: "error" };

/** The same error for a missing agent and for another user's, so that callers can't find out which ids exist. */
const ownershipError = (kind: AgentRouteKind): AppError =>
  kind === "data" ? agentNotFound() : forbidden("NOT_YOUR_AGENT", "You have no agent with this id.", FAILURE_BODY);

/** The failure body is also sent when the request's body is refused, before the route's handler runs. */
function setFailureBody(kind: AgentRouteKind, request: Request): void {
  if (kind === "lifecycle") contextOf(request).errorExtras = FAILURE_BODY;
}

const ownershipErrorCodes = (kind: AgentRouteKind) =>
  kind === "data" ? { 403: "MISSING_SCOPE", 404: "AGENT_NOT_FOUND" } : { 403: ["MISSING_SCOPE", "NOT_YOUR_AGENT"] };

const normalizeAgentCall = (options: AgentCallOptions) => ({
  kind: "data" as const,
  scope: undefined,
  changes: false,
  file: undefined,
  large: undefined,
  ...(typeof options === "string" ? { action: options } : options),
});

const normalizeOwnAgent = (options: OwnAgentOptions) => ({
  kind: "data" as const,
  file: undefined,
  large: undefined,
  ...(typeof options === "string" ? { scope: options } : options),
});
type OwnAgent = ReturnType<typeof normalizeOwnAgent>;

/**
 * Route macros for routes of one agent. On the web, `ownAgent: scope` (routes with `:id`) and
 * `ownInstance: scope` (routes with `:userId`) give the handler `identity` and `agent`. On the backend,
 * `agentCall: action` gives `caller` and `agent`: it admits the owner, and a service token that names the owner, this
 * agent and this action. Admins have no access to the agents of others.
 */
export function createAgentGuards(
  identities: Identities,
  agents: AgentStore,
  isUpdating: (agentId: string) => boolean,
) {
  const ownerMemo = createRequestMemo<{ identity: Identity; agent: Agent }>();
  const callerMemo = createRequestMemo<{ caller: Caller; agent: Agent }>();

  async function authenticateOwner(request: Request, id: string, { scope, kind }: OwnAgent) {
    const identity = await identities.authenticate(request, scope);
    const agent = await agents.find(id);
    return requireOwner(request, identity, agent, kind);
  }

  /** `/api/instance/:userId` takes an agent's id, or the caller's own user id for the caller's current agent. */
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

  /** Runs after the body was read, right before the handler. */
  async function recheckCall(request: Request, id: string, options: AgentCallOptions) {
    const authorized = callerMemo.get(request) ?? (await authorizeCall(request, id, options));
    if (normalizeAgentCall(options).changes && isUpdating(authorized.agent.id)) throw operationInProgress();
    return authorized;
  }
  const callErrorCodes = (options: AgentCallOptions) => {
    const { kind, changes } = normalizeAgentCall(options);
    return { ...ownershipErrorCodes(kind), ...(changes && { 409: "OPERATION_IN_PROGRESS" }) };
  };

  type Context = { request: Request; params: unknown };
  return new Elysia({ name: "agents.guards" }).macro({
    ownAgent: (given: OwnAgentOptions) => {
      const options = normalizeOwnAgent(given);
      requireKnownScopes(options.scope);
      return {
        ...guardedWith(options, async ({ request, params }) => {
          await authenticateOwner(request, params.id ?? "", options);
        }),
        detail: documentGuard(["session", "apiKey"], ownershipErrorCodes(options.kind), OF_CHANGES),
        resolve: async ({ request, params }: Context) =>
          ownerMemo.get(request) ?? (await authenticateOwner(request, pathParam(params), options)),
      };
    },
    ownInstance: (scope: Scope) => {
      requireKnownScopes(scope);
      return {
        ...guarded(
          async ({ request, params }) => void (await authenticateInstance(request, params.userId ?? "", scope)),
        ),
        detail: documentGuard(["session", "apiKey"], ownershipErrorCodes("lifecycle"), OF_CHANGES),
        resolve: async ({ request, params }: Context) =>
          ownerMemo.get(request) ?? (await authenticateInstance(request, pathParam(params, "userId"), scope)),
      };
    },
    agentCall: (options: AgentCallOptions) => ({
      ...guardedWith(normalizeAgentCall(options), async ({ request, params }) => {
        await authorizeCall(request, params.id ?? "", options);
      }),
      detail: documentGuard(["serviceToken", "session", "apiKey"], callErrorCodes(options), OF_CHANGES),
      resolve: ({ request, params }: Context) => recheckCall(request, pathParam(params), options),
    }),
  });
}

function guardedWith(
  { file, large }: { file?: AdmitFile | undefined; large?: AdmitFile | undefined },
  guard: RouteGuard,
) {
  if (file) return guardedFile(guard, ({ request }) => file(request));
  return large ? guarded(guard, ({ request }) => large(request)) : guarded(guard);
}

function pathParam(params: unknown, name = "id"): string {
  const id: unknown = typeof params === "object" && params !== null ? Reflect.get(params, name) : undefined;
  return typeof id === "string" ? id : "";
}
