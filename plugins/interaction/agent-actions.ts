// Performs the actions of `POST /api/agent` and `POST /api/chat` by calling the backend for the caller's agent.

import { invalidInput } from "../../src/kernel/errors.ts";
import { encodePathSegment, unwrapJson } from "../../src/kernel/http/backend/backend-response.ts";
import { acceptsEventStream, EVENT_STREAM_HEADERS } from "../../src/kernel/http/sse-streams.ts";
import type { Kernel, ServiceOf } from "../../src/kernel/plugin.ts";
import type { Agent, agents } from "../agents/index.ts";
import type { auth, Identity } from "../auth/index.ts";
import { asksForUiMessages, type clientChats, topicConversation, type UiChatBody } from "../client-chats/index.ts";
import { IDEMPOTENCY_KEY, noAgentError, type Reply, type runtime, type TurnBody } from "../runtime/index.ts";
import { type agentBody, MESSAGE_MISSING, type sendMessageBody } from "./model.ts";

export interface CallContext {
  identity: Identity;
  request: Request;
}

interface Deps extends Pick<Kernel, "backend" | "config" | "idempotency"> {
  identities: Pick<ServiceOf<typeof auth>["identities"], "createGrant">;
  agents: Pick<ServiceOf<typeof agents>, "resolveCurrent">;
  runtime: Pick<ServiceOf<typeof runtime>, "handleTurnRequest" | "sessions">;
  clientChats: Pick<ServiceOf<typeof clientChats>, "answerUiChat">;
}

export function createAgentActions({ backend, config, idempotency, identities, agents, runtime, clientChats }: Deps) {
  async function requireAgent({ identity }: CallContext, agentId: string | undefined): Promise<Agent> {
    const agent = await agents.resolveCurrent(identity.user.id, agentId);
    if (!agent) throw noAgentError();
    return agent;
  }

  /** Runs one turn; directly if the backend is in this process, which saves the signed request to it. */
  async function runTurn(call: CallContext, agent: Agent, body: TurnBody): Promise<Reply | Response> {
    if (config.role === "all") return runtime.handleTurnRequest(call.request, agent, call.identity.user.id, body);
    const result = await callBackend(call, "agent.chat", agent, "/turns", body, "POST");
    if (result.ok && acceptsEventStream(call.request)) return forwardStream(result);
    return (await unwrapJson(result)) as Reply;
  }

  /** Calls a backend route of one agent with a grant for one action of the caller. */
  function callBackend(
    { identity, request }: CallContext,
    action: string,
    agent: Agent,
    path: string,
    body: object,
    method: string,
  ) {
    const headers: Record<string, string> = { "content-type": "application/json" };
    if (acceptsEventStream(request)) headers.accept = "text/event-stream";
    const key = request.headers.get(IDEMPOTENCY_KEY);
    if (key !== null) headers[IDEMPOTENCY_KEY] = key;
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

  /** Does the work once for each `Idempotency-Key`, and repeats its response afterwards. */
  async function withIdempotency({ identity, request }: CallContext, work: () => Promise<unknown>): Promise<unknown> {
    if (!request.headers.has("idempotency-key")) return work();
    return idempotency.respond({ request, userId: identity.user.id }, async () => {
      const result = await work();
      return result instanceof Response ? result : Response.json(result);
    });
  }

  /** Answers with a UI message stream, in the conversation that the chat's id names, or else in this one. */
  const answerUiChat = (call: CallContext, agent: Agent, body: UiChatBody, conversation: string | undefined) =>
    clientChats.answerUiChat({ ...call, agent }, conversation === undefined ? body : { id: conversation, ...body });

  async function chatInUi(call: CallContext, { agentId, sessionId, ...body }: typeof agentBody.static) {
    const agent = await requireAgent(call, agentId);
    return answerUiChat(call, agent, body, sessionId ?? (await runtime.sessions.findActive(agent.id))?.id);
  }

  async function chat(call: CallContext, agentId: string | undefined, message: string, sessionId: string | undefined) {
    const agent = await requireAgent(call, agentId);
    const result = await runTurn(call, agent, { platform: "web", message, ...(sessionId && { sessionId }) });
    if (result instanceof Response) return result;
    const { sessionId: session, reply, timestamp, files } = result;
    return { agentId: agent.id, sessionId: session, reply, timestamp, ...(files && { files }) };
  }

  async function sendMessage(call: CallContext, { topic, agentId, ...body }: typeof sendMessageBody.static) {
    const { message } = body;
    if (asksForUiMessages(call.request, body)) {
      return answerUiChat(call, await requireAgent(call, agentId), body, topic && topicConversation(topic));
    }
    if (message === undefined) throw missingField("message", MESSAGE_MISSING);
    const agent = await requireAgent(call, agentId);
    const result = await runTurn(call, agent, { platform: "api", message, ...(topic && { topic }) });
    if (result instanceof Response) return result;
    const { inboxId, reply, timestamp, files } = result;
    const sent = { id: inboxId, agentId: agent.id, message, topic: topic ?? null, status: "sent" };
    return { ...sent, timestamp: new Date(timestamp).toISOString(), reply, ...(files && { files }) };
  }

  /** Has the backend change the agent, and adds to its response which agent that was. */
  async function change(
    call: CallContext,
    agentId: string | undefined,
    action: string,
    method: string,
    path: string,
    body: object,
  ): Promise<object> {
    const agent = await requireAgent(call, agentId);
    const changed = await unwrapJson(await callBackend(call, action, agent, path, body, method));
    return { agentId: agent.id, ...(changed as object) };
  }

  const actions: Record<string, (call: CallContext, body: typeof agentBody.static) => Promise<unknown>> = {
    chat: (call, body) => {
      const { agentId, message, sessionId } = body;
      if (asksForUiMessages(call.request, body)) return chatInUi(call, body);
      if (!message) throw missingField("message", "Give a message.");
      return chat(call, agentId, message, sessionId);
    },
    async "create-session"(call, { agentId }) {
      return change(call, agentId, "agent.session", "POST", "/sessions", {});
    },
    async "update-skill"(call, { agentId, skillId, enabled }) {
      if (!skillId) throw missingField("skillId", "Give the id of the skill.");
      if (enabled === undefined) throw missingField("enabled", "Give true or false.");
      return change(call, agentId, "agent.skill", "PUT", `/skills/${encodePathSegment(skillId)}`, { enabled });
    },
    async "set-credential"(call, { agentId, key, value }) {
      if (!key) throw missingField("key", "Give the kind of the credential.");
      if (value === undefined) throw missingField("value", "Give the credential; an empty text clears it.");
      return change(call, agentId, "agent.credential", "PUT", `/credentials/${encodePathSegment(key)}`, { value });
    },
  };

  return { actions, withIdempotency, sendMessage };
}

const missingField = (path: string, message: string) => invalidInput({ path, message });

/** The backend's stream, unchanged, under our own headers. */
const forwardStream = (result: Response) => new Response(result.body, { headers: EVENT_STREAM_HEADERS });
