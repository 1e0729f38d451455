// The runtime: messages come in from every entrance, run through lanes and turns, and leave through the outbox.
import { Elysia } from "elysia";
import { AppError } from "../../src/kernel/errors.ts";
import { documentErrors } from "../../src/kernel/http/openapi/route-documentation.ts";
import { plugin } from "../../src/kernel/plugin.ts";
import { agentStats } from "../agent-stats/index.ts";
import { type Agent, agents } from "../agents/index.ts";
import { ai } from "../ai/index.ts";
import { skills } from "../skills/index.ts";
import { messageRoutes } from "./message-routes.ts";
import { chatReply, newSession, type TurnBody, turnBody } from "./model.ts";
import { createRuntime } from "./runtime.ts";
import { createMessageList } from "./sessions/message-list.ts";
import { acceptsEventStream, eventStream } from "./sse.ts";
import { parseCommand } from "./turn/commands.ts";

export type { BackupChange, MessageRow, SessionExtent, SessionRow } from "./backup/backup-rows.ts";
export type { InboundMessage, InboxEntry } from "./inbox/inbox.ts";
export type { ChatRequest } from "./inbox/turn-requests.ts";
export type { TurnBody } from "./model.ts";
export type { Deliver, Delivery, DeliveryOutcome } from "./outbox/outbox.ts";
export type { HistoryMessage } from "./sessions/history.ts";
export { newSessionId, type Session } from "./sessions/sessions.ts";
export { acceptsEventStream, eventStream, parseEvents } from "./sse.ts";
export type { FetchFile } from "./turn/attachments.ts";
export { COMMANDS, type OwnerCommand, type OwnerCommandHandler, parseCommand } from "./turn/commands.ts";
export type { Reply } from "./turn/settlement.ts";
export type { Observer, ToolEvent } from "./turn/tool-loop.ts";
export type { ReplyPreview } from "./turn/turn-runner.ts";

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
  const agentService = host.use(agents);
  const runtimeCore = createRuntime({
    ...kernel,
    agents: agentService,
    ai: host.use(ai),
    skills: host.use(skills),
    agentStats: host.use(agentStats),
  });
  const { turnRequests, sessions } = runtimeCore;

  /** One turn for whoever sent this request: the reply, or its events where the request asks for them. */
  function handleTurnRequest(request: Request, agent: Agent, userId: string, body: TurnBody) {
    const chatRequest = { agent, ...body, sender: { id: userId, name: "" }, byOwner: agent.userId === userId };
    if (!acceptsEventStream(request)) return turnRequests.chat({ ...chatRequest, signal: request.signal });
    return eventStream(request.signal, (observer, signal) => turnRequests.chat({ ...chatRequest, observer, signal }));
  }

  const backend = new Elysia({ name: "runtime.backend" })
    .use(agentService.guards)
    .post(
      "/api/agents/:id/turns",
      ({ agent, caller, body, request }) => handleTurnRequest(request, agent, caller.userId, body),
      {
        agentCall: { action: "agent.chat", scope: "chat" },
        body: turnBody,
        response: { 200: chatReply },
        detail: {
          tags: ["Agents"],
          summary: "Send a message to an agent and wait for the reply",
          ...documentErrors(TURN_ERRORS),
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

  const messageList = messageRoutes({ agents: agentService, messageList: createMessageList(kernel) });

  return {
    web: messageList.web,
    backend: new Elysia({ name: "runtime.all" }).use(backend).use(messageList.backend),
    service: {
      chat: turnRequests.chat,
      handleTurnRequest,
      /** Messages from a platform: stored when it resolves. */
      accept: turnRequests.accept,
      sessions: {
        list: sessions.list,
        lastActivity: sessions.lastActivity,
        find: sessions.find,
        findActive: sessions.findActive,
        messages: sessions.messages,
      },
      listSentMessages: runtimeCore.listSentMessages,
      /** Whether what is known of replies' way to their platform is written; waits for tries under way, but not for long. */
      areDeliveriesRecorded: runtimeCore.areDeliveriesRecorded,
      /** Replies that did not arrive after they were sent: each is noted once. */
      recordDeliveryFailures: runtimeCore.recordDeliveryFailures,
      /** The model that answers for an agent now. */
      chooseModel: runtimeCore.chooseModel,
      /** Takes up what waits for an agent that is up again. */
      resume: runtimeCore.resume,
      whileQuiesced: runtimeCore.whileQuiesced,
      holdTurns: runtimeCore.holdTurns,
      beforeRecovery: runtimeCore.beforeRecovery,
      backupRows: runtimeCore.backupRows,
      deliverVia: runtimeCore.deliverVia,
      obeyVia: runtimeCore.obeyVia,
      fetchFileVia: runtimeCore.fetchFileVia,
      previewVia: turnRequests.previewVia,
      isCommand: (text: string) => parseCommand(text) !== undefined,
      savePreview: runtimeCore.savePreview,
    },
    start: runtimeCore.start,
    stop: runtimeCore.stop,
    ready: () => kernel.jobs.ready(),
  };
});

export const noAgentError = () =>
  new AppError(404, "NO_AGENT", "You have no agent yet. Create one with POST /api/agents/provision.");
