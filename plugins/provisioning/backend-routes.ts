// The backend's routes that create agents with channel tokens, and let an account claim one.
import { Elysia } from "elysia";
import type { Config } from "../../src/kernel/config/config.ts";
import type { Idempotency } from "../../src/kernel/http/idempotency.ts";
import { documentErrors } from "../../src/kernel/http/openapi/route-documentation.ts";
import { contextOf } from "../../src/kernel/http/request-context.ts";
import type { ServiceOf } from "../../src/kernel/plugin.ts";
import type { RateLimiter } from "../../src/kernel/security/rate-limits/rate-limiter.ts";
import { providerSettings } from "../ai/settings.ts";
import type { auth, Caller } from "../auth/index.ts";
import {
  CLAIM_ACTION,
  CLAIM_ERRORS,
  claimBody,
  claimResponse,
  createProvisionBody,
  createProvisionResponse,
  PROVISION_ACTION,
  PROVISION_ERRORS,
  SHOWN_ONCE_FIELDS,
} from "./model.ts";
import { parseProvisionRequest } from "./provision-request.ts";
import type { Provisioning } from "./provisioning.ts";

interface Deps {
  config: Config;
  limits: RateLimiter;
  identities: ServiceOf<typeof auth>["identities"];
  idempotency: Idempotency;
  provisioning: Provisioning;
}

export function backendRoutes({ config, limits, identities, idempotency, provisioning }: Deps) {
  const { registry } = config.of(providerSettings);
  const provisionBody = createProvisionBody(registry);
  const detail = { tags: ["Channels"] };
  /** The answer is kept for repeated requests by the backend, so that it is in the same write as the agent. */
  const idempotencyCaller = (request: Request, userId: string) => (userId === "" ? { request } : { request, userId });

  /** Counts calls with a key straight to the backend; the web surface has counted those that it forwards. */
  async function countAgainstLimit({ userId, address, hasServiceToken }: Caller): Promise<void> {
    if (hasServiceToken) return;
    await limits.takeOrThrow("provision", address);
    await limits.takeOrThrow("provision", `user ${userId}`);
  }

  return new Elysia({ name: "provisioning.backend" })
    .use(identities.guards)
    .post(
      "/api/provision",
      async ({ body, caller, request }) => {
        await countAgainstLimit(caller);
        const provisionRequest = parseProvisionRequest(body, contextOf(request).bodyText ?? "", registry);
        const respond = async (responseStatements: Parameters<Provisioning["make"]>[2]) =>
          Response.json(await provisioning.make(caller, provisionRequest, responseStatements, request.signal), {
            status: 201,
          });
        return idempotency.respond(idempotencyCaller(request, caller.userId), respond, {
          secretFields: SHOWN_ONCE_FIELDS,
        });
      },
      {
        granted: PROVISION_ACTION,
        body: provisionBody,
        response: { 201: createProvisionResponse() },
        detail: {
          ...detail,
          summary: "Make an agent with its channels and a live stream, for the caller or to be claimed later",
          description:
            "Gives an agent its channels and a live stream in one write. Without a signed-in caller the agent belongs to a placeholder account until it is claimed.",
          operationId: "provisionWithChannels",
          ...documentErrors(PROVISION_ERRORS),
        },
      },
    )
    .post(
      "/api/provision/claim",
      ({ body, caller, request }) =>
        idempotency.respond(idempotencyCaller(request, caller.userId), async (responseStatements) =>
          Response.json(await provisioning.claim(caller, body.token, responseStatements)),
        ),
      {
        granted: CLAIM_ACTION,
        body: claimBody,
        response: { 200: claimResponse },
        detail: {
          ...detail,
          summary: "Make an unclaimed agent the caller's own",
          description: "The token is that of `claimUrl` in the answer to `POST /api/provision`; it works once.",
          operationId: "claimAgent",
          ...documentErrors(CLAIM_ERRORS),
        },
      },
    );
}
