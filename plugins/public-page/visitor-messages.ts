// Sends a visitor's message to the backend when it is the visitor's turn, and passes the reply on, whole or as a stream.
import { unwrapJson } from "../../src/kernel/http/backend/backend-response.ts";
import type { BackendTransport } from "../../src/kernel/http/backend/backend-transport.ts";
import { contextOf } from "../../src/kernel/http/request-context.ts";
import { acceptsEventStream, EVENT_STREAM_HEADERS } from "../../src/kernel/http/sse-streams.ts";
import type { VisitorLimiter } from "./visitor-limiter.ts";

export interface VisitorMessage {
  request: Request;
  agentId: string;
  /** 22 characters of base64url: the conversation of this visitor continues. */
  visitorId: string;
  message: string;
}

export interface VisitorMessages {
  /**
   * Returns the reply as JSON, or as a stream of events if the request accepts one. The rate is counted before, by
   * `countMessage`. Throws 429 `AGENT_BUSY`, and what the turn ends with.
   * @param onAnswer called once the backend has answered, also with an error
   */
  send(message: VisitorMessage, onAnswer?: () => void): Promise<Response>;
}

interface Deps {
  backend: BackendTransport;
  visitorLimiter: VisitorLimiter;
}

export function createVisitorMessages({ backend, visitorLimiter }: Deps): VisitorMessages {
  return {
    async send({ request, agentId, visitorId, message }, onAnswer) {
      const { address } = contextOf(request);
      const wantsStream = acceptsEventStream(request);
      const release = await visitorLimiter.acquire(address, agentId, request.signal);
      let isStreaming = false;
      try {
        const response = await backend.fetch(
          { userId: `visitor:${visitorId}`, isAdmin: false, agentId, action: "agent.visit", address },
          `/api/agents/${agentId}/visits`,
          {
            method: "POST",
            headers: { "content-type": "application/json", ...(wantsStream && { accept: "text/event-stream" }) },
            body: JSON.stringify({ message, visitor: visitorId }),
            signal: request.signal,
          },
        );
        onAnswer?.();
        if (!response.ok || !wantsStream || !response.body) return Response.json(await unwrapJson(response));
        isStreaming = true;
        return new Response(notifyWhenEnded(response.body, release), { headers: EVENT_STREAM_HEADERS });
      } finally {
        if (!isStreaming) release();
      }
    },
  };
}

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
