// Route macros that authenticate a request before its body is read, and add the rule to the API description.
import { Elysia } from "elysia";
import { forbidden } from "../../src/kernel/errors.ts";
import { documentGuard } from "../../src/kernel/http/openapi/route-documentation.ts";
import { createRequestMemo } from "../../src/kernel/http/request-context.ts";
import { guarded } from "../../src/kernel/http/route-guards.ts";
import { OF_CHANGES } from "./administration/frozen-accounts.ts";
import { requireKnownScopes, type Scope } from "./api-keys/api-keys.ts";
import type { Caller, Identity, SessionIdentity } from "./identity.ts";

/** The action that a service token must name, with the scope an API key needs where the method does not imply it. */
type GrantedAction = string | { action: string; scope: Scope };

interface AuthenticationChecks {
  authenticate(request: Request, ...scopes: Scope[]): Promise<Identity>;
  authenticateSession(request: Request): Promise<SessionIdentity>;
  authenticateAdmin(request: Request): Promise<Identity>;
  authenticateAdminSession(request: Request): Promise<SessionIdentity>;
  authorize(request: Request, action: string, scope?: Scope): Promise<Caller>;
}

export type RouteGuards = ReturnType<typeof createRouteGuards>;

export function createRouteGuards(checks: AuthenticationChecks) {
  const { authenticate, authenticateSession, authenticateAdmin, authenticateAdminSession, authorize } = checks;
  const callerByRequest = createRequestMemo<Caller>();
  type Context = { request: Request };
  return new Elysia({ name: "identity" }).macro({
    signedIn: (scope: Scope | readonly Scope[]) => {
      const scopes = [scope].flat();
      requireKnownScopes(...scopes);
      return {
        ...guarded(async ({ request }) => void (await authenticate(request, ...scopes))),
        detail: documentGuard(["session", "apiKey"], { 403: "MISSING_SCOPE" }, OF_CHANGES),
        resolve: async ({ request }: Context) => ({ identity: await authenticate(request, ...scopes) }),
      };
    },
    /** For settings that guard the account: API keys are refused. */
    ownSession: (_: true) => ({
      ...guarded(async ({ request }) => void (await authenticateSession(request))),
      detail: documentGuard(["session"], { 403: "SESSION_REQUIRED" }, OF_CHANGES),
      resolve: async ({ request }: Context) => ({ identity: await authenticateSession(request) }),
    }),
    admin: (_: true) => ({
      ...guarded(async ({ request }) => void (await authenticateAdmin(request))),
      detail: documentGuard(["session", "apiKey"], { 403: ["ADMIN_REQUIRED", "MISSING_SCOPE"] }),
      resolve: async ({ request }: Context) => ({ identity: await authenticateAdmin(request) }),
    }),
    /** For changes whose effect would outlast a leaked key: granting admin rights, and access to accounts. */
    adminSession: (_: true) => ({
      ...guarded(async ({ request }) => void (await authenticateAdminSession(request))),
      detail: documentGuard(["session"], { 403: ["ADMIN_REQUIRED", "SESSION_REQUIRED"] }),
      resolve: async ({ request }: Context) => ({ identity: await authenticateAdminSession(request) }),
    }),
    /** On the backend: a service token for this action that names an admin, or an admin's own credential. */
    grantedAdmin: (action: string) => {
      const authorizeAdmin = async (request: Request) => {
        const caller = await authorize(request, action);
        if (!caller.isAdmin) throw forbidden("ADMIN_REQUIRED", "Only admins can do this.");
        return callerByRequest.set(request, caller);
      };
      return {
        ...guarded(async ({ request }) => void (await authorizeAdmin(request))),
        detail: documentGuard(["serviceToken", "session", "apiKey"], { 403: ["ADMIN_REQUIRED", "MISSING_SCOPE"] }),
        resolve: async ({ request }: Context) => ({
          caller: callerByRequest.get(request) ?? (await authorizeAdmin(request)),
        }),
      };
    },
    granted: (granted: GrantedAction) => {
      const { action, scope } = typeof granted === "string" ? { action: granted, scope: undefined } : granted;
      if (scope !== undefined) requireKnownScopes(scope);
      return {
        ...guarded(async ({ request }) => void callerByRequest.set(request, await authorize(request, action, scope))),
        detail: documentGuard(["serviceToken", "session", "apiKey"], { 403: "MISSING_SCOPE" }, OF_CHANGES),
        resolve: async ({ request }: Context) => ({
          caller: callerByRequest.get(request) ?? (await authorize(request, action, scope)),
        }),
      };
    },
  });
}
