// Web routes that read conversations and turns, and send and cancel by way of the backend.
import { Elysia } from "elysia";
import { invalidInput } from "../../../src/kernel/errors.ts";
import { type ForwardOptions, forwardToBackend } from "../../../src/kernel/http/backend/forward-to-backend.ts";
import { documentErrors } from "../../../src/kernel/http/openapi/route-documentation.ts";
import { readLimit, readOffset } from "../../../src/kernel/http/paging.ts";
import { eventStreamResponse } from "../../../src/kernel/http/sse-streams.ts";
import type { Kernel, ServiceOf } from "../../../src/kernel/plugin.ts";
import type { agents as agentsPlugin } from "../../agents/index.ts";
import type { auth, Identity } from "../../auth/index.ts";
import { conversationNotFound, turnNotFound } from "../live/detached-turns.ts";
import { turnEvent } from "../live/event-schemas.ts";
import { IDEMPOTENCY_KEY } from "../live/keyed-messages.ts";
import { CANCEL_DETAIL, EVENTS_DETAIL, SEND_DETAIL } from "./backend-routes.ts";
import type { ConversationList } from "./conversation-list.ts";
import type { createConversationMessages } from "./conversation-messages.ts";
import {
  cancelledTurn,
  conversationItem,
  conversationList,
  conversationMessages,
  conversationQuery,
  detachedMessageBody,
  detachedTurn,
  messagesOfConversationQuery,
  turnList as turnListSchema,
  turnQuery,
  turnWithSteps,
} from "./model.ts";
import type { OwnerStreams } from "./owner-streams.ts";
import type { TurnList } from "./turn-list.ts";

interface Deps extends Pick<Kernel, "backend" | "idempotency"> {
  identities: Pick<ServiceOf<typeof auth>["identities"], "createGrant">;
  agents: Pick<ServiceOf<typeof agentsPlugin>, "guards">;
  conversations: ConversationList;
  messages: ReturnType<typeof createConversationMessages>;
  turnList: TurnList;
  ownerStreams: OwnerStreams;
}

interface Call {
  agent: { id: string };
  identity: Identity;
  request: Request;
}

const CONVERSATIONS = "/api/agents/:id/conversations";
const TURNS = "/api/agents/:id/turns";
const tags = ["Conversations"];
const ownAgent = (scope: "read" | "chat") => ({ scope, kind: "data" as const });

