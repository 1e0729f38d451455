// The web's routes of verification: the record is read here, all else the backend does in the caller's name.
import { Elysia } from "elysia";
import { type BackendTransport, passOn } from "../../src/backend.ts";
import { contextOf } from "../../src/http.ts";
import type { Idempotency } from "../../src/idempotency.ts";
import { answers, mayAnswer } from "../../src/openapi/told.ts";
import type { ServiceOf } from "../../src/plugin.ts";
import type { agents as agentsPlugin } from "../agents/index.ts";
import type { auth, Identity } from "../auth/index.ts";
import {
  challengeAnswer,
  challengeBody,
  claimBody,
  DOCS,
  record,
  removed,
  toRecord,
  VERIFY_ERRORS,
  verified,
} from "./model.ts";

interface Deps {
  backend: BackendTransport;
  idempotency: Idempotency;
  identities: ServiceOf<typeof auth>["identities"];
  guards: ServiceOf<typeof agentsPlugin>["guards"];
}

interface Asked {
  identity: Identity;
  agent: { id: string };
  request: Request;
}

export function webRoutes({ backend, idempotency, identities, guards }: Deps) {
  /** Sends the body on as it came, and the backend's answer back as it is. */
  async function forward({ identity, agent, request }: Asked, action: string, path: string): Promise<Response> {
    const grant = identities.grant(identity, request, action, agent.id);
    const { method } = request;
    const body = contextOf(request).bodyText ?? "";
    const headers = { "content-type": "application/json" };
    return passOn(await backend.fetch(grant, `/api/agents/${agent.id}${path}`, { method, body, headers }));
  }
  const write = { ownAgent: { scope: "write", kind: "data" } } as const;
  const unreachable = { 502: "BACKEND_UNAVAILABLE" };

  return new Elysia({ name: "verification.web" })
    .use(guards)
    .get("/api/agents/:id/verification", ({ agent }) => toRecord(agent), {
      ownAgent: { scope: "read", kind: "data" },
      response: { 200: record },
      detail: DOCS.read,
    })
    .post(
      "/api/agents/:id/verification/challenge",
      (asked) => forward(asked, "agent.challenge", "/verification/challenge"),
      {
        ...write,
        body: challengeBody,
        detail: { ...DOCS.challenge, ...answers(challengeAnswer, "To be signed"), ...mayAnswer(unreachable) },
      },
    )
    .post(
      "/api/agents/:id/verify",
      (asked) =>
        // A second claim with the same proof would find its challenge used.
        idempotency.respond({ request: asked.request, userId: asked.identity.user.id }, () =>
          forward(asked, "agent.verify", "/verify"),
        ),
      {
        ...write,
        body: claimBody,
        detail: {
          ...DOCS.verify,
          ...answers(verified, "Verified"),
          ...mayAnswer({
            ...VERIFY_ERRORS,
            403: [],
            409: ["IDEMPOTENCY_MISMATCH", "IDEMPOTENCY_IN_PROGRESS"],
            ...unreachable,
          }),
        },
      },
    )
    .delete("/api/agents/:id/verify", (asked) => forward(asked, "agent.unverify", "/verify"), {
      ...write,
      detail: { ...DOCS.remove, ...answers(removed, "Removed"), ...mayAnswer(unreachable) },
    });
}
