// The web routes to which `useChat` is pointed: /api/agents/:id/chat, and below it the chat's stream, its end and its messages.
// /api/chat, its default, is a route of plugins/interaction; here is what lies below it.
import { Elysia } from "elysia";
import { documentErrors } from "../../../src/kernel/http/openapi/route-documentation.ts";
import { eventStreamResponse } from "../../../src/kernel/http/sse-streams.ts";
import type { ServiceOf } from "../../../src/kernel/plugin.ts";
import type { agents as agentsPlugin } from "../../agents/index.ts";
import type { auth, Identity } from "../../auth/index.ts";
import { noAgentError } from "../../runtime/index.ts";
import { createLargeBodyGate } from "../large-bodies.ts";
import { agentOfChat, stoppedChat, uiChat, uiChatBody, uiMessageEvent } from "./model.ts";
import { UI_CHAT_ERRORS } from "./protocol.ts";
import type { UiChats } from "./ui-chats.ts";

interface Deps {
  agents: Pick<ServiceOf<typeof agentsPlugin>, "guards" | "resolveCurrent">;
  identities: Pick<ServiceOf<typeof auth>["identities"], "guards">;
  uiChats: UiChats;
}

interface Call {
  identity: Identity;
  request: Request;
  query: { agentId?: string };
}

const CHAT = "/api/agents/:id/chat";
const tags = ["Interaction"];
const chat = { scope: "chat", kind: "data" } as const;
const read = { scope: "read", kind: "data" } as const;

const streamDetail = (notFound: string[]) => ({
  tags,
  summary: "Go on with the stream of a chat that broke off",
  description:
    "Under `/api/chat` of the agent that `agentId` names, or of the newest one. From the beginning of its latest turn, or the question if it waits for approval. 204 if none runs or waits, and the last one " +
    "ended over ten minutes ago or is in the messages that were loaded since.",
  ...documentErrors({
    404: ["CONVERSATION_NOT_FOUND", "TURN_NOT_FOUND", ...notFound],
    429: "TOO_MANY_STREAMS",
    502: "BACKEND_UNAVAILABLE",
    503: "TURN_BUSY",
  }),
  responses: { 200: eventStreamResponse(uiMessageEvent), 204: { description: "There is nothing to go on with" } },
});
const stopDetail = (notFound: string[]) => ({
  tags,
  summary: "Stop the turn of a chat",
  description:
    "Under `/api/chat` of the agent that `agentId` names, or of the newest one. `stop()` of useChat only leaves the stream: the turn goes on. What was written of its reply is kept.",
  ...documentErrors({ 404: ["CONVERSATION_NOT_FOUND", ...notFound], 502: "BACKEND_UNAVAILABLE" }),
});
const NO_AGENT = ["AGENT_NOT_FOUND", "NO_AGENT"];

export function webRoutes({ agents, identities, uiChats }: Deps) {
  const gate = createLargeBodyGate();

  /** The call for the agent that the query names, or for the account's newest one. */
  async function ofAgent({ identity, request, query }: Call) {
    const agent = await agents.resolveCurrent(identity.user.id, query.agentId);
    if (!agent) throw noAgentError();
    return { agent, identity, request };
  }

  return new Elysia({ name: "client-chats.web" })
    .use(agents.guards)
    .use(identities.guards)
    .get("/api/chat/:chatId/stream", async (call) => uiChats.resume(await ofAgent(call), call.params.chatId), {
      signedIn: "chat",
      query: agentOfChat,
      detail: streamDetail(NO_AGENT),
    })
    .post("/api/chat/:chatId/stop", async (call) => uiChats.stop(await ofAgent(call), call.params.chatId), {
      signedIn: "chat",
      query: agentOfChat,
      response: { 200: stoppedChat },
      detail: stopDetail(NO_AGENT),
    })
    .post(CHAT, (call) => uiChats.answer(call, call.body), {
      ownAgent: { ...chat, large: gate.acquire },
      afterResponse: ({ request }) => gate.release(request),
      body: uiChatBody,
      detail: {
        tags,
        summary: "Talk to an agent with the AI SDK's useChat",
        description:
          "Point `new DefaultChatTransport({ api })` here. The stream is the AI SDK's UI message stream. Of the messages only the " +
          "last one counts: the agent has its own memory. Answers to requests for approval, in the last message, decide them; an " +
          "API key needs the scope `write` for that.",
        operationId: "chatWithAgent",
        ...documentErrors(UI_CHAT_ERRORS),
        responses: { 200: eventStreamResponse(uiMessageEvent) },
      },
    })
    .get(`${CHAT}/:chatId`, (call) => uiChats.messages(call, call.params.chatId), {
      ownAgent: read,
      response: { 200: uiChat },
      detail: {
        tags,
        summary: "The last messages of a chat, as useChat wants them",
        description: "Up to 100 messages, oldest first. A chat that nobody has written in yet has none.",
        ...documentErrors({ 404: "CONVERSATION_NOT_FOUND" }),
      },
    })
    .get(`${CHAT}/:chatId/stream`, (call) => uiChats.resume(call, call.params.chatId), {
      ownAgent: chat,
      detail: streamDetail([]),
    })
    .post(`${CHAT}/:chatId/stop`, (call) => uiChats.stop(call, call.params.chatId), {
      ownAgent: chat,
      response: { 200: stoppedChat },
      detail: stopDetail([]),
    });
}
