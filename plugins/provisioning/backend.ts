// The backend's routes of provisioning with channel tokens: the one place where such agents are made and claimed.
import { Elysia } from "elysia";
import { contextOf } from "../../src/http.ts";
import type { Idempotency } from "../../src/idempotency.ts";
import type { Limits } from "../../src/limits.ts";
import { mayAnswer } from "../../src/openapi/told.ts";
import type { ServiceOf } from "../../src/plugin.ts";
import type { auth, Caller } from "../auth/index.ts";
import { CLAIM_ERRORS, claimBody, claimed, PROVISION_ERRORS, provisionBody, provisioned, SHOWN_ONCE } from "./model.ts";
import type { Provisioning } from "./provisioning.ts";
import { readRequest } from "./request.ts";

/** What service tokens name. */
export const MAKE = "provisioning.make";
export const CLAIM = "provisioning.claim";

interface Deps {
  limits: Limits;
  identities: ServiceOf<typeof auth>["identities"];
  idempotency: Idempotency;
  provisioning: Provisioning;
}

export function backendRoutes({ limits, identities, idempotency, provisioning }: Deps) {
  const detail = { tags: ["Channels"] };
  /** Kept here and not on the web surface, so that the answer is in the write of the work itself. */
  const callerOf = (request: Request, userId: string) => (userId === "" ? { request } : { request, userId });

  /** As the web surface does, which has counted those whom it vouches for. Contract §3. */
  async function count({ userId, address, isVouchedFor }: Caller): Promise<void> {
    if (isVouchedFor) return;
    await limits.require("provision", address);
    await limits.require("provision", `user ${userId}`);
  }

  return new Elysia({ name: "provisioning.backend" })
    .use(identities.guards)
    .post(
      "/api/provision",
      async ({ body, caller, request }) => {
        await count(caller);
        const wanted = readRequest(body, contextOf(request).bodyText ?? "");
        const made = async (keep: Parameters<Provisioning["make"]>[2]) =>
          Response.json(await provisioning.make(caller, wanted, keep, request.signal), { status: 201 });
        return idempotency.respond(callerOf(request, caller.userId), made, { secretFields: SHOWN_ONCE });
      },
      {
        granted: MAKE,
        body: provisionBody,
        response: { 201: provisioned },
        detail: {
          ...detail,
          summary: "Make an agent with its channels and a live stream, for the caller or for whoever claims it",
          ...mayAnswer(PROVISION_ERRORS),
        },
      },
    )
    .post(
      "/api/provision/claim",
      ({ body, caller, request }) =>
        idempotency.respond(callerOf(request, caller.userId), async (keep) =>
          Response.json(await provisioning.claim(caller, body.token, keep)),
        ),
      {
        granted: CLAIM,
        body: claimBody,
        response: { 200: claimed },
        detail: { ...detail, summary: "Make an unclaimed agent the caller's own", ...mayAnswer(CLAIM_ERRORS) },
      },
    );
}