export function webRoutes(deps: Deps) {
  const { backend, idempotency, identities, agents, conversations, messages, turnList, ownerStreams } = deps;

  const forward = ({ agent, identity, request }: Call, path: string, options?: ForwardOptions) =>
    forwardToBackend(
      backend,
      identities.createGrant(identity, request, "agent.chat", agent.id),
      request,
      `/api/agents/${agent.id}${path}`,
      options,
    );

  /** Forwards a message; a repeated `Idempotency-Key` gets the first answer. */
  const send = (call: Call, path: string) =>
    idempotency.respond({ request: call.request, userId: call.identity.user.id }, () =>
      forward(call, path, { requestHeaders: [IDEMPOTENCY_KEY] }),
    );

  async function requireConversation(agentId: string, id: string) {
    const found = await conversations.find(agentId, id);
    if (!found) throw conversationNotFound();
    return found;
  }

  return new Elysia({ name: "runtime.conversations" })
    .use(agents.guards)
    .get(
      CONVERSATIONS,
      async ({ agent, query: { limit, cursor, platform, query } }) => {
        const found = await conversations.page(agent.id, { limit: readLimit(limit, 50, 100), cursor, platform, query });
        return { ...found, count: found.conversations.length };
      },
      {
        ownAgent: ownAgent("read"),
        query: conversationQuery,
        response: { 200: conversationList },
        detail: {
          tags,
          summary: "An agent's conversations of all platforms, the most recently active first",
          description: "A search looks at up to 500 conversations and 20,000 messages for one page.",
        },
      },
    )
    .get(
      `${CONVERSATIONS}/:conversationId`,
      ({ agent, params }) => requireConversation(agent.id, params.conversationId),
      {
        ownAgent: ownAgent("read"),
        response: { 200: conversationItem },
        detail: {
          tags,
          summary: "One conversation",
          description:
            "Where it takes place, who takes part, how many messages it has, and whether a message waits for its reply.",
          ...documentErrors({ 404: "CONVERSATION_NOT_FOUND" }),
        },
      },
    )
    .get(
      `${CONVERSATIONS}/:conversationId/messages`,
      async ({ agent, params: { conversationId }, query }) => {
        await requireConversation(agent.id, conversationId);
        const page = { before: readBefore(query.before), limit: readLimit(query.limit, 50, 100) };
        const found = await messages(agent, conversationId, page);
        return { ...found, count: found.messages.length };
      },
      {
        ownAgent: ownAgent("read"),
        query: messagesOfConversationQuery,
        response: { 200: conversationMessages },
        detail: {
          tags,
          summary: "The messages of a conversation, newest first",
          description:
            "The first page begins with the messages that wait. A page of long texts may be shorter than `limit`.",
          ...documentErrors({ 404: "CONVERSATION_NOT_FOUND" }),
        },
      },
    )
    .post(CONVERSATIONS, (call) => send(call, "/conversations"), {
      ownAgent: ownAgent("chat"),
      body: detachedMessageBody,
      response: { 202: detachedTurn },
      detail: { ...SEND_DETAIL.begin, "x-errors": withWebErrors(SEND_DETAIL.begin["x-errors"]) },
    })
    .post(
      `${CONVERSATIONS}/:conversationId/messages`,
      (call) => send(call, `/conversations/${encodeURIComponent(call.params.conversationId)}/messages`),
      {
        ownAgent: ownAgent("chat"),
        body: detachedMessageBody,
        response: { 202: detachedTurn },
        detail: { ...SEND_DETAIL.go, "x-errors": withWebErrors(SEND_DETAIL.go["x-errors"]) },
      },
    )
    .get(
      TURNS,
      async ({ agent, query: { limit, offset, cursor, status } }) => {
        const page = { limit: readLimit(limit, 50, 100), offset: readOffset(offset), cursor, status };
        const found = await turnList.page(agent, page);
        return { ...found, count: found.turns.length };
      },
      {
        ownAgent: ownAgent("read"),
        query: turnQuery,
        response: { 200: turnListSchema },
        detail: {
          tags,
          summary: "An agent's turns, newest first",
          description:
            "A page with a `status` looks at up to 2,000 turns, and may be empty though there is a next one.",
        },
      },
    )
    .get(
      `${TURNS}/:turnId`,
      async ({ agent, params }) => {
        const found = await turnList.find(agent, params.turnId);
        if (!found) throw turnNotFound();
        return found;
      },
      {
        ownAgent: ownAgent("read"),
        response: { 200: turnWithSteps },
        detail: {
          tags,
          summary: "A turn with its steps: calls of the model and of tools",
          description: "What happened between a message and its reply: each call with input, output, tokens and cost.",
          ...documentErrors({ 404: "TURN_NOT_FOUND" }),
        },
      },
    )
    .get(
      `${TURNS}/:turnId/events`,
      ({ agent, identity, request, params: { turnId } }) =>
        ownerStreams({ agent, identity, request, turnId, scope: "read" }),
      { ownAgent: ownAgent("read"), detail: { ...EVENTS_DETAIL, responses: { 200: eventStreamResponse(turnEvent) } } },
    )
    .post(
      `${TURNS}/:turnId/cancel`,
      (call) => forward(call, `/turns/${encodeURIComponent(call.params.turnId)}/cancel`),
      {
        ownAgent: ownAgent("chat"),
        response: { 202: cancelledTurn },
        detail: { ...CANCEL_DETAIL, "x-errors": { ...CANCEL_DETAIL["x-errors"], 502: ["BACKEND_UNAVAILABLE"] } },
      },
    );
}

const withWebErrors = (errors: Record<string, string[]>) => ({
  ...errors,
  409: [...(errors[409] ?? []), "IDEMPOTENCY_MISMATCH", "IDEMPOTENCY_IN_PROGRESS"],
  502: ["BACKEND_UNAVAILABLE"],
});

function readBefore(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text);
  throw invalidInput({ path: "before", message: "Give the `before` of the page before, or leave it out." });
}
