// Asks model sources: makes their request of a chat request, which all protocols under /v1 are translated to.
import { type AppError, invalidInput, unauthorized } from "../../../src/kernel/errors.ts";
import type { ApiCaller } from "../../ai/index.ts";
import type {
  AnswerPart,
  ContentPart,
  FunctionTool,
  SourceCaller,
  SourceMessage,
  SourceRequest,
} from "./model-source.ts";
import type { FoundSource } from "./model-sources.ts";

type Json = Readonly<Record<string, unknown>>;

/** A chat request, checked by `parseChatBody`. */
export interface SourceCall
  extends Pick<SourceRequest, "api" | "previous" | "signal" | "conversation" | "idempotencyKey"> {
  readonly found: FoundSource;
  readonly caller: ApiCaller;
  readonly body: object;
  readonly metadata: unknown;
}

/** Undefined for a caller without an account, for whom sources have nothing. */
export const toSourceCaller = ({ userId, isAdmin, address }: ApiCaller): SourceCaller | undefined =>
  userId === undefined ? undefined : { userId, isAdmin, address };

/** Throws 401 for a caller without an account, 400 for content and options that sources don't take, and what the source throws. */
export async function askSource({
  found,
  caller,
  body,
  metadata,
  ...rest
}: SourceCall): Promise<AsyncIterable<AnswerPart>> {
  const own = toSourceCaller(caller);
  if (!own) throw unauthorized("This model needs an account. Send an API key of Berth (Authorization: Bearer bk_…).");
  const { model, messages, tools, user, n, response_format: format } = body as Json;
  if (typeof n === "number" && n > 1) throw invalidInput({ path: "n", message: "This model gives one answer." });
  const { type: formatType = "text" } = Object(format) as Json;
  if (formatType !== "text") {
    const message = "This model answers in text. Say in the message which form you want.";
    throw invalidInput({ path: "response_format.type", message });
  }
  return found.source.open({
    ...rest,
    model: String(model),
    name: found.name,
    caller: own,
    messages: objectsIn(messages).map(toMessage),
    tools: objectsIn(tools).map(toTool),
    user: typeof user === "string" ? user : undefined,
    metadata: toMetadata(metadata),
  });
}

function toMessage(message: Json, index: number): SourceMessage {
  const { role, content, tool_call_id: callId, tool_calls: calls } = message;
  const path = `messages.${index}`;
  const parts = toContent(content, `${path}.content`);
  if (role === "tool" || role === "function")
    return { role: "tool", callId: String(callId ?? message.name), content: parts };
  if (role === "assistant") return { role, content: parts, calls: objectsIn(calls).map(toCall) };
  return { role: role === "user" ? "user" : "system", content: parts };
}

function toCall({ id, function: called }: Json) {
  const { name, arguments: text } = Object(called) as Json;
  return { id: String(id), name: String(name), arguments: typeof text === "string" ? text : "{}" };
}

function toTool({ function: tool }: Json, index: number): FunctionTool {
  const { name, description, parameters } = Object(tool) as Json;
  if (typeof name !== "string")
    throw invalidInput({ path: `tools.${index}`, message: "Only functions are taken here." });
  return { name, description: typeof description === "string" ? description : undefined, parameters };
}

function toContent(content: unknown, path: string): ContentPart[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return objectsIn(content).map((part, index) => toPart(part, `${path}.${index}`));
}

function toPart(part: Json, path: string): ContentPart {
  const { type } = part;
  if (type === "text") return { type, text: String(part.text ?? "") };
  if (type === "refusal") return { type: "text", text: String(part.refusal ?? "") };
  if (type === "image_url") {
    const { url } = Object(typeof part.image_url === "string" ? { url: part.image_url } : part.image_url) as Json;
    return toFile(url, path);
  }
  if (type === "input_audio") {
    const { data, format } = Object(part.input_audio) as Json;
    if (typeof data !== "string") throw notInline(path);
    return { type: "file", mediaType: format === "mp3" ? "audio/mpeg" : `audio/${String(format)}`, data };
  }
  if (type === "file") {
    const { file_data: data, filename } = Object(part.file) as Json;
    return { ...toFile(data, path), ...(typeof filename === "string" && { name: filename }) };
  }
  throw invalidInput({ path: `${path}.type`, message: "A part is text, image_url, input_audio or file." });
}

function toFile(url: unknown, path: string): Extract<ContentPart, { type: "file" }> {
  const found = typeof url === "string" ? /^data:([\w.+-]+\/[\w.+-]+)(?:;[\w=-]+)*;base64,/.exec(url) : null;
  if (!found?.[1] || typeof url !== "string") throw notInline(path);
  return { type: "file", mediaType: found[1], data: url.slice(found[0].length) };
}

const notInline = (path: string): AppError =>
  invalidInput({
    path,
    message: "Send the file itself, as a data: address in base64. Addresses are not fetched here.",
  });

/** OpenAI's metadata are texts; others are left out. */
function toMetadata(metadata: unknown): Record<string, string> {
  const entries = Object.entries(Object(metadata) as Json);
  return Object.fromEntries(entries.flatMap(([name, value]) => (typeof value === "string" ? [[name, value]] : [])));
}

const objectsIn = (list: unknown): Json[] =>
  Array.isArray(list) ? list.filter((one): one is Json => typeof one === "object" && one !== null) : [];
