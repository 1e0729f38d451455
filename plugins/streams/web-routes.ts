// Defines the web surface's routes of live streams for their owners, which are forwarded to the backend.
import { Elysia } from "elysia";
import { forwardResponse } from "../../src/kernel/http/backend/backend-response.ts";
import type { BackendTransport } from "../../src/kernel/http/backend/backend-transport.ts";
import { documentErrors } from "../../src/kernel/http/openapi/route-documentation.ts";
import type { ServiceOf } from "../../src/kernel/plugin.ts";
import type { agents as agentsPlugin } from "../agents/index.ts";
import type { auth, Identity } from "../auth/index.ts";
import { CHANGE_ERRORS, CREATE_ERRORS, removeResult, rotateResult, stream, streamQuery } from "./model.ts";
import { CHANGE_STREAM_ACTION, READ_STREAM_ACTION } from "./stream-actions.ts";

interface Deps {
  backend: BackendTransport;
  identities: ServiceOf<typeof auth>["identities"];
  guards: ServiceOf<typeof agentsPlugin>["guards"];
}

export function webRoutes({ backend, identities, guards }: Deps) {
  const detail = { tags: ["Live streams"] };
  // Reading requires the write scope too: the response contains the key, which lets its holder publish.
  const ownerWrite = { ownAgent: { scope: "write" as const, kind: "data" as const } };

  interface OwnerRequest {
    identity: Identity;
    request: Request;
    agent: { id: string };
  }

  /** Sends the request to the backend in the caller's name and returns its response. */
  async function forwardToBackend({ identity, request, agent }: OwnerRequest, path = ""): Promise<Response> {
    const { method, signal } = request;
    const grant = identities.createGrant(
      identity,
      request,
      method === "GET" ? READ_STREAM_ACTION : CHANGE_STREAM_ACTION,
      agent.id,
    );
    return forwardResponse(await backend.fetch(grant, `/api/agents/${agent.id}/stream${path}`, { method, signal }));
  }

  return new Elysia({ name: "streams.web" })
    .use(guards)
    .get("/api/agents/:id/stream", (call) => forwardToBackend(call, call.query.orNone ? "?orNone=1" : ""), {
      ...ownerWrite,
      query: streamQuery,
      response: { 200: stream },
      detail: {
        ...detail,
        summary: "Show an agent's live stream: addresses, key and state",
        description:
          "`rtmp` is the address for the publishing program, `streamKey` its secret, `hls` and `playbackUrl` are for viewers. With `orNone=1`, an agent without a stream is no error.",
        ...documentErrors({ 404: "STREAM_NOT_FOUND", 502: "BACKEND_UNAVAILABLE" }),
      },
    })
    .put("/api/agents/:id/stream", (ownerRequest) => forwardToBackend(ownerRequest), {
      ...ownerWrite,
      response: { 200: stream },
      detail: {
        ...detail,
        summary: "Create an agent's live stream, or show the existing one",
        description: "An agent has at most one live stream. Calling this again returns the same stream.",
        operationId: "createAgentStream",
        ...documentErrors({ ...CREATE_ERRORS, 502: "BACKEND_UNAVAILABLE" }),
      },
    })
    .post("/api/agents/:id/stream/rotate", (ownerRequest) => forwardToBackend(ownerRequest, "/rotate"), {
      ...ownerWrite,
      response: { 200: rotateResult },
      detail: {
        ...detail,
        summary: "Replace the stream key and disconnect the publisher",
        description: "The old key stops working at once; the addresses for viewers stay.",
        operationId: "rotateStreamKey",
        ...documentErrors({ ...CHANGE_ERRORS, 502: "BACKEND_UNAVAILABLE" }),
      },
    })
    .delete("/api/agents/:id/stream", (ownerRequest) => forwardToBackend(ownerRequest), {
      ...ownerWrite,
      response: { 200: removeResult },
      detail: {
        ...detail,
        summary: "Remove an agent's live stream",
        description: "The publisher is disconnected, and the addresses stop working.",
        ...documentErrors({ 404: "STREAM_NOT_FOUND", 409: "OPERATION_IN_PROGRESS", 502: "BACKEND_UNAVAILABLE" }),
      },
    });
}
