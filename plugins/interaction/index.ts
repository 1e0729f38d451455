// Interaction: how people and programs talk to their agent on the web: /api/agent and /api/chat.
import { Elysia } from "elysia";
import { pathPart, unwrapJson } from "../../src/backend.ts";
import { AppError, invalid } from "../../src/errors.ts";
import { STREAM_HEADERS } from "../../src/live-streams.ts";
import { answers, mayAnswer } from "../../src/openapi/told.ts";
import { readLimit, readOffset } from "../../src/paging.ts";
import { plugin } from "../../src/plugin.ts";
import { type Agent, agents } from "../agents/index.ts";
import { auth, type Identity, requireScope } from "../auth/index.ts";
import { channels } from "../channels/index.ts";
import { noAgent, runtime, TURN_ERRORS, type TurnBody, wantsEvents } from "../runtime/index.ts";
import { skills } from "../skills/index.ts";
import { interactionBackend } from "./backend.ts";
import { agentBody, agentQuery, agentView, done, sendBody, sent, sentList, sentQuery } from "./model.ts";
import { createAgentViews } from "./views.ts";

/** What an `Idempotency-Key` can be refused with. */
const REPLAYED = ["IDEMPOTENCY_MISMATCH", "IDEMPOTENCY_IN_PROGRESS"];

/** What an API key may do that is for talking alone. */
const TALKING = new Set(["chat", "create-session"]);

interface Asked {
  identity: Identity;
  request: Request;
}

interface Turn {
  sessionId: string;
  inboxId: string;
  reply: string;
  timestamp: number;
}

