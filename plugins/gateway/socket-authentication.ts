// Who may open a gateway socket: the agent's token in any hands, or its owner's session on a page of our own.
import type { Grant } from "../../src/kernel/http/backend-transport.ts";
import { contextOf } from "../../src/kernel/http/http.ts";
import type { ServiceOf } from "../../src/kernel/plugin.ts";
import type { RateLimiter } from "../../src/kernel/security/rate-limits/rate-limiter.ts";
import type { Agent, agents as agentsPlugin } from "../agents/index.ts";
import type { auth } from "../auth/index.ts";
import type { GatewayTokens } from "./gateway-tokens.ts";

/** The subprotocol; others that are offered carry a token, and are never echoed. */
export const SUBPROTOCOL = "berth.v1";
const TOKEN_PREFIX = "berth.token.";

/** What a socket was opened with: when that ends, so does the socket. */
export type SocketCredential = { kind: "token"; hash: string } | { kind: "session"; sessionId: string };

export interface AuthenticatedClient {
  agent: Agent;
  credential: SocketCredential;
  /** The client's. */
  address: string;
  /** What the backend is asked with, in the name of the agent's owner. */
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

/** Judges a request for `/agent/<rest>`: undefined for whoever may not come in. Throws 429 for who comes too often. */
export function createSocketAuthentication({ identities, users, agents, tokens, limits }: Deps) {
  async function byToken(request: Request, rest: string, token: string): Promise<AuthenticatedClient | undefined> {
    const { address } = contextOf(request);
    const found = await tokens.find(token);
    if (!found) {
      // Under the rate of sign-in, in an account of their own, and only they: one client that goes on with an old token
      // locks out neither who signs in from its address nor who has the new one.
      await limits.takeOrThrow("sign-in-ip", `gateway|${address}`);
      return undefined;
    }
    const agent = await agents.find(found.agentId);
    // The token opens its own agent alone, by the agent's id or by its owner's.
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
    // A cookie comes along from every page; only our own may use it.
    const origin = request.headers.get("origin");
    if (origin === null || !identities.isOwnOrigin(origin)) return undefined;
    const identity = await identities.identify(request);
    if (!identity?.session) return undefined;
    const { user, session } = identity;
    // The path names an agent, or a user, which means that user's current agent.
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
    // Whoever shows a token is judged by it, whatever cookie is beside it.
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
