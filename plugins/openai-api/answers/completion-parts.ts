// Reads a provider's chat completion, whole or streamed, as the parts of an answer.
import { AppError } from "../../../src/kernel/errors.ts";
import { readLimitedBody } from "../../../src/kernel/util/limited-body.ts";
import type { AnswerPart, AnswerUsage, FinishReason } from "../sources/model-source.ts";
import { readData } from "./event-stream.ts";

type Json = Readonly<Record<string, unknown>>;

const MAX_ANSWER_BYTES = 16 * 1024 * 1024;
const NO_USAGE: AnswerUsage = { inputTokens: 0, outputTokens: 0 };

/**
 * The parts of the response to a chat request. A whole one is one part of each kind.
 * @throws AppError 502 `PROVIDER_FAILED` if the response is no completion or breaks off; while iterating too
 */
export async function completionParts(response: Response): Promise<AsyncIterable<AnswerPart>> {
  const { body, headers } = response;
  if (body && headers.get("content-type")?.startsWith("text/event-stream")) return streamedParts(body);
  const bytes = await readLimitedBody(response, MAX_ANSWER_BYTES);
  const completion = parse(bytes === undefined ? "" : new TextDecoder().decode(bytes));
  return fromList([...partsOfCompletion(completion)]);
}

function* partsOfCompletion(completion: Json): Generator<AnswerPart> {
  const [choice] = objectsIn(completion.choices);
  if (!choice) throw failed();
  const message = Object(choice.message) as Json;
  const joined = createCallJoiner();
  yield* partsOfDelta(message, joined);
  yield { type: "finish", reason: reasonOf(choice.finish_reason, joined.hasCalls()), usage: usageOf(completion.usage) };
}

async function* streamedParts(body: ReadableStream<Uint8Array>): AsyncGenerator<AnswerPart> {
  const joined = createCallJoiner();
  let usage = NO_USAGE;
  let finish: unknown;
  let isWhole = false;
  try {
    for await (const data of readData(body)) {
      if (data === "[DONE]") {
        isWhole = true;
        continue;
      }
      const chunk = parse(data);
      if (chunk.usage) usage = usageOf(chunk.usage);
      const [choice] = objectsIn(chunk.choices);
      if (!choice) continue;
      yield* partsOfDelta(Object(choice.delta) as Json, joined);
      finish = choice.finish_reason ?? finish;
    }
  } catch (cause) {
    if (cause instanceof AppError) throw cause;
    throw failed(cause);
  }
  if (!isWhole && finish === undefined) throw failed();
  yield { type: "finish", reason: reasonOf(finish, joined.hasCalls()), usage };
}

/** Gives each call its id: the parts of a streamed call are known by their index, and some providers leave ids out. */
function createCallJoiner() {
  const ids = new Map<number, string>();
  return {
    hasCalls: () => ids.size > 0,
    /** The id of the call, and whether it begins. */
    idOf(index: number, id: unknown): { id: string; isNew: boolean } {
      const known = ids.get(index);
      if (known !== undefined) return { id: known, isNew: false };
      const own = typeof id === "string" && id !== "" ? id : `call_${crypto.randomUUID().replaceAll("-", "")}`;
      ids.set(index, own);
      return { id: own, isNew: true };
    },
  };
}

function* partsOfDelta(delta: Json, joined: ReturnType<typeof createCallJoiner>): Generator<AnswerPart> {
  // DeepSeek and others, and OpenRouter.
  const reasoning = textIn(delta.reasoning_content) ?? textIn(delta.reasoning);
  if (reasoning) yield { type: "reasoning", text: reasoning };
  const text = textIn(delta.content) ?? textIn(delta.refusal);
  if (text) yield { type: "text", text };
  for (const [at, call] of objectsIn(delta.tool_calls).entries()) {
    const { name, arguments: written } = Object(call.function) as Json;
    const { id, isNew } = joined.idOf(typeof call.index === "number" ? call.index : at, call.id);
    if (isNew) yield { type: "call", id, name: String(name ?? "") };
    if (typeof written === "string" && written !== "") yield { type: "call-arguments", id, text: written };
  }
}

function reasonOf(reason: unknown, hasCalls: boolean): FinishReason {
  if (reason === "length") return "length";
  if (reason === "content_filter") return "filter";
  // Some providers say "stop" although they call functions.
  return hasCalls ? "calls" : "stop";
}

function usageOf(usage: unknown): AnswerUsage {
  const counted = Object(usage) as Json;
  const cached = count((Object(counted.prompt_tokens_details) as Json).cached_tokens);
  const reasoning = count((Object(counted.completion_tokens_details) as Json).reasoning_tokens);
  return {
    inputTokens: count(counted.prompt_tokens),
    outputTokens: count(counted.completion_tokens),
    ...(cached > 0 && { cachedInputTokens: cached }),
    ...(reasoning > 0 && { reasoningTokens: reasoning }),
  };
}

const count = (value: unknown) => (typeof value === "number" && value > 0 ? Math.floor(value) : 0);
const textIn = (value: unknown) => (typeof value === "string" && value !== "" ? value : undefined);
const objectsIn = (list: unknown): Json[] =>
  Array.isArray(list) ? list.filter((one): one is Json => typeof one === "object" && one !== null) : [];

function parse(text: string): Json {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw failed(cause);
  }
  const { error } = Object(value) as Json;
  if (error !== undefined && error !== null) throw failed(new Error(JSON.stringify(error).slice(0, 500)));
  return Object(value) as Json;
}

async function* fromList(parts: readonly AnswerPart[]): AsyncGenerator<AnswerPart> {
  yield* parts;
}

const failed = (cause?: unknown) =>
  new AppError(502, "PROVIDER_FAILED", "The provider's answer broke off. Try again.", {}, { cause });
