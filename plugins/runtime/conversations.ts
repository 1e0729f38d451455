// Who is waiting for which reply: the link between an entrance and the turn that answers it.
import { AppError, notFound } from "../../src/errors.ts";
import type { Agent } from "../agents/index.ts";
import { commandIn } from "./commands.ts";
import { type Reply, STOPPING, type Waiter } from "./engine.ts";
import type { Arrival, Inbox, InboxEntry } from "./inbox.ts";
import type { Sessions } from "./sessions.ts";
import type { Observer } from "./turn.ts";

export interface ChatRequest {
  agent: Agent;
  platform: "web" | "api";
  message: string;
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
export type Previewer = (entry: InboxEntry) => (Observer & { end(): Promise<string | undefined> }) | undefined;

interface Deps {
  inbox: Inbox;
  sessions: Sessions;
}

export function createConversations({ inbox, sessions }: Deps) {
  const waiters = new Map<string, Waiter>();
  const previewers = new Map<string, Previewer>();
  /** Running or waiting for a lane, by session, so that /stop finds it. */
  const stops = new Map<string, AbortController>();
  const opening = new Map<string, Promise<string>>();
  const shutdown = new AbortController();
  let push: (entry: InboxEntry) => void = () => undefined;

  /** Answers when the message is stored and answered; rejects with what the caller is to be told. */
  async function chat(request: ChatRequest): Promise<Reply> {
    const { agent, platform, message, sessionId, topic, sender, byOwner, observer, signal } = request;
    if (agent.status === "stopped") {
      throw new AppError(409, "AGENT_STOPPED", "This agent is stopped. Start it, then send the message again.");
    }
    const to = topic === undefined ? { sessionId: await sessionFor(agent.id, sessionId) } : { peer: topicPeer(topic) };
    const kind = commandIn(message) ? "command" : "message";
    const arrival: Arrival = { agentId: agent.id, platform, to, sender, byOwner, kind, content: message, topic };
    const [entry] = await inbox.accept([arrival]);
    if (!entry) throw new Error("A message without an id of its own was taken for a duplicate.");
    return new Promise((resolve, reject) => {
      waiters.set(entry.id, { observer, signal, resolve, reject });
      push(entry);
    });
  }

  async function sessionFor(agentId: string, sessionId: string | undefined): Promise<string> {
    if (sessionId !== undefined) {
      const session = await sessions.find(agentId, sessionId);
      if (!session) throw notFound("This agent has no session with this id.", "SESSION_NOT_FOUND");
      return session.id;
    }
    const active = await sessions.active(agentId);
    if (active) return active.id;
    // Of several first messages at once, one opens the session.
    const known = opening.get(agentId);
    if (known) return known;
    const opened = sessions.create(agentId, "web").then(({ id }) => id);
    opening.set(agentId, opened);
    return opened.finally(() => opening.delete(agentId));
  }

  return {
    chat,

    /** Stores messages of a platform and lines them up. A `/stop` takes effect at once. */
    async accept(arrivals: readonly Arrival[]): Promise<void> {
      const kinds = arrivals.map((arrival) => ({
        ...arrival,
        kind: arrival.kind ?? (commandIn(arrival.content) ? ("command" as const) : ("message" as const)),
      }));
      for (const entry of await inbox.accept(kinds)) {
        if (entry.kind === "command" && commandIn(entry.content) === "stop") stops.get(entry.sessionId)?.abort();
        push(entry);
      }
    },

    /** Who shows growing replies for a platform. */
    previewVia: (platform: string, previewer: Previewer) => void previewers.set(platform, previewer),

    attach(lane: (entry: InboxEntry) => void) {
      push = lane;
    },

    /** A lane is done with an entry, for now. */
    ended({ id, sessionId }: InboxEntry) {
      waiters.delete(id);
      stops.delete(sessionId);
    },

    /** Turns in flight may go on for so long, then they are aborted; their messages stay in the inbox. */
    stopSoon(graceMs: number) {
      setTimeout(() => shutdown.abort(STOPPING), graceMs).unref();
    },

    forEngine: {
      waiterOf: (entry: InboxEntry) => waiters.get(entry.id),
      previewOf: (entry: InboxEntry) => previewers.get(entry.platform)?.(entry),
      signalOf(entry: InboxEntry) {
        let stop = stops.get(entry.sessionId);
        if (!stop) {
          stop = new AbortController();
          stops.set(entry.sessionId, stop);
        }
        return shutdown.signal.aborted ? shutdown.signal : AbortSignal.any([stop.signal, shutdown.signal]);
      },
    },
  };
}

/** Sessions of topics are found by name. */
export const topicPeer = (topic: string) => `topic:${topic.trim()}`;
