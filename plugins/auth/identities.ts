// Who is asking: a session cookie or an API key on both surfaces, on the backend also a service token.
import { type Config, isLoopbackHost } from "../../src/kernel/config/config.ts";
import { AppError, forbidden, unauthorized } from "../../src/kernel/errors.ts";
import { type Grant, INVALID_TOKEN_CHALLENGE, type ServiceTokens } from "../../src/kernel/http/backend-transport.ts";
import { contextOf, createRequestMemo, isLocalRequest } from "../../src/kernel/http/http.ts";
import { trustedOrigins } from "../../src/kernel/http/trusted-origins.ts";
import type { RateLimiter } from "../../src/kernel/security/rate-limits/rate-limiter.ts";
import { type ApiKeys, looksLikeApiKey, SCOPES, type Scope } from "./api-keys/api-keys.ts";
import {
  bearerOf,
  type Caller,
  type Identity,
  requireScope,
  type SessionIdentity,
  takeAccountRate,
} from "./identity.ts";
import { createRouteGuards, type RouteGuards } from "./route-guards.ts";
import type { Session, Sessions } from "./sessions.ts";
import type { User, Users } from "./users.ts";

export interface Identities {
  /**
   * Who this request names; undefined for nobody. A bearer token decides alone, whatever cookie is beside it. Found and
   * counted once per request; 429 past the rate.
   */
  identify(request: Request): Promise<Identity | undefined>;
  /** The same, or 401; 403 `MISSING_SCOPE` for a key without one of these scopes. */
  authenticate(request: Request, ...scopes: Scope[]): Promise<Identity>;
  /** For routes open to all: undefined for who shows nothing or an old cookie; a bearer token must be as `authenticate` wants it. */
  authenticateOptional(request: Request, scope: Scope): Promise<Identity | undefined>;
  /** Somebody with a session, or 401; 403 `SESSION_REQUIRED` for an API key. */
  authenticateSession(request: Request): Promise<SessionIdentity>;
  /**
   * Backend: the holder of a service token for just this action, or somebody signed in; else 401. An API key needs the
   * scope: left out, `read` or `write` by the method.
   */
  authorize(request: Request, action: string, scope?: Scope): Promise<Caller>;
  /** What the web surface asks the backend with, in this caller's name. */
  createGrant(identity: Identity, request: Request, action: string, agentId?: string): Grant;
  /** Whether a page of this origin may act with the visitor's cookie. */
  isOwnOrigin(origin: string): boolean;
  /** Route macros: `signedIn: scope` (or several, all of which a key must have), `ownSession`, `admin` and `adminSession` on the web, `granted: action` on the backend. */
  readonly guards: RouteGuards;
}

const ALL_SCOPES: ReadonlySet<Scope> = new Set(SCOPES);

interface Deps {
  config: Config;
  users: Users;
  sessions: Sessions;
  keys: Pick<ApiKeys, "find">;
  tokens: ServiceTokens;
  limits: RateLimiter;
}

/** What lets somebody in: just one of the two. */
interface Credential {
  id: string;
  userId: string;
  /** Shown or made straight on this machine. */
  direct: boolean;
  session?: Session;
  scopes: ReadonlySet<Scope>;
}

