// Translates a request to Anthropic's /v1/messages into a chat request. What it can't keep is refused.
// https://docs.anthropic.com/en/api/messages
import { type Issue, invalidInput } from "../../../src/kernel/errors.ts";
import { type ChatBody, parseChatBody } from "../../ai/index.ts";
import { toChatMessages, toText } from "./blocks.ts";

type Json = Readonly<Record<string, unknown>>;

export interface MessagesRequest {
  readonly model: string;
  readonly stream: boolean;
  /** Not part of the chat request. */
  readonly metadata: unknown;
  readonly chat: ChatBody;
}

/** Fields that go into the chat request under the same name. */
const SAME_FIELDS = ["model", "stream", "temperature", "top_p"];
const OTHER_FIELDS = [
  ...["messages", "system", "max_tokens", "stop_sequences", "tools", "tool_choice", "metadata", "thinking"],
  ...["output_config", "service_tier", "betas", "cache_control"],
];
/** Tokens of thinking up to which the effort is low, and medium. */
const LOW_THINKING = 2_048;
const MEDIUM_THINKING = 8_192;

const isMissing = (value: unknown) => value === undefined || value === null;

/** Throws 400 with issues. */
export function parseMessagesRequest(body: unknown): MessagesRequest {
  const request = Object(body) as Json;
  const { model, messages, max_tokens: maxTokens, stream, stop_sequences: stops, temperature } = request;
  const issues: Issue[] = [];
  const refuse = (path: string, message: string) => void issues.push({ path, message });
  if (typeof model !== "string" || model === "" || model.length > 200)
    refuse("model", "Name the model: text of 1 to 200 characters.");
  if (!Number.isSafeInteger(maxTokens) || Number(maxTokens) < 1)
    refuse("max_tokens", "Give max_tokens: a whole number of at least 1.");
  if (!Array.isArray(messages) || messages.length === 0) refuse("messages", "Give messages: a list of at least one.");
  if (!isMissing(stream) && typeof stream !== "boolean") refuse("stream", "stream is true or false.");
  if (!isMissing(temperature) && !(typeof temperature === "number" && temperature >= 0 && temperature <= 1)) {
    refuse("temperature", "temperature is a number from 0 to 1.");
  }
  if (!isMissing(stops) && !(Array.isArray(stops) && stops.every((stop) => typeof stop === "string"))) {
    refuse("stop_sequences", "stop_sequences is a list of texts.");
  }
  for (const name of Object.keys(request)) {
    if (isMissing(request[name]) || SAME_FIELDS.includes(name) || OTHER_FIELDS.includes(name)) continue;
    refuse(name, `"${name.slice(0, 100)}" is not supported by /v1/messages here. Leave it out.`);
  }
  if (issues.length > 0) throw invalidInput(issues.slice(0, 20));
  return {
    model: String(model),
    stream: stream === true,
    metadata: request.metadata,
    chat: parseChatBody(toChatRequest(request, messages as unknown[])),
  };
}

function toChatRequest(request: Json, messages: readonly unknown[]): Record<string, unknown> {
  const chat: Record<string, unknown> = {};
  for (const name of SAME_FIELDS) if (!isMissing(request[name])) chat[name] = request[name];
  const { system, max_tokens: maxTokens, stop_sequences: stops, tools, tool_choice: choice, metadata } = request;
  const prompt = isMissing(system) ? [] : [{ role: "system", content: toText(system, "system") }];
  chat.messages = [...prompt, ...toChatMessages(messages)];
  chat.max_completion_tokens = maxTokens;
  if (Array.isArray(stops) && stops.length > 0) chat.stop = stops;
  if (Array.isArray(tools) && tools.length > 0) {
    chat.tools = tools.map(toChatTool);
    Object.assign(chat, toChatChoice(choice));
  }
  const { user_id: user } = Object(metadata) as Json;
  if (typeof user === "string") chat.user = user;
  const effort = effortOf(request);
  if (effort !== undefined) chat.reasoning_effort = effort;
  const { format } = Object(request.output_config) as Json;
  if (!isMissing(format)) chat.response_format = toResponseFormat(Object(format));
  return chat;
}

/** How hard the model is to think; undefined if the request does not say. */
function effortOf({ thinking, output_config: config }: Json): unknown {
  const { effort } = Object(config) as Json;
  if (typeof effort === "string") return effort === "max" ? "high" : effort;
  const { type, budget_tokens: budget } = Object(thinking) as Json;
  if (type !== "enabled" || typeof budget !== "number") return undefined;
  if (budget <= LOW_THINKING) return "low";
  return budget <= MEDIUM_THINKING ? "medium" : "high";
}

function toResponseFormat({ type, schema }: Json): object {
  if (type === "json_schema") return { type, json_schema: { name: "answer", schema, strict: true } };
  throw invalidInput({ path: "output_config.format.type", message: "The format is json_schema." });
}

function toChatTool(tool: unknown, index: number): object {
  const { type = "custom", name, description, input_schema: parameters } = Object(tool) as Json;
  if (type !== "custom" || typeof name !== "string") {
    const message = "Only tools that the client runs are supported here: { name, description, input_schema }.";
    throw invalidInput({ path: `tools.${index}.type`, message });
  }
  return { type: "function", function: { name, ...(typeof description === "string" && { description }), parameters } };
}

function toChatChoice(choice: unknown): object {
  const { type, name, disable_parallel_tool_use: isSingle } = Object(choice) as Json;
  const parallel = typeof isSingle === "boolean" ? { parallel_tool_calls: !isSingle } : {};
  if (isMissing(choice) || type === "auto") return parallel;
  if (type === "any") return { tool_choice: "required", ...parallel };
  if (type === "none") return { tool_choice: "none" };
  if (type === "tool") return { tool_choice: { type: "function", function: { name } }, ...parallel };
  throw invalidInput({ path: "tool_choice.type", message: "Choose auto, any, tool or none." });
}
