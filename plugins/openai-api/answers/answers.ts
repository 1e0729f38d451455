// Answers chat requests of all protocols: from the source that a model belongs to, else from a provider.
import type { ApiCall, ApiCaller, ChatBody } from "../../ai/index.ts";
import type { AnswerPart, SourceRequest } from "../sources/model-source.ts";
import type { ModelSources } from "../sources/model-sources.ts";
import { askSource } from "../sources/source-answers.ts";
import { completionParts } from "./completion-parts.ts";

/** A request that was translated to a chat request, and checked. */
export interface TranslatedCall extends Pick<SourceRequest, "api" | "previous" | "conversation" | "idempotencyKey"> {
  readonly caller: ApiCaller;
  readonly body: ChatBody;
  /** For sources; providers don't get it. */
  readonly metadata: unknown;
  readonly signal: AbortSignal;
}

interface Deps {
  sources: ModelSources;
  /** Calls a provider, paid by the caller. */
  chat(call: ApiCall<ChatBody>): Promise<Response>;
}

export interface Answers {
  /** The parts of the answer, and `provider_N:id` of the model; undefined for a source's. Rejects before the first part. */
  ask(call: TranslatedCall): Promise<{ parts: AsyncIterable<AnswerPart>; servedBy: string | undefined }>;
}

export const createAnswers = ({ sources, chat }: Deps): Answers => ({
  async ask({ caller, body, signal, ...rest }) {
    const found = sources.sourceOf(body.model);
    if (found) return { parts: await askSource({ found, caller, body, signal, ...rest }), servedBy: undefined };
    const sent = body.stream ? { ...body, stream_options: { include_usage: true } } : body;
    const { userId } = caller;
    const response = await chat({ text: JSON.stringify(sent), body: sent, signal, userId, maxAgeS: undefined });
    return { parts: await completionParts(response), servedBy: response.headers.get("x-berth-model") ?? undefined };
  },
});
