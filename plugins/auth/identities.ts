// Authenticates requests: by session cookie or API key on both surfaces, on the backend also by service token.

import type { RequestActor } from "../../src/kernel/audit/actor.ts";
import type { Cells } from "../../src/kernel/cells/cells.ts";
import { type Config, isLoopbackHost } from "../../src/kernel/config/config.ts";
import { AppError, forbidden, unauthorized } from "../../src/kernel/errors.ts";
import {
  type Grant,
  INVALID_TOKEN_CHALLENGE,
  type ServiceTokens,
} from "../../src/kernel/http/backend/service-tokens.ts";
import { contextOf, createRequestMemo, isLocalRequest } from "../../src/kernel/http/request-context.ts";
import { trustedOrigins } from "../../src/kernel/http/trusted-origins.ts";
import type { RateLimiter } from "../../src/kernel/security/rate-limits/rate-limiter.ts";
import { changesNothing, requireUnfrozen } from "./administration/frozen-accounts.ts";
import { type ApiKeys, looksLikeApiKey, SCOPES, type Scope } from "./api-keys/api-keys.ts";
import { sendToCell, sentAdmin } from "./cells/sent-admin.ts";
import {
  bearerOf,
  type Caller,
  type Identity,
  keyOf,
  requireScope,
  type SessionIdentity,
  takeAccountRate,
} from "./identity.ts";
import { createRouteGuards, type RouteGuards } from "./route-guards.ts";
import type { Session, Sessions } from "./sessions.ts";
import { adminSettings } from "./settings.ts";
import type { User, Users } from "./users.ts";

export interface Identities {
  /**
   * The identity behind this request; undefined if there is no valid credential. If a bearer token is sent, the cookie
   * is ignored. Resolved and counted once per request; 429 past the rate of the account.
   */
  identify(request: Request): Promise<Identity | undefined>;
  /**
   * As `identify`, but throws 401 without an identity, 403 `ACCOUNT_FROZEN` for a change in a frozen account, and 403
   * `MISSING_SCOPE` if a key lacks one of the scopes.
   */
  authenticate(request: Request, ...scopes: Scope[]): Promise<Identity>;
  /** For routes open to all: undefined without a valid cookie; a bearer token must satisfy `authenticate`. */
  authenticateOptional(request: Request, scope: Scope): Promise<Identity | undefined>;
  /** The identity of a session. Throws 401 without an identity, 403 `SESSION_REQUIRED` for an API key. */
  authenticateSession(request: Request): Promise<SessionIdentity>;
  /**
   * For backend routes: the holder of a service token for exactly this action, or a signed-in user; else 401. An API
   * key needs the scope; by default `read` for GET and HEAD, `write` for other methods.
   */
  authorize(request: Request, action: string, scope?: Scope): Promise<Caller>;
  /** The claims of the service token with which the web surface calls the backend on behalf of this identity. */
  createGrant(identity: Identity, request: Request, action: string, agentId?: string): Grant;
  /** Whether pages of this origin may send requests with the visitor's session cookie. */
  isOwnOrigin(origin: string): boolean;
  /**
   * Route macros. Web: `signedIn: scope` (or several scopes, all of which a key must have), `ownSession`, `admin`,
   * `adminSession`. Backend: `granted: action`.
   */
  readonly guards: RouteGuards;
}

const ALL_SCOPES: ReadonlySet<Scope> = new Set(SCOPES);

interface Deps {
  config: Config;
  cells: Cells | undefined;
  users: Users;
  sessions: Sessions;
  keys: Pick<ApiKeys, "find">;
  tokens: ServiceTokens;
  limits: RateLimiter;
}

/** A session or an API key, of a valid request. */
interface Credential {
  id: string;
  userId: string;
  /** The session was started, or the key created, by a request from this machine without a proxy. */
  direct: boolean;
  session?: Session;
  scopes: ReadonlySet<Scope>;
}

