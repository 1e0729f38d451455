// The web's routes of the life cycle: by an agent's id, and by `/api/instance/:userId`; the backend does the work.
import { Elysia } from "elysia";
import { AppError } from "../../src/kernel/errors.ts";
import { forwardResponse } from "../../src/kernel/http/backend/backend-response.ts";
import type { BackendTransport } from "../../src/kernel/http/backend/backend-transport.ts";
import { documentErrors } from "../../src/kernel/http/openapi/route-documentation.ts";
import { contextOf } from "../../src/kernel/http/request-context.ts";
import type { ServiceOf } from "../../src/kernel/plugin.ts";
import { agentResponse, type agents as agentsPlugin } from "../agents/index.ts";
import type { auth, Identity } from "../auth/index.ts";
import { withFailureBody } from "./failure-body.ts";
import { forwardedResponseDocs, OPERATION_DOCS } from "./model.ts";
import { OPERATIONS, type Operation } from "./transitions.ts";

interface Deps {
  backend: BackendTransport;
  identities: ServiceOf<typeof auth>["identities"];
  agents: Pick<ServiceOf<typeof agentsPlugin>, "guards" | "views">;
}

interface OperationRequest {
  identity: Identity;
  agent: { id: string };
  request: Request;
}

/** A runtime has 15 seconds to come up, after turns had ten to end: a backend that says nothing for longer is gone. */
const BACKEND_TIMEOUT_MS = 120_000;

export function webRoutes({ backend, identities, agents }: Deps) {
  /** Sends the body on as it came, and the backend's answer back as it is. */
  const forward = (operation: Operation, { identity, agent, request }: OperationRequest) =>
    withFailureBody(async () => {
      const grant = identities.createGrant(identity, request, `agent.${operation}`, agent.id);
      const signal = AbortSignal.timeout(BACKEND_TIMEOUT_MS);
      const body = contextOf(request).bodyText ?? "";
      const headers = { "content-type": "application/json" };
      const path = `/api/agents/${agent.id}/${operation}`;
      try {
        // Whoever asked may go away: an operation that was begun is ended.
        return forwardResponse(await backend.fetch(grant, path, { method: "POST", body, headers, signal }));
      } catch (cause) {
        if (!signal.aborted) throw cause;
        const text = "The agent backend gave no answer in time. Look at the agent's status before you try again.";
        throw new AppError(502, "BACKEND_UNAVAILABLE", text, {}, { cause });
      }
    });
  const detail = (operation: Operation) => ({
    tags: ["Life cycle"],
    summary: OPERATION_DOCS[operation].summary,
    ...forwardedResponseDocs(operation),
    ...documentErrors({ ...OPERATION_DOCS[operation].errors, 502: "BACKEND_UNAVAILABLE" }),
  });

  const web = new Elysia({ name: "lifecycle.web" })
    .use(agents.guards)
    .get(
      "/api/instance/:userId",
      ({ agent, identity }) => ({ agent: agents.views.detail(agent, identity.user.plan), status: "ok" as const }),
      {
        ownInstance: "read",
        response: { 200: agentResponse },
        detail: {
          tags: ["Life cycle"],
          summary: "An agent in detail, by its id or by the caller's own",
          description:
            "Under `/api/instance/` the path takes an agent's id, or the caller's own user id for the newest agent that is not stopped.",
        },
      },
    );
  for (const operation of OPERATIONS) {
    web
      .post(`/api/agents/:id/${operation}`, (context) => forward(operation, context), {
        ownAgent: { scope: "write", kind: "lifecycle" },
        detail: detail(operation),
      })
      .post(`/api/instance/:userId/${operation}`, (context) => forward(operation, context), {
        ownInstance: "write",
        detail: detail(operation),
      });
  }
  return web;
}
