// Web routes of the gateway token, by the agent's id and by `/api/instance/:userId`; they call the backend, which creates it.
import { Elysia } from "elysia";
import { AppError } from "../../src/kernel/errors.ts";
import { unwrapJson } from "../../src/kernel/http/backend/backend-response.ts";
import type { BackendTransport } from "../../src/kernel/http/backend/backend-transport.ts";
import type { Idempotency } from "../../src/kernel/http/idempotency.ts";
import { documentDeprecated, documentErrors } from "../../src/kernel/http/openapi/route-documentation.ts";
import type { ServiceOf } from "../../src/kernel/plugin.ts";
import { SECOND } from "../../src/kernel/util/time.ts";
import type { agents as agentsPlugin } from "../agents/index.ts";
import type { auth, Identity } from "../auth/index.ts";
import { withFailureBody } from "../lifecycle/index.ts";
import { gatewayToken, rotatedToken } from "./model.ts";

interface Deps {
  backend: BackendTransport;
  idempotency: Idempotency;
  identities: ServiceOf<typeof auth>["identities"];
  agents: Pick<ServiceOf<typeof agentsPlugin>, "guards">;
}

interface CallContext {
  identity: Identity;
  agent: { id: string };
  request: Request;
}

type ResponseContext = { set: { headers: Record<string, string | number> } };

const BACKEND_TIMEOUT = 10 * SECOND;

export function webRoutes({ backend, idempotency, identities, agents }: Deps) {
  async function callBackend({ identity, agent, request }: CallContext, action: string, method: string, path: string) {
    const signal = AbortSignal.timeout(BACKEND_TIMEOUT);
    try {
      const grant = identities.createGrant(identity, request, action, agent.id);
      const response = await backend.fetch(grant, `/api/agents/${agent.id}${path}`, { method, signal });
      return (await unwrapJson(response)) as { token: string };
    } catch (cause) {
      if (!signal.aborted) throw cause;
      throw new AppError(
        502,
        "BACKEND_UNAVAILABLE",
        "The agent backend did not respond in time. Try again shortly.",
        {},
        { cause },
      );
    }
  }

  const show = ({ set, ...call }: CallContext & ResponseContext) => {
    set.headers["cache-control"] = "no-store";
    return withFailureBody(() => callBackend(call, "agent.token", "GET", "/token"));
  };
  const rotate = (call: CallContext) => {
    const caller = { request: call.request, userId: call.identity.user.id };
    const headers = { "cache-control": "no-store" };
    const work = async () =>
      Response.json(await callBackend(call, "agent.rotate-token", "POST", "/token/rotate"), { headers });
    return withFailureBody(() => idempotency.respond(caller, work, { secretFields: ["token"] }));
  };

  const tags = ["Gateway"];
  // The token is a credential: an API key with the scope `read` alone must not see it.
  const own = { scope: "write", kind: "lifecycle" } as const;
  const showRoute = {
    response: { 200: gatewayToken },
    detail: {
      tags,
      summary: "Show an agent's gateway token; created when there is none",
      description: "With the token, programs open the agent's gateway without an account; see `GET /agent/{id}`.",
      ...documentErrors({ 502: "BACKEND_UNAVAILABLE" }),
    },
  };
  const rotateRoute = {
    response: { 200: rotatedToken },
    detail: {
      tags,
      summary: "Replace an agent's gateway token; sockets that used the old one are closed",
      description: "The old token stops working at once.",
      ...documentErrors({ 409: ["IDEMPOTENCY_MISMATCH", "IDEMPOTENCY_IN_PROGRESS"], 502: "BACKEND_UNAVAILABLE" }),
    },
  };

  return new Elysia({ name: "gateway.web" })
    .use(agents.guards)
    .get("/api/agents/:id/token", show, { ownAgent: own, ...showRoute })
    .get("/api/instance/:userId/token", show, {
      ownInstance: "write",
      ...showRoute,
      detail: documentDeprecated(showRoute.detail, "GET /api/agents/{id}/token"),
    })
    .post("/api/agents/:id/token/rotate", rotate, { ownAgent: own, ...rotateRoute })
    .post("/api/instance/:userId/token/rotate", rotate, {
      ownInstance: "write",
      ...rotateRoute,
      detail: documentDeprecated(rotateRoute.detail, "POST /api/agents/{id}/token/rotate"),
    });
}
