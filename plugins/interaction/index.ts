// Interaction: how people and programs talk to their agent on the web: /api/agent and /api/chat.
import { Elysia } from "elysia";
import { AppError, invalidInput } from "../../src/kernel/errors.ts";
import { encodePathSegment, unwrapJson } from "../../src/kernel/http/backend-transport.ts";
import { documentErrors, documentResponse } from "../../src/kernel/http/openapi/route-documentation.ts";
import { readLimit, readOffset } from "../../src/kernel/http/paging.ts";
import { EVENT_STREAM_HEADERS } from "../../src/kernel/http/sse-streams.ts";
import { plugin } from "../../src/kernel/plugin.ts";
import { type Agent, agents } from "../agents/index.ts";
import { auth, type Identity, requireScope } from "../auth/index.ts";
import { channels } from "../channels/index.ts";
import { acceptsEventStream, noAgentError, runtime, TURN_ERRORS, type TurnBody } from "../runtime/index.ts";
import { skills } from "../skills/index.ts";
import { createAgentViews } from "./agent-views.ts";
import { backendRoutes } from "./backend-routes.ts";
import {
  actionResult,
  agentBody,
  agentQuery,
  agentView,
  sendMessageBody,
  sentMessage,
  sentMessageList,
  sentMessagesQuery,
} from "./model.ts";

/** What an `Idempotency-Key` can be refused with. */
const IDEMPOTENCY_ERRORS = ["IDEMPOTENCY_MISMATCH", "IDEMPOTENCY_IN_PROGRESS"];

/** What an API key may do that is for talking alone. */
const CHAT_ACTIONS = new Set(["chat", "create-session"]);

interface CallContext {
  identity: Identity;
  request: Request;
}

interface TurnReply {
  sessionId: string;
  inboxId: string;
  reply: string;
  timestamp: number;
}

