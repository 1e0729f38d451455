// Encodes requests of text alone. What a request holds besides its messages is taken from one that the SDK has encoded, since
// it depends on the model in ways that only the SDK knows, and is the same for all turns with these tools and settings.
import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
} from "@ai-sdk/provider";
import { createBoundedMap } from "../../../src/kernel/util/bounded-map.ts";
import type { Fetch } from "../providers/providers.ts";

/** The client of a model that sends its requests by this function. */
export type OpenModel = (send: Fetch) => LanguageModelV4;

export interface EncodedRequest {
  url: string;
  /** Without the signal. */
  init: RequestInit & { body: string };
}

interface Template {
  url: string;
  init: RequestInit;
  /** The body before and after its messages. */
  before: string;
  after: string;
  /** The role in which this model gets instructions; undefined if it takes none. */
  systemRole: string | undefined;
  tools: LanguageModelV4CallOptions["tools"];
}

/** Stands for the messages in the request that the SDK encodes. */
const MARK = "the-messages-of-a-turn";
const MARKED: LanguageModelV4Prompt = [
  { role: "system", content: MARK },
  { role: "user", content: [{ type: "text", text: MARK }] },
];
const KNOWN_OPTIONS = new Set([
  "prompt",
  "tools",
  "toolChoice",
  "temperature",
  "topP",
  "maxOutputTokens",
  "abortSignal",
]);
const EMPTY_COMPLETION = {
  choices: [{ index: 0, message: { role: "assistant", content: "" }, finish_reason: "stop" }],
};
/** Combinations of tools and settings that are kept for a client. */
const MAX_TEMPLATES = 50;

/** Encodes the requests of one model. The result is undefined for what it does not know, which is the SDK's. */
export function createRequestEncoder(open: OpenModel) {
  const templates = createBoundedMap<Template>(MAX_TEMPLATES);

  async function templateFor(options: LanguageModelV4CallOptions): Promise<Template | undefined> {
    const key = keyOf(options);
    const known = templates.get(key);
    if (known && hasTools(known, options.tools)) return known;
    const made = await makeTemplate(open, options);
    if (made) templates.set(key, made);
    return made;
  }

  return async (options: LanguageModelV4CallOptions): Promise<EncodedRequest | undefined> => {
    for (const name in options) if (!KNOWN_OPTIONS.has(name)) return undefined;
    const template = await templateFor(options);
    if (!template) return undefined;
    const { url, init, before, after, systemRole } = template;
    const messages = encodeMessages(options.prompt, systemRole);
    return messages === undefined ? undefined : { url, init: { ...init, body: before + messages + after } };
  };
}

const keyOf = ({ tools = [], toolChoice, temperature, topP, maxOutputTokens }: LanguageModelV4CallOptions) =>
  `${tools.map(({ name }) => name)} ${JSON.stringify(toolChoice)} ${temperature} ${topP} ${maxOutputTokens}`;

/** Whether these are the very tools of the template: others may have the same names. */
const hasTools = (template: Template, tools: LanguageModelV4CallOptions["tools"]) =>
  template.tools?.length === tools?.length && (tools ?? []).every((tool, n) => tool === template.tools?.[n]);

async function makeTemplate(open: OpenModel, options: LanguageModelV4CallOptions): Promise<Template | undefined> {
  let sent: { url: string; init: RequestInit } | undefined;
  const model = open(async (url, init) => {
    sent = { url, init };
    return Response.json(EMPTY_COMPLETION);
  });
  const { abortSignal: _, ...others } = options;
  await model.doGenerate({ ...others, prompt: MARKED });
  if (typeof sent?.init.body !== "string") return undefined;
  const { url, init } = sent;
  const { messages } = JSON.parse(sent.init.body) as { messages: { role: string }[] };
  const [before, after, ...more] = sent.init.body.split(JSON.stringify(messages));
  if (before === undefined || after === undefined || more.length > 0) return undefined;
  const systemRole = messages.length > 1 ? messages[0]?.role : undefined;
  return { url, init, before, after, systemRole, tools: options.tools };
}

/** The messages as a JSON text; undefined if one has files or what only some providers know. */
function encodeMessages(prompt: LanguageModelV4Prompt, systemRole: string | undefined): string | undefined {
  const encoded: object[] = [];
  for (const message of prompt) {
    if (message.providerOptions) return undefined;
    if (message.role === "system") {
      if (systemRole !== undefined) encoded.push({ role: systemRole, content: message.content });
      continue;
    }
    const parts = message.content.every(isPlain) && encodeMessage(message);
    if (!parts) return undefined;
    encoded.push(...parts);
  }
  return JSON.stringify(encoded);
}

const isPlain = (part: { providerOptions?: unknown }) => part.providerOptions === undefined;

function encodeMessage(message: Exclude<LanguageModelV4Message, { role: "system" }>): object[] | undefined {
  if (message.role === "user") {
    const [part, ...more] = message.content;
    return part?.type === "text" && more.length === 0 ? [{ role: "user", content: part.text }] : undefined;
  }
  if (message.role === "tool") {
    const results: object[] = [];
    for (const part of message.content) {
      const output = part.type === "tool-result" ? part.output : undefined;
      if (part.type !== "tool-result" || (output?.type !== "text" && output?.type !== "error-text")) return undefined;
      if (output.providerOptions) return undefined;
      const content = output.type === "text" ? output.value : JSON.stringify({ error: output.value });
      results.push({ role: "tool", tool_call_id: part.toolCallId, content });
    }
    return results;
  }
  let text = "";
  const calls: object[] = [];
  for (const part of message.content) {
    if (part.type === "text") text += part.text;
    else if (part.type === "tool-call" && typeof part.input === "object") {
      const call = { name: part.toolName, arguments: JSON.stringify(part.input) };
      calls.push({ id: part.toolCallId, type: "function", function: call });
    } else return undefined;
  }
  if (calls.length === 0) return [{ role: "assistant", content: text }];
  return [{ role: "assistant", content: text || null, tool_calls: calls }];
}
