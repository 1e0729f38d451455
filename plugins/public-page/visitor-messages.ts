// Sends a visitor's message to the backend when it is the visitor's turn, and passes the reply on, whole or as a stream.
import { unwrapJson } from "../../src/kernel/http/backend/backend-response.ts";
import type { BackendTransport } from "../../src/kernel/http/backend/backend-transport.ts";
import { contextOf } from "../../src/kernel/http/request-context.ts";
import { acceptsEventStream, EVENT_STREAM_HEADERS } from "../../src/kernel/http/sse-streams.ts";
import type { VisitorLimiter } from "./visitor-limiter.ts";
import { createOpenVisits } from "./visits/open-visits.ts";

export interface VisitorMessage {
  request: Request;
  agentId: string;
  /** 22 characters of base64url: the conversation of this visitor continues. */
  visitorId: string;
  message: string;
  /** The visitor's own name of the message. */
  id: string | undefined;
}

export interface VisitorMessages {
  /**
   * Returns the reply as JSON, or as a stream of events if the request accepts one: for a message with an id, it goes on for a
   * minute while its reader is gone. The rate is counted before, by `countMessage`. Throws 429 `AGENT_BUSY`, and what the turn
   * ends with.
   * @param onAnswer called once the backend has answered, also with an error
   */
  send(message: VisitorMessage, onAnswer?: () => void): Promise<Response>;
  /** Cancels the answer to a message; false if none is being streamed here. */
  stop(message: Pick<VisitorMessage, "agentId" | "visitorId"> & { id: string }): boolean;
}

interface Deps {
  backend: BackendTransport;
  visitorLimiter: VisitorLimiter;
}

export function createVisitorMessages({ backend, visitorLimiter }: Deps): VisitorMessages {
  const openVisits = createOpenVisits();

  /** The answer of the backend. The visitor has a place in the agent's queue until it has ended. */
  async function ask(sent: VisitorMessage, signal: AbortSignal, onAnswer?: () => void): Promise<Response> {
    const { request, agentId, visitorId, message, id } = sent;
    const { address } = contextOf(request);
    const wantsStream = acceptsEventStream(request);
    const release = await visitorLimiter.acquire(address, agentId, signal);
    let isStreaming = false;
    try {
      const response = await backend.fetch(
        { userId: `visitor:${visitorId}`, isAdmin: false, agentId, action: "agent.visit", address },
        `/api/agents/${agentId}/visits`,
        {
          method: "POST",
          headers: { "content-type": "application/json", ...(wantsStream && { accept: "text/event-stream" }) },
          body: JSON.stringify({ message, visitor: visitorId, ...(id !== undefined && { id }) }),
          signal,
        },
      );
      onAnswer?.();
      if (!response.ok || !wantsStream || !response.body) return Response.json(await unwrapJson(response));
      isStreaming = true;
      return streamed(notifyWhenEnded(response.body, release));
    } finally {
      if (!isStreaming) release();
    }
  }

  return {
    async send(sent, onAnswer) {
      const { request, agentId, visitorId, id } = sent;
      if (id === undefined || !acceptsEventStream(request)) return ask(sent, request.signal, onAnswer);
      const body = await openVisits.read(keyOf({ agentId, visitorId, id }), request.signal, async (signal) => {
        const response = await ask(sent, signal);
        return response.body ?? new ReadableStream();
      });
      onAnswer?.();
      return streamed(body);
    },
    stop: (message) => openVisits.stop(keyOf(message)),
  };
}

const keyOf = ({ agentId, visitorId, id }: Parameters<VisitorMessages["stop"]>[0]) => `${agentId} ${visitorId} ${id}`;

const streamed = (body: ReadableStream<Uint8Array>) => new Response(body, { headers: EVENT_STREAM_HEADERS });

/** Passes the stream on and calls `onEnd` when it has ended, failed, or been cancelled by the reader. */
function notifyWhenEnded(body: ReadableStream<Uint8Array>, onEnd: () => void): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (!done) return controller.enqueue(value);
        controller.close();
      } catch (error) {
        controller.error(error);
      }
      onEnd();
    },
    cancel(reason) {
      onEnd();
      return reader.cancel(reason);
    },
  });
}
