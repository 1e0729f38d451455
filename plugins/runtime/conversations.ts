// Who is waiting for which reply: the link between an entrance and the turn that answers it.
import { AppError, notFound } from "../../src/errors.ts";
import type { Agent } from "../agents/index.ts";
import { commandIn } from "./commands.ts";
import { CANCELLED, INTERRUPTED, kept, removed, STOPPING, stopped } from "./endings.ts";
import type { Preview, Waiter } from "./engine.ts";
import { type Arrival, conversationOf, type Inbox, type InboxEntry } from "./inbox.ts";
import type { Sessions } from "./sessions.ts";
import type { Reply } from "./settling.ts";
import type { Observer } from "./turn.ts";

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
export type Previewer = (entry: InboxEntry) => Preview | undefined;

/** Milliseconds a whole turn may take, tools and all. */
const TURN_LIMIT = 10 * 60_000;

interface Deps {
  inbox: Inbox;
  sessions: Sessions;
}

interface Running {
  entry: InboxEntry;
  abort(reason: unknown): void;
  /** Lets go of what could have ended it early. */
  ended(): void;
}

export function createConversations({ inbox, sessions }: Deps) {
  /** By entry. */
  const waiters = new Map<string, { agentId: string; waiter: Waiter }>();
  const previewers = new Map<string, Previewer>();
  /** By conversation, in each of which one turn runs at a time. */
  const running = new Map<string, Running>();
  const opening = new Map<string, Promise<string>>();
  /** Nothing new begins. */
  let closing = false;
  /** What runs is aborted. */
  let stopping = false;
  let push: (entry: InboxEntry) => void = () => undefined;

  const keyOf = (entry: InboxEntry) => `${entry.agentId} ${conversationOf(entry)}`;

  /** Answers when the message is stored and answered; rejects with what the caller is to be told. */
  async function chat(request: ChatRequest): Promise<Reply> {
    const { agent, platform, message, sessionId, topic, sender, byOwner, observer, signal } = request;
    const peer = request.peer ?? (topic === undefined ? undefined : topicPeer(topic));
    if (agent.status === "stopped") throw stopped();
    if (closing) throw new AppError(503, "STOPPING", "Berth is stopping. Try again shortly.");
    const to = peer === undefined ? { sessionId: await sessionFor(agent.id, sessionId) } : { peer };
    const kind = commandIn(message) ? "command" : "message";
    const arrival: Arrival = { agentId: agent.id, platform, to, sender, byOwner, kind, content: message, topic };
    const { promise, resolve, reject } = Promise.withResolvers<Reply>();
    // Whoever asked hears of it below.
    promise.catch(() => undefined);
    let id = "";
    try {
      // Known before it can be seen in the database: a lane may find it there first.
      const stored = await inbox.accept([arrival], (entry) => {
        id = entry.id;
        waiters.set(id, { agentId: agent.id, waiter: { observer, signal, resolve, reject } });
      });
      for (const entry of stored) lineUp(entry);
      if (closing) giveUp(agent.id, kept());
    } catch (error) {
      waiters.delete(id);
      throw error;
    }
    return promise;
  }

  /** The session a message is for: the named one, the active one, or a new one. Several first messages open one. */
  async function sessionFor(agentId: string, sessionId: string | undefined): Promise<string> {
    if (sessionId !== undefined) {
      const session = await sessions.find(agentId, sessionId);
      if (!session) throw notFound("This agent has no session with this id.", "SESSION_NOT_FOUND");
      // Two entrances to one conversation would have its turns run side by side.
      if (session.platform !== "web") {
        throw new AppError(400, "SESSION_ELSEWHERE", "This conversation is held elsewhere. Go on with it there.");
      }
      return session.id;
    }
    const known = opening.get(agentId);
    if (known) return known;
    const found = (async () => ((await sessions.active(agentId)) ?? (await sessions.create(agentId, "web"))).id)();
    opening.set(agentId, found);
    try {
      return await found;
    } finally {
      opening.delete(agentId);
    }
  }

  /** A `/stop` takes effect at once, and is answered in its turn. */
  function lineUp(entry: InboxEntry): void {
    if (entry.kind === "command" && commandIn(entry.content) === "stop") running.get(keyOf(entry))?.abort(CANCELLED);
    push(entry);
  }

  /** Everybody who waits for a reply that is not being worked on (of this agent, or of any) is told that there will be none. */
  function giveUp(agentId: string | undefined, error: Error): string[] {
    const inWork = new Set(running.values().map(({ entry }) => entry.id));
    const given: string[] = [];
    for (const [id, { agentId: of, waiter }] of waiters) {
      if ((agentId !== undefined && of !== agentId) || inWork.has(id)) continue;
      waiters.delete(id);
      waiter.reject(error);
      given.push(id);
    }
    return given;
  }

  return {
    chat,

    /** Stores messages of a platform and lines them up. */
    async accept(arrivals: readonly Arrival[]): Promise<void> {
      const kinds = arrivals.map((arrival) => ({
        ...arrival,
        kind: arrival.kind ?? (commandIn(arrival.content) ? ("command" as const) : ("message" as const)),
      }));
      for (const entry of await inbox.accept(kinds)) lineUp(entry);
    },

    /** Who shows growing replies for a platform. */
    previewVia: (platform: string, previewer: Previewer) => void previewers.set(platform, previewer),

    attach(lane: (entry: InboxEntry) => void) {
      push = lane;
    },

    /** A lane is done with an entry, for now. */
    ended(entry: InboxEntry) {
      waiters.delete(entry.id);
      running.get(keyOf(entry))?.ended();
      running.delete(keyOf(entry));
    },

    giveUp,

    /** The agent is gone: nobody wants its replies any more. */
    removed(agentId: string) {
      for (const { entry, abort } of running.values()) if (entry.agentId === agentId) abort(CANCELLED);
      giveUp(agentId, removed());
    },

    /** Breaks off what runs of this agent: it begins anew later, and who waits for it is told so. */
    interrupt(agentId: string) {
      for (const { entry, abort } of running.values()) if (entry.agentId === agentId) abort(INTERRUPTED);
    },

    /** Turns in flight may go on for so long, then they are aborted; their messages, and those that wait, stay in the inbox. */
    stopSoon(graceMs: number) {
      closing = true;
      giveUp(undefined, kept());
      setTimeout(() => {
        stopping = true;
        for (const { abort } of running.values()) abort(STOPPING);
      }, graceMs).unref();
    },

    /** Who waits and what runs; for tests and figures. */
    size: () => waiters.size + running.size + opening.size,

    forEngine: {
      previewOf: (entry: InboxEntry) => previewers.get(entry.platform)?.(entry),

      begin(entry: InboxEntry) {
        const waiter = waiters.get(entry.id)?.waiter;
        const turn = new AbortController();
        const abort = (reason: unknown) => turn.abort(reason);
        const gone = () => abort(CANCELLED);
        const late = () => abort(new DOMException("The turn took too long.", "TimeoutError"));
        const timer = setTimeout(late, TURN_LIMIT);
        waiter?.signal.addEventListener("abort", gone, { once: true });
        running.set(keyOf(entry), {
          entry,
          abort,
          ended() {
            clearTimeout(timer);
            waiter?.signal.removeEventListener("abort", gone);
          },
        });
        if (stopping) abort(STOPPING);
        else if (waiter?.signal.aborted) abort(CANCELLED);
        return { signal: turn.signal, waiter };
      },
    },
  };
}

/** Sessions of topics are found by name. */
export const topicPeer = (topic: string) => `topic:${topic.trim()}`;
/** The topic of a session's peer; null where it has none. */
export const topicOf = (peer: string | null) => (peer?.startsWith("topic:") ? peer.slice("topic:".length) : null);
