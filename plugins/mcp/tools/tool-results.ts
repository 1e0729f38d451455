// Turns the result of an MCP call into text and files for the model.
import type { CallToolResult, ContentBlock, ReadResourceResult } from "@modelcontextprotocol/client";
import { oneLine } from "../../../src/kernel/util/text/quoted-text.ts";
import { type Json, type ToolFile, ToolOutput, toolDeclined, wrapUntrusted } from "../../skills/index.ts";

const MAX_FILES = 4;
/** Characters of base64 of one file. */
const MAX_FILE = 4_000_000;
/** More than reaches the model, which is told how much was cut. */
const MAX_TEXT = 200_000;
const MAX_ERROR = 2_000;

/** The output of a call. Throws the server's words, marked as from outside, if the call has failed. */
export function toToolOutput(tool: string, { content, structuredContent, isError }: CallToolResult): Json | ToolOutput {
  const output = toOutput(content);
  // Servers put the same into a text for clients that know only texts.
  const text = output.text === "" && structuredContent ? JSON.stringify(structuredContent) : output.text;
  if (isError === true)
    throw toolDeclined(wrapUntrusted(tool, (text || "It failed.").slice(0, MAX_ERROR).toWellFormed()));
  return output.files.length === 0 ? text : new ToolOutput(text, output.files);
}

export function toResourceOutput({ contents }: ReadResourceResult): Json | ToolOutput {
  const { text, files } = toOutput(contents.map((resource) => ({ type: "resource", resource })));
  return files.length === 0 ? text : new ToolOutput(text, files);
}

/** The parts as one text, with notes in place of files, which follow beside it. */
export function toOutput(content: readonly ContentBlock[]): { text: string; files: ToolFile[] } {
  const files: ToolFile[] = [];
  const addFile = (mediaType: string, data: string, what: string) => {
    if (data.length > MAX_FILE) return `[${what} was left out: it is too large.]`;
    if (files.length >= MAX_FILES) return `[${what} was left out: only ${MAX_FILES} files are shown.]`;
    files.push({ mediaType, data });
    return `[${what}: file ${files.length}]`;
  };
  const parts = content.map((part) => {
    if (part.type === "text") return part.text;
    if (part.type === "image") return addFile(part.mimeType, part.data, "A picture");
    if (part.type === "audio") return addFile(part.mimeType, part.data, "A recording");
    if (part.type === "resource_link") return `[${oneLine(part.name)}: ${oneLine(part.uri)}]`;
    const { resource } = part;
    const name = oneLine(resource.uri);
    if ("text" in resource) return `[${name}]\n${resource.text}`;
    return addFile(resource.mimeType ?? "", resource.blob, name);
  });
  return { text: parts.join("\n\n").slice(0, MAX_TEXT), files };
}
