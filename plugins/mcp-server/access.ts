// Finds out on whose behalf a request to the MCP server comes: by an API key, or by the access token of a connected app.
import { AppError } from "../../src/kernel/errors.ts";
import type { Grant } from "../../src/kernel/http/backend/service-tokens.ts";
import { contextOf, createRequestMemo } from "../../src/kernel/http/request-context.ts";
import type { Kernel, ServiceOf } from "../../src/kernel/plugin.ts";
import { type auth, bearerOf, type Scope } from "../auth/index.ts";
import type { Addresses } from "./addresses.ts";
import { type ConnectedApps, looksLikeAccessToken } from "./oauth/connected-apps.ts";

export interface McpCaller {
  userId: string;
  scopes: ReadonlySet<Scope>;
  /** What it writes counts as its owner's own words: it came with a key of theirs, or with an app that they trust so far. */
  trusted: boolean;
  /** The claims with which a tool calls the backend for one agent. */
  grantFor(action: string, agentId: string): Grant;
}

interface Deps extends Pick<Kernel, "limits"> {
  identities: Pick<ServiceOf<typeof auth>["identities"], "identify" | "createGrant">;
  users: Pick<ServiceOf<typeof auth>["users"], "byId">;
  apps: Pick<ConnectedApps, "findByAccessToken">;
  addresses: Addresses;
}

export function createAccess({ identities, users, apps, addresses, limits }: Deps) {
  const callers = createRequestMemo<McpCaller>();

  function refuse(request: Request, error?: "invalid_token"): AppError {
    const text = error
      ? "This key or token is not valid, or it has expired."
      : "Send an API key or an access token: Authorization: Bearer …";
    const headers = { "www-authenticate": addresses.challenge(request, error) };
    return new AppError(401, "UNAUTHORIZED", text, {}, { headers });
  }

  async function findByToken(request: Request, token: string): Promise<McpCaller | undefined> {
    const app = await apps.findByAccessToken(token);
    const user = app && (await users.byId(app.userId));
    if (!app || !user || user.disabledAt !== null) return undefined;
    const decision = limits.take("default", `user ${user.id}`);
    if (!decision.allowed) throw limits.tooManyRequests(decision);
    const { address } = contextOf(request);
    return {
      userId: user.id,
      scopes: app.scopes,
      trusted: app.trusted,
      // Never with an admin's rights: they were not asked for.
      grantFor: (action, agentId) => ({ userId: user.id, isAdmin: false, action, agentId, address }),
    };
  }

  async function findByKey(request: Request): Promise<McpCaller | undefined> {
    const identity = await identities.identify(request);
    return (
      identity && {
        userId: identity.user.id,
        scopes: identity.scopes,
        trusted: true,
        grantFor: (action, agentId) => identities.createGrant(identity, request, action, agentId),
      }
    );
  }

  /**
   * Throws 403 for a foreign Host or Origin, and 401 with the way to sign in. Cookies don't count, so that no page can make a
   * browser call a tool.
   */
  async function authenticate(request: Request): Promise<McpCaller> {
    const known = callers.get(request);
    if (known) return known;
    if (!addresses.isAdmitted(request)) {
      throw new AppError(403, "FOREIGN_ORIGIN", "Send requests to Berth's own address, and not from another site.");
    }
    const bearer = bearerOf(request);
    if (!bearer) throw refuse(request);
    const caller = looksLikeAccessToken(bearer) ? await findByToken(request, bearer) : await findByKey(request);
    if (!caller) throw refuse(request, "invalid_token");
    return callers.set(request, caller);
  }

  return { authenticate };
}

export type Access = ReturnType<typeof createAccess>;
