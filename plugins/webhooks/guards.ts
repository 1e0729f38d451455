// Whose webhook it is, settled before the body is read.
import { Elysia } from "elysia";
import { notFound } from "../../src/errors.ts";
import { createMemo, guarded } from "../../src/http.ts";
import { guardedBy } from "../../src/openapi/told.ts";
import type { ServiceOf } from "../../src/plugin.ts";
import { type auth, type Identity, requireScope, type Scope } from "../auth/index.ts";
import type { Endpoint, Endpoints } from "./endpoints.ts";

type Identities = ServiceOf<typeof auth>["identities"];

/** What an id looks like; what doesn't names nothing, and the database is not asked. */
export const IS_ID = /^[0-9a-f-]{36}$/;

/** The same for a webhook that does not exist and for one of somebody else, so that nobody can ask which ids there are. */
export const noSuchWebhook = () => notFound("You have no webhook with this id.", "WEBHOOK_NOT_FOUND");

/** What an API key must be good for: `sending`, for what has events sent somewhere, is to read and to write them both. */
type Right = Scope | "sending";

/**
 * Route macros: `mayHaveSent: true` gives `identity`; for routes with an `:id`, `ownWebhook: right` gives `identity` and
 * `endpoint`.
 */
export function createWebhookGuards(identities: Identities, endpoints: Endpoints) {
  const owned = createMemo<{ identity: Identity; endpoint: Endpoint }>();

  async function authenticate(request: Request, right: Right): Promise<Identity> {
    if (right !== "sending") return identities.authenticate(request, right);
    const identity = await identities.authenticate(request, "write");
    requireScope(identity, "read");
    return identity;
  }

  async function own(request: Request, id: string, right: Right) {
    const identity = await authenticate(request, right);
    const endpoint = IS_ID.test(id) ? await endpoints.find(id) : undefined;
    if (endpoint?.userId !== identity.user.id) throw noSuchWebhook();
    return owned.set(request, { identity, endpoint });
  }

  type Context = { request: Request; params: unknown };
  return new Elysia({ name: "webhooks.guards" }).macro({
    mayHaveSent: (_: true) => ({
      ...guarded(async ({ request }) => void (await authenticate(request, "sending"))),
      detail: guardedBy(["session", "apiKey"], { 403: "MISSING_SCOPE" }),
      resolve: async ({ request }: Pick<Context, "request">) => ({ identity: await authenticate(request, "sending") }),
    }),
    ownWebhook: (right: Right) => ({
      ...guarded(async ({ request, params }) => void (await own(request, params.id ?? "", right))),
      detail: guardedBy(["session", "apiKey"], { 403: "MISSING_SCOPE", 404: "WEBHOOK_NOT_FOUND" }),
      resolve: async ({ request, params }: Context) => owned.get(request) ?? (await own(request, idOf(params), right)),
    }),
  });
}

function idOf(params: unknown): string {
  const id: unknown = typeof params === "object" && params !== null ? Reflect.get(params, "id") : undefined;
  return typeof id === "string" ? id : "";
}