export const interaction = plugin("interaction", (host) => {
  const { backend, config, idempotency } = host.kernel;
  const { identities } = host.use(auth);
  const hosted = host.use(agents);
  const talks = host.use(runtime);
  const lines = host.use(channels);
  const abilities = host.use(skills);
  const views = createAgentViews({
    agents: hosted,
    runtime: talks,
    skills: abilities,
    channels: lines,
  });

  async function theirs({ identity }: Asked, agentId: string | undefined): Promise<Agent> {
    const agent = await hosted.current(identity.user.id, agentId);
    if (!agent) throw noAgent();
    return agent;
  }

  /** One turn. Where the backend is in this process there is nobody to be convinced of who asks, and no way to go. */
  async function turn(asked: Asked, agent: Agent, said: TurnBody): Promise<Turn | Response> {
    if (config.role === "all") return talks.converse(asked.request, agent, asked.identity.user.id, said);
    const answer = await ask(asked, "agent.chat", agent, "/turns", said);
    if (answer.ok && wantsEvents(asked.request)) return passOn(answer);
    return (await unwrapJson(answer)) as Turn;
  }

  /** Asks the backend to do one thing with one agent, in the caller's name. */
  function ask(
    { identity, request }: Asked,
    action: string,
    agent: Agent,
    path: string,
    body: object,
    method = "POST",
  ) {
    const headers: Record<string, string> = { "content-type": "application/json" };
    if (wantsEvents(request)) headers.accept = "text/event-stream";
    return backend.fetch(identities.grant(identity, request, action, agent.id), `/api/agents/${agent.id}${path}`, {
      method,
      headers,
      body: JSON.stringify(body),
      signal: request.signal,
    });
  }

  /** Done once per `Idempotency-Key`. */
  async function once({ identity, request }: Asked, work: () => Promise<unknown>): Promise<unknown> {
    if (!request.headers.has("idempotency-key")) return work();
    return idempotency.respond({ request, userId: identity.user.id }, async () => {
      const done = await work();
      return done instanceof Response ? done : Response.json(done);
    });
  }

  async function chat(asked: Asked, agentId: string | undefined, message: string, sessionId: string | undefined) {
    const agent = await theirs(asked, agentId);
    const answer = await turn(asked, agent, { platform: "web", message, ...(sessionId && { sessionId }) });
    if (answer instanceof Response) return answer;
    const { sessionId: session, reply, timestamp } = answer;
    return { sessionId: session, reply, timestamp };
  }

  async function send(asked: Asked, { message, topic, agentId }: typeof sendBody.static) {
    const agent = await theirs(asked, agentId);
    const answer = await turn(asked, agent, { platform: "api", message, ...(topic && { topic }) });
    if (answer instanceof Response) return answer;
    const { inboxId, reply, timestamp } = answer;
    const at = new Date(timestamp).toISOString();
    return { id: inboxId, message, topic: topic ?? null, status: "sent", timestamp: at, reply };
  }

  const actions: Record<string, (asked: Asked, body: typeof agentBody.static) => Promise<unknown>> = {
    chat: (asked, { agentId, message, sessionId }) => {
      if (!message) throw missing("message", "Give a message.");
      return chat(asked, agentId, message, sessionId);
    },
    "create-session": async (asked, { agentId }) =>
      unwrapJson(await ask(asked, "agent.session", await theirs(asked, agentId), "/sessions", {})),
    async "update-skill"(asked, { agentId, skillId, enabled }) {
      if (!skillId) throw missing("skillId", "Name the skill.");
      if (enabled === undefined) throw missing("enabled", "Say true or false.");
      const path = `/skills/${pathPart(skillId)}`;
      return unwrapJson(await ask(asked, "agent.skill", await theirs(asked, agentId), path, { enabled }, "PUT"));
    },
    async "set-credential"(asked, { agentId, key, value }) {
      if (!key) throw missing("key", "Name the credential kind.");
      if (value === undefined) throw missing("value", "Give the credential; an empty text clears it.");
      const path = `/credentials/${pathPart(key)}`;
      return unwrapJson(await ask(asked, "agent.credential", await theirs(asked, agentId), path, { value }, "PUT"));
    },
  };

  const tags = ["Interaction"];
  const web = new Elysia({ name: "interaction.web" })
    .use(identities.guards)
    .get(
      "/api/agent",
      async ({ identity, query: { action, agentId, sessionId } }) =>
        views.show(action, await hosted.current(identity.user.id, agentId), { sessionId }),
      {
        signedIn: "read",
        query: agentQuery,
        detail: {
          tags,
          summary: "Your agent: health, sessions, memory, skills",
          ...mayAnswer({ 400: "INVALID_ACTION", 404: ["AGENT_NOT_FOUND", "SESSION_NOT_FOUND"] }),
          ...answers(agentView, "What the action shows"),
        },
      },
    )
    .post(
      "/api/agent",
      ({ identity, request, body }): Promise<unknown> => {
        const name = body.action || "chat";
        const action = Object.hasOwn(actions, name) ? actions[name] : undefined;
        const asked = { identity, request };
        if (!TALKING.has(name)) requireScope(identity, "write");
        if (action) return once(asked, () => action(asked, body));
        const known = Object.keys(actions).join(", ");
        throw new AppError(400, "INVALID_ACTION", `There is no action "${name}". Actions: ${known}.`);
      },
      {
        signedIn: "chat",
        body: agentBody,
        detail: {
          tags,
          summary: "Talk to your agent, or change what it can do",
          description: `${STREAMED} An API key needs the scope \`chat\`, and \`write\` too for what changes the agent.`,
          ...mayAnswer({
            ...TURN_ERRORS,
            400: [...TURN_ERRORS[400], "INVALID_ACTION", "INVALID_CHANNEL_TOKEN"],
            404: [...TURN_ERRORS[404], "NO_AGENT", "UNKNOWN_SKILL"],
            409: [...TURN_ERRORS[409], ...REPLAYED, "CHANNEL_IN_USE", "OPERATION_IN_PROGRESS"],
            502: ["MODEL_UNAVAILABLE", "CHANNEL_UNREACHABLE", "BACKEND_UNAVAILABLE"],
          }),
          ...answers(done, "What the action did"),
        },
      },
    )
    .post(
      "/api/chat",
      ({ identity, request, body }) => {
        const asked = { identity, request };
        return once(asked, () => send(asked, body));
      },
      {
        signedIn: "chat",
        body: sendBody,
        detail: {
          tags,
          summary: "Send a message; a topic is a session of its own",
          description: STREAMED,
          ...mayAnswer({
            ...TURN_ERRORS,
            404: ["NO_AGENT", "AGENT_NOT_FOUND"],
            409: [...TURN_ERRORS[409], ...REPLAYED],
            502: ["MODEL_UNAVAILABLE", "BACKEND_UNAVAILABLE"],
          }),
          ...answers(sent, "The message and its reply"),
        },
      },
    )
    .get(
      "/api/chat",
      async ({ identity, query: { limit, offset, topic, agentId } }) => {
        const agent = await hosted.current(identity.user.id, agentId);
        const page = { limit: readLimit(limit, 50, 100), offset: readOffset(offset), topic };
        const messages = agent ? (await talks.sent(agent.id, page)).map(sentItem) : [];
        return { messages, count: messages.length };
      },
      {
        signedIn: "read",
        query: sentQuery,
        response: { 200: sentList },
        detail: { tags, summary: "What was sent, newest first", ...mayAnswer({ 404: "AGENT_NOT_FOUND" }) },
      },
    );

  return {
    service: {},
    web,
    backend: interactionBackend({ agents: hosted, skills: abilities, channels: lines }),
  };
});

const STREAMED = "With `accept: text/event-stream` the reply is streamed: delta, tool, reply, error.";

const missing = (path: string, message: string) => invalid({ path, message });

/** The backend's stream as it comes, under our own headers. */
const passOn = (answer: Response) => new Response(answer.body, { headers: STREAM_HEADERS });

type SentMessage = Awaited<ReturnType<ReturnType<typeof runtime.setup>["service"]["sent"]>>[number];

const sentItem = ({ id, message, topic, status, reply, timestamp }: SentMessage) => ({
  id,
  message,
  topic,
  status: status === "done" ? "sent" : status === "pending" ? "pending" : "failed",
  timestamp: new Date(timestamp).toISOString(),
  reply,
});
