// Translates a request to /v1/responses into a chat request. What it can't keep is refused, so that nothing is ignored in silence.
// https://platform.openai.com/docs/api-reference/responses/create
import { type Issue, invalidInput } from "../../../src/kernel/errors.ts";
import type { ChatBody } from "../../ai/index.ts";
import { parseChatBody } from "../../ai/index.ts";
import { toChatMessages } from "./items.ts";

type Json = Readonly<Record<string, unknown>>;

export interface ResponsesRequest {
  readonly model: string;
  readonly stream: boolean;
  /** Whether the client wants the response stored. */
  readonly store: boolean;
  readonly previousResponseId: string | undefined;
  /** The new items, as the client sent them; a text is one message. */
  readonly input: readonly Json[];
  /** Not part of the chat request: providers would refuse it. */
  readonly metadata: unknown;
  /** The fields of the request that the response repeats. */
  readonly echoed: Json;
  /** The chat request with these items: those of earlier responses and the new ones. Throws 400. */
  toChat(items: readonly Json[]): ChatBody;
}

/** Fields that go into the chat request under the same name. */
const SAME_FIELDS = [...["model", "stream", "temperature", "top_p", "parallel_tool_calls", "user", "service_tier"]];
/** Fields with an effect elsewhere, or none that a response could lack. */
const OTHER_FIELDS = [
  ...["input", "instructions", "tools", "tool_choice", "max_output_tokens", "text", "reasoning", "metadata", "store"],
  ...["previous_response_id", "include", "truncation", "stream_options", "background"],
  // Hints for OpenAI's own service.
  ...["safety_identifier", "prompt_cache_key", "prompt_cache_retention"],
];
/** What `include` may name: parts of an answer that are always there, or that only tools of OpenAI's make. */
const INCLUDABLE = /^(?:reasoning\.encrypted_content|[a-z_]+_call[a-z_.]*)$/;

/** Throws 400 with issues. */
export function parseResponsesRequest(body: unknown): ResponsesRequest {
  const request = Object(body) as Json;
  const issues: Issue[] = [];
  const refuse = (path: string, message: string) => void issues.push({ path, message });
  const { model, input, stream, store, previous_response_id: previous, background, truncation, include } = request;
  if (typeof model !== "string" || model === "" || model.length > 200)
    refuse("model", "Name the model: text of 1 to 200 characters.");
  const isList = Array.isArray(input) && input.every((item) => typeof item === "object" && item !== null);
  if (!isList && typeof input !== "string") refuse("input", "Give the input: text, or a list of items.");
  for (const [name, value] of [
    ["stream", stream],
    ["store", store],
  ] as const) {
    if (!isMissing(value) && typeof value !== "boolean") refuse(name, `${name} is true or false.`);
  }
  if (!isMissing(previous) && typeof previous !== "string")
    refuse("previous_response_id", "Give the id of a response.");
  if (background === true)
    refuse("background", "Responses are not made in the background here. Leave this out, or stream.");
  if (!isMissing(truncation) && truncation !== "disabled")
    refuse("truncation", 'Input is never cut here: truncation is "disabled".');
  if (Array.isArray(include) && !include.every((one) => typeof one === "string" && INCLUDABLE.test(one))) {
    refuse("include", "This can't be included.");
  }
  for (const name of Object.keys(request)) {
    if (isMissing(request[name]) || SAME_FIELDS.includes(name) || OTHER_FIELDS.includes(name)) continue;
    refuse(name, `"${name.slice(0, 100)}" is not supported by /v1/responses here. Leave it out.`);
  }
  checkMetadata(request.metadata, refuse);
  if (issues.length > 0) throw invalidInput(issues.slice(0, 20));
  const items = typeof input === "string" ? [{ type: "message", role: "user", content: input }] : (input as Json[]);
  return {
    model: String(model),
    stream: stream === true,
    store: store !== false,
    previousResponseId: typeof previous === "string" ? previous : undefined,
    input: items,
    metadata: request.metadata,
    echoed: echoOf(request),
    toChat: (all) => parseChatBody(toChatRequest(request, all)),
  };
}

