// The runtime: messages come in from every entrance, run through lanes and turns, and leave through the outbox.
import { Elysia } from "elysia";
import { AppError } from "../../src/errors.ts";
import { plugin } from "../../src/plugin.ts";
import { type Agent, agents } from "../agents/index.ts";
import { ai, type TurnModel } from "../ai/index.ts";
import { skills } from "../skills/index.ts";
import { commandIn } from "./commands.ts";
import { createConversations } from "./conversations.ts";
import { createEngine } from "./engine.ts";
import { type Arrival, createInbox, type InboxEntry } from "./inbox.ts";
import { createLanes } from "./lanes.ts";
import { chatReply, newSession, turnBody } from "./model.ts";
import { createOutbox } from "./outbox.ts";
import { createSessions } from "./sessions.ts";
import { eventStream, wantsEvents } from "./sse.ts";

export { COMMANDS, commandIn } from "./commands.ts";
export type { ChatRequest } from "./conversations.ts";
export type { Reply } from "./engine.ts";
export type { Arrival, InboxEntry } from "./inbox.ts";
export type { Deliver, Delivery, Outcome } from "./outbox.ts";
export type { Said, Session } from "./sessions.ts";
export { parseEvents, wantsEvents } from "./sse.ts";
export type { Observer, ToolEvent } from "./turn.ts";

export const runtime = plugin("runtime", (host) => {
  const { kernel } = host;
  const { database, log, metrics, jobs } = kernel;
  const hosted = host.use(agents);
  const models = host.use(ai);
  const abilities = host.use(skills);

  const sessions = createSessions(kernel);
  const inbox = createInbox(kernel, sessions);
  const report = (agentId: string, level: "warning" | "error", message: string) =>
    hosted.log(agentId, level, message, "outbox");
  const outbox = createOutbox({ database, log, report });
  const conversations = createConversations({ inbox, sessions });
  async function chooseModel({ id, model: choice }: Agent): Promise<TurnModel> {
    const [settings, keys] = await Promise.all([hosted.settings(id), hosted.credentials.providerKeys(id)]);
    return models.resolveTurnModel({ choice, configModel: settings.model, keys });
  }
  const run = createEngine({
    ...kernel,
    ...conversations.forEngine,
    agents: hosted,
    ai: models,
    skills: abilities,
    chooseModel,
    inbox,
    sessions,
    outbox,
  });
  const lanes = createLanes<InboxEntry>({
    run: (entry) => run(entry).finally(() => conversations.ended(entry)),
    load: inbox.pending,
    failed: (error) => log.error("the inbox could not be read", { error }),
  });
  conversations.attach(lanes.push);

  abilities.onReminder(({ agentId, sessionId, platform, peer, byOwner, text, id }) =>
    inbox.accepting(
      {
        agentId,
        platform: platform as Arrival["platform"],
        platformMessageId: `reminder:${id}`,
        to: platform.startsWith("channel_") ? { peer } : { sessionId },
        sender: { id: "reminder", name: "reminder" },
        byOwner,
        kind: "reminder",
        content: text,
      },
      lanes.push,
    ),
  );
  metrics.gauge("berth_inbox_held", "Messages held in memory, waiting or running.", lanes.size);

  hosted.onDelete((agentId) => lanes.drop(agentId));
  /** What waits for an agent is taken up when it is up again. */
  const resume = async (agentId: string) => {
    const waiting = await inbox.pending(agentId, "", 1);
    if (waiting.length === 0) return;
    lanes.drop(agentId);
    for (const entry of await inbox.pending(agentId, "", 256)) lanes.push(entry);
  };

  const backend = new Elysia({ name: "runtime.backend" })
    .use(hosted.guards)
    .post(
      "/api/agents/:id/turns",
      ({ agent, caller, body, request }) => {
        const byOwner = agent.userId === caller.userId;
        const asked = { agent, ...body, sender: { id: caller.userId, name: "" }, byOwner };
        if (!wantsEvents(request)) return conversations.chat({ ...asked, signal: request.signal });
        return eventStream(request.signal, (observer, signal) => conversations.chat({ ...asked, observer, signal }));
      },
      {
        agentCall: "agent.chat",
        body: turnBody,
        response: { 200: chatReply },
        detail: {
          tags: ["Agents"],
          summary: "Send a message to an agent and wait for the reply",
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
        agentCall: "agent.session",
        response: { 201: newSession },
        detail: { tags: ["Agents"], summary: "Begin a new session with an agent" },
      },
    );

  return {
    backend,
    service: {
      chat: conversations.chat,
      /** Messages from a platform: stored when it resolves. */
      accept: conversations.accept,
      sessions: {
        list: sessions.list,
        find: sessions.find,
        active: sessions.active,
        messages: sessions.messages,
      },
      sent: inbox.sent,
      /** The model that answers for an agent now. */
      chooseModel,
      resume,
      deliverVia: outbox.deliverVia,
      previewVia: conversations.previewVia,
      isCommand: (text: string) => commandIn(text) !== undefined,
      previewed: (entry: InboxEntry, previewId: string) => database.write([inbox.previewed(entry, previewId)]),
    },
    async start() {
      await outbox.start();
      for (const agentId of await inbox.waitingAgents()) await resume(agentId);
    },
    async stop() {
      conversations.stopSoon(kernel.config.shutdownGraceMs);
      await lanes.drain();
      await outbox.stop();
    },
    ready: () => jobs.ready(),
  };
});

export const noAgent = () =>
  new AppError(404, "NO_AGENT", "You have no agent yet. Create one with POST /api/agents/provision.");
