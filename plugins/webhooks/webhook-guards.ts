// Whose webhook it is, settled before the body is read.
import { Elysia } from "elysia";
import { notFound } from "../../src/kernel/errors.ts";
import { createRequestMemo, guarded } from "../../src/kernel/http/http.ts";
import { documentGuard } from "../../src/kernel/http/openapi/route-documentation.ts";
import type { ServiceOf } from "../../src/kernel/plugin.ts";
import { type auth, type Identity, requireScope, type Scope } from "../auth/index.ts";
import type { Endpoint, Endpoints } from "./endpoints.ts";

type Identities = ServiceOf<typeof auth>["identities"];

/** What an id looks like; what doesn't names nothing, and the database is not asked. */
export const ID_PATTERN = /^[0-9a-f-]{36}$/;

/** The same for a webhook that does not exist and for one of somebody else, so that nobody can ask which ids there are. */
export const webhookNotFound = () => notFound("You have no webhook with this id.", "WEBHOOK_NOT_FOUND");

/** What an API key must be good for: `sending`, for what has events sent somewhere, is to read and to write them both. */
type RequiredScope = Scope | "sending";

/**
 * Route macros: `mayHaveSent: true` gives `identity`; for routes with an `:id`, `ownWebhook: right` gives `identity` and
 * `endpoint`.
 */
export function createWebhookGuards(identities: Identities, endpoints: Endpoints) {
  const ownedWebhooks = createRequestMemo<{ identity: Identity; endpoint: Endpoint }>();

  async function authenticate(request: Request, requiredScope: RequiredScope): Promise<Identity> {
    if (requiredScope !== "sending") return identities.authenticate(request, requiredScope);
    const identity = await identities.authenticate(request, "write");
    requireScope(identity, "read");
    return identity;
  }

  async function requireOwned(request: Request, id: string, requiredScope: RequiredScope) {
    const identity = await authenticate(request, requiredScope);
    const endpoint = ID_PATTERN.test(id) ? await endpoints.find(id) : undefined;
    if (endpoint?.userId !== identity.user.id) throw webhookNotFound();
    return ownedWebhooks.set(request, { identity, endpoint });
  }

  type Context = { request: Request; params: unknown };
  return new Elysia({ name: "webhooks.guards" }).macro({
    webhookCreator: (_: true) => ({
      ...guarded(async ({ request }) => void (await authenticate(request, "sending"))),
      detail: documentGuard(["session", "apiKey"], { 403: "MISSING_SCOPE" }),
      resolve: async ({ request }: Pick<Context, "request">) => ({ identity: await authenticate(request, "sending") }),
    }),
    ownWebhook: (requiredScope: RequiredScope) => ({
      ...guarded(async ({ request, params }) => void (await requireOwned(request, params.id ?? "", requiredScope))),
      detail: documentGuard(["session", "apiKey"], { 403: "MISSING_SCOPE", 404: "WEBHOOK_NOT_FOUND" }),
      resolve: async ({ request, params }: Context) =>
        ownedWebhooks.get(request) ?? (await requireOwned(request, idParamOf(params), requiredScope)),
    }),
  });
}

function idParamOf(params: unknown): string {
  const id: unknown = typeof params === "object" && params !== null ? Reflect.get(params, "id") : undefined;
  return typeof id === "string" ? id : "";
}
