// The web's routes of the gateway token: by an agent's id, and by `/api/instance/:userId`; the backend makes it.
import { Elysia } from "elysia";
import { type BackendTransport, unwrapJson } from "../../src/backend.ts";
import { AppError } from "../../src/errors.ts";
import type { Idempotency } from "../../src/idempotency.ts";
import { mayAnswer } from "../../src/openapi/told.ts";
import type { ServiceOf } from "../../src/plugin.ts";
import type { agents as agentsPlugin } from "../agents/index.ts";
import type { auth, Identity } from "../auth/index.ts";
import { orFailure } from "../lifecycle/index.ts";
import { replaced, shown } from "./model.ts";

interface Deps {
  backend: BackendTransport;
  idempotency: Idempotency;
  identities: ServiceOf<typeof auth>["identities"];
  agents: Pick<ServiceOf<typeof agentsPlugin>, "guards">;
}

interface Asked {
  identity: Identity;
  agent: { id: string };
  request: Request;
}

type Answer = { set: { headers: Record<string, string | number> } };

/** Milliseconds after which a backend that says nothing counts as gone. */
const PATIENCE = 10_000;

export function webRoutes({ backend, idempotency, identities, agents }: Deps) {
  async function ask({ identity, agent, request }: Asked, action: string, method: string, path: string) {
    const signal = AbortSignal.timeout(PATIENCE);
    try {
      const grant = identities.grant(identity, request, action, agent.id);
      const answer = await backend.fetch(grant, `/api/agents/${agent.id}${path}`, { method, signal });
      return (await unwrapJson(answer)) as { token: string };
    } catch (cause) {
      if (!signal.aborted) throw cause;
      throw new AppError(502, "BACKEND_UNAVAILABLE", "The agent backend gave no answer in time.", {}, { cause });
    }
  }

  const show = ({ set, ...asked }: Asked & Answer) => {
    set.headers["cache-control"] = "no-store";
    return orFailure(() => ask(asked, "agent.token", "GET", "/token"));
  };
  const rotate = (asked: Asked) => {
    const caller = { request: asked.request, userId: asked.identity.user.id };
    const headers = { "cache-control": "no-store" };
    const work = async () =>
      Response.json(await ask(asked, "agent.rotate-token", "POST", "/token/rotate"), { headers });
    return orFailure(() => idempotency.respond(caller, work, { secretFields: ["token"] }));
  };

  const tags = ["Gateway"];
  // It is a credential: a key that may only read is not shown it.
  const own = { scope: "write", kind: "lifecycle" } as const;
  const showing = {
    response: { 200: shown },
    detail: {
      tags,
      summary: "An agent's gateway token; made when there is none",
      ...mayAnswer({ 502: "BACKEND_UNAVAILABLE" }),
    },
  };
  const rotating = {
    response: { 200: replaced },
    detail: {
      tags,
      summary: "Replace an agent's gateway token; sockets that used the old one are closed",
      ...mayAnswer({ 409: ["IDEMPOTENCY_MISMATCH", "IDEMPOTENCY_IN_PROGRESS"], 502: "BACKEND_UNAVAILABLE" }),
    },
  };

  return new Elysia({ name: "gateway.web" })
    .use(agents.guards)
    .get("/api/agents/:id/token", show, { ownAgent: own, ...showing })
    .get("/api/instance/:userId/token", show, { ownInstance: "write", ...showing })
    .post("/api/agents/:id/token/rotate", rotate, { ownAgent: own, ...rotating })
    .post("/api/instance/:userId/token/rotate", rotate, { ownInstance: "write", ...rotating });
}
