// Web routes by which people and programs talk to their agent: /api/agent and /api/chat.
import { Elysia } from "elysia";
import { AppError } from "../../src/kernel/errors.ts";
import { documentReplyOrStream } from "../../src/kernel/http/openapi/event-streams.ts";
import { documentErrors, documentResponse } from "../../src/kernel/http/openapi/route-documentation.ts";
import { cutPage, readLimit, readOffset } from "../../src/kernel/http/paging.ts";
import type { ServiceOf } from "../../src/kernel/plugin.ts";
import type { agents as agentsPlugin } from "../agents/index.ts";
import { type auth, requireScope } from "../auth/index.ts";
import {
  chatEvent,
  chatReply,
  type runtime as runtimePlugin,
  type SentMessage,
  TURN_ERRORS,
} from "../runtime/index.ts";
import type { createAgentActions } from "./agent-actions.ts";
import type { createAgentViews } from "./agent-views.ts";
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

/** Errors of requests with an `Idempotency-Key`. */
const IDEMPOTENCY_ERRORS = ["IDEMPOTENCY_MISMATCH", "IDEMPOTENCY_IN_PROGRESS"];

/** Actions for which an API key needs only the scope `chat`. */
const CHAT_ACTIONS = new Set(["chat", "create-session"]);

const STREAM_DESCRIPTION =
  "With `accept: text/event-stream` the reply is streamed: delta, tool, reply, error. A request with `messages`, as the AI SDK's " +
  "useChat sends them, or with the header `x-vercel-ai-ui-message-stream`, gets a UI message stream.";

interface Deps extends ReturnType<typeof createAgentActions> {
  identities: Pick<ServiceOf<typeof auth>["identities"], "guards">;
  agents: Pick<ServiceOf<typeof agentsPlugin>, "resolveCurrent">;
  runtime: Pick<ServiceOf<typeof runtimePlugin>, "listSentMessages">;
  views: ReturnType<typeof createAgentViews>;
}

export function webRoutes({ identities, agents, runtime, views, actions, withIdempotency, sendMessage }: Deps) {
  const tags = ["Interaction"];
  return new Elysia({ name: "interaction.web" })
    .use(identities.guards)
    .get(
      "/api/agent",
      async ({ identity, query: { action, agentId, sessionId } }) =>
        views.show(action, await agents.resolveCurrent(identity.user.id, agentId), { sessionId }),
      {
        signedIn: "read",
        query: agentQuery,
        detail: {
          tags,
          summary: "Your agent: health, sessions, memory, skills",
          description:
            "`action` chooses the view: `health`, `sessions`, `session` (with `sessionId`), `memory`, `skills` or `credentials`; without it, what there is. Without `agentId`, it is about the newest agent.",
          operationId: "getAgentView",
          ...documentErrors({ 400: "INVALID_ACTION", 404: ["AGENT_NOT_FOUND", "SESSION_NOT_FOUND"] }),
          ...documentResponse(agentView, "The view of the action"),
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
          summary: "Talk to your agent, or change its skills and credentials",
          operationId: "talkToAgent",
          description: `${STREAM_DESCRIPTION} An API key needs the scope \`chat\`, and \`write\` too for actions that change the agent.`,
          ...documentErrors({
            ...TURN_ERRORS,
            400: [...TURN_ERRORS[400], "INVALID_ACTION", "INVALID_CHANNEL_TOKEN"],
            404: [...TURN_ERRORS[404], "NO_AGENT", "UNKNOWN_SKILL"],
            409: [...TURN_ERRORS[409], ...IDEMPOTENCY_ERRORS, "CHANNEL_IN_USE", "OPERATION_IN_PROGRESS"],
            502: ["MODEL_UNAVAILABLE", "CHANNEL_UNREACHABLE", "BACKEND_UNAVAILABLE"],
          }),
          ...documentReplyOrStream(actionResult, chatEvent(chatReply), "The result of the action"),
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
          summary: "Send a message; each topic has a separate session",
          operationId: "sendMessage",
          description:
            `${STREAM_DESCRIPTION} Without \`topic\`, the message continues the newest active conversation of the web, however it began. ` +
            "It takes no files: `POST /api/agents/{id}/conversations` does.",
          ...documentErrors({
            ...TURN_ERRORS,
            404: ["NO_AGENT", "AGENT_NOT_FOUND"],
            409: [...TURN_ERRORS[409], ...IDEMPOTENCY_ERRORS],
            502: ["MODEL_UNAVAILABLE", "BACKEND_UNAVAILABLE"],
          }),
          ...documentReplyOrStream(sentMessage, chatEvent(chatReply), "The message and its reply"),
        },
      },
    )
    .get(
      "/api/chat",
      async ({ identity, query: { offset, cursor, topic, agentId, ...query } }) => {
        const agent = await agents.resolveCurrent(identity.user.id, agentId);
        const limit = readLimit(query.limit, 50, 100);
        const range = { limit: limit + 1, offset: readOffset(offset), cursor, topic };
        if (!agent) return { agentId: null, messages: [], count: 0, nextCursor: null };
        const { page, nextCursor } = cutPage(await runtime.listSentMessages(agent.id, range), limit, ({ id }) => id);
        return {
          agentId: agent.id,
          messages: page.map((sent) => sentItem(agent.id, sent)),
          count: page.length,
          nextCursor,
        };
      },
      {
        signedIn: "read",
        query: sentMessagesQuery,
        response: { 200: sentMessageList },
        detail: {
          tags,
          summary: "List the sent messages, newest first",
          description:
            "Messages that were sent by `POST /api/chat`, with the reply to each; `topic` chooses those of one topic.",
          operationId: "listSentMessages",
          ...documentErrors({ 404: "AGENT_NOT_FOUND" }),
        },
      },
    );
}

const sentItem = (agentId: string, { id, message, topic, status, reply, timestamp }: SentMessage) => ({
  id,
  agentId,
  message,
  topic,
  status: status === "done" ? "sent" : status === "pending" ? "pending" : "failed",
  timestamp: new Date(timestamp).toISOString(),
  reply,
});
