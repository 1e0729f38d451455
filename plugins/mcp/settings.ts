// The settings of MCP servers: the commands that agents may have started as servers.

import { parser } from "../../src/kernel/config/parsers.ts";
import { defineSettings } from "../../src/kernel/config/section.ts";
import { withDefault } from "../../src/kernel/config/variable.ts";

/** A command that the operator allows. */
export interface McpCommand {
  /** What a configuration names as its `command`. */
  name: string;
  command: string;
  /** The operator's arguments; undefined: the agent's configuration chooses them. */
  args: readonly string[] | undefined;
}

/** Parses `/usr/bin/server` and `files=/usr/bin/server /srv/files`, with commas between. */
const commands = parser(
  "a comma-separated list; each: a command, or `name=command argument …`",
  (text): McpCommand[] | undefined => {
    const entries = text.split(",").flatMap((entry) => entry.trim() || []);
    const parsed = entries.map(parseCommand);
    const names = parsed.map((one) => one?.name);
    return new Set(names).size === names.length && parsed.every((one) => one !== undefined) ? parsed : undefined;
  },
);

function parseCommand(entry: string): McpCommand | undefined {
  const [, name, line = entry] = /^([\w.-]{1,64})=(.+)$/.exec(entry) ?? [];
  const [command, ...args] = line.trim().split(/\s+/);
  if (!command || command.includes("=") || (name === undefined && args.length > 0)) return undefined;
  return { name: name ?? command, command, args: name === undefined ? undefined : args };
}

export const mcpSettings = defineSettings({
  name: "mcp",
  variables: {
    MCP_COMMANDS: withDefault(
      commands,
      "",
      "Commands that agents may have started as MCP servers over stdio. They run as the user of Berth. `name=command argument …` " +
        "fixes the arguments; of a command alone, each agent chooses them: name no interpreter and no `npx` like that.",
    ),
  },
  build: (v) => ({ commands: v.MCP_COMMANDS }),
});
