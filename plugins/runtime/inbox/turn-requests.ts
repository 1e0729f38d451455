// Who is waiting for which reply: the link between an entrance and the turn that answers it.
import { AppError, notFound } from "../../../src/kernel/errors.ts";
import type { Agent } from "../../agents/index.ts";
import type { Sessions } from "../sessions/sessions.ts";
import {
  ABORT_AGENT_CHANGING,
  ABORT_CANCELLED,
  ABORT_SHUTDOWN,
  agentDeletedError,
  agentStoppedError,
  shutdownError,
} from "../turn/abort-reasons.ts";
import { parseCommand } from "../turn/commands.ts";
import type { Reply } from "../turn/settlement.ts";
import type { Observer } from "../turn/tool-loop.ts";
import type { ReplyPreview, ReplyWaiter } from "../turn/turn-runner.ts";
import { conversationKey, type InboundMessage, type Inbox, type InboxEntry } from "./inbox.ts";

export interface ChatRequest {
  agent: Agent;
  platform: "web" | "api" | "public";
  message: string;
  /** The conversation's address on the platform, instead of a session or a topic. */
  peer?: string | undefined;
  sessionId?: string | undefined;
  topic?: string | undefined;
  sender: { id: string; name: string };
  byOwner: boolean;
  /** Sees the reply grow. */
  observer?: Observer | undefined;
  /** Aborts when the caller goes away: the turn is then cancelled. */
  signal: AbortSignal;
}

/** Shows a growing reply on a platform; `end` waits for what is on its way and gives the message that can become the reply. */
export type StartPreview = (entry: InboxEntry) => ReplyPreview | undefined;

/** Milliseconds a whole turn may take, tools and all. */
const TURN_TIMEOUT = 10 * 60_000;

interface Deps {
  inbox: Inbox;
  sessions: Sessions;
}

interface Running {
  entry: InboxEntry;
  abort(reason: unknown): void;
  /** Lets go of what could have ended it early. */
  release(): void;
}

