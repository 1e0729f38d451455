// The backend's routes of provisioning with channel tokens: the one place where such agents are made and claimed.

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
  CLAIM_ERRORS,
  claimBody,
  claimResponse,
  createProvisionBody,
  PROVISION_ERRORS,
  provisionResponse,
  SHOWN_ONCE_FIELDS,
} from "./model.ts";
import { parseProvisionRequest } from "./provision-request.ts";
import type { Provisioning } from "./provisioning.ts";

/** What service tokens name. */
export const PROVISION_ACTION = "provisioning.make";
export const CLAIM_ACTION = "provisioning.claim";

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
  /** Kept here and not on the web surface, so that the answer is in the write of the work itself. */
  const idempotencyCaller = (request: Request, userId: string) => (userId === "" ? { request } : { request, userId });

  /** As the web surface does, which has counted those whom it vouches for. Contract §3. */
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
        response: { 201: provisionResponse },
        detail: {
          ...detail,
          summary: "Make an agent with its channels and a live stream, for the caller or for whoever claims it",
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
        detail: { ...detail, summary: "Make an unclaimed agent the caller's own", ...documentErrors(CLAIM_ERRORS) },
      },
    );
}