export function createIdentities({ config, cells, users, sessions, keys, tokens, limits }: Deps): Identities {
  const { emails: adminEmails } = config.of(adminSettings);
  const identityByRequest = createRequestMemo<Identity>();
  const origins = trustedOrigins(config, "web");
  const trustsLoopback = isLoopbackHost(new URL(config.baseUrl).hostname);

  async function identify(request: Request): Promise<Identity | undefined> {
    const found = identityByRequest.get(request);
    if (found) return found;
    const credential = await findCredential(request);
    const user = credential && (await users.byId(credential.userId));
    if (!user || user.disabledAt !== null) return undefined;
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
    contextOf(request).actor = actorOf(identity);
    return identityByRequest.set(request, identity);
  }

  async function findCredential(request: Request): Promise<Credential | undefined> {
    const key = keyOf(request);
    if (key !== undefined) return keys.find(key);
    const session = await sessions.find(request.headers.get("cookie"));
    return session && { id: session.id, userId: session.userId, direct: session.direct, session, scopes: ALL_SCOPES };
  }

  /**
   * A frozen account is no admin. An address in ADMIN_EMAILS counts if it is verified, or if sign-in and request both come
   * directly from this machine.
   */
  function isAdmin(user: User, { direct }: Credential, request: Request): boolean {
    if (user.frozenAt !== null) return false;
    if (user.isAdmin || user.adminByGroup) return true;
    if (!adminEmails.includes(user.email)) return false;
    return user.emailVerified || (trustsLoopback && direct && isLocalRequest(request));
  }

  async function authenticate(request: Request, ...scopes: Scope[]): Promise<Identity> {
    const identity = await identify(request);
    if (!identity) throw notIdentified(request);
    requireUnfrozen(identity.user, request);
    for (const scope of scopes) requireScope(identity, scope);
    return identity;
  }

  async function authenticateOptional(request: Request, scope: Scope): Promise<Identity | undefined> {
    if (keyOf(request) !== undefined) return authenticate(request, scope);
    const identity = request.headers.has("cookie") ? await identify(request) : undefined;
    if (identity) requireUnfrozen(identity.user, request);
    return identity;
  }

  async function authenticateSession(request: Request): Promise<SessionIdentity> {
    const identity = await identify(request);
    if (!identity) throw notIdentified(request);
    const { session } = identity;
    if (!session) throw forbidden("SESSION_REQUIRED", "API keys can't do this. Sign in instead.");
    requireUnfrozen(identity.user, request);
    return { ...identity, session };
  }

  function requireAdmin<T extends Identity>(identity: T): T {
    if (!identity.isAdmin) throw forbidden("ADMIN_REQUIRED", "Only admins can do this.");
    return identity;
  }

  async function authenticateAdmin(request: Request): Promise<Identity> {
    const sent = cells && sentAdmin(request);
    if (sent) return sent;
    const identity = requireAdmin(await authenticate(request, scopeForMethod(request)));
    if (cells) await sendToCell(cells, request, identity);
    return identity;
  }

  async function authenticateAdminSession(request: Request): Promise<SessionIdentity> {
    const sent = cells && sentAdmin(request);
    if (sent?.session) return { ...sent, session: sent.session };
    const identity = requireAdmin(await authenticateSession(request));
    if (cells) await sendToCell(cells, request, identity);
    return identity;
  }

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
      context.actor = grant.actor ?? { kind: "user", id: grant.userId, name: "" };
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
    createGrant: (identity, request, action, agentId) => ({
      userId: identity.user.id,
      isAdmin: identity.isAdmin,
      credentialId: identity.credentialId,
      actor: contextOf(request).actor ?? actorOf(identity),
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

/** The account, or the key that acts for it. */
const actorOf = ({ user, session, credentialId }: Identity): RequestActor =>
  session ? { kind: "user", id: user.id, name: user.email } : { kind: "key", id: credentialId, name: user.email };

/** 401 for a request without an identity: a program that sent a key can't sign in, and its user has to know that the key is the reason. */
function notIdentified(request: Request): AppError {
  const key = keyOf(request);
  if (key === undefined) return unauthorized();
  return unauthorized(
    looksLikeApiKey(key)
      ? "This API key is not valid: it was revoked, it has expired, or it is not written in full."
      : "The bearer token of this request is no API key of Berth: those begin with bk_.",
  );
}

/** The scope that a route without an explicit one requires. */
const scopeForMethod = (request: Request): Scope => (changesNothing(request) ? "read" : "write");
