// Validates chat completion requests as OpenAI does, with OpenAI's error messages.
// https://platform.openai.com/docs/api-reference/chat/create

export interface ToolCall {
  id: string;
  type: "function";
  function: { name: string; arguments: string };
}

export type Content = string | { type: string; text?: string; [key: string]: unknown }[];

export interface ChatMessage {
  role: "system" | "developer" | "user" | "assistant" | "tool";
  content?: Content | null;
  tool_calls?: ToolCall[];
  tool_call_id?: string;
  name?: string;
}

export interface ChatBody {
  model: string;
  messages: ChatMessage[];
  tools?: {
    type: "function";
    function: { name: string; description?: string; parameters?: Record<string, unknown> };
  }[];
  stream?: boolean;
  stream_options?: { include_usage?: boolean };
  [key: string]: unknown;
}

/** An error response in OpenAI's format. */
export class RefusalError extends Error {
  override readonly name = "Refusal";

  constructor(
    readonly status: number,
    message: string,
    readonly param: string | null = null,
    readonly code: string | null = null,
  ) {
    super(message);
  }

  get body() {
    const type =
      this.status >= 500 ? "server_error" : this.status === 429 ? "rate_limit_exceeded" : "invalid_request_error";
    return { error: { message: this.message, type, param: this.param, code: this.code } };
  }
}

type Fields = Record<string, unknown>;
type Check = (value: unknown, body: Fields) => boolean;

const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const isText = (value: unknown): value is string => typeof value === "string";
const isBoolean: Check = (value) => typeof value === "boolean";
const isCount: Check = (value) => Number.isInteger(value) && Number(value) > 0;
const within =
  (low: number, high: number): Check =>
  (value) =>
    typeof value === "number" && value >= low && value <= high;
const toolName = /^[a-zA-Z0-9_-]{1,64}$/;

/** All known parameters; others are rejected, as OpenAI does. */
const parameters: Record<string, Check> = {
  model: (value) => isText(value) && value !== "",
  messages: (value) => Array.isArray(value) && value.length > 0,
  tools: (value) => Array.isArray(value) && value.length > 0,
  tool_choice: (value, body) => Array.isArray(body.tools) && isToolChoice(value, body.tools),
  parallel_tool_calls: (value, body) => typeof value === "boolean" && Array.isArray(body.tools),
  stream: isBoolean,
  stream_options: (value, body) =>
    body.stream === true && isFields(value) && (value.include_usage ?? true) === Boolean(value.include_usage ?? true),
  temperature: within(0, 2),
  top_p: within(0, 1),
  frequency_penalty: within(-2, 2),
  presence_penalty: within(-2, 2),
  max_tokens: isCount,
  max_completion_tokens: isCount,
  n: (value) => value === 1,
  seed: (value) => Number.isInteger(value),
  stop: (value) => isText(value) || (Array.isArray(value) && value.length <= 4 && value.every(isText)),
  user: isText,
  logprobs: isBoolean,
  response_format: (value) => isFields(value) && ["text", "json_object", "json_schema"].includes(String(value.type)),
  reasoning_effort: (value) => ["none", "minimal", "low", "medium", "high", "xhigh"].includes(String(value)),
  metadata: isFields,
  store: isBoolean,
  service_tier: isText,
};

/** Throws a `Refusal` unless `body` is a request that OpenAI would accept. `extra` names further parameters to allow. */
export function assertChat(body: unknown, extra: readonly string[] = []): asserts body is ChatBody {
  if (!isFields(body))
    throw new RefusalError(400, "We could not parse the JSON body of your request: expected an object.");
  for (const required of ["model", "messages"]) {
    if (body[required] === undefined) {
      throw new RefusalError(400, `Missing required parameter: '${required}'.`, required, "missing_required_parameter");
    }
  }
  for (const [name, value] of Object.entries(body)) {
    const check = parameters[name];
    if (extra.includes(name)) continue;
    if (!check) throw new RefusalError(400, `Unrecognized request argument supplied: ${name}`, name);
    if (!check(value, body)) {
      throw new RefusalError(
        400,
        `Invalid value for '${name}': ${JSON.stringify(value)?.slice(0, 80)}.`,
        name,
        "invalid_value",
      );
    }
  }
  checkTools(body.tools);
  checkMessages(body.messages);
}

function isToolChoice(value: unknown, tools: unknown[]): boolean {
  if (value === "none" || value === "auto" || value === "required") return true;
  if (!isFields(value) || value.type !== "function" || !isFields(value.function)) return false;
  const { name } = value.function;
  return tools.some((tool) => isFields(tool) && isFields(tool.function) && tool.function.name === name);
}

