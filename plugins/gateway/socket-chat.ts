// Handles the frames of one gateway socket: sends messages to the backend, and streams each reply under the id of its frame.

import type { BackendTransport } from "../../src/kernel/http/backend/backend-transport.ts";
import { parseEvents } from "../../src/kernel/http/sse-parser.ts";
import type { RateLimiter } from "../../src/kernel/security/rate-limits/rate-limiter.ts";
import type { Log } from "../../src/kernel/telemetry/log.ts";
import { createFrameLimiter } from "./frame-limiter.ts";
import { closeTooMany, readFrame, type Socket, send, sendError, waitUntilDrained } from "./frames.ts";
import type { AuthenticatedClient } from "./socket-authentication.ts";

/** Messages of one socket in flight at once. */
const MAX_CONCURRENT = 16;

interface Deps {
  backend: BackendTransport;
  limits: RateLimiter;
  log: Log;
  /** Whether Berth is stopping: then no new message is accepted. */
  isStopping(): boolean;
}

export interface SocketChat {
  receive(socket: Socket, data: string | Buffer): void;
  /** Whether no message is in flight. */
  isIdle(): boolean;
  /** Cancels all messages in flight. */
  cancel(): void;
}

/** @param onIdle is called whenever the last message in flight has ended */
export function createSocketChat(
  { backend, limits, log, isStopping }: Deps,
  client: AuthenticatedClient,
  onIdle: () => void,
): SocketChat {
  const { agent, address, grant } = client;
  /** Messages in flight, by the id of their frame. */
  const inFlight = new Map<string, AbortController>();
  const frameLimiter = createFrameLimiter();

  async function answerMessage(
    socket: Socket,
    id: string,
    message: string,
    sessionId: string | undefined,
  ): Promise<void> {
    const cancel = new AbortController();
    inFlight.set(id, cancel);
    try {
      const response = await backend.fetch(grant("agent.chat"), `/api/agents/${agent.id}/turns`, {
        method: "POST",
        headers: { "content-type": "application/json", accept: "text/event-stream" },
        body: JSON.stringify({ platform: "web", message, sessionId }),
        signal: cancel.signal,
      });
      if (!response.ok || !response.body)
        return send(socket, { type: "error", id, ...((await response.json()) as object) });
      for await (const { event, data } of parseEvents(response.body)) {
        await waitUntilDrained(socket);
        const fields = JSON.parse(data) as object;
        // A file has a type and an id of its own.
        send(socket, event === "file" ? { type: event, id, file: fields } : { type: event, id, ...fields });
      }
    } catch (error) {
      if (cancel.signal.aborted) sendError(socket, id, "The reply was cancelled.", "CANCELLED");
      else {
        log.warn("a gateway message failed", { agentId: agent.id, error });
        sendError(socket, id, "The agent backend can't be reached. Try again shortly.", "BACKEND_UNAVAILABLE");
      }
    } finally {
      inFlight.delete(id);
      cancel.abort();
      if (inFlight.size === 0) onIdle();
    }
  }

  /** Counts a message like one over HTTP, for the address and for the account; returns the text of the error, if any. */
  function rateLimitMessage(): string | undefined {
    for (const key of [address, `user ${agent.userId}`]) {
      const decision = limits.take("default", key);
      if (!decision.allowed) return limits.tooManyRequests(decision).message;
    }
    return undefined;
  }

  return {
    receive(socket, data) {
      if (!frameLimiter.tryTake(data.length)) return closeTooMany(socket, "Too many frames");
      const frame = readFrame(data);
      if (!frame) return sendError(socket, null, "A frame is a JSON object with a type.", "INVALID_FRAME");
      const { type, id, message, sessionId } = frame;
      if (type === "ping") return send(socket, { type: "pong" });
      if (typeof id !== "string" || id === "" || id.length > 128) {
        return sendError(socket, null, "Give the frame an id: text of at most 128 characters.", "INVALID_FRAME");
      }
      if (type === "cancel") return inFlight.get(id)?.abort();
      if (type !== "chat")
        return sendError(socket, id, "The type of a frame is chat, cancel or ping.", "INVALID_FRAME");
      if (typeof message !== "string" || message === "")
        return sendError(socket, id, "Give a message.", "INVALID_INPUT");
      if (isStopping()) return sendError(socket, id, "Berth is stopping. Try again shortly.", "STOPPING");
      if (inFlight.has(id)) return sendError(socket, id, "A message with this id is being answered.", "DUPLICATE_ID");
      if (inFlight.size >= MAX_CONCURRENT)
        return sendError(socket, id, `At most ${MAX_CONCURRENT} messages at once.`, "TOO_MANY");
      const rateLimited = rateLimitMessage();
      if (rateLimited !== undefined) return sendError(socket, id, rateLimited, "RATE_LIMITED");
      // It counts as a message instead of a frame.
      frameLimiter.refund(data.length);
      void answerMessage(socket, id, message, typeof sessionId === "string" ? sessionId : undefined);
    },
    isIdle: () => inFlight.size === 0,
    cancel() {
      for (const cancel of inFlight.values()) cancel.abort();
    },
  };
}
