// Route guards that check the caller's scopes and the webhook's owner before the request body is read.
import { Elysia } from "elysia";
import { notFound } from "../../../src/kernel/errors.ts";
import { documentGuard } from "../../../src/kernel/http/openapi/route-documentation.ts";
import { createRequestMemo } from "../../../src/kernel/http/request-context.ts";
import { guarded } from "../../../src/kernel/http/route-guards.ts";
import type { ServiceOf } from "../../../src/kernel/plugin.ts";
import { type auth, type Identity, requireScope, type Scope } from "../../auth/index.ts";
import type { Endpoint, Endpoints } from "./endpoints.ts";

type Identities = ServiceOf<typeof auth>["identities"];

/** The form of an id. Other texts are not looked up. */
export const ID_PATTERN = /^[0-9a-f-]{36}$/;

/** The same error for unknown webhooks and those of other users, so that it does not reveal which ids exist. */
export const webhookNotFound = () => notFound("You have no webhook with this id.", "WEBHOOK_NOT_FOUND");

/** The scope that an API key needs; `read+write` is both, for routes that have events sent to an address. */
type RequiredScope = Scope | "read+write";

/**
 * Route macros: `webhookCreator: true` resolves `identity`; for routes with an `:id`, `ownWebhook: scope` resolves
 * `identity` and `endpoint`.
 */
export function createWebhookGuards(identities: Identities, endpoints: Endpoints) {
  const ownedWebhooks = createRequestMemo<{ identity: Identity; endpoint: Endpoint }>();

  async function authenticate(request: Request, requiredScope: RequiredScope): Promise<Identity> {
    if (requiredScope !== "read+write") return identities.authenticate(request, requiredScope);
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
      ...guarded(async ({ request }) => void (await authenticate(request, "read+write"))),
      detail: documentGuard(["session", "apiKey"], { 403: "MISSING_SCOPE" }),
      resolve: async ({ request }: Pick<Context, "request">) => ({
        identity: await authenticate(request, "read+write"),
      }),
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
