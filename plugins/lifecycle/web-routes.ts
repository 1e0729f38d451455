// Web routes of the life cycle, by an agent's id and by `/api/instance/:userId`; they forward to the backend.
import { Elysia } from "elysia";
import { AppError } from "../../src/kernel/errors.ts";
import type { BackendTransport } from "../../src/kernel/http/backend/backend-transport.ts";
import { forwardToBackend } from "../../src/kernel/http/backend/forward-to-backend.ts";
import { documentDeprecated, documentErrors } from "../../src/kernel/http/openapi/route-documentation.ts";
import type { ServiceOf } from "../../src/kernel/plugin.ts";
import { agentResponse, type agents as agentsPlugin } from "../agents/index.ts";
import type { auth, Identity } from "../auth/index.ts";
import { withFailureBody } from "./failure-body.ts";
import { forwardedDocs, OPERATION_DOCS, operationDetail, operationIdDetail } from "./model.ts";
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

/**
 * Far above the 10 s that turns have to end and the 15 s that a runtime has to come up: the backend must be gone then.
 */
const BACKEND_TIMEOUT_MS = 120_000;

export function webRoutes({ backend, identities, agents }: Deps) {
  const forward = (operation: Operation, { identity, agent, request }: OperationRequest) =>
    withFailureBody(async () => {
      const grant = identities.createGrant(identity, request, `agent.${operation}`, agent.id);
      const signal = AbortSignal.timeout(BACKEND_TIMEOUT_MS);
      try {
        // Not the request's own signal: an operation that was begun ends although its caller left.
        return await forwardToBackend(backend, grant, request, `/api/agents/${agent.id}/${operation}`, { signal });
      } catch (cause) {
        if (!signal.aborted) throw cause;
        const text = "The agent backend did not answer in time. Look at the agent's status before you try again.";
        throw new AppError(502, "BACKEND_UNAVAILABLE", text, {}, { cause });
      }
    });
  const detail = (operation: Operation) => ({
    ...operationDetail(operation),
    ...forwardedDocs(operation),
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
        detail: documentDeprecated(
          {
            tags: ["Life cycle"],
            summary: "An agent in detail, by its id or the caller's user id",
            description:
              "Under `/api/instance/` the path takes an agent's id, or the caller's user id for the newest agent that is not stopped.",
          },
          "GET /api/agents/{id}",
        ),
      },
    );
  for (const operation of OPERATIONS) {
    web
      .post(`/api/agents/:id/${operation}`, (context) => forward(operation, context), {
        ownAgent: { scope: "write", kind: "lifecycle" },
        detail: { ...detail(operation), ...operationIdDetail(operation) },
      })
      .post(`/api/instance/:userId/${operation}`, (context) => forward(operation, context), {
        ownInstance: "write",
        detail: documentDeprecated(detail(operation), `POST /api/agents/{id}/${operation}`),
      });
  }
  return web;
}
