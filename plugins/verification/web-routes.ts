// The web routes of verification. The record is read from the database; every other request is forwarded to the backend
// with a grant for the caller.
import { Elysia } from "elysia";
import type { BackendTransport } from "../../src/kernel/http/backend/backend-transport.ts";
import { forwardToBackend } from "../../src/kernel/http/backend/forward-to-backend.ts";
import type { Idempotency } from "../../src/kernel/http/idempotency.ts";
import { documentErrors, documentResponse } from "../../src/kernel/http/openapi/route-documentation.ts";
import type { ServiceOf } from "../../src/kernel/plugin.ts";
import type { agents as agentsPlugin } from "../agents/index.ts";
import type { auth, Identity } from "../auth/index.ts";
import {
  challengeBody,
  challengeResponse,
  claimBody,
  DOCS,
  removedResponse,
  toRecord,
  VERIFY_ERRORS,
  verificationRecord,
  verifyResponse,
} from "./model.ts";

interface Deps {
  backend: BackendTransport;
  idempotency: Idempotency;
  identities: ServiceOf<typeof auth>["identities"];
  guards: ServiceOf<typeof agentsPlugin>["guards"];
}

interface ForwardedRequest {
  identity: Identity;
  agent: { id: string };
  request: Request;
}

export function webRoutes({ backend, idempotency, identities, guards }: Deps) {
  /** Forwards the body unchanged, and returns the backend's response unchanged. */
  async function forward(
    { identity, agent, request }: ForwardedRequest,
    action: string,
    path: string,
  ): Promise<Response> {
    const grant = identities.createGrant(identity, request, action, agent.id);
    return forwardToBackend(backend, grant, request, `/api/agents/${agent.id}${path}`);
  }
  const write = { ownAgent: { scope: "write", kind: "data" } } as const;
  const unreachable = { 502: "BACKEND_UNAVAILABLE" };

  return new Elysia({ name: "verification.web" })
    .use(guards)
    .get("/api/agents/:id/verification", ({ agent }) => toRecord(agent), {
      ownAgent: { scope: "read", kind: "data" },
      response: { 200: verificationRecord },
      detail: DOCS.read,
    })
    .post(
      "/api/agents/:id/verification/challenge",
      (context) => forward(context, "agent.challenge", "/verification/challenge"),
      {
        ...write,
        body: challengeBody,
        detail: {
          ...DOCS.challenge,
          ...documentResponse(challengeResponse, "The challenge to sign"),
          ...documentErrors(unreachable),
        },
      },
    )
    .post(
      "/api/agents/:id/verify",
      (context) =>
        // Without the stored response, a retry would fail because its challenge is used up.
        idempotency.respond({ request: context.request, userId: context.identity.user.id }, () =>
          forward(context, "agent.verify", "/verify"),
        ),
      {
        ...write,
        body: claimBody,
        detail: {
          ...DOCS.verify,
          ...documentResponse(verifyResponse, "Verified"),
          ...documentErrors({
            ...VERIFY_ERRORS,
            403: [],
            409: ["IDEMPOTENCY_MISMATCH", "IDEMPOTENCY_IN_PROGRESS"],
            ...unreachable,
          }),
        },
      },
    )
    .delete("/api/agents/:id/verify", (context) => forward(context, "agent.unverify", "/verify"), {
      ...write,
      detail: { ...DOCS.remove, ...documentResponse(removedResponse, "Removed"), ...documentErrors(unreachable) },
    });
}