export function createIdentities({ config, users, sessions, keys, tokens, limits }: Deps): Identities {
  const identityByRequest = createRequestMemo<Identity>();
  const origins = trustedOrigins(config, "web");
  const trustsLoopback = isLoopbackHost(new URL(config.baseUrl).hostname);

  async function identify(request: Request): Promise<Identity | undefined> {
    const found = identityByRequest.get(request);
    if (found) return found;
    const credential = await findCredential(request);
    const user = credential && (await users.byId(credential.userId));
    if (!user || user.disabledAt !== null) return undefined;
    // Each account has the rate of one address, however many addresses it comes from. Contract §3.
    takeAccountRate(limits, user.id);
    const { session, scopes } = credential;
    const renewed = session && (await sessions.renew(session));
    if (renewed !== undefined) contextOf(request).cookies.push(renewed);
    const identity = {
      user,
      session,
      credentialId: credential.id,
      scopes,
      isAdmin: isAdmin(user, credential, request),
    };
    return identityByRequest.set(request, identity);
  }

  async function findCredential(request: Request): Promise<Credential | undefined> {
    const bearer = bearerOf(request);
    if (bearer !== undefined) return keys.find(bearer);
    const session = await sessions.find(request.headers.get("cookie"));
    return session && { id: session.id, userId: session.userId, direct: session.direct, session, scopes: ALL_SCOPES };
  }

  /** An address in ADMIN_EMAILS counts when it was verified, or when nobody but this machine can have asked. Contract §2. */
  function isAdmin(user: User, { direct }: Credential, request: Request): boolean {
    if (user.isAdmin) return true;
    if (!config.adminEmails.includes(user.email)) return false;
    return user.emailVerified || (trustsLoopback && direct && isLocalRequest(request));
  }

  async function authenticate(request: Request, ...scopes: Scope[]): Promise<Identity> {
    const identity = await identify(request);
    if (!identity) throw unauthorized();
    for (const scope of scopes) requireScope(identity, scope);
    return identity;
  }

  async function authenticateOptional(request: Request, scope: Scope): Promise<Identity | undefined> {
    if (bearerOf(request) !== undefined) return authenticate(request, scope);
    return request.headers.has("cookie") ? identify(request) : undefined;
  }

  async function authenticateSession(request: Request): Promise<SessionIdentity> {
    const identity = await identify(request);
    if (!identity) throw unauthorized();
    const { session } = identity;
    if (!session) throw forbidden("SESSION_REQUIRED", "API keys can't do this. Sign in instead.");
    return { ...identity, session };
  }

  function requireAdmin<T extends Identity>(identity: T): T {
    if (!identity.isAdmin) throw forbidden("ADMIN_REQUIRED", "Only admins can do this.");
    return identity;
  }

  const authenticateAdmin = async (request: Request) =>
    requireAdmin(await authenticate(request, scopeForMethod(request)));
  const authenticateAdminSession = async (request: Request) => requireAdmin(await authenticateSession(request));

  async function authorize(request: Request, action: string, scope = scopeForMethod(request)): Promise<Caller> {
    const bearer = bearerOf(request);
    const context = contextOf(request);
    if (bearer !== undefined && !looksLikeApiKey(bearer)) {
      const grant = tokens.verify(bearer);
      if (grant?.action !== action) {
        const text = "This service token is not valid for this request.";
        throw new AppError(401, "UNAUTHORIZED", text, {}, { headers: { "www-authenticate": INVALID_TOKEN_CHALLENGE } });
      }
      context.address = grant.address;
      const { userId, isAdmin, address, agentId, credentialId } = grant;
      return { userId, isAdmin, address, agentId, hasServiceToken: true, credentialId };
    }
    const { user, isAdmin, credentialId } = await authenticate(request, scope);
    const { address } = context;
    return { userId: user.id, isAdmin, address, agentId: undefined, hasServiceToken: false, credentialId };
  }

  return {
    identify,
    authenticate,
    authenticateOptional,
    authenticateSession,
    authorize,
    createGrant: ({ user, isAdmin, credentialId }, request, action, agentId) => ({
      userId: user.id,
      isAdmin,
      credentialId,
      address: contextOf(request).address,
      action,
      ...(agentId === undefined ? {} : { agentId }),
    }),
    isOwnOrigin: (origin) => origins.has(origin),
    guards: createRouteGuards({
      authenticate,
      authenticateSession,
      authenticateAdmin,
      authenticateAdminSession,
      authorize,
    }),
  };
}

/** Methods that change nothing. */
const SAFE_METHODS = new Set(["GET", "HEAD"]);

/** What a route asks for that says nothing else. */
const scopeForMethod = ({ method }: Request): Scope => (SAFE_METHODS.has(method) ? "read" : "write");