const isMissing = (value: unknown) => value === undefined || value === null;

/** At most 16 texts with names of 64 and values of 512 characters, as OpenAI has it. */
function checkMetadata(metadata: unknown, refuse: (path: string, message: string) => void): void {
  if (isMissing(metadata)) return;
  const entries = Object.entries(Object(metadata) as Json);
  const isGood = ([name, value]: [string, unknown]) =>
    name.length <= 64 && typeof value === "string" && value.length <= 512;
  if (typeof metadata === "object" && entries.length <= 16 && entries.every(isGood)) return;
  refuse("metadata", "metadata are up to 16 texts: names of up to 64 characters, values of up to 512.");
}

function toChatRequest(request: Json, items: readonly Json[]): Record<string, unknown> {
  const chat: Record<string, unknown> = {};
  for (const name of SAME_FIELDS) if (!isMissing(request[name])) chat[name] = request[name];
  const { instructions, max_output_tokens: maxTokens, text, reasoning, tools, tool_choice: choice } = request;
  const messages = toChatMessages(items);
  if (typeof instructions === "string") messages.unshift({ role: "system", content: instructions });
  chat.messages = messages;
  if (!isMissing(maxTokens)) chat.max_completion_tokens = maxTokens;
  const { format, verbosity } = Object(text) as Json;
  const responseFormat = toResponseFormat(format);
  if (responseFormat) chat.response_format = responseFormat;
  if (!isMissing(verbosity)) chat.verbosity = verbosity;
  const { effort } = Object(reasoning) as Json;
  if (!isMissing(effort)) chat.reasoning_effort = effort;
  if (Array.isArray(tools) && tools.length > 0) {
    chat.tools = tools.map(toChatTool);
    if (!isMissing(choice)) chat.tool_choice = toChatChoice(choice);
  } else delete chat.parallel_tool_calls;
  return chat;
}

function toResponseFormat(format: unknown): object | undefined {
  const { type, name, schema, strict, description } = Object(format) as Json;
  if (type === "json_object") return { type };
  if (type !== "json_schema") return undefined;
  const named = {
    name,
    schema,
    ...(!isMissing(strict) && { strict }),
    ...(!isMissing(description) && { description }),
  };
  return { type, json_schema: named };
}

function toChatTool(tool: unknown, index: number): object {
  const { type, name, description, parameters, strict } = Object(tool) as Json;
  if (type !== "function" || typeof name !== "string") {
    const message =
      'Only functions, which the client runs, are supported here: { type: "function", name, parameters }.';
    throw invalidInput({ path: `tools.${index}.type`, message });
  }
  const optional = { description, parameters, strict };
  const present = Object.fromEntries(Object.entries(optional).filter(([, value]) => !isMissing(value)));
  return { type, function: { name, ...present } };
}

function toChatChoice(choice: unknown): unknown {
  if (typeof choice === "string") return choice;
  const { type, name } = Object(choice) as Json;
  if (type === "function") return { type, function: { name } };
  throw invalidInput({ path: "tool_choice", message: "Choose auto, none, required, or one function." });
}

/** What a response says of its request. */
function echoOf(request: Json): Json {
  const { text, reasoning, tools, tool_choice: choice, metadata } = request;
  const { effort, summary } = Object(reasoning) as Json;
  return {
    instructions: request.instructions ?? null,
    max_output_tokens: request.max_output_tokens ?? null,
    parallel_tool_calls: request.parallel_tool_calls ?? true,
    previous_response_id: request.previous_response_id ?? null,
    reasoning: { effort: effort ?? null, summary: summary ?? null },
    temperature: request.temperature ?? 1,
    text: { format: { type: "text" }, ...Object(text) },
    tool_choice: choice ?? "auto",
    tools: tools ?? [],
    top_p: request.top_p ?? 1,
    truncation: "disabled",
    user: request.user ?? null,
    metadata: metadata ?? {},
  };
}
