// What is said over one gateway socket: messages to the agent, each answered under its own id, until it is cancelled.
import type { BackendTransport } from "../../src/backend.ts";
import type { Limits } from "../../src/limits.ts";
import type { Log } from "../../src/log.ts";
import { parseEvents } from "../runtime/index.ts";
import { createAllowance } from "./allowance.ts";
import type { Admitted } from "./entrance.ts";
import { fail, readFrame, type Socket, send, taken, turnAway } from "./frames.ts";

/** Messages of one socket that are answered at once. */
const AT_ONCE = 16;

interface Deps {
  backend: BackendTransport;
  limits: Limits;
  log: Log;
  /** Berth ends: nothing new is begun. */
  isStopping(): boolean;
}

export interface Talk {
  heard(socket: Socket, data: string | Buffer): void;
  /** Whether nothing is being answered. */
  isIdle(): boolean;
  /** Whoever asked is gone. */
  cancel(): void;
}

/** `idle` is called whenever the last answer has gone out. */
export function createTalk({ backend, limits, log, isStopping }: Deps, admitted: Admitted, idle: () => void): Talk {
  const { agent, address, grant } = admitted;
  /** What is being answered, by the id of its frame. */
  const underWay = new Map<string, AbortController>();
  const allowance = createAllowance();

  async function answer(socket: Socket, id: string, message: string, sessionId: string | undefined): Promise<void> {
    const cancel = new AbortController();
    underWay.set(id, cancel);
    try {
      const reply = await backend.fetch(grant("agent.chat"), `/api/agents/${agent.id}/turns`, {
        method: "POST",
        headers: { "content-type": "application/json", accept: "text/event-stream" },
        body: JSON.stringify({ platform: "web", message, sessionId }),
        signal: cancel.signal,
      });
      if (!reply.ok || !reply.body) return send(socket, { type: "error", id, ...((await reply.json()) as object) });
      for await (const { event, data } of parseEvents(reply.body)) {
        await taken(socket);
        send(socket, { type: event, id, ...(JSON.parse(data) as object) });
      }
    } catch (error) {
      if (cancel.signal.aborted) fail(socket, id, "The reply was cancelled.", "CANCELLED");
      else {
        log.warn("a gateway message failed", { agentId: agent.id, error });
        fail(socket, id, "The agent backend can't be reached. Try again shortly.", "BACKEND_UNAVAILABLE");
      }
    } finally {
      underWay.delete(id);
      cancel.abort();
      if (underWay.size === 0) idle();
    }
  }

  /** A message counts like one that comes by HTTP: for its address, and for the account. */
  function refusedRate(): string | undefined {
    for (const key of [address, `user ${agent.userId}`]) {
      const decision = limits.take("default", key);
      if (!decision.allowed) return limits.refusal(decision).message;
    }
    return undefined;
  }

  return {
    heard(socket, data) {
      if (!allowance.take(data.length)) return turnAway(socket, "Too many frames");
      const frame = readFrame(data);
      if (!frame) return fail(socket, null, "A frame is a JSON object with a type.", "INVALID_FRAME");
      const { type, id, message, sessionId } = frame;
      if (type === "ping") return send(socket, { type: "pong" });
      if (typeof id !== "string" || id === "" || id.length > 128) {
        return fail(socket, null, "Give the frame an id: text of at most 128 characters.", "INVALID_FRAME");
      }
      if (type === "cancel") return underWay.get(id)?.abort();
      if (type !== "chat") return fail(socket, id, "The type of a frame is chat, cancel or ping.", "INVALID_FRAME");
      if (typeof message !== "string" || message === "") return fail(socket, id, "Give a message.", "INVALID_INPUT");
      if (isStopping()) return fail(socket, id, "Berth is stopping. Try again shortly.", "STOPPING");
      if (underWay.has(id)) return fail(socket, id, "A message with this id is being answered.", "DUPLICATE_ID");
      if (underWay.size >= AT_ONCE) return fail(socket, id, `At most ${AT_ONCE} messages at once.`, "TOO_MANY");
      const refused = refusedRate();
      if (refused !== undefined) return fail(socket, id, refused, "RATE_LIMITED");
      // It counts under the rule of messages.
      allowance.giveBack(data.length);
      void answer(socket, id, message, typeof sessionId === "string" ? sessionId : undefined);
    },
    isIdle: () => underWay.size === 0,
    cancel() {
      for (const cancel of underWay.values()) cancel.abort();
    },
  };
}