export function createTurnRequests({ inbox, sessions }: Deps) {
  /** By entry. */
  const waiters = new Map<string, { agentId: string; waiter: ReplyWaiter }>();
  const previewers = new Map<string, StartPreview>();
  /** By conversation, in each of which one turn runs at a time. */
  const running = new Map<string, Running>();
  const openingSessions = new Map<string, Promise<string>>();
  /** Nothing new begins. */
  let closing = false;
  /** What runs is aborted. */
  let stopping = false;
  let push: (entry: InboxEntry) => void = () => undefined;

  const keyOf = (entry: InboxEntry) => `${entry.agentId} ${conversationKey(entry)}`;

  /** Answers when the message is stored and answered; rejects with what the caller is to be told. */
  async function chat(request: ChatRequest): Promise<Reply> {
    const { agent, platform, message, sessionId, topic, sender, byOwner, observer, signal } = request;
    const peer = request.peer ?? (topic === undefined ? undefined : topicPeer(topic));
    if (agent.status === "stopped") throw agentStoppedError();
    if (closing) throw new AppError(503, "STOPPING", "Berth is stopping. Try again shortly.");
    const to = peer === undefined ? { sessionId: await resolveSession(agent.id, sessionId) } : { peer };
    const kind = parseCommand(message) ? "command" : "message";
    const inbound: InboundMessage = { agentId: agent.id, platform, to, sender, byOwner, kind, content: message, topic };
    const { promise, resolve, reject } = Promise.withResolvers<Reply>();
    // Whoever asked hears of it below.
    promise.catch(() => undefined);
    let id = "";
    try {
      // Known before it can be seen in the database: a lane may find it there first.
      const stored = await inbox.accept([inbound], (entry) => {
        id = entry.id;
        waiters.set(id, { agentId: agent.id, waiter: { observer, signal, resolve, reject } });
      });
      for (const entry of stored) enqueue(entry);
      if (closing) rejectWaiting(agent.id, shutdownError());
    } catch (error) {
      waiters.delete(id);
      throw error;
    }
    return promise;
  }

  /** The session a message is for: the named one, the active one, or a new one. Several first messages open one. */
  async function resolveSession(agentId: string, sessionId: string | undefined): Promise<string> {
    if (sessionId !== undefined) {
      const session = await sessions.find(agentId, sessionId);
      if (!session) throw notFound("This agent has no session with this id.", "SESSION_NOT_FOUND");
      // Two entrances to one conversation would have its turns run side by side.
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

  /** A `/stop` takes effect at once, and is answered in its turn. */
  function enqueue(entry: InboxEntry): void {
    if (entry.kind === "command" && parseCommand(entry.content) === "stop")
      running.get(keyOf(entry))?.abort(ABORT_CANCELLED);
    push(entry);
  }

  /** Everybody who waits for a reply that is not being worked on (of this agent, or of any) is told that there will be none. */
  function rejectWaiting(agentId: string | undefined, error: Error): string[] {
    const runningIds = new Set(running.values().map(({ entry }) => entry.id));
    const rejected: string[] = [];
    for (const [id, { agentId: of, waiter }] of waiters) {
      if ((agentId !== undefined && of !== agentId) || runningIds.has(id)) continue;
      waiters.delete(id);
      waiter.reject(error);
      rejected.push(id);
    }
    return rejected;
  }

  return {
    chat,

    /** Stores messages of a platform and lines them up. */
    async accept(inboundMessages: readonly InboundMessage[]): Promise<void> {
      const classified = inboundMessages.map((inbound) => ({
        ...inbound,
        kind: inbound.kind ?? (parseCommand(inbound.content) ? ("command" as const) : ("message" as const)),
      }));
      for (const entry of await inbox.accept(classified)) enqueue(entry);
    },

    /** Who shows growing replies for a platform. */
    previewVia: (platform: string, previewer: StartPreview) => void previewers.set(platform, previewer),

    attach(lane: (entry: InboxEntry) => void) {
      push = lane;
    },

    /** A lane is done with an entry, for now. */
    release(entry: InboxEntry) {
      waiters.delete(entry.id);
      running.get(keyOf(entry))?.release();
      running.delete(keyOf(entry));
    },

    rejectWaiting,

    /** The agent is gone: nobody wants its replies any more. */
    onAgentDeleted(agentId: string) {
      for (const { entry, abort } of running.values()) if (entry.agentId === agentId) abort(ABORT_CANCELLED);
      rejectWaiting(agentId, agentDeletedError());
    },

    /** Breaks off what runs of this agent: it begins anew later, and who waits for it is told so. */
    interruptAgent(agentId: string) {
      for (const { entry, abort } of running.values()) if (entry.agentId === agentId) abort(ABORT_AGENT_CHANGING);
    },

    /** Turns in flight may go on for so long, then they are aborted; their messages, and those that wait, stay in the inbox. */
    stopWithin(graceMs: number) {
      closing = true;
      rejectWaiting(undefined, shutdownError());
      setTimeout(() => {
        stopping = true;
        for (const { abort } of running.values()) abort(ABORT_SHUTDOWN);
      }, graceMs).unref();
    },

    /** Who waits and what runs; for tests and figures. */
    size: () => waiters.size + running.size + openingSessions.size,

    forEngine: {
      previewOf: (entry: InboxEntry) => previewers.get(entry.platform)?.(entry),

      begin(entry: InboxEntry) {
        const waiter = waiters.get(entry.id)?.waiter;
        const abortController = new AbortController();
        const abort = (reason: unknown) => abortController.abort(reason);
        const onCallerGone = () => abort(ABORT_CANCELLED);
        const onTimeout = () => abort(new DOMException("The turn took too long.", "TimeoutError"));
        const timer = setTimeout(onTimeout, TURN_TIMEOUT);
        waiter?.signal.addEventListener("abort", onCallerGone, { once: true });
        running.set(keyOf(entry), {
          entry,
          abort,
          release() {
            clearTimeout(timer);
            waiter?.signal.removeEventListener("abort", onCallerGone);
          },
        });
        if (stopping) abort(ABORT_SHUTDOWN);
        else if (waiter?.signal.aborted) abort(ABORT_CANCELLED);
        return { signal: abortController.signal, waiter };
      },
    },
  };
}

/** Sessions of topics are found by name. */
export const topicPeer = (topic: string) => `topic:${topic.trim()}`;
/** The topic of a session's peer; null where it has none. */
export const topicFromPeer = (peer: string | null) => (peer?.startsWith("topic:") ? peer.slice("topic:".length) : null);