export const interaction = plugin("interaction", (host) => {
  const { backend, config, idempotency } = host.kernel;
  const { identities } = host.use(auth);
  const agentService = host.use(agents);
  const runtimeService = host.use(runtime);
  const channelService = host.use(channels);
  const skillService = host.use(skills);
  const views = createAgentViews({
    agents: agentService,
    runtime: runtimeService,
    skills: skillService,
    channels: channelService,
  });

  async function requireAgent({ identity }: CallContext, agentId: string | undefined): Promise<Agent> {
    const agent = await agentService.resolveCurrent(identity.user.id, agentId);
    if (!agent) throw noAgentError();
    return agent;
  }

  /** One turn. Where the backend is in this process there is nobody to be convinced of who asks, and no way to go. */
  async function runTurn(call: CallContext, agent: Agent, body: TurnBody): Promise<TurnReply | Response> {
    if (config.role === "all")
      return runtimeService.handleTurnRequest(call.request, agent, call.identity.user.id, body);
    const result = await callBackend(call, "agent.chat", agent, "/turns", body);
    if (result.ok && acceptsEventStream(call.request)) return forwardStream(result);
    return (await unwrapJson(result)) as TurnReply;
  }

  /** Asks the backend to do one thing with one agent, in the caller's name. */
  function callBackend(
    { identity, request }: CallContext,
    action: string,
    agent: Agent,
    path: string,
    body: object,
    method = "POST",
  ) {
    const headers: Record<string, string> = { "content-type": "application/json" };
    if (acceptsEventStream(request)) headers.accept = "text/event-stream";
    return backend.fetch(
      identities.createGrant(identity, request, action, agent.id),
      `/api/agents/${agent.id}${path}`,
      {
        method,
        headers,
        body: JSON.stringify(body),
        signal: request.signal,
      },
    );
  }

  /** Done once per `Idempotency-Key`. */
  async function withIdempotency({ identity, request }: CallContext, work: () => Promise<unknown>): Promise<unknown> {
    if (!request.headers.has("idempotency-key")) return work();
    return idempotency.respond({ request, userId: identity.user.id }, async () => {
      const done = await work();
      return done instanceof Response ? done : Response.json(done);
    });
  }

  async function chat(call: CallContext, agentId: string | undefined, message: string, sessionId: string | undefined) {
    const agent = await requireAgent(call, agentId);
    const result = await runTurn(call, agent, { platform: "web", message, ...(sessionId && { sessionId }) });
    if (result instanceof Response) return result;
    const { sessionId: session, reply, timestamp } = result;
    return { sessionId: session, reply, timestamp };
  }

  async function sendMessage(call: CallContext, { message, topic, agentId }: typeof sendMessageBody.static) {
    const agent = await requireAgent(call, agentId);
    const result = await runTurn(call, agent, { platform: "api", message, ...(topic && { topic }) });
    if (result instanceof Response) return result;
    const { inboxId, reply, timestamp } = result;
    const at = new Date(timestamp).toISOString();
    return { id: inboxId, message, topic: topic ?? null, status: "sent", timestamp: at, reply };
  }

  const actions: Record<string, (call: CallContext, body: typeof agentBody.static) => Promise<unknown>> = {
    chat: (call, { agentId, message, sessionId }) => {
      if (!message) throw missingField("message", "Give a message.");
      return chat(call, agentId, message, sessionId);
    },
    "create-session": async (call, { agentId }) =>
      unwrapJson(await callBackend(call, "agent.session", await requireAgent(call, agentId), "/sessions", {})),
    async "update-skill"(call, { agentId, skillId, enabled }) {
      if (!skillId) throw missingField("skillId", "Name the skill.");
      if (enabled === undefined) throw missingField("enabled", "Say true or false.");
      const path = `/skills/${encodePathSegment(skillId)}`;
      return unwrapJson(
        await callBackend(call, "agent.skill", await requireAgent(call, agentId), path, { enabled }, "PUT"),
      );
    },
    async "set-credential"(call, { agentId, key, value }) {
      if (!key) throw missingField("key", "Name the credential kind.");
      if (value === undefined) throw missingField("value", "Give the credential; an empty text clears it.");
      const path = `/credentials/${encodePathSegment(key)}`;
      return unwrapJson(
        await callBackend(call, "agent.credential", await requireAgent(call, agentId), path, { value }, "PUT"),
      );
    },
  };

  const tags = ["Interaction"];
  const web = new Elysia({ name: "interaction.web" })
    .use(identities.guards)
    .get(
      "/api/agent",
      async ({ identity, query: { action, agentId, sessionId } }) =>
        views.show(action, await agentService.resolveCurrent(identity.user.id, agentId), { sessionId }),
      {
        signedIn: "read",
        query: agentQuery,
        detail: {
          tags,
          summary: "Your agent: health, sessions, memory, skills",
          ...documentErrors({ 400: "INVALID_ACTION", 404: ["AGENT_NOT_FOUND", "SESSION_NOT_FOUND"] }),
          ...documentResponse(agentView, "What the action shows"),
        },
      },
    )
    .post(
      "/api/agent",
      ({ identity, request, body }): Promise<unknown> => {
        const name = body.action || "chat";
        const action = Object.hasOwn(actions, name) ? actions[name] : undefined;
        const call = { identity, request };
        if (!CHAT_ACTIONS.has(name)) requireScope(identity, "write");
        if (action) return withIdempotency(call, () => action(call, body));
        const known = Object.keys(actions).join(", ");
        throw new AppError(400, "INVALID_ACTION", `There is no action "${name}". Actions: ${known}.`);
      },
      {
        signedIn: "chat",
        body: agentBody,
        detail: {
          tags,
          summary: "Talk to your agent, or change what it can do",
          description: `${STREAM_DESCRIPTION} An API key needs the scope \`chat\`, and \`write\` too for what changes the agent.`,
          ...documentErrors({
            ...TURN_ERRORS,
            400: [...TURN_ERRORS[400], "INVALID_ACTION", "INVALID_CHANNEL_TOKEN"],
            404: [...TURN_ERRORS[404], "NO_AGENT", "UNKNOWN_SKILL"],
            409: [...TURN_ERRORS[409], ...IDEMPOTENCY_ERRORS, "CHANNEL_IN_USE", "OPERATION_IN_PROGRESS"],
            502: ["MODEL_UNAVAILABLE", "CHANNEL_UNREACHABLE", "BACKEND_UNAVAILABLE"],
          }),
          ...documentResponse(actionResult, "What the action did"),
        },
      },
    )
    .post(
      "/api/chat",
      ({ identity, request, body }) => {
        const call = { identity, request };
        return withIdempotency(call, () => sendMessage(call, body));
      },
      {
        signedIn: "chat",
        body: sendMessageBody,
        detail: {
          tags,
          summary: "Send a message; a topic is a session of its own",
          description: STREAM_DESCRIPTION,
          ...documentErrors({
            ...TURN_ERRORS,
            404: ["NO_AGENT", "AGENT_NOT_FOUND"],
            409: [...TURN_ERRORS[409], ...IDEMPOTENCY_ERRORS],
            502: ["MODEL_UNAVAILABLE", "BACKEND_UNAVAILABLE"],
          }),
          ...documentResponse(sentMessage, "The message and its reply"),
        },
      },
    )
    .get(
      "/api/chat",
      async ({ identity, query: { limit, offset, topic, agentId } }) => {
        const agent = await agentService.resolveCurrent(identity.user.id, agentId);
        const page = { limit: readLimit(limit, 50, 100), offset: readOffset(offset), topic };
        const messages = agent ? (await runtimeService.listSentMessages(agent.id, page)).map(sentItem) : [];
        return { messages, count: messages.length };
      },
      {
        signedIn: "read",
        query: sentMessagesQuery,
        response: { 200: sentMessageList },
        detail: { tags, summary: "What was sent, newest first", ...documentErrors({ 404: "AGENT_NOT_FOUND" }) },
      },
    );

  return {
    service: {},
    web,
    backend: backendRoutes({ agents: agentService, skills: skillService, channels: channelService }),
  };
});

const STREAM_DESCRIPTION = "With `accept: text/event-stream` the reply is streamed: delta, tool, reply, error.";

const missingField = (path: string, message: string) => invalidInput({ path, message });

/** The backend's stream as it comes, under our own headers. */
const forwardStream = (result: Response) => new Response(result.body, { headers: EVENT_STREAM_HEADERS });

type SentMessage = Awaited<ReturnType<ReturnType<typeof runtime.setup>["service"]["listSentMessages"]>>[number];

const sentItem = ({ id, message, topic, status, reply, timestamp }: SentMessage) => ({
  id,
  message,
  topic,
  status: status === "done" ? "sent" : status === "pending" ? "pending" : "failed",
  timestamp: new Date(timestamp).toISOString(),
  reply,
});
