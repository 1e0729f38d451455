// Offers the tools of an agent's MCP servers as skills, one for each server, from what is stored of them.
import { createBoundedMap } from "../../../src/kernel/util/bounded-map.ts";
import { SECOND } from "../../../src/kernel/util/time.ts";
import { type Skill, type SkillSource, type Tool, toolDeclined } from "../../skills/index.ts";
import { CONNECT_TIMEOUT_MS } from "../connections/connection.ts";
import { CALL_TIMEOUT_MS, type McpService } from "../mcp-service.ts";
import type { ServerRecord } from "../server-store.ts";
import type { Target } from "../targets.ts";
import { isOwnTool, type OfferedTool, offerTools, READ_RESOURCE } from "./offered-tools.ts";
import { approvalGroupOf, toolNameOf } from "./tool-names.ts";
import { toOutput, toResourceOutput, toToolOutput } from "./tool-results.ts";

const MAX_CACHED_AGENTS = 1_000;
/** Of resources or prompts in a list for the model. */
const MAX_LISTED = 100;
const MAX_LISTED_TEXT = 200;

type Service = Pick<McpService, "records" | "checkLater" | "call">;
type Known = { target: Target; record: ServerRecord };

export function createMcpSkills(service: Service): SkillSource {
  /** The skills as last made, with what they were made of. */
  const made = createBoundedMap<{ from: string; skills: readonly Skill[] }>(MAX_CACHED_AGENTS);

  function toTool(agentId: string, { target: { name: server, settings }, record }: Known, tool: OfferedTool): Tool {
    return {
      name: toolNameOf(server, tool.name),
      description: tool.description,
      inputSchema: tool.inputSchema,
      class: tool.class,
      // Unlike the class, this rests on the server's word: a wrong one repeats only calls to this server.
      effect: tool.readOnly || tool.class === "read" ? "read" : tool.idempotent ? "idempotent" : "once",
      approvalGroup: approvalGroupOf(server),
      // Berth itself describes the tools for resources and prompts.
      vouched: isOwnTool(record, tool.name) || (settings.trusted === true && tool.changed !== true),
      ...(isOwnTool(record, tool.name) && { quotes: true, sends: sentTo }),
      ownerOnly: settings.access !== "everyone",
      timeoutMs: CONNECT_TIMEOUT_MS + CALL_TIMEOUT_MS + 5 * SECOND,
      summarize: (input) => `Use ${tool.name} of the MCP server ${server} with ${JSON.stringify(input)}`,
      execute: (input, { signal }) =>
        isOwnTool(record, tool.name)
          ? readOwn(agentId, server, tool.name, input, signal)
          : callTool(agentId, server, tool.name, input, signal),
    };
  }

  async function callTool(agentId: string, server: string, name: string, input: unknown, signal: AbortSignal) {
    const result = await service.call(
      agentId,
      server,
      // The input fits the tool's schema, which is that of an object.
      (client, options) => client.callTool({ name, arguments: input as Record<string, unknown> }, options),
      signal,
    );
    return toToolOutput(`${server} ${name}`, result);
  }

  async function readOwn(agentId: string, server: string, tool: string, input: unknown, signal: AbortSignal) {
    // Fits the schemas of these two tools.
    const { uri, name, arguments: args } = input as { uri?: string; name?: string; arguments?: Record<string, string> };
    if (tool === READ_RESOURCE) {
      if (uri === undefined) {
        const { resources } = await service.call(
          agentId,
          server,
          (client, o) => client.listResources(undefined, o),
          signal,
        );
        return toLines(resources.map((one) => [one.uri, one.title ?? one.name, one.description]));
      }
      return toResourceOutput(
        await service.call(agentId, server, (client, options) => client.readResource({ uri }, options), signal),
      );
    }
    if (name === undefined) {
      const { prompts } = await service.call(agentId, server, (client, o) => client.listPrompts(undefined, o), signal);
      return toLines(
        prompts.map((one) => [one.name, one.description, one.arguments?.map((argument) => argument.name).join(", ")]),
      );
    }
    const prompt = { name, ...(args && { arguments: args }) };
    const { messages } = await service.call(agentId, server, (client, o) => client.getPrompt(prompt, o), signal);
    return toOutput(messages.map(({ content }) => content)).text;
  }

  function toSkill(agentId: string, known: Known, offered: readonly OfferedTool[]): Skill {
    const { target, record } = known;
    const tools = offered.filter(({ omitted }) => omitted === undefined).map((tool) => toTool(agentId, known, tool));
    return {
      id: skillIdOf(target.name),
      name: target.name,
      description: `Tools of the MCP server ${target.name}`,
      category: "mcp",
      version: record.version,
      enabledByDefault: true,
      tools: () => tools,
      instructions() {
        // A server that did not work is looked at again while the turn goes on without it.
        service.checkLater(target, record);
        return "";
      },
    };
  }

  return {
    id: "mcp",
    untrusted: true,
    async skillsFor(agentId) {
      const records = await service.records(agentId);
      const known = records.flatMap(({ target, record }) => (record ? [{ target, record }] : []));
      if (known.length === 0) return NONE;
      const from = JSON.stringify(known.map(({ target, record }) => [target.settings, accessOf(record)]));
      const former = made.get(agentId);
      if (former?.from === from) return former.skills;
      const offered = offerTools(known.map(({ target, record }) => ({ ...target, record })));
      const skills = known.map((one) => toSkill(agentId, one, offered.get(one.target.name) ?? []));
      made.set(agentId, { from, skills });
      return skills;
    },
  };
}

const NONE: readonly Skill[] = [];

/** What a read of a resource or prompt tells the server beyond its name. A list tells nothing. */
function sentTo(input: unknown): string | undefined {
  const { uri, name, arguments: args } = input as { uri?: string; name?: string; arguments?: object };
  return args && Object.keys(args).length > 0 ? JSON.stringify([name, args]) : (uri ?? name);
}
export const skillIdOf = (server: string) => `mcp:${server}`;

/** What skills are made of, without the times that each check changes. */
const accessOf = ({ checkedAt: _, listedAt: __, ...rest }: ServerRecord) => rest;

function toLines(items: (string | undefined)[][]): string {
  if (items.length === 0) throw toolDeclined("The server has none.");
  const lines = items.slice(0, MAX_LISTED).map((parts) => parts.filter(Boolean).join(" – ").slice(0, MAX_LISTED_TEXT));
  const more = items.length > MAX_LISTED ? [`… and ${items.length - MAX_LISTED} more.`] : [];
  return [...lines, ...more].join("\n").toWellFormed();
}
