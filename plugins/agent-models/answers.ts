// Answers requests to an agent as a model: stores the message as every entrance does, and follows its turn.
import type { Kernel, ServiceOf } from "../../src/kernel/plugin.ts";
import type { Agent } from "../agents/index.ts";
import type { ai as aiPlugin } from "../ai/index.ts";
import { type clientChats, readTurnEvents } from "../client-chats/index.ts";
import type { AnswerPart, SourceRequest } from "../openai-api/index.ts";
import type { runtime as runtimePlugin } from "../runtime/index.ts";
import type { AgentLookup } from "./agent-lookup.ts";
import { createAnswerParts, isLeftToGoOn, toError } from "./answer-parts.ts";
import { createPlacement } from "./conversation.ts";
import { readNewMessage } from "./new-message.ts";

interface Deps extends Pick<Kernel, "config" | "log"> {
  runtime: ServiceOf<typeof runtimePlugin>;
  messages: ServiceOf<typeof clientChats>["messages"];
  lookup: Pick<AgentLookup, "require">;
  callsOfTurns: ServiceOf<typeof aiPlugin>["callsOfTurns"];
}

export function createAnswers({ config, log, runtime, messages, lookup, callsOfTurns }: Deps) {
  const place = createPlacement(runtime);

  async function usageOf(turnId: string) {
    const calls = (await callsOfTurns([turnId])).get(turnId) ?? [];
    const sum = (of: (call: (typeof calls)[number]) => number) => calls.reduce((total, call) => total + of(call), 0);
    return {
      inputTokens: sum(({ inputTokens }) => inputTokens),
      outputTokens: sum(({ outputTokens }) => outputTokens),
    };
  }

  /** Ends the turn of a client that has gone. It may have ended by itself meanwhile. */
  function cancel(agent: Agent, turnId: string): void {
    runtime.agentMessages
      .cancel(agent, turnId)
      .catch((error: unknown) => log.debug("a turn could not be cancelled", { agentId: agent.id, turnId, error }));
  }

  return async (request: SourceRequest): Promise<AsyncIterable<AnswerPart>> => {
    const agent = await lookup.require(request.name, request.caller);
    const message = readNewMessage(request.messages);
    const placed = await place(agent, request, message);
    const { turnId } = await messages.accept(agent, { ...placed, files: message.files });
    const language = await runtime.readerLanguage(agent.id, null);
    // A client with a key comes back for the answer: its turn goes on without it.
    const endsWithClient = request.idempotencyKey === undefined;
    const onGone = () => cancel(agent, turnId);
    if (endsWithClient) {
      if (request.signal.aborted) onGone();
      else request.signal.addEventListener("abort", onGone, { once: true });
    }
    const events = readTurnEvents(await runtime.turnEvents(agent, turnId, request.signal));

    async function* parts(): AsyncGenerator<AnswerPart> {
      const answer = createAnswerParts({ baseUrl: config.baseUrl, language });
      yield { type: "state", state: placed.conversation };
      try {
        for await (const event of events) {
          if (event.kind === "waiting") {
            if (endsWithClient && !isLeftToGoOn(event.code)) cancel(agent, turnId);
            throw toError(event);
          }
          if (event.kind === "error") throw toError(event);
          yield* answer.of(event);
          if (event.kind === "end") {
            yield { type: "finish", reason: "stop", usage: await usageOf(turnId) };
            return;
          }
        }
        throw toError({ code: "STOPPING", message: "Berth is stopping. The message is kept and will be answered." });
      } finally {
        request.signal.removeEventListener("abort", onGone);
      }
    }
    return afterFirst(parts(), request.signal);
  };
}

/** How long the beginning of an answer is waited for: an error until then is the response's own, with its status. */
const FIRST_MS = 8_000;

/**
 * Waits for the first part after the state, so that a turn that fails at once rejects. Afterwards the stream begins in any case,
 * since clients give up on a connection without one.
 */
async function afterFirst(parts: AsyncGenerator<AnswerPart>, signal: AbortSignal): Promise<AsyncIterable<AnswerPart>> {
  const state = await parts.next();
  const first = parts.next();
  const patience = Promise.withResolvers<void>();
  const timer = setTimeout(patience.resolve, FIRST_MS);
  signal.addEventListener("abort", () => patience.resolve(), { once: true });
  first.catch(() => undefined);
  await Promise.race([first, patience.promise]).finally(() => clearTimeout(timer));
  return (async function* () {
    try {
      if (!state.done) yield state.value;
      const next = await first;
      if (next.done) return;
      yield next.value;
      yield* parts;
    } finally {
      await parts.return(undefined);
    }
  })();
}
