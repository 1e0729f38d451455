// Writes an answer as a response of /v1/responses, whole or as its stream of events.

import { typedFrame } from "../answers/event-stream.ts";
import type { DescribeError } from "../answers/stream-errors.ts";
import type { AnswerPart, AnswerUsage } from "../sources/model-source.ts";
import { createOutput, type OutputItem, type ResponseEvent } from "./output.ts";

type Json = Readonly<Record<string, unknown>>;

/** A response as clients read it. */
export interface ResponseObject extends Json {
  readonly id: string;
  readonly status: string;
  readonly output: readonly OutputItem[];
}

export interface ResponseAbout {
  /** `resp_` and random characters. */
  readonly id: string;
  readonly model: string;
  /** Unix time in seconds. */
  readonly createdAt: number;
  readonly isStored: boolean;
  /** The fields that repeat the request. */
  readonly echoed: Json;
}

/** A response that has ended, with the state that its source gave. */
export interface EndedResponse {
  readonly response: ResponseObject;
  readonly state: string | undefined;
}

/** What ids of items have in common with that of their response, so that a reference to an item leads to it. */
export const itemIdOf = (responseId: string) => (prefix: string, index: number) =>
  `${prefix}_${responseId.slice("resp_".length)}_${index}`;

/** The events of the answer; the last one is not among them. Throws what the parts throw. */
async function* events(
  parts: AsyncIterable<AnswerPart>,
  about: ResponseAbout,
): AsyncGenerator<ResponseEvent, EndedResponse> {
  const output = createOutput(itemIdOf(about.id));
  const begun = responseObject(about, "in_progress", []);
  yield { type: "response.created", response: begun };
  yield { type: "response.in_progress", response: begun };
  let state: string | undefined;
  let finish: Extract<AnswerPart, { type: "finish" }> | undefined;
  for await (const part of parts) {
    if (part.type === "state") state = part.state;
    else if (part.type === "finish") finish = part;
    else yield* output.add(part);
  }
  yield* output.end();
  const cut =
    finish?.reason === "length" ? "max_output_tokens" : finish?.reason === "filter" ? "content_filter" : undefined;
  const response = {
    ...responseObject(about, cut ? "incomplete" : "completed", output.items),
    incomplete_details: cut ? { reason: cut } : null,
    usage: finish ? toUsage(finish.usage) : null,
  };
  return { response, state };
}

/** @param store called with the response before the client learns that it has ended */
export async function* responseFrames(
  parts: AsyncIterable<AnswerPart>,
  about: ResponseAbout,
  store: (ended: EndedResponse) => Promise<void>,
  describe: DescribeError,
): AsyncGenerator<string> {
  let sequence = 0;
  const frame = (event: ResponseEvent) => typedFrame({ ...event, sequence_number: sequence++ });
  try {
    const source = events(parts, about);
    let next = await source.next();
    try {
      for (; !next.done; next = await source.next()) yield frame(next.value);
    } finally {
      // The client has gone: the parts end, too.
      if (!next.done) await source.return(NOTHING);
    }
    const ended = next.value;
    await store(ended);
    yield frame({ type: `response.${ended.response.status}`, response: ended.response });
  } catch (error) {
    const { body } = describe(error);
    const failure = { code: body.code, message: body.message };
    yield frame({ type: "error", ...failure, param: null });
    const response = { ...responseObject(about, "failed", []), error: failure };
    yield frame({ type: "response.failed", response });
  }
}

export async function wholeResponse(parts: AsyncIterable<AnswerPart>, about: ResponseAbout): Promise<EndedResponse> {
  const source = events(parts, about);
  let next = await source.next();
  while (!next.done) next = await source.next();
  return next.value;
}

const NOTHING: EndedResponse = { response: { id: "", status: "cancelled", output: [] }, state: undefined };

function responseObject(
  { id, model, createdAt, isStored, echoed }: ResponseAbout,
  status: string,
  output: readonly OutputItem[],
): ResponseObject {
  return {
    id,
    object: "response",
    created_at: createdAt,
    status,
    background: false,
    error: null,
    incomplete_details: null,
    model,
    output: [...output],
    store: isStored,
    usage: null,
    ...echoed,
  };
}

function toUsage({ inputTokens, outputTokens, cachedInputTokens = 0, reasoningTokens = 0 }: AnswerUsage) {
  return {
    input_tokens: inputTokens,
    input_tokens_details: { cached_tokens: cachedInputTokens },
    output_tokens: outputTokens,
    output_tokens_details: { reasoning_tokens: reasoningTokens },
    total_tokens: inputTokens + outputTokens,
  };
}
