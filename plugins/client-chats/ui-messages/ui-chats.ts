// Answers the requests of `useChat`: stores the message, and streams its turn, which goes on without the stream.
import { AppError, notFound } from "../../../src/kernel/errors.ts";
import { encodePathSegment, unwrapJson } from "../../../src/kernel/http/backend/backend-response.ts";
import { parseEvents } from "../../../src/kernel/http/sse-parser.ts";
import { languageOf } from "../../../src/kernel/pages/language.ts";
import type { Kernel, ServiceOf } from "../../../src/kernel/plugin.ts";
import { createBoundedMap } from "../../../src/kernel/util/bounded-map.ts";
import { MINUTE } from "../../../src/kernel/util/time.ts";
import type { Agent } from "../../agents/index.ts";
import { type auth, type Identity, requireScope } from "../../auth/index.ts";
import type { AgentTurn, runtime as runtimePlugin } from "../../runtime/index.ts";
import { addressOf } from "../client-messages.ts";
import { readTurnEvents, type TurnEvent } from "../turn-events.ts";
import type { UiChatBody } from "./model.ts";
import { UI_STREAM_HEADERS } from "./protocol.ts";
import { ASKED_ANEW, type Decision, readUiRequest, type ShownTurn } from "./ui-request.ts";
import { createUiStream } from "./ui-stream.ts";

interface Deps extends Pick<Kernel, "backend" | "config"> {
  identities: Pick<ServiceOf<typeof auth>["identities"], "createGrant">;
  runtime: Pick<
    ServiceOf<typeof runtimePlugin>,
    "streamToOwner" | "latestTurn" | "conversationReaders" | "sessions" | "agentMessages"
  >;
}

/** How long a client that has lost its stream gets the end of a turn that is over. */
const RESUMED_AFTER_END = 10 * MINUTE;
/** Turns that are known to be read; an older one, and one of before a restart, is streamed once more. */
const MAX_READ = 10_000;
/** Messages of a chat that are read at once. */
const SHOWN_MESSAGES = 100;

/** A request in the form of `useChat`, and the agent that it is for. */
export interface UiChatCall {
  agent: Agent;
  identity: Identity;
  request: Request;
}

export type UiChats = ReturnType<typeof createUiChats>;

/** The address of a chat's conversation: of the web, of a topic, or one of its own. */
const conversationOf = (chatId: string) =>
  addressOf(chatId).platform === "web" || chatId.startsWith("topic:") ? chatId : `chat:${chatId}`;

