// Backend routes that accept messages whose turns run by themselves, stream those turns, and cancel them.
import { Elysia } from "elysia";
import { documentErrors } from "../../../src/kernel/http/openapi/route-documentation.ts";
import { eventStreamResponse } from "../../../src/kernel/http/sse-streams.ts";
import type { ServiceOf } from "../../../src/kernel/plugin.ts";
import { agentNotFound, type agents as agentsPlugin } from "../../agents/index.ts";
import type { DetachedTurns } from "../live/detached-turns.ts";
import { turnEvent } from "../live/event-schemas.ts";
import { IDEMPOTENCY_KEY } from "../live/keyed-messages.ts";
import type { TurnStream } from "../live/turn-stream.ts";
import { cancelledTurn, detachedMessageBody, detachedTurn } from "./model.ts";

interface Deps {
  agents: Pick<ServiceOf<typeof agentsPlugin>, "guards" | "find">;
  detachedTurns: DetachedTurns;
  turnStream: Pick<TurnStream, "follow">;
}

const CONVERSATIONS = "/api/agents/:id/conversations";
const TURNS = "/api/agents/:id/turns";
const tags = ["Conversations"];
const DETACHED =
  "Answers when the message is stored. The turn goes on whether or not anybody listens; " +
  "`GET /api/agents/:id/turns/:turnId/events` shows how it goes.";
const SEND_ERRORS = {
  409: ["AGENT_STOPPED", "AGENT_FROZEN"],
  429: "TOO_MANY_WAITING",
  503: "STOPPING",
};

export const SEND_DETAIL = {
  begin: {
    tags,
    summary: "Begin a conversation with a message",
    description: DETACHED,
    ...documentErrors({ ...SEND_ERRORS, 404: "UPLOAD_NOT_FOUND" }),
  },
  go: {
    tags,
    summary: "Send a message in a conversation of the web",
    description: DETACHED,
    ...documentErrors({
      ...SEND_ERRORS,
      400: "SESSION_ELSEWHERE",
      404: ["CONVERSATION_NOT_FOUND", "UPLOAD_NOT_FOUND"],
    }),
  },
};

export const EVENTS_DETAIL = {
  tags,
  summary: "Follow a turn as server-sent events",
  description:
    "First what the turn has produced so far, then how it goes on: `turn { status }`, `delta { text }`, `tool { id, name, input, " +
    "state, result, ms }`, `approval { id, callId, tool, class, summary }`, `waiting { code, message, retryInMs }`, `reset` (forget what came " +
    "before: the turn has begun anew), `reply { text }` or `error { code, message }`, and `end { status }`, with the status `waiting` for a turn that waits for the owner's approval. `Last-Event-ID` resumes. " +
    "Who comes while it waits so gets its `approval` and `waiting` too, and reads on after the decision. A turn that is over answers with its outcome.",
  ...documentErrors({ 404: "TURN_NOT_FOUND", 429: "TOO_MANY_STREAMS", 503: "TURN_BUSY" }),
};

export const CANCEL_DETAIL = {
  tags,
  summary: "Cancel a turn that runs or waits",
  description: "The message is kept, marked as cancelled.",
  ...documentErrors({ 404: "TURN_NOT_FOUND", 409: "ALREADY_SETTLED" }),
};

const keyOf = ({ headers }: Request) => headers.get(IDEMPOTENCY_KEY);

export const backendRoutes = ({ agents, detachedTurns, turnStream }: Deps) =>
  new Elysia({ name: "runtime.conversations.backend" })
    .use(agents.guards)
    .post(
      CONVERSATIONS,
      async ({ agent, body, request, status }) =>
        status(202, await detachedTurns.send(agent, undefined, body, keyOf(request))),
      {
        agentCall: { action: "agent.chat", scope: "chat" },
        body: detachedMessageBody,
        response: { 202: detachedTurn },
        detail: SEND_DETAIL.begin,
      },
    )
    .post(
      `${CONVERSATIONS}/:conversationId/messages`,
      async ({ agent, body, params, request, status }) =>
        status(202, await detachedTurns.send(agent, params.conversationId, body, keyOf(request))),
      {
        agentCall: { action: "agent.chat", scope: "chat" },
        body: detachedMessageBody,
        response: { 202: detachedTurn },
        detail: SEND_DETAIL.go,
      },
    )
    .get(
      `${TURNS}/:turnId/events`,
      ({ agent, caller, request, params: { turnId } }) =>
        turnStream.follow({
          request,
          agent,
          turnId,
          reader: { userId: caller.userId, sessionId: undefined },
          async isStillAllowed() {
            if ((await agents.find(agent.id))?.userId !== caller.userId) throw agentNotFound();
            return true;
          },
        }),
      { agentCall: "agent.read", detail: { ...EVENTS_DETAIL, responses: { 200: eventStreamResponse(turnEvent) } } },
    )
    .post(
      `${TURNS}/:turnId/cancel`,
      async ({ agent, params: { turnId }, status }) => {
        await detachedTurns.cancel(agent, turnId);
        return status(202, { turnId, success: true });
      },
      {
        agentCall: { action: "agent.chat", scope: "chat" },
        response: { 202: cancelledTurn },
        detail: CANCEL_DETAIL,
      },
    );
