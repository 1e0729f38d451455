// Translates messages of Anthropic's API, whose content is a list of blocks, into chat messages.
import { invalidInput } from "../../../src/kernel/errors.ts";

type Json = Readonly<Record<string, unknown>>;
interface ChatMessage {
  role: string;
  content: unknown;
  tool_calls?: object[];
  tool_call_id?: string;
}

/** Blocks of an earlier answer that no model has to see again: what it thought, and the tools that it ran by itself. */
const SKIPPED: readonly unknown[] = ["thinking", "redacted_thinking", "mcp_tool_use", "mcp_tool_result"];

/** Throws 400 for a block that chat completions have no form for. */
export function toChatMessages(messages: readonly unknown[]): ChatMessage[] {
  return messages.flatMap((message, index) => {
    const { role, content } = Object(message) as Json;
    const path = `messages.${index}`;
    if (role !== "user" && role !== "assistant" && role !== "system") {
      throw invalidInput({ path: `${path}.role`, message: "A role is user or assistant." });
    }
    if (typeof content === "string") return [{ role, content }];
    if (!Array.isArray(content))
      throw invalidInput({ path: `${path}.content`, message: "The content is text, or a list of blocks." });
    const blocks = content.map((block: unknown) => Object(block) as Json);
    if (role === "system") return [{ role, content: toText(content, `${path}.content`) }];
    return role === "assistant" ? ofAssistant(blocks, path) : ofUser(blocks, path);
  });
}

/** The text of a list of text blocks, or of a text. Throws 400 for other blocks. */
export function toText(content: unknown, path: string): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) throw invalidInput({ path, message: "Give a text, or a list of text blocks." });
  const texts = content.map((block: unknown, index) => {
    const { type, text } = Object(block) as Json;
    if (type === "text" && typeof text === "string") return text;
    throw invalidInput({ path: `${path}.${index}.type`, message: "Only text is taken here." });
  });
  return texts.join("\n");
}

function ofAssistant(blocks: readonly Json[], path: string): ChatMessage[] {
  let text = "";
  const calls: object[] = [];
  for (const [index, block] of blocks.entries()) {
    const { type } = block;
    if (SKIPPED.includes(type)) continue;
    if (type === "text") text += String(block.text ?? "");
    else if (type === "tool_use") {
      const called = { name: block.name, arguments: JSON.stringify(block.input ?? {}) };
      calls.push({ id: block.id, type: "function", function: called });
    } else throw unsupported(type, `${path}.content.${index}`);
  }
  if (text === "" && calls.length === 0) return [];
  return [{ role: "assistant", content: text || null, ...(calls.length > 0 && { tool_calls: calls }) }];
}

/** Results of tools become messages of their own, before the rest. */
function ofUser(blocks: readonly Json[], path: string): ChatMessage[] {
  const results: ChatMessage[] = [];
  const parts: object[] = [];
  for (const [index, block] of blocks.entries()) {
    const at = `${path}.content.${index}`;
    if (block.type !== "tool_result") {
      parts.push(toPart(block, at));
      continue;
    }
    const { text, pictures } = toResult(block, at);
    results.push({ role: "tool", tool_call_id: String(block.tool_use_id), content: text });
    // A chat message with a result has no pictures.
    parts.push(...pictures);
  }
  if (parts.length === 0) return results;
  const [only, ...more] = parts;
  const content = more.length === 0 && only && "text" in only ? only.text : parts;
  return [...results, { role: "user", content }];
}

function toResult({ content, is_error: isError }: Json, path: string): { text: string; pictures: object[] } {
  const blocks: Json[] = Array.isArray(content) ? content : [];
  const texts = typeof content === "string" ? [content] : [];
  const pictures: object[] = [];
  for (const [index, block] of blocks.entries()) {
    const part = toPart(Object(block) as Json, `${path}.content.${index}`);
    if ("text" in part) texts.push(String(part.text));
    else pictures.push(part);
  }
  const text = texts.join("\n") || (pictures.length > 0 ? "The result follows as a file." : "");
  return { text: isError === true ? `Error: ${text}` : text, pictures };
}

function toPart(block: Json, path: string): object {
  const { type, source, title } = block;
  if (type === "text") return { type: "text", text: String(block.text ?? "") };
  const { type: kind, media_type: mediaType, data, url } = Object(source) as Json;
  if (type === "image") {
    if (kind === "base64")
      return { type: "image_url", image_url: { url: `data:${String(mediaType)};base64,${String(data)}` } };
    if (kind === "url") return { type: "image_url", image_url: { url } };
  }
  if (type === "document") {
    if (kind === "text") return { type: "text", text: String(data) };
    if (kind === "base64") {
      const filename = typeof title === "string" ? title : "document.pdf";
      return { type: "file", file: { filename, file_data: `data:${String(mediaType)};base64,${String(data)}` } };
    }
  }
  throw unsupported(type, path);
}

const unsupported = (type: unknown, path: string) =>
  invalidInput({
    path: `${path}.type`,
    message: `Blocks of the type ${JSON.stringify(type)} with this source are not supported here.`,
  });