export function createUiChats({ backend, config, identities, runtime }: Deps) {
  /**
   * Turns that were over when their chat's messages were loaded: a page that was loaded again has their answers. That a stream was
   * sent to its end says less, since a network that breaks loses what it has taken.
   */
  const read = createBoundedMap<true>(MAX_READ);
  const noteRead = (turnId: string) => read.set(turnId, true);

  const post = (call: UiChatCall, action: string, path: string, body: object) =>
    backend.fetch(
      identities.createGrant(call.identity, call.request, action, call.agent.id),
      `/api/agents/${call.agent.id}${path}`,
      { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) },
    );

  /** The latest turn of a chat; undefined for one without messages. Throws 404 for a conversation that is not this agent's. */
  async function latestTurn(agent: Agent, chatId: string) {
    const { platform, to } = addressOf(conversationOf(chatId));
    if (platform === "api") return runtime.latestTurn(agent.id, { platform, peer: to.peer });
    if (!(await runtime.sessions.find(agent.id, to.sessionId))) {
      throw notFound("This agent has no conversation with this id.", "CONVERSATION_NOT_FOUND");
    }
    return runtime.latestTurn(agent.id, { conversationId: to.sessionId });
  }

  /** Opens the turn's stream; throws the refusal of the backend. */
  async function open(call: UiChatCall, turnId: string): Promise<ReadableStream<Uint8Array>> {
    const response = await runtime.streamToOwner({ ...call, turnId, scope: "chat" });
    if (response.ok && response.body) return response.body;
    await unwrapJson(response);
    throw new AppError(502, "BACKEND_UNAVAILABLE", "The agent backend gave no usable answer. Try again shortly.");
  }

  function toUiResponse(
    { agent, identity, request }: UiChatCall,
    turnId: string,
    turn: ReadableStream<Uint8Array>,
    decided?: { decisions: readonly Decision[]; shown: ShownTurn },
  ): Response {
    const language = languageOf(request);
    const canDecide = identity.scopes.has("write");
    const of = { turnId, agentId: agent.id, baseUrl: config.baseUrl, language, canDecide };
    const ui = createUiStream({ ...of, shown: decided?.shown });
    async function* chunks(): AsyncGenerator<string> {
      const events = readTurnEvents(parseEvents(turn));
      for await (const event of decided ? afterDecisions(events, decided.decisions) : events) {
        const text = ui.write(event);
        if (text !== "") yield text;
        if (event.kind === "end") return;
      }
      yield ui.breakOff("The connection to the agent was lost. Resume the chat to read the rest.");
    }
    return new Response(toStream(chunks()), { headers: UI_STREAM_HEADERS });
  }

  async function decide(call: UiChatCall, turnId: string, decisions: readonly Decision[], shown: ShownTurn) {
    requireScope(call.identity, "write");
    // Opened before the decisions, after which the turn may end at once.
    const turn = await open(call, turnId);
    try {
      for (const { approvalId, approved } of decisions) {
        const body = { decision: approved ? "approve" : "deny" };
        const answer = await post(call, "agent.approve", `/approvals/${encodePathSegment(approvalId)}`, body);
        // A decision that is repeated after a lost connection was taken already.
        if (answer.status !== 409) await unwrapJson(answer);
      }
    } catch (error) {
      await turn.cancel();
      throw error;
    }
    return toUiResponse(call, turnId, turn, { decisions, shown });
  }

  return {
    async answer(call: UiChatCall, body: UiChatBody): Promise<Response> {
      const chatId = body.id ?? crypto.randomUUID();
      const asked = readUiRequest(call.agent.id, chatId, body);
      if (asked.kind === "decisions") return decide(call, asked.turnId, asked.decisions, asked.shown);
      const { kind: _, ...message } = asked;
      const accepted = await post(call, "agent.chat", "/clients/messages", {
        ...message,
        conversation: conversationOf(chatId),
      });
      const { turnId } = (await unwrapJson(accepted)) as AgentTurn;
      return toUiResponse(call, turnId, await open(call, turnId));
    },

    /** Streams the latest turn of a chat from its beginning; 204 if none runs, waits, or has ended a short time ago, unread. */
    async resume(call: UiChatCall, chatId: string): Promise<Response> {
      const latest = await latestTurn(call.agent, chatId);
      const isUnread = (turnId: string, at: number) =>
        read.get(turnId) === undefined && Date.now() - at < RESUMED_AFTER_END;
      if (!latest || !(latest.isPending || isUnread(latest.turnId, latest.at)))
        return new Response(null, { status: 204 });
      return toUiResponse(call, latest.turnId, await open(call, latest.turnId));
    },

    /** Cancels the turn of a chat that runs or waits. */
    async stop(call: UiChatCall, chatId: string): Promise<{ success: boolean; turnId: string | null }> {
      const latest = await latestTurn(call.agent, chatId);
      if (!latest?.isPending) return { success: true, turnId: null };
      const answer = await post(call, "agent.chat", `/turns/${latest.turnId}/cancel`, {});
      // It has ended meanwhile.
      if (answer.status !== 409) await unwrapJson(answer);
      // The client knows that it is over.
      noteRead(latest.turnId);
      return { success: true, turnId: latest.turnId };
    },

    /** The last messages of a chat, oldest first, in the form of `useChat`. */
    async messages({ agent }: UiChatCall, chatId: string) {
      const latest = await latestTurn(agent, chatId);
      if (!latest) return { id: chatId, messages: [] };
      const [{ toUiMessages }, readers] = await Promise.all([import("./history.ts"), runtime.conversationReaders()]);
      const page = await readers.messages(agent, latest.conversationId, { before: undefined, limit: SHOWN_MESSAGES });
      if (!latest.isPending) noteRead(latest.turnId);
      const turnIds = [...new Set(page.messages.map(({ turnId }) => turnId))];
      const [answers, names] = await Promise.all([
        readers.answers(agent.id, turnIds),
        runtime.agentMessages.names(agent.id, turnIds),
      ]);
      const isAskedAnew = (turnId: string) => names.get(turnId)?.startsWith(ASKED_ANEW) === true;
      const given = { agentId: agent.id, baseUrl: config.baseUrl, newestFirst: page.messages, answers, isAskedAnew };
      return { id: chatId, messages: toUiMessages(given) };
    },
  };
}

/** Without the questions that were just answered: the turn goes on when the answers have come to it. */
async function* afterDecisions(
  events: AsyncIterable<TurnEvent>,
  decisions: readonly Decision[],
): AsyncGenerator<TurnEvent> {
  const decided = new Set(decisions.map(({ approvalId }) => approvalId));
  let asksMore = false;
  let isAnswered = false;
  for await (const event of events) {
    if (event.kind === "approval" && decided.has(event.id)) {
      isAnswered = true;
      continue;
    }
    if (event.kind === "approval") asksMore = true;
    if (event.kind === "reset") isAnswered = false;
    if (event.kind === "end" && event.status === "waiting" && isAnswered && !asksMore) continue;
    yield event;
  }
}

/** A stream that asks the generator for more as it is read, and ends it when its reader goes. */
function toStream(texts: AsyncGenerator<string>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { value, done } = await texts.next();
      if (done) controller.close();
      else controller.enqueue(encoder.encode(value));
    },
    async cancel() {
      await texts.return(undefined);
    },
  });
}