function checkTools(tools: unknown): void {
  if (!Array.isArray(tools)) return;
  const names = new Set<string>();
  for (const [index, tool] of tools.entries()) {
    const at = `tools[${index}]`;
    const definition =
      isFields(tool) && tool.type === "function" && isFields(tool.function) ? tool.function : undefined;
    if (!definition) throw new RefusalError(400, `Invalid value for '${at}': expected a function tool.`, at);
    const { name, description, parameters: schema, strict } = definition;
    if (!isText(name) || !toolName.test(name)) {
      throw new RefusalError(
        400,
        `Invalid '${at}.function.name': it must match ${toolName.source}.`,
        `${at}.function.name`,
      );
    }
    if (names.has(name)) throw new RefusalError(400, `Tool names must be unique: ${name}.`, `${at}.function.name`);
    names.add(name);
    const good =
      (description === undefined || isText(description)) &&
      (schema === undefined || (isFields(schema) && schema.type === "object")) &&
      (strict === undefined || strict === null || typeof strict === "boolean");
    if (!good) throw new RefusalError(400, `Invalid schema for function '${name}'.`, `${at}.function.parameters`);
  }
}

function checkMessages(messages: unknown): void {
  if (!Array.isArray(messages)) return;
  /** Calls of the last assistant message without a result yet; their results must come before any other message. */
  let open = new Set<string>();
  for (const [index, message] of messages.entries()) {
    const at = `messages[${index}]`;
    const bad = (what: string, param = at) => new RefusalError(400, `Invalid '${at}': ${what}`, param, "invalid_value");
    if (!isFields(message)) throw bad("expected an object.");
    if (message.name !== undefined && !isText(message.name)) throw bad("'name' must be a string.", `${at}.name`);
    if (message.role === "tool") {
      if (!isText(message.tool_call_id)) throw bad("missing 'tool_call_id'.", `${at}.tool_call_id`);
      if (!open.delete(message.tool_call_id)) {
        throw new RefusalError(
          400,
          "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
          `${at}.role`,
        );
      }
    } else if (open.size > 0) {
      throw unanswered(open, at);
    }
    switch (message.role) {
      case "system":
      case "developer":
      case "user":
      case "tool":
        if (!isContent(message.content, message.role === "user")) throw bad("bad 'content'.", `${at}.content`);
        if (message.tool_calls !== undefined) throw bad("only an assistant has 'tool_calls'.", `${at}.tool_calls`);
        break;
      case "assistant":
        open = callsOf(message, at);
        if (!isContent(message.content) && !(open.size > 0 && (message.content ?? null) === null)) {
          throw bad("an assistant's message needs 'content' or 'tool_calls'.", `${at}.content`);
        }
        break;
      default:
        throw new RefusalError(
          400,
          `Invalid value: '${message.role}'. Supported values are: 'system', 'assistant', 'user', 'tool', and 'developer'.`,
          `${at}.role`,
          "invalid_value",
        );
    }
  }
  if (open.size > 0) throw unanswered(open, `messages[${messages.length - 1}]`);
}

function unanswered(open: Set<string>, at: string): RefusalError {
  const text =
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'.";
  return new RefusalError(400, `${text} The following did not have responses: ${[...open].join(", ")}`, at);
}

function callsOf(message: Fields, at: string): Set<string> {
  const ids = new Set<string>();
  if (message.tool_calls === undefined) return ids;
  const calls = message.tool_calls;
  if (!Array.isArray(calls) || calls.length === 0) {
    throw new RefusalError(400, `Invalid '${at}.tool_calls': expected a non-empty array.`, `${at}.tool_calls`);
  }
  for (const call of calls) {
    const good =
      isFields(call) &&
      isText(call.id) &&
      call.id !== "" &&
      !ids.has(call.id) &&
      call.type === "function" &&
      isFields(call.function) &&
      isText(call.function.name) &&
      toolName.test(call.function.name) &&
      isJson(call.function.arguments);
    if (!good) throw new RefusalError(400, `Invalid '${at}.tool_calls': ${Bun.inspect(call)}`, `${at}.tool_calls`);
    ids.add(String(call.id));
  }
  return ids;
}

function isContent(content: unknown, images = false): boolean {
  if (isText(content)) return true;
  if (!Array.isArray(content) || content.length === 0) return false;
  return content.every((part: unknown) => {
    if (!isFields(part)) return false;
    if (part.type === "text") return isText(part.text);
    if (!images) return false;
    if (part.type === "image_url") return isFields(part.image_url) && isText(part.image_url.url);
    return (part.type === "input_audio" && isFields(part.input_audio)) || (part.type === "file" && isFields(part.file));
  });
}

function isJson(text: unknown): boolean {
  try {
    return isText(text) && isFields(JSON.parse(text));
  } catch {
    return false;
  }
}

/** The text of a message, with its parts joined. */
export function textOf(content: Content | null | undefined): string {
  if (typeof content === "string") return content;
  return (content ?? []).map((part) => part.text ?? "").join("");
}
