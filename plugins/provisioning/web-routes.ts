// The web's routes of provisioning with channel tokens: open to anyone, limited by address, and forwarded to the
// backend.
import { Elysia } from "elysia";
import { type Cells, isCountedElsewhere, placeNewAccount } from "../../src/kernel/cells/cells.ts";
import { forwardingOf } from "../../src/kernel/cells/forwarding.ts";
import type { Config } from "../../src/kernel/config/config.ts";
import { forwardResponse } from "../../src/kernel/http/backend/backend-response.ts";
import type { BackendTransport } from "../../src/kernel/http/backend/backend-transport.ts";
import { documentErrors, documentGuard } from "../../src/kernel/http/openapi/route-documentation.ts";
import { contextOf } from "../../src/kernel/http/request-context.ts";
import { guarded, openRoutes } from "../../src/kernel/http/route-guards.ts";
import type { ServiceOf } from "../../src/kernel/plugin.ts";
import type { RateLimiter } from "../../src/kernel/security/rate-limits/rate-limiter.ts";
import { providerSettings } from "../ai/settings.ts";
import type { auth, Identity } from "../auth/index.ts";
import { requireAnonymousAllowed } from "./anonymous-caller.ts";
import {
  CLAIM_ACTION,
  CLAIM_ERRORS,
  claimBody,
  claimResponse,
  createProvisionBody,
  createProvisionResponse,
  PROVISION_ACTION,
  PROVISION_ERRORS,
} from "./model.ts";

interface Deps {
  cells: Cells | undefined;
  config: Config;
  backend: BackendTransport;
  identities: ServiceOf<typeof auth>["identities"];
  limits: RateLimiter;
}

/** Headers of the backend's answer that the caller needs. */
const FORWARDED_HEADERS = ["idempotency-replayed"];

export function webRoutes({ cells, config, backend, identities, limits }: Deps) {
  const provisionBody = createProvisionBody(config.of(providerSettings).registry);
  const tags = ["Channels"];

  const guards = new Elysia({ name: "provisioning.guards" }).macro({
    /** Open to anyone, limited by address; an invalid session or key is refused. */
    provisioning: (_: true) => ({
      ...guarded(async ({ request }) => {
        const identity = await identities.authenticateOptional(request, "write");
        if (!isCountedElsewhere(cells, request)) await limits.takeOrThrow("provision", contextOf(request).address);
        if (!identity) requireAnonymousAllowed(config);
        else await limits.takeOrThrow("provision", `user ${identity.user.id}`);
      }),
      detail: documentGuard([]),
      resolve: async ({ request }: { request: Request }) => ({
        identity: await identities.authenticateOptional(request, "write"),
      }),
    }),
  });

  /** Forwards a request to the backend, in the caller's name if there is one. */
  async function forward(request: Request, identity: Identity | undefined, action: string): Promise<Response> {
    const { address, bodyText = "" } = contextOf(request);
    const grant = identity
      ? identities.createGrant(identity, request, action)
      : { userId: "", isAdmin: false, action, address };
    const key = request.headers.get("idempotency-key");
    const answer = await backend.fetch(grant, new URL(request.url).pathname, {
      method: "POST",
      body: bodyText,
      signal: request.signal,
      headers: { "content-type": "application/json", ...(key === null ? {} : { "idempotency-key": key }) },
    });
    const forwarded = forwardResponse(answer);
    forwarded.headers.set("cache-control", "no-store");
    for (const name of FORWARDED_HEADERS) {
      const value = answer.headers.get(name);
      if (value !== null) forwarded.headers.set(name, value);
    }
    return forwarded;
  }

  return new Elysia({ name: "provisioning.web" })
    .use(openRoutes)
    .use(guards)
    .use(identities.guards)
    .post(
      "/api/provision",
      async ({ request, identity }) => {
        if (!identity) await placeNewAccount(cells, forwardingOf(request));
        const answer = await forward(request, identity, PROVISION_ACTION);
        const remaining = limits.headers(limits.peek("provision", contextOf(request).address));
        for (const [name, value] of Object.entries(remaining))
          if (name !== "retry-after") answer.headers.set(name, value);
        return answer;
      },
      {
        provisioning: true,
        body: provisionBody,
        response: { 201: createProvisionResponse() },
        detail: {
          tags,
          summary: "Make an agent with its channels and a live stream",
          operationId: "provisionWithChannels",
          description:
            "No session is needed: the agent then belongs to a placeholder account, and `metadata.claimUrl` lets an account " +
            "claim it within 7 days, after which it is removed. With a session or an API key it is the caller's, by the " +
            "rules of `POST /api/agents/provision`. All tokens are checked with their platforms first, and nothing is kept " +
            "unless all are valid. If an agent with exactly these tokens exists and is not claimed, the refusal " +
            "(409 `CHANNEL_IN_USE`) has its link in `claimUrl`. Each token may also come under its platform's name; the neutral name comes first.",
          ...documentErrors({
            ...PROVISION_ERRORS,
            401: "UNAUTHORIZED",
            403: "MISSING_SCOPE",
            502: ["CHANNEL_UNREACHABLE", "BACKEND_UNAVAILABLE"],
          }),
        },
      },
    )
    .post("/api/provision/claim", ({ request, identity }) => forward(request, identity, CLAIM_ACTION), {
      signedIn: "write",
      body: claimBody,
      response: { 200: claimResponse },
      detail: {
        tags,
        summary: "Make an unclaimed agent your own",
        operationId: "claimAgent",
        description:
          "`token` is the one in the link that provisioning returned. It works once. The agent keeps its bots, memory and usage, " +
          "and its owners on the channels.",
        ...documentErrors({ ...CLAIM_ERRORS, 502: "BACKEND_UNAVAILABLE" }),
      },
    });
}
