// Handles requests of callers that wait for their reply: stores the message, and resolves when its turn is settled.
import { AppError, notFound } from "../../../src/kernel/errors.ts";
import type { Agent } from "../../agents/index.ts";
import type { Taint } from "../../skills/index.ts";
import { agentStoppedError, shutdownError } from "../errors.ts";
import type { InboundMessage, InboxEntry } from "../inbox/entries.ts";
import type { Inbox } from "../inbox/inbox.ts";
import type { Sessions } from "../sessions/sessions.ts";
import { topicPeer } from "../sessions/topics.ts";
import type { Reply, RunningTurns } from "./running-turns.ts";
import type { Observer } from "./tool-calls.ts";

export interface ChatRequest {
  agent: Agent;
  platform: "web" | "api" | "public" | "agent";
  message: string;
  /** Unique for this agent on this platform. */
  messageId?: string | undefined;
  /** Text that looks like a command, such as `/approve`, is none. */
  isNoCommand?: boolean | undefined;
  /** More taint than follows from the sender. */
  taint?: Taint | undefined;
  /** The conversation's address on the platform, instead of a session or a topic. */
  peer?: string | undefined;
  sessionId?: string | undefined;
  topic?: string | undefined;
  sender: { id: string; name: string };
  byOwner: boolean;
  /** Receives the reply as it grows. */
  observer?: Observer | undefined;
  /** Aborts when the caller goes away: the turn is then cancelled. */
  signal: AbortSignal;
}

/** A message with the same `messageId` was stored before. */
export class AlreadyStored extends Error {}

/** Resolves with undefined where the message of a chat was stored before, as by a request at the same time that was first. */
export const unlessStored = <Result>(chatting: Promise<Result>): Promise<Result | undefined> =>
  chatting.catch((error: unknown) => {
    if (error instanceof AlreadyStored) return undefined;
    throw error;
  });

interface Deps {
  inbox: Pick<Inbox, "accept">;
  sessions: Sessions;
  runningTurns: RunningTurns;
  /** Hands a stored entry to its lane. */
  enqueue(entry: InboxEntry): void;
}

export function createTurnRequests({ inbox, sessions, runningTurns, enqueue }: Deps) {
  /** By agent. */
  const openingSessions = new Map<string, Promise<string>>();

  /** Resolves when the message is stored and answered; rejects with the error for the caller, or with `AlreadyStored`. */
  async function chat(request: ChatRequest): Promise<Reply> {
    const { agent, platform, message, sessionId, topic, sender, byOwner, observer, signal } = request;
    const peer = request.peer ?? (topic === undefined ? undefined : topicPeer(topic));
    if (agent.status === "stopped") throw agentStoppedError(agent);
    if (runningTurns.isStopping()) throw new AppError(503, "STOPPING", "Berth is stopping. Try again shortly.");
    const to = peer === undefined ? { sessionId: await resolveSession(agent.id, sessionId) } : { peer };
    const inbound: InboundMessage = {
      agentId: agent.id,
      platform,
      ...(request.messageId !== undefined && { platformMessageId: request.messageId }),
      to,
      sender,
      byOwner,
      ...(request.isNoCommand && { kind: "message" }),
      content: message,
      ...(request.taint !== undefined && { taint: request.taint }),
      topic,
    };
    const { promise, resolve, reject } = Promise.withResolvers<Reply>();
    // It may be rejected before it is returned, if the agent is deleted during the write.
    promise.catch(() => undefined);
    let id = "";
    try {
      // The waiter is registered before the write, since a lane may find the entry in the database first.
      const stored = await inbox.accept([inbound], (entry) => {
        id = entry.id;
        runningTurns.expectReply(entry, { observer, signal, resolve, reject });
      });
      if (stored.length === 0) throw new AlreadyStored("This message was stored before.");
      for (const entry of stored) enqueue(entry);
      if (runningTurns.isStopping()) runningTurns.rejectWaiting(agent.id, shutdownError());
    } catch (error) {
      runningTurns.forgetWaiter(id);
      throw error;
    }
    return promise;
  }

  /**
   * The session for a message: the given one, the active one, or a new one. Several first messages share one new session.
   * @throws AppError SESSION_NOT_FOUND, or SESSION_ELSEWHERE when the session belongs to another platform
   */
  async function resolveSession(agentId: string, sessionId: string | undefined): Promise<string> {
    if (sessionId !== undefined) {
      const session = await sessions.find(agentId, sessionId);
      if (!session) throw notFound("This agent has no session with this id.", "SESSION_NOT_FOUND");
      // Two platforms writing into one conversation would have its turns run at the same time.
      if (session.platform !== "web") {
        throw new AppError(400, "SESSION_ELSEWHERE", "This conversation is held elsewhere. Go on with it there.");
      }
      return session.id;
    }
    const known = openingSessions.get(agentId);
    if (known) return known;
    const found = (async () => ((await sessions.findActive(agentId)) ?? (await sessions.create(agentId, "web"))).id)();
    openingSessions.set(agentId, found);
    try {
      return await found;
    } finally {
      openingSessions.delete(agentId);
    }
  }

  return {
    chat,
    /** Sessions that are being opened now. */
    size: () => openingSessions.size,
  };
}
