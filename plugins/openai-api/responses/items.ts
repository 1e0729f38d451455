// Translates items of /v1/responses into chat messages.
import { invalidInput } from "../../../src/kernel/errors.ts";

type Json = Readonly<Record<string, unknown>>;

export interface ChatMessage {
  role: string;
  content: string | null | object[];
  tool_calls?: object[];
  tool_call_id?: string;
}

/** Items of an earlier answer that no model has to see again: what it thought, and the tools that it ran by itself. */
const SKIPPED: readonly unknown[] = ["reasoning", "mcp_call", "mcp_list_tools", "mcp_approval_request"];

/** Throws 400 for an item that chat completions have no form for. `item_reference` must have been replaced. */
export function toChatMessages(items: readonly Json[]): ChatMessage[] {
  const messages: ChatMessage[] = [];
  for (const [index, item] of items.entries()) {
    const path = `input.${index}`;
    const { type = "message" } = item;
    if (SKIPPED.includes(type)) continue;
    if (type === "message") messages.push(toMessage(item, path));
    else if (type === "function_call") addCall(messages, item, path);
    else if (type === "function_call_output") messages.push(toResult(item, path));
    else
      throw invalidInput({
        path: `${path}.type`,
        message: `Items of the type ${JSON.stringify(type)} are not supported here.`,
      });
  }
  return messages;
}

function toMessage({ role, content }: Json, path: string): ChatMessage {
  if (typeof role !== "string") throw invalidInput({ path: `${path}.role`, message: "Name the role of the message." });
  if (typeof content === "string") return { role, content };
  if (!Array.isArray(content))
    throw invalidInput({ path: `${path}.content`, message: "The content is text, or a list of parts." });
  const parts = content.map((part: unknown, index) => toPart(Object(part) as Json, `${path}.content.${index}`));
  const texts = parts.map((part) => ("text" in part ? String(part.text) : undefined));
  // Many providers take lists only from users.
  if (role !== "user" || texts.length === 1) {
    if (texts.every((text) => text !== undefined)) return { role, content: texts.join("") };
  }
  return { role, content: parts };
}

function toPart(part: Json, path: string): object {
  const { type } = part;
  if (type === "input_text" || type === "output_text" || type === "text")
    return { type: "text", text: String(part.text ?? "") };
  if (type === "refusal") return { type: "text", text: String(part.refusal ?? "") };
  if (type === "input_image" && typeof part.image_url === "string") {
    const { image_url: url, detail } = part;
    return { type: "image_url", image_url: { url, ...(typeof detail === "string" && { detail }) } };
  }
  if (type === "input_file" && typeof part.file_data === "string") {
    const { file_data, filename } = part;
    return { type: "file", file: { file_data, ...(typeof filename === "string" && { filename }) } };
  }
  if (type === "input_audio") return { type, input_audio: part.input_audio };
  const message =
    "A part is input_text, output_text, input_image with image_url, input_file with file_data, or input_audio.";
  throw invalidInput({ path: `${path}.type`, message });
}

/** Calls belong to the assistant's message before them. */
function addCall(messages: ChatMessage[], { call_id: id, name, arguments: written }: Json, path: string): void {
  if (typeof id !== "string" || typeof name !== "string" || typeof written !== "string") {
    throw invalidInput({ path, message: "A function_call has call_id, name and arguments, all of them texts." });
  }
  const call = { id, type: "function", function: { name, arguments: written } };
  const last = messages.at(-1);
  if (last?.role === "assistant") last.tool_calls = [...(last.tool_calls ?? []), call];
  else messages.push({ role: "assistant", content: null, tool_calls: [call] });
}

function toResult({ call_id: id, output }: Json, path: string): ChatMessage {
  if (typeof id !== "string")
    throw invalidInput({ path: `${path}.call_id`, message: "Name the call that this is the output of." });
  if (typeof output === "string") return { role: "tool", tool_call_id: id, content: output };
  if (!Array.isArray(output))
    throw invalidInput({ path: `${path}.output`, message: "The output is text, or a list of input_text." });
  const texts = output.map((part: unknown, index) => {
    const { type, text } = Object(part) as Json;
    if (type === "input_text" && typeof text === "string") return text;
    throw invalidInput({ path: `${path}.output.${index}.type`, message: "The output of a function is text here." });
  });
  return { role: "tool", tool_call_id: id, content: texts.join("\n") };
}
