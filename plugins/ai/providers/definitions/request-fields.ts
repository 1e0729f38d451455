// The fields of API requests that change no price, or one that Berth reserves and settles.
import type { FieldRule } from "../provider.ts";

export const anyValue: FieldRule = () => true;
export const isOneOf =
  (...values: readonly unknown[]): FieldRule =>
  (value) =>
    values.includes(value);
const isListOf =
  (...values: readonly unknown[]): FieldRule =>
  (value) =>
    Array.isArray(value) && value.every((one) => values.includes(one));
export const isTextCompression = isListOf("middle-out");
/** An object with no keys but these, and with no larger count of tokens than a reply may have. */
export const isReasoningWith =
  (...keys: readonly string[]): FieldRule =>
  (value) =>
    typeof value === "object" &&
    value !== null &&
    Object.entries(value).every(([key, one]) => keys.includes(key) && isReasoningOption(one));
const isReasoningOption = (value: unknown) =>
  value === null ||
  typeof value === "boolean" ||
  (typeof value === "string" && /^[a-z]+$/.test(value)) ||
  (typeof value === "number" && value <= MAX_REASONING);

/** Reasoning is part of the reply, whose length is limited; a larger figure could be understood as another limit. */
const MAX_REASONING = 4_096;

/** Fields of chat requests for every provider; `messages` and `tools` are checked by their content. */
export const commonChatFields: Readonly<Record<string, FieldRule>> = {
  messages: anyValue,
  model: anyValue,
  taskType: anyValue,
  stream: anyValue,
  stream_options: anyValue,
  temperature: anyValue,
  top_p: anyValue,
  max_tokens: anyValue,
  max_completion_tokens: anyValue,
  n: anyValue,
  stop: anyValue,
  seed: anyValue,
  user: anyValue,
  presence_penalty: anyValue,
  frequency_penalty: anyValue,
  logit_bias: anyValue,
  logprobs: anyValue,
  top_logprobs: anyValue,
  response_format: anyValue,
  tools: anyValue,
  tool_choice: anyValue,
  parallel_tool_calls: anyValue,
  functions: anyValue,
  function_call: anyValue,
  reasoning_effort: anyValue,
  // Speech and pictures in the reply cost more than text.
  modalities: isListOf("text"),
};

export const embeddingFields: Readonly<Record<string, FieldRule>> = {
  model: anyValue,
  // Pictures, which some models take as objects, have a price of their own.
  input: (value) => typeof value === "string" || (Array.isArray(value) && value.every(isTextOrTokens)),
  dimensions: anyValue,
  encoding_format: anyValue,
  user: anyValue,
};

const isTextOrTokens = (one: unknown) =>
  typeof one === "string" ||
  typeof one === "number" ||
  (Array.isArray(one) && one.every((token) => typeof token === "number"));
