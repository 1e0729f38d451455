// Answers a visitor's message: one that its sender names is answered once, however often it comes, also after a restart.
import { AppError } from "../../../src/kernel/errors.ts";
import type { ServiceOf } from "../../../src/kernel/plugin.ts";
import type { Agent } from "../../agents/index.ts";
import { type Observer, type runtime as runtimePlugin, unlessStored } from "../../runtime/index.ts";

export interface VisitedMessage {
  agent: Agent;
  /** 22 characters of base64url. */
  visitor: string;
  /** The sender's own name of the message. */
  id: string | undefined;
  message: string;
}

export interface VisitReply {
  reply: string;
  /** Epoch ms. */
  timestamp: number;
}

interface Deps {
  runtime: Pick<ServiceOf<typeof runtimePlugin>, "chat" | "agentMessages" | "turnEvents">;
}

/** Turns with one name: as many as failed or were cancelled, and the one that was not. */
const MAX_TRIES = 20;
/** The turn does not go on by itself soon. After any other reason it is tried again. */
const LASTING: Readonly<Record<string, number>> = {
  AGENT_STOPPED: 409,
  AGENT_FROZEN: 409,
  WAITING_FOR_APPROVAL: 409,
  AGENT_CHANGING: 503,
  STOPPING: 503,
};

export function createNamedVisits({ runtime: { chat, agentMessages, turnEvents } }: Deps) {
  /** Follows a turn that another request has begun; it is cancelled when the signal aborts. */
  async function follow(agent: Agent, turnId: string, observer: Observer | undefined, signal: AbortSignal) {
    for await (const { event, data } of await turnEvents(agent, turnId, signal)) {
      if (data === "") continue;
      const fields = JSON.parse(data) as Record<string, unknown>;
      const [code, message] = [String(fields.code), String(fields.message ?? fields.error)];
      if (event === "delta") observer?.delta(String(fields.text));
      else if (event === "reply")
        return { reply: String(fields.text), timestamp: Date.parse(String(fields.timestamp)) };
      else if (event === "error") throw new AppError(Number(fields.status ?? 409), code, message);
      else if (event === "waiting" && LASTING[code] !== undefined) throw new AppError(LASTING[code], code, message);
    }
    if (signal.aborted) {
      await agentMessages.cancel(agent, turnId);
      signal.throwIfAborted();
    }
    throw new AppError(503, "STOPPING", "Berth is stopping. The message is kept and will be answered after the start.");
  }

  /** Rejects with the error of the turn. A turn that failed or was cancelled is tried again. */
  return async function answer(
    { agent, visitor, id, message }: VisitedMessage,
    observer: Observer | undefined,
    signal: AbortSignal,
  ): Promise<VisitReply> {
    const begin = async (messageId: string | undefined): Promise<VisitReply> => {
      const { reply, timestamp } = await chat({
        agent,
        platform: "public",
        // A peer per visitor gives each one a separate session and separate memories.
        peer: `visitor:${visitor}`,
        messageId,
        message,
        sender: { id: visitor, name: "" },
        byOwner: false,
        observer,
        signal,
      });
      return { reply, timestamp };
    };
    if (id === undefined) return begin(undefined);
    for (let n = 1; ; ) {
      const messageId = `visit:${visitor}:${id}${n === 1 ? "" : `#${n}`}`;
      const known = await agentMessages.find(agent.id, { platform: "public", messageId });
      if (!known) {
        const reply = await unlessStored(begin(messageId));
        if (reply) return reply;
        continue;
      }
      const outcome = await agentMessages.outcome(agent, known.turnId);
      const isOver = outcome?.status === "failed" || outcome?.status === "cancelled";
      if (!isOver || n === MAX_TRIES) return follow(agent, known.turnId, observer, signal);
      n++;
    }
  };
}
