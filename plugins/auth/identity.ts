// Who is asking: from a session cookie on the web surface, from a service token or a session on the backend.
import { Elysia } from "elysia";
import { type Grant, type ServiceTokens, TOKEN_REFUSED } from "../../src/backend.ts";
import { type Config, isLoopbackHost } from "../../src/config.ts";
import { AppError, unauthorized } from "../../src/errors.ts";
import { contextOf, guarded, isDirect } from "../../src/http.ts";
import type { Limits } from "../../src/limits.ts";
import { guardedBy } from "../../src/openapi/told.ts";
import { ownOrigins } from "../../src/origins.ts";
import type { Session, Sessions } from "./sessions.ts";
import type { User, Users } from "./users.ts";

/** What a route asks for. API keys will be limited by it; sessions have all of them. */
export type Scope = "read" | "write" | "chat";

/** Somebody signed in. `isAdmin` is what counts for this very request. */
export interface Identity {
  user: User;
  session: Session;
  isAdmin: boolean;
}

/** Who the backend works for. */
export interface Caller {
  userId: string;
  isAdmin: boolean;
  /** The client's address, also when the web surface is in between. */
  address: string;
  /** The agent that a service token is good for. */
  agentId: string | undefined;
}

export interface Identities {
  /** Who the cookie of this request names; undefined for nobody. Found and counted once per request; 429 past the rate. */
  identify(request: Request): Promise<Identity | undefined>;
  /** The same, or 401. */
  authenticate(request: Request): Promise<Identity>;
  /** Backend: the holder of a service token for just this action, or somebody signed in; else 401. */
  authorize(request: Request, action: string): Promise<Caller>;
  /** What the web surface asks the backend with, in this caller's name. */
  grant(identity: Identity, request: Request, action: string, agentId?: string): Grant;
  /** Whether a page of this origin may act with the visitor's cookie. */
  isOwnOrigin(origin: string): boolean;
  /** Route macros: `signedIn: scope` on the web, `granted: action` on the backend. */
  readonly guards: ReturnType<typeof createGuards>;
}

interface Deps {
  config: Config;
  users: Users;
  sessions: Sessions;
  tokens: ServiceTokens;
  limits: Limits;
}

export function createIdentities({ config, users, sessions, tokens, limits }: Deps): Identities {
  const known = new WeakMap<Request, Identity>();
  const origins = ownOrigins(config, "web");
  const trustsLoopback = isLoopbackHost(new URL(config.baseUrl).hostname);

  async function identify(request: Request): Promise<Identity | undefined> {
    const found = known.get(request);
    if (found) return found;
    const session = await sessions.find(request.headers.get("cookie"));
    const user = session && (await users.byId(session.userId));
    if (!user) return undefined;
    // Each account has the rate of one address, however many addresses it comes from. Contract §3.
    const decision = limits.take("default", `user ${user.id}`);
    if (!decision.allowed) throw limits.refusal(decision);
    const renewed = await sessions.renew(session);
    if (renewed !== undefined) contextOf(request).cookies.push(renewed);
    const identity = { user, session, isAdmin: isAdmin(user, session, request) };
    known.set(request, identity);
    return identity;
  }

  /** An address in ADMIN_EMAILS counts when it was verified, or when nobody but this machine can have asked. Contract §2. */
  function isAdmin(user: User, session: Session, request: Request): boolean {
    if (user.isAdmin) return true;
    if (!config.adminEmails.includes(user.email)) return false;
    return user.emailVerified || (trustsLoopback && session.direct && isDirect(request));
  }

  async function authenticate(request: Request): Promise<Identity> {
    const identity = await identify(request);
    if (!identity) throw unauthorized();
    return identity;
  }

  async function authorize(request: Request, action: string): Promise<Caller> {
    const bearer = request.headers.get("authorization");
    const context = contextOf(request);
    if (bearer?.startsWith("Bearer ")) {
      const grant = tokens.verify(bearer.slice("Bearer ".length));
      if (grant?.action !== action) {
        const text = "This service token is not valid for this request.";
        throw new AppError(401, "UNAUTHORIZED", text, {}, { headers: { "www-authenticate": TOKEN_REFUSED } });
      }
      context.address = grant.address;
      return { userId: grant.userId, isAdmin: grant.isAdmin, address: grant.address, agentId: grant.agentId };
    }
    const { user, isAdmin } = await authenticate(request);
    return { userId: user.id, isAdmin, address: context.address, agentId: undefined };
  }

  return {
    identify,
    authenticate,
    authorize,
    grant: ({ user, isAdmin }, request, action, agentId) => ({
      userId: user.id,
      isAdmin,
      address: contextOf(request).address,
      action,
      ...(agentId === undefined ? {} : { agentId }),
    }),
    isOwnOrigin: (origin) => origins.has(origin),
    guards: createGuards(authenticate, authorize),
  };
}

function createGuards(authenticate: Identities["authenticate"], authorize: Identities["authorize"]) {
  const callers = new WeakMap<Request, Caller>();
  return new Elysia({ name: "identity" }).macro({
    signedIn: (_scope: Scope) => ({
      ...guarded(async ({ request }) => void (await authenticate(request))),
      detail: guardedBy(["session"]),
      resolve: async ({ request }: { request: Request }) => ({ identity: await authenticate(request) }),
    }),
    granted: (action: string) => ({
      ...guarded(async ({ request }) => void callers.set(request, await authorize(request, action))),
      detail: guardedBy(["serviceToken", "session"]),
      resolve: async ({ request }: { request: Request }) => ({
        caller: callers.get(request) ?? (await authorize(request, action)),
      }),
    }),
  });
}
