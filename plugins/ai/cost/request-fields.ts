// Finds what in an API request may cost more than is reserved for it, by lists of what may not.
import { AppError, invalidInput } from "../../../src/kernel/errors.ts";
import { duplicateKey } from "../../../src/kernel/util/json-text.ts";
import { commonChatFields, embeddingFields } from "../providers/definitions/request-fields.ts";
import type { FieldRule, InputModality, ProviderDefinition } from "../providers/provider.ts";

type Json = Readonly<Record<string, unknown>>;

/** Keys of a message; the provider bills their text as tokens. */
const MESSAGE_KEYS: ReadonlySet<string> = new Set([
  ...["role", "content", "name", "tool_calls", "tool_call_id", "function_call", "refusal", "annotations"],
  ...["reasoning", "reasoning_content", "reasoning_details", "extra_content"],
  "cache_control",
]);
/** Keys of a tool or of a part of a message, beside the one that its type names. */
const TYPED_KEYS: ReadonlySet<string> = new Set(["type", "cache_control"]);
/** Tools that the caller runs; those that the provider runs cost extra. */
const CALLER_TOOLS: readonly unknown[] = ["function", "custom"];
/** Kinds of files by the type of the part that holds one. */
const FILE_PARTS: Readonly<Record<string, InputModality>> = { image_url: "image", input_audio: "audio", file: "pdf" };
const TEXT_PARTS: readonly unknown[] = ["text", "refusal"];

/** Throws 400 if an object has one key twice: the provider could read another one than was checked. */
export function refuseDuplicateKeys(text: string, body: object): void {
  const key = duplicateKey(text, body);
  if (key === undefined) return;
  throw invalidInput({ path: key.slice(0, 100), message: "Send this field once: an object has it twice." });
}

/** The path of the first field of a chat request that may cost extra at this provider; undefined if none does. */
export function findPaidChatField(request: object, definition: ProviderDefinition): string | undefined {
  const body = request as Json;
  const { chatFields = {} } = definition;
  const ruleOf = (name: string) => ownValue(chatFields, name) ?? ownValue(commonChatFields, name);
  return (
    findField(body, ruleOf) ??
    findInList(body.messages, "messages", (message) => findInMessage(message, definition)) ??
    findInList(body.tools, "tools", findInTool)
  );
}

/** The path of the first field of an embeddings request that may cost extra. */
export const findPaidEmbeddingsField = (body: Json): string | undefined =>
  findField(body, (name) => ownValue(embeddingFields, name));

/** 400: the field may cost extra, and the caller's budget is limited. */
export function paidFieldError(field: string, { label }: Pick<ProviderDefinition, "label">): AppError {
  const name = field.slice(0, 100);
  const message =
    name === "model"
      ? `${label} may charge extra for this form of the model ("model"). Name one that is in the list of models.`
      : `${label} may charge extra for "${name}", so it is not passed on. Leave it out, or use a key of your own at the provider.`;
  return new AppError(400, "UNSUPPORTED_FIELD", message, { field: name });
}

const ownValue = <Value>(record: Readonly<Record<string, Value>>, key: string) =>
  Object.hasOwn(record, key) ? record[key] : undefined;

function findField(body: Json, ruleOf: (name: string) => FieldRule | undefined): string | undefined {
  for (const name in body) if (body[name] !== null && !ruleOf(name)?.(body[name])) return name;
  return undefined;
}

/** Items that are no objects are left to the provider, which refuses them. */
function findInList(list: unknown, path: string, find: (item: Json) => string | undefined): string | undefined {
  if (!Array.isArray(list)) return undefined;
  for (const [index, item] of list.entries()) {
    const found = typeof item === "object" && item !== null ? find(item as Json) : undefined;
    if (found !== undefined) return `${path}.${index}.${found}`;
  }
  return undefined;
}

function findInMessage(message: Json, definition: ProviderDefinition): string | undefined {
  for (const key in message) if (!MESSAGE_KEYS.has(key)) return key;
  return findInList(message.content, "content", (part) => findInPart(part, definition));
}

function findInPart(part: Json, { capabilities }: ProviderDefinition): string | undefined {
  const { type } = part;
  const kind = typeof type === "string" ? ownValue(FILE_PARTS, type) : undefined;
  if (kind ? !capabilities.modalities.includes(kind) : !TEXT_PARTS.includes(type)) return "type";
  for (const key in part) if (key !== type && !TYPED_KEYS.has(key)) return key;
  return kind === "pdf" && !isInlinePdf(part.file) ? "file" : undefined;
}

/** A PDF in the request itself: a file elsewhere may be of any kind. */
const isInlinePdf = (file: unknown) => {
  const { file_data: data, file_id: id } = Object(file) as Json;
  return typeof data === "string" && data.startsWith("data:application/pdf;") && id === undefined;
};

function findInTool(tool: Json): string | undefined {
  const { type } = tool;
  if (!CALLER_TOOLS.includes(type)) return "type";
  for (const key in tool) if (key !== type && !TYPED_KEYS.has(key)) return key;
  return undefined;
}
