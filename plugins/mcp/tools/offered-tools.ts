// Chooses which tools of an agent's MCP servers models are offered, so that many servers don't fill a prompt.
import type { McpServerSettings } from "../../agents/index.ts";
import type { ToolClass } from "../../skills/index.ts";
import type { ListedTool, ServerRecord } from "../server-store.ts";

/** Of a server without a choice of tools in the configuration. */
export const MAX_TOOLS_UNCHOSEN = 20;
export const MAX_TOOLS = 40;
/** Characters of the definitions of all tools of an agent: about 10,000 tokens. */
export const MAX_CHARACTERS = 40_000;

/** The two tools that Berth adds for resources and prompts of a server. */
export const READ_RESOURCE = "read_resource";
export const GET_PROMPT = "get_prompt";

export interface OfferedTool extends ListedTool {
  class: ToolClass;
  /** Why models don't get it; undefined: they do. */
  omitted?: string;
}

export interface OfferedServer {
  name: string;
  settings: McpServerSettings;
  record: ServerRecord;
}

const own = (name: string, description: string, properties: Record<string, unknown>): ListedTool => ({
  name,
  description,
  inputSchema: { type: "object", properties },
  readOnly: true,
  destructive: false,
  digest: "",
});
const RESOURCE_TOOL = own(READ_RESOURCE, "Reads a resource of this server by its URI; without one, lists them.", {
  uri: { type: "string" },
});
const PROMPT_TOOL = own(GET_PROMPT, "Gets a prompt of this server by its name; without one, lists them.", {
  name: { type: "string" },
  arguments: { type: "object", additionalProperties: { type: "string" } },
});

/** The server's tools and those for its resources and prompts, unless it has tools of these names. */
function toolsOf({ tools, hasResources, hasPrompts }: ServerRecord): ListedTool[] {
  const added = [...(hasResources ? [RESOURCE_TOOL] : []), ...(hasPrompts ? [PROMPT_TOOL] : [])];
  return [...tools, ...added.filter(({ name }) => !tools.some((tool) => tool.name === name))];
}

/** Whether Berth answers a call of this tool by reading resources or prompts. */
export const isOwnTool = ({ tools }: ServerRecord, name: string) =>
  (name === READ_RESOURCE || name === GET_PROMPT) && !tools.some((tool) => tool.name === name);

/**
 * A server's word that a tool only reads would let its calls pass without approval, so only the owner's word counts, and
 * only for the tool that the owner has seen. Reading resources and prompts changes nothing by the protocol itself.
 */
function classOf(tool: ListedTool, { reads }: McpServerSettings, record: ServerRecord): ToolClass {
  if (isOwnTool(record, tool.name)) return "read";
  return reads?.includes(tool.name) && tool.changed !== true ? "read" : "outside";
}

/** All tools of all servers, in the order of the configuration. */
export function offerTools(servers: readonly OfferedServer[]): Map<string, OfferedTool[]> {
  let count = 0;
  let characters = 0;
  const result = new Map<string, OfferedTool[]>();
  for (const { name, settings, record } of servers) {
    let ofServer = 0;
    const omission = (tool: ListedTool): string | undefined => {
      if (settings.tools && !settings.tools.includes(tool.name)) return "The configuration does not choose it.";
      if (!settings.tools && ofServer >= MAX_TOOLS_UNCHOSEN) {
        return `The first ${MAX_TOOLS_UNCHOSEN} tools of a server are offered. Choose those that the agent needs.`;
      }
      if (count >= MAX_TOOLS)
        return `An agent is offered ${MAX_TOOLS} tools of its MCP servers. Choose fewer of others.`;
      const size = tool.name.length + tool.description.length + JSON.stringify(tool.inputSchema).length;
      if (characters + size > MAX_CHARACTERS) return "The descriptions of the tools before it are too long.";
      characters += size;
      ofServer++;
      count++;
      return undefined;
    };
    const tools = toolsOf(record).map((tool) => {
      const omitted = omission(tool);
      return { ...tool, class: classOf(tool, settings, record), ...(omitted !== undefined && { omitted }) };
    });
    result.set(name, tools);
  }
  return result;
}
