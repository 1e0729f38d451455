// The runtime: messages come in from every entrance, run through lanes and turns, and leave through the outbox.
import { Elysia } from "elysia";
import { AppError } from "../../src/errors.ts";
import { mayAnswer } from "../../src/openapi/told.ts";
import { plugin } from "../../src/plugin.ts";
import { type Agent, agents } from "../agents/index.ts";
import { ai } from "../ai/index.ts";
import { figures } from "../figures/index.ts";
import { skills } from "../skills/index.ts";
import { createArchive } from "./archive.ts";
import { archiveRoutes } from "./archive-routes.ts";
import { commandIn } from "./commands.ts";
import { chatReply, newSession, type TurnBody, turnBody } from "./model.ts";
import { createRuntime } from "./runtime.ts";
import { eventStream, wantsEvents } from "./sse.ts";

export type { FetchFile } from "./attachments.ts";
export { COMMANDS, commandIn, type Obey, type OwnerCommand } from "./commands.ts";
export type { ChatRequest } from "./conversations.ts";
export type { Preview } from "./engine.ts";
export type { Change, Extent, MessageRow, SessionRow } from "./estate.ts";
export type { Said } from "./history.ts";
export type { Arrival, InboxEntry } from "./inbox.ts";
export type { TurnBody } from "./model.ts";
export type { Deliver, Delivery, Outcome } from "./outbox.ts";
export { newSessionId, type Session } from "./sessions.ts";
export type { Reply } from "./settling.ts";
export { eventStream, parseEvents, wantsEvents } from "./sse.ts";
export type { Observer, ToolEvent } from "./turn.ts";

/** What a message to an agent can be refused with, or fail with, for the documents. */
export const TURN_ERRORS = {
  400: ["SESSION_ELSEWHERE"],
  402: "BUDGET_EXCEEDED",
  404: ["AGENT_NOT_FOUND", "SESSION_NOT_FOUND"],
  409: ["AGENT_STOPPED", "CANCELLED", "ALREADY_SETTLED"],
  502: "MODEL_UNAVAILABLE",
  503: ["STOPPING", "AGENT_CHANGING"],
};

export const runtime = plugin("runtime", (host) => {
  const { kernel } = host;
  const hosted = host.use(agents);
  const work = createRuntime({
    ...kernel,
    agents: hosted,
    ai: host.use(ai),
    skills: host.use(skills),
    figures: host.use(figures),
  });
  const { conversations, sessions } = work;

  /** One turn for whoever sent this request: the reply, or its events where the request asks for them. */
  function converse(request: Request, agent: Agent, userId: string, said: TurnBody) {
    const asked = { agent, ...said, sender: { id: userId, name: "" }, byOwner: agent.userId === userId };
    if (!wantsEvents(request)) return conversations.chat({ ...asked, signal: request.signal });
    return eventStream(request.signal, (observer, signal) => conversations.chat({ ...asked, observer, signal }));
  }

  const backend = new Elysia({ name: "runtime.backend" })
    .use(hosted.guards)
    .post(
      "/api/agents/:id/turns",
      ({ agent, caller, body, request }) => converse(request, agent, caller.userId, body),
      {
        agentCall: { action: "agent.chat", scope: "chat" },
        body: turnBody,
        response: { 200: chatReply },
        detail: {
          tags: ["Agents"],
          summary: "Send a message to an agent and wait for the reply",
          ...mayAnswer(TURN_ERRORS),
          description: "With `accept: text/event-stream` the reply is streamed: delta, tool, reply, error.",
        },
      },
    )
    .post(
      "/api/agents/:id/sessions",
      async ({ agent, status }) => {
        const { id } = await sessions.create(agent.id, "web");
        return status(201, { sessionId: id, status: "active" });
      },
      {
        agentCall: { action: "agent.session", scope: "chat", changes: true },
        response: { 201: newSession },
        detail: { tags: ["Agents"], summary: "Begin a new session with an agent" },
      },
    );

  const archive = archiveRoutes({ agents: hosted, archive: createArchive(kernel) });

  return {
    web: archive.web,
    backend: new Elysia({ name: "runtime.all" }).use(backend).use(archive.backend),
    service: {
      chat: conversations.chat,
      converse,
      /** Messages from a platform: stored when it resolves. */
      accept: conversations.accept,
      sessions: {
        list: sessions.list,
        lastActivity: sessions.lastActivity,
        find: sessions.find,
        active: sessions.active,
        messages: sessions.messages,
      },
      sent: work.sent,
      /** Whether what is known of replies' way to their platform is written; waits for tries under way, but not for long. */
      settled: work.settled,
      /** Replies that did not arrive after they were sent: each is noted once. */
      lost: work.lost,
      /** The model that answers for an agent now. */
      chooseModel: work.chooseModel,
      /** Takes up what waits for an agent that is up again. */
      resume: work.resume,
      quietly: work.quietly,
      hold: work.hold,
      beforeResuming: work.beforeResuming,
      estate: work.estate,
      deliverVia: work.deliverVia,
      obeyVia: work.obeyVia,
      fetchFileVia: work.fetchFileVia,
      previewVia: conversations.previewVia,
      isCommand: (text: string) => commandIn(text) !== undefined,
      previewed: work.previewed,
    },
    start: work.start,
    stop: work.stop,
    ready: () => kernel.jobs.ready(),
  };
});

export const noAgent = () =>
  new AppError(404, "NO_AGENT", "You have no agent yet. Create one with POST /api/agents/provision.");
