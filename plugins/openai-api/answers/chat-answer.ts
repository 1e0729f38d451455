// Writes an answer as a chat completion, whole or streamed, for models that no provider serves.
// https://platform.openai.com/docs/api-reference/chat/object
import { openAiError } from "../error-formats.ts";
import type { AnswerPart, AnswerUsage, FinishReason } from "../sources/model-source.ts";
import { dataFrame } from "./event-stream.ts";
import { stepText } from "./steps.ts";
import type { DescribeError } from "./stream-errors.ts";

/** What all chunks of one completion have in common. */
export interface Completion {
  readonly id: string;
  readonly model: string;
  /** Unix time in seconds. */
  readonly created: number;
}

const FINISH_REASONS: Readonly<Record<FinishReason, string>> = {
  stop: "stop",
  length: "length",
  calls: "tool_calls",
  filter: "content_filter",
};

/** @param includeUsage sends a last chunk with the usage alone */
export async function* chatFrames(
  parts: AsyncIterable<AnswerPart>,
  about: Completion,
  includeUsage: boolean,
  describe: DescribeError,
): AsyncGenerator<string> {
  const head = { ...about, object: "chat.completion.chunk", ...(includeUsage && { usage: null }) };
  const chunk = (delta: object, finish: string | null = null) =>
    dataFrame({ ...head, choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }] });
  const calls = new Map<string, number>();
  try {
    yield chunk({ role: "assistant", content: "" });
    for await (const part of parts) {
      if (part.type === "text") yield chunk({ content: part.text });
      else if (part.type === "reasoning") yield chunk({ reasoning_content: part.text });
      else if (part.type === "step" || part.type === "step-result") yield chunk({ reasoning_content: stepText(part) });
      else if (part.type === "call") {
        const index = calls.size;
        calls.set(part.id, index);
        const called = { name: part.name, arguments: "" };
        yield chunk({ tool_calls: [{ index, id: part.id, type: "function", function: called }] });
      } else if (part.type === "call-arguments") {
        const index = calls.get(part.id) ?? 0;
        yield chunk({ tool_calls: [{ index, function: { arguments: part.text } }] });
      } else if (part.type === "finish") {
        yield chunk({}, FINISH_REASONS[part.reason]);
        if (includeUsage) yield dataFrame({ ...head, choices: [], usage: toChatUsage(part.usage) });
      }
    }
  } catch (error) {
    yield dataFrame(openAiError(describe(error)));
  }
  yield "data: [DONE]\n\n";
}

/** Rejects with what the parts throw. */
export async function chatCompletion(parts: AsyncIterable<AnswerPart>, about: Completion): Promise<object> {
  let content = "";
  let reasoning = "";
  let finish: Extract<AnswerPart, { type: "finish" }> | undefined;
  const calls = new Map<string, { name: string; arguments: string }>();
  for await (const part of parts) {
    if (part.type === "text") content += part.text;
    else if (part.type === "reasoning") reasoning += part.text;
    else if (part.type === "step" || part.type === "step-result") reasoning += stepText(part);
    else if (part.type === "call") calls.set(part.id, { name: part.name, arguments: "" });
    else if (part.type === "call-arguments") {
      const call = calls.get(part.id);
      if (call) call.arguments += part.text;
    } else if (part.type === "finish") finish = part;
  }
  const toolCalls = [...calls].map(([id, called]) => ({ id, type: "function", function: called }));
  const message = {
    role: "assistant",
    content: content || (calls.size > 0 ? null : ""),
    refusal: null,
    ...(reasoning && { reasoning_content: reasoning }),
    ...(calls.size > 0 && { tool_calls: toolCalls }),
  };
  const finishReason = FINISH_REASONS[finish?.reason ?? "stop"];
  return {
    ...about,
    object: "chat.completion",
    choices: [{ index: 0, message, logprobs: null, finish_reason: finishReason }],
    ...(finish && { usage: toChatUsage(finish.usage) }),
  };
}

function toChatUsage({ inputTokens, outputTokens, cachedInputTokens = 0, reasoningTokens = 0 }: AnswerUsage) {
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
    prompt_tokens_details: { cached_tokens: cachedInputTokens },
    completion_tokens_details: { reasoning_tokens: reasoningTokens },
  };
}
