// Backend routes that send a message to an agent and that open a session.
import { Elysia } from "elysia";
import { documentReplyOrStream } from "../../src/kernel/http/openapi/event-streams.ts";
import { documentErrors } from "../../src/kernel/http/openapi/route-documentation.ts";
import { acceptsEventStream } from "../../src/kernel/http/sse-streams.ts";
import type { ServiceOf } from "../../src/kernel/plugin.ts";
import type { Agent, agents as agentsPlugin } from "../agents/index.ts";
import { TURN_ERRORS } from "./errors.ts";
import { chatEvent } from "./live/event-schemas.ts";
import { type createAskOnce, IDEMPOTENCY_KEY, nameOf } from "./live/keyed-messages.ts";
import { chatReply, newSession, type TurnBody, turnBody } from "./model.ts";
import type { Sessions } from "./sessions/sessions.ts";
import { eventStream } from "./sse.ts";
import type { Reply } from "./turn/running-turns.ts";
import type { ChatRequest } from "./turn/turn-requests.ts";

/** Runs one turn for the sender of a request; returns the reply, or an event stream where the request accepts one. */
export type TurnRequestHandler = (
  request: Request,
  agent: Agent,
  userId: string,
  body: TurnBody,
) => Promise<Reply> | Response;

interface TurnRequestDeps {
  chat(request: ChatRequest): Promise<Reply>;
  askOnce: ReturnType<typeof createAskOnce>;
}

export function createTurnRequestHandler({ chat, askOnce }: TurnRequestDeps): TurnRequestHandler {
  return (request, agent, userId, body) => {
    const chatRequest = { agent, ...body, sender: { id: userId, name: "" }, byOwner: agent.userId === userId };
    // A stream is not repeated, since its answer isn't stored.
    if (acceptsEventStream(request))
      return eventStream(request.signal, (observer, signal) => chat({ ...chatRequest, observer, signal }));
    const key = request.headers.get(IDEMPOTENCY_KEY);
    const { signal } = request;
    return key === null ? chat({ ...chatRequest, signal }) : askOnce(nameOf(key, body), { ...chatRequest, signal });
  };
}

interface Deps {
  guards: ServiceOf<typeof agentsPlugin>["guards"];
  handleTurnRequest: TurnRequestHandler;
  sessions: Pick<Sessions, "create">;
}

export const backendRoutes = ({ guards, handleTurnRequest, sessions }: Deps) =>
  new Elysia({ name: "runtime.backend" })
    .use(guards)
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
          ...documentReplyOrStream(chatReply, chatEvent(chatReply), "The reply"),
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
        detail: {
          tags: ["Agents"],
          summary: "Begin a new session with an agent",
          description: "The agent remembers its facts, but none of the earlier messages, in the new session.",
        },
      },
    );
