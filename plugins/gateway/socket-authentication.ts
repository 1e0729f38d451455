// Authenticates the request for a gateway socket by the agent's token, or by its owner's session on one of our own pages.
import type { Grant } from "../../src/kernel/http/backend/service-tokens.ts";
import { contextOf } from "../../src/kernel/http/request-context.ts";
import type { ServiceOf } from "../../src/kernel/plugin.ts";
import type { RateLimiter } from "../../src/kernel/security/rate-limits/rate-limiter.ts";
import type { Agent, agents as agentsPlugin } from "../agents/index.ts";
import type { auth } from "../auth/index.ts";
import type { GatewayTokens } from "./gateway-tokens.ts";

/** The subprotocol that is confirmed. An offered one with a token is never echoed. */
export const SUBPROTOCOL = "berth.v1";
const TOKEN_PREFIX = "berth.token.";

/** The credential that opened a socket; the socket is closed when it is revoked. */
export type SocketCredential = { kind: "token"; hash: string } | { kind: "session"; sessionId: string };

export interface AuthenticatedClient {
  agent: Agent;
  credential: SocketCredential;
  /** The client's address. */
  address: string;
  /** A grant for calls of the backend in the name of the agent's owner. */
  grant(action: string): Grant;
}

type AuthService = ServiceOf<typeof auth>;

interface Deps {
  identities: Pick<AuthService["identities"], "identify" | "isOwnOrigin" | "createGrant">;
  users: Pick<AuthService["users"], "byId">;
  agents: Pick<ServiceOf<typeof agentsPlugin>, "find" | "resolveCurrent">;
  tokens: Pick<GatewayTokens, "find">;
  limits: RateLimiter;
}

/**
 * Returns the function that authenticates a request for `/agent/<rest>`; undefined for a client without a valid credential.
 * @throws AppError 429 past a rate limit
 */
export function createSocketAuthentication({ identities, users, agents, tokens, limits }: Deps) {
  async function byToken(request: Request, rest: string, token: string): Promise<AuthenticatedClient | undefined> {
    const { address } = contextOf(request);
    const found = await tokens.find(token);
    if (!found) {
      // Only wrong tokens count, under the rate of sign-in but with a key of the gateway: a client that retries with an old
      // token blocks neither sign-ins from its address nor clients with the new token.
      await limits.takeOrThrow("sign-in-ip", `gateway|${address}`);
      return undefined;
    }
    const agent = await agents.find(found.agentId);
    // The path names the token's agent, by its id or by its owner's.
    if (!agent || (rest !== agent.id && rest !== agent.userId)) return undefined;
    const owner = await users.byId(agent.userId);
    if (!owner || owner.disabledAt !== null) return undefined;
    const decision = limits.take("default", `user ${owner.id}`);
    if (!decision.allowed) throw limits.tooManyRequests(decision);
    return {
      agent,
      credential: { kind: "token", hash: found.hash },
      address,
      grant: (action) => ({ userId: owner.id, isAdmin: false, agentId: agent.id, action, address }),
    };
  }

  async function bySession(request: Request, rest: string): Promise<AuthenticatedClient | undefined> {
    // Browsers send the cookie from pages of any site; only our own may use it.
    const origin = request.headers.get("origin");
    if (origin === null || !identities.isOwnOrigin(origin)) return undefined;
    const identity = await identities.identify(request);
    if (!identity?.session) return undefined;
    const { user, session } = identity;
    // The path names an agent, or a user and so that user's current agent.
    const agent = rest === user.id ? await agents.resolveCurrent(user.id) : await agents.find(rest);
    if (agent?.userId !== user.id) return undefined;
    return {
      agent,
      credential: { kind: "session", sessionId: session.id },
      address: contextOf(request).address,
      grant: (action) => identities.createGrant(identity, request, action, agent.id),
    };
  }

  return async function authenticate(request: Request, rest: string): Promise<AuthenticatedClient | undefined> {
    const token = tokenOf(request);
    // With a token, the cookie is ignored.
    return token === undefined ? bySession(request, rest) : byToken(request, rest, token);
  };
}

export const offeredSubprotocols = ({ headers }: Request): string[] =>
  headers
    .get("sec-websocket-protocol")
    ?.split(",")
    .map((name) => name.trim()) ?? [];

/** Browsers can't send headers with a socket, so they put the token among the subprotocols. */
function tokenOf(request: Request): string | undefined {
  const [, bearer] = /^bearer(?:\s+(.*))?$/i.exec(request.headers.get("authorization") ?? "") ?? [null, null];
  if (bearer !== null) return bearer ?? "";
  return offeredSubprotocols(request)
    .find((name) => name.startsWith(TOKEN_PREFIX))
    ?.slice(TOKEN_PREFIX.length);
}
