// Reads the list of an MCP server's tools, and keeps it within limits: it is written by a stranger, and models read it.
import type { Client } from "@modelcontextprotocol/client";
import { toStorableText } from "../../../src/kernel/util/text/storable-text.ts";
import { sha256Hex } from "../../../src/kernel/util/tokens.ts";
import type { ListedTool, OmittedTool } from "../server-store.ts";
import { toToolSchema } from "./tool-schema.ts";

/** Tools of one server that are stored, and so can be chosen from. */
const MAX_LISTED = 200;
const MAX_OMITTED = 50;
const MAX_NAME = 128;
export const MAX_DESCRIPTION = 1_024;
/** Characters of a tool's schema. */
const MAX_SCHEMA = 8_000;
/** Characters of all tools of a server. */
const MAX_LIST = 300_000;

type Listed = Awaited<ReturnType<Client["listTools"]>>["tools"][number];

export interface ToolList {
  tools: ListedTool[];
  omitted: OmittedTool[];
}

/**
 * @param former the last list of the same server: tools that differ from it are marked as changed
 * @param isVouchedFor tools that are marked as changed also if the last list did not have them: the server may have left one out to
 *   bring it back as another
 */
export function toToolList(
  listed: readonly Listed[],
  former: readonly ListedTool[] | undefined,
  isVouchedFor: (name: string) => boolean,
): ToolList {
  const before = new Map(former?.map((tool) => [tool.name, tool]));
  const tools = new Map<string, ListedTool>();
  const omitted: OmittedTool[] = [];
  let characters = 0;
  const omit = (name: string, reason: string) => {
    if (omitted.length < MAX_OMITTED)
      omitted.push({ name: toStorableText(name).slice(0, MAX_NAME).toWellFormed(), reason });
  };
  for (const one of listed) {
    if (one.name === "" || one.name.length > MAX_NAME) omit(one.name, "Its name is empty or too long.");
    else if (tools.has(one.name)) omit(one.name, "Another tool of this server has the same name.");
    else if (tools.size >= MAX_LISTED) omit(one.name, `Only the first ${MAX_LISTED} tools of a server are read.`);
    else {
      const isNew = former !== undefined && !before.has(one.name) && isVouchedFor(one.name);
      const tool = toListedTool(one, before.get(one.name), isNew);
      const schema = JSON.stringify(tool.inputSchema).length;
      const size = schema + tool.description.length;
      if (schema > MAX_SCHEMA) omit(one.name, "The description of its input is too long.");
      else if (characters + size > MAX_LIST) omit(one.name, "The descriptions of the tools before it are too long.");
      else {
        characters += size;
        tools.set(one.name, tool);
      }
    }
  }
  return { tools: [...tools.values()], omitted };
}

function toListedTool(
  { name, title, description, inputSchema, annotations }: Listed,
  before: ListedTool | undefined,
  isNew: boolean,
): ListedTool {
  const text = toStorableText(description ?? title ?? annotations?.title ?? "").trim();
  const tool = {
    name: toStorableText(name),
    description: text.length > MAX_DESCRIPTION ? `${text.slice(0, MAX_DESCRIPTION).toWellFormed()}…` : text,
    inputSchema: toToolSchema(inputSchema),
    readOnly: annotations?.readOnlyHint === true,
    ...(annotations?.idempotentHint === true && { idempotent: true }),
    destructive: annotations?.readOnlyHint !== true && annotations?.destructiveHint === true,
  };
  // Of the whole texts, so that a change behind the cut is noticed, too.
  const digest = sha256Hex(JSON.stringify([name, description, inputSchema]));
  const isChanged = isNew || (before !== undefined && (before.digest !== digest || before.changed === true));
  return { ...tool, digest, ...(isChanged && { changed: true }) };
}
