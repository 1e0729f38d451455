// The backend routes that issue challenges, check claims, and remove verifications.
import { Elysia } from "elysia";
import { documentErrors } from "../../src/kernel/http/openapi/route-documentation.ts";
import type { ServiceOf } from "../../src/kernel/plugin.ts";
import type { agents as agentsPlugin } from "../agents/index.ts";
import {
  challengeBody,
  challengeResponse,
  claimBody,
  DOCS,
  removedResponse,
  toChallenge,
  toRecord,
  VERIFY_ERRORS,
  verificationRecord,
  verifyResponse,
} from "./model.ts";
import type { Verification } from "./verification.ts";

interface Deps {
  guards: ServiceOf<typeof agentsPlugin>["guards"];
  verification: Verification;
}

export function backendRoutes({ guards, verification }: Deps) {
  return new Elysia({ name: "verification.backend" })
    .use(guards)
    .get("/api/agents/:id/verification", ({ agent }) => toRecord(agent), {
      agentCall: "agent.read",
      response: { 200: verificationRecord },
      detail: DOCS.read,
    })
    .post(
      "/api/agents/:id/verification/challenge",
      async ({ agent, caller, body }) => {
        const { challenge, options } = await verification.issueChallenge(agent, caller.userId, body);
        return toChallenge(challenge, options);
      },
      {
        agentCall: "agent.challenge",
        body: challengeBody,
        response: { 200: challengeResponse },
        detail: DOCS.challenge,
      },
    )
    .post(
      "/api/agents/:id/verify",
      async ({ agent, body }) => {
        const { verifiedAt, attestationUid } = await verification.verify(agent, body);
        return {
          success: true as const,
          verified: true as const,
          verificationType: body.verificationType,
          attestationUid,
          verifiedAt: new Date(verifiedAt).toISOString(),
        };
      },
      {
        agentCall: "agent.verify",
        body: claimBody,
        response: { 200: verifyResponse },
        detail: { ...DOCS.verify, ...documentErrors(VERIFY_ERRORS) },
      },
    )
    .delete(
      "/api/agents/:id/verify",
      async ({ agent }) => {
        await verification.remove(agent);
        return { success: true as const, verified: false as const };
      },
      { agentCall: "agent.unverify", response: { 200: removedResponse }, detail: DOCS.remove },
    );
}
