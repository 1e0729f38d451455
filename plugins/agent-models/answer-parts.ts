// Translates the events of a turn into the parts of a model's answer.
import { AppError } from "../../src/kernel/errors.ts";
import type { Language } from "../../src/kernel/pages/language.ts";
import { type TurnEvent, waitingWords } from "../client-chats/index.ts";
import type { AnswerPart } from "../openai-api/index.ts";
import type { SentFile } from "../runtime/index.ts";

/** The statuses of the errors with which turns end; of all others it is 502. */
const STATUSES: Readonly<Record<string, number>> = {
  AGENT_CHANGING: 503,
  AGENT_STOPPED: 409,
  AGENT_FROZEN: 409,
  ALREADY_SETTLED: 409,
  BUDGET_EXCEEDED: 402,
  CANCELLED: 409,
  INTERNAL: 500,
  PARKED: 500,
  PRICE_UNAVAILABLE: 503,
  PRICE_UNKNOWN: 402,
  STOPPING: 503,
};

/** Reasons after which the turn goes on by itself, and the client gets no answer. */
export const isLeftToGoOn = (code: string) => code === "STOPPING" || code === "AGENT_CHANGING";

export const toError = ({ code, message }: { code: string; message: string }) =>
  new AppError(STATUSES[code] ?? 502, code, message);

export function createAnswerParts({ baseUrl, language }: { baseUrl: string; language: Language }) {
  /** The text of the turn so far, as the runtime has it. */
  let said = "";
  let hasText = false;
  /** Calls that run, with their names. */
  const open = new Map<string, string>();
  const files = new Set<string>();

  function* text(given: string): Generator<AnswerPart> {
    if (given === "") return;
    hasText = true;
    yield { type: "text", text: given };
  }
  function* paragraph(words: string): Generator<AnswerPart> {
    yield* text(hasText ? `\n\n${words}` : words);
  }
  /** As a link, for which the reader needs a session: models answer in text. */
  function* file({ id, name, url }: SentFile): Generator<AnswerPart> {
    if (files.has(id)) return;
    files.add(id);
    yield* paragraph(`[${name.replace(/[[\]]/g, " ")}](${baseUrl}${url})`);
  }
  function* tool({
    id,
    parent,
    name,
    input,
    state,
    result,
  }: Extract<TurnEvent, { kind: "tool" }>): Generator<AnswerPart> {
    // What a call does within itself is in its result.
    if (parent !== undefined) return;
    if (state === "called") {
      if (open.has(id)) return;
      open.set(id, name);
      yield { type: "step", id, name, input: JSON.stringify(input ?? {}) };
      return;
    }
    open.delete(id);
    yield { type: "step-result", id, name, output: result, isError: state === "failed" };
  }
  function* approval({ callId, summary }: Extract<TurnEvent, { kind: "approval" }>): Generator<AnswerPart> {
    const name = open.get(callId);
    if (name !== undefined) {
      open.delete(callId);
      yield {
        type: "step-result",
        id: callId,
        name,
        output: "This call waits for its owner's approval.",
        isError: false,
      };
    }
    yield* paragraph(waitingWords(summary, baseUrl, language, false));
  }

  return {
    *of(event: TurnEvent): Generator<AnswerPart> {
      if (event.kind === "text") {
        said += event.text;
        yield* text(event.text);
      } else if (event.kind === "tool") yield* tool(event);
      else if (event.kind === "file") yield* file(event.file);
      else if (event.kind === "approval") yield* approval(event);
      else if (event.kind === "reply") {
        // What was not streamed: the reply of a turn that was over, or a note at its end.
        if (event.text.startsWith(said)) yield* text(event.text.slice(said.length));
        for (const sent of event.files) yield* file(sent);
      } else if (event.kind === "reset" && hasText) {
        const message =
          "The turn has begun anew. Send the request again with the same Idempotency-Key to get its answer.";
        throw new AppError(503, "TURN_BUSY", message);
      }
    },
  };
}
