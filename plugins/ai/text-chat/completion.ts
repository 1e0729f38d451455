// Reads the answers that turns mostly get: a text, calls of tools, and a count of tokens.
import type { LanguageModelV4Content, LanguageModelV4GenerateResult, LanguageModelV4Usage } from "@ai-sdk/provider";

type Fields = Record<string, unknown>;

/** The answer in the form of the SDK; undefined for any that holds more, is damaged or is an error, which the SDK reads. */
export function readCompletion(json: string): LanguageModelV4GenerateResult | undefined {
  const response = fieldsOf(parse(json));
  const choices = response?.choices;
  const choice = Array.isArray(choices) ? fieldsOf(choices[0]) : undefined;
  const message = fieldsOf(choice?.message);
  if (!response || !choice || !message) return undefined;
  const { content: text, tool_calls, refusal, audio, annotations } = message;
  const isUnusual = isGiven(refusal) || isGiven(audio) || (isGiven(annotations) && !isEmpty(annotations));
  if (isUnusual || (isGiven(text) && typeof text !== "string")) return undefined;
  const calls = readCalls(tool_calls);
  const usage = readUsage(response.usage);
  if (!calls || !usage) return undefined;
  const content: LanguageModelV4Content[] = typeof text === "string" && text !== "" ? [{ type: "text", text }] : [];
  const reason = choice.finish_reason;
  return {
    content: content.concat(calls),
    finishReason: {
      unified: (typeof reason === "string" && FINISH_REASONS[reason]) || "other",
      raw: typeof reason === "string" ? reason : undefined,
    },
    usage,
    warnings: [],
  };
}

const FINISH_REASONS: Record<string, LanguageModelV4GenerateResult["finishReason"]["unified"] | undefined> = {
  stop: "stop",
  length: "length",
  content_filter: "content-filter",
  function_call: "tool-calls",
  tool_calls: "tool-calls",
};

function readCalls(given: unknown): LanguageModelV4Content[] | undefined {
  if (!isGiven(given)) return [];
  if (!Array.isArray(given)) return undefined;
  const calls: LanguageModelV4Content[] = [];
  for (const one of given) {
    const call = fieldsOf(one);
    const { name, arguments: input } = fieldsOf(call?.function) ?? {};
    // The SDK makes up an id where there is none.
    if (typeof call?.id !== "string" || call.id === "" || typeof name !== "string" || typeof input !== "string") {
      return undefined;
    }
    calls.push({ type: "tool-call", toolCallId: call.id, toolName: name, input });
  }
  return calls;
}

function readUsage(given: unknown): LanguageModelV4Usage | undefined {
  if (!isGiven(given)) return { inputTokens: NO_INPUT, outputTokens: NO_OUTPUT };
  const usage = fieldsOf(given);
  const { prompt_tokens, completion_tokens } = usage ?? {};
  if (!isCount(prompt_tokens) || !isCount(completion_tokens)) return undefined;
  const cacheRead = countIn(usage?.prompt_tokens_details, "cached_tokens");
  const cacheWrite = countIn(usage?.prompt_tokens_details, "cache_write_tokens");
  const reasoning = countIn(usage?.completion_tokens_details, "reasoning_tokens") ?? 0;
  return {
    inputTokens: {
      total: prompt_tokens,
      noCache: prompt_tokens - (cacheRead ?? 0) - (cacheWrite ?? 0),
      cacheRead: cacheRead ?? 0,
      cacheWrite,
    },
    outputTokens: { total: completion_tokens, text: Math.max(0, completion_tokens - reasoning), reasoning },
  };
}

const NO_INPUT = { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined };
const NO_OUTPUT = { total: undefined, text: undefined, reasoning: undefined };

const isGiven = (value: unknown) => value !== undefined && value !== null;
const isEmpty = (value: unknown) => Array.isArray(value) && value.length === 0;
const isCount = (value: unknown): value is number => typeof value === "number";

const fieldsOf = (value: unknown): Fields | undefined =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;

function countIn(details: unknown, name: string): number | undefined {
  const count = fieldsOf(details)?.[name];
  return isCount(count) ? count : undefined;
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
