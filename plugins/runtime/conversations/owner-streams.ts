// Opens the stream of a turn for its agent's owner on the web surface, where the turn may run in another process.
import { forwardResponse } from "../../../src/kernel/http/backend/backend-response.ts";
import { EVENT_STREAM_HEADERS } from "../../../src/kernel/http/sse-streams.ts";
import type { Kernel, ServiceOf } from "../../../src/kernel/plugin.ts";
import { type Agent, agentNotFound, type agents as agentsPlugin } from "../../agents/index.ts";
import type { auth, Identity, Scope } from "../../auth/index.ts";
import type { TurnStream } from "../live/turn-stream.ts";

interface Deps extends Pick<Kernel, "backend" | "config"> {
  identities: Pick<ServiceOf<typeof auth>["identities"], "createGrant" | "authenticate">;
  agents: Pick<ServiceOf<typeof agentsPlugin>, "find">;
  turnStream: Pick<TurnStream, "follow">;
}

export interface OwnerStreamRequest {
  agent: Agent;
  identity: Identity;
  /** Its method may be any; `last-event-id` counts. */
  request: Request;
  turnId: string;
  /** That an API key must have, also later. */
  scope: Scope;
}

/** Returns the stream, or the backend's refusal. Throws as `TurnStream.follow`. */
export function createOwnerStreams({ backend, config, identities, agents, turnStream }: Deps) {
  return async ({ agent, identity, request, turnId, scope }: OwnerStreamRequest): Promise<Response> => {
    if (config.role === "web") {
      const grant = identities.createGrant(identity, request, "agent.read", agent.id);
      const after = request.headers.get("last-event-id");
      const path = `/api/agents/${agent.id}/turns/${encodeURIComponent(turnId)}/events`;
      const response = await backend.fetch(grant, path, {
        headers: { accept: "text/event-stream", ...(after !== null && { "last-event-id": after }) },
        signal: request.signal,
      });
      return response.ok ? new Response(response.body, { headers: EVENT_STREAM_HEADERS }) : forwardResponse(response);
    }
    return turnStream.follow({
      request,
      agent,
      turnId,
      reader: { userId: identity.user.id, sessionId: identity.session?.id },
      async isStillAllowed(repeatedRequest) {
        await identities.authenticate(repeatedRequest, scope);
        if ((await agents.find(agent.id))?.userId !== identity.user.id) throw agentNotFound();
        return true;
      },
    });
  };
}

export type OwnerStreams = ReturnType<typeof createOwnerStreams>;
