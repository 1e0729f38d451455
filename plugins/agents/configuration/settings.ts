// Defines the known keys of an agent's configuration, and reads them into typed settings.
import type { ChannelId } from "../../../channels/port.ts";
import { mapChannels } from "../../../channels/registry.ts";
import type { Issue } from "../../../src/kernel/errors.ts";
import { MAX_SCHEDULES, type ScheduleSettings, schedule } from "./schedule-settings.ts";
import {
  boolean,
  httpUrl,
  InvalidSetting,
  listOf,
  listOrElse,
  mapOf,
  namesMappedTo,
  number,
  type OnUnknown,
  object,
  oneOf,
  positiveInteger,
  type Reader,
  readSwitch,
  reportUnknown,
  string,
  timezone,
  usdAmount,
} from "./value-readers.ts";

/** The largest configuration, in bytes. */
export const MAX_CONFIG_BYTES = 64 * 1024;

export interface ChannelSettings {
  /** Who may talk to the agent on this channel. Default: `owner` if it has owners, else `pairing`. */
  access?: "owner" | "pairing" | "allowlist" | "open";
  /** Ids of the platform, never user names, which people can change. */
  owners?: string[];
  allow?: string[];
  groups?: "mention" | "all" | "off";
}

export interface McpServerSettings {
  /** Streamable HTTP. Either this or `command` is given. */
  url?: string;
  headers?: ReadonlyMap<string, string>;
  /** stdio; only if the operator allows the command. */
  command?: string;
  args?: string[];
  /** The tools that the agent may use. Default: all. */
  tools?: string[];
  /** The tools of which the owner says that they only read: they run without approval. */
  reads?: string[];
  /** In whose conversations its tools are offered. Default: `owner`. */
  access?: "owner" | "everyone";
  enabled?: boolean;
}

/** The most MCP servers of an agent. */
const MAX_MCP_SERVERS = 20;
const MCP_SERVER_NAME = /^[A-Za-z0-9][A-Za-z0-9 ._-]{0,63}$/;

/** The known keys of a configuration, validated and converted. */
export interface AgentSettings {
  /** The model behind the choice `custom`, as `provider_N:id`. */
  model?: string;
  instructions?: string;
  /** 0 to 2. */
  temperature?: number;
  /** 0 to 1. */
  topP?: number;
  maxTokens?: number;
  /** Long-term memory. Default: on. */
  memory?: boolean;
  /** Whether a skill is on, by its id; other skills keep their default. */
  skills?: ReadonlyMap<string, boolean>;
  mcpServers?: ReadonlyMap<string, McpServerSettings>;
  channels?: Partial<Record<ChannelId, ChannelSettings>>;
  schedules?: ScheduleSettings[];
  /** In US dollars. */
  budget?: { usdPerDay?: number; usdPerMonth?: number };
  /** Whether a tool runs, waits for the owner's approval, or never runs, by its name. */
  approvals?: ReadonlyMap<string, Approval>;
  /** IANA name. */
  timezone?: string;
}

/** The settings that are in force. */
export interface CurrentSettings extends AgentSettings {
  /** The configuration came in an imported file, and the owner has not saved one since: its instructions taint turns. */
  readonly imported?: boolean;
}

export type Approval = "allow" | "ask" | "deny";

const channel = object({
  access: oneOf("owner", "pairing", "allowlist", "open"),
  owners: listOf(string(200, 1)),
  allow: listOf(string(200, 1)),
  groups: oneOf("mention", "all", "off"),
});

/** Names of headers and their values; a value may name a credential, as `${credential:KEY}`. */
const headers = mapOf(string(4_096));
const mcpServerFields = object({
  url: httpUrl,
  headers,
  command: string(1_000, 1),
  args: listOf(string(2_000)),
  tools: listOf(string(200, 1)),
  reads: listOf(string(200, 1)),
  access: oneOf("owner", "everyone"),
  enabled: boolean,
});
const mcpServer: Reader<McpServerSettings> = (value, path, onUnknown) => {
  const server = mcpServerFields(value, path, onUnknown);
  if ((server.url === undefined) === (server.command === undefined)) {
    throw new InvalidSetting(path, "An MCP server has either a url or a command.");
  }
  return server;
};
const mcpServers: Reader<ReadonlyMap<string, McpServerSettings>> = (value, path, onUnknown) => {
  const servers = mapOf(mcpServer)(value, path, onUnknown);
  if (servers.size > MAX_MCP_SERVERS) {
    throw new InvalidSetting(path, `An agent has at most ${MAX_MCP_SERVERS} MCP servers.`);
  }
  if ([...servers.keys()].some((name) => !MCP_SERVER_NAME.test(name))) {
    throw new InvalidSetting(path, "The name of an MCP server is 1 to 64 letters, digits, spaces, dots, - and _.");
  }
  return servers;
};

const READERS = {
  model: string(200, 1),
  instructions: string(MAX_CONFIG_BYTES),
  temperature: number(0, 2),
  topP: number(0, 1),
  maxTokens: positiveInteger,
  memory: readSwitch,
  skills: listOrElse(namesMappedTo(true), mapOf(readSwitch)),
  mcpServers,
  channels: (value, path, onUnknown) => object(mapChannels(() => channel))(value, path, onUnknown),
  schedules: listOf(schedule, MAX_SCHEDULES),
  budget: object({ usdPerDay: usdAmount, usdPerMonth: usdAmount }),
  approvals: listOrElse(namesMappedTo<Approval>("ask"), mapOf(oneOf("allow", "ask", "deny"))),
  timezone,
} satisfies { [Key in keyof AgentSettings]-?: Reader<NonNullable<AgentSettings[Key]>> };

/**
 * Reads the settings of a configuration. Known keys with a wrong value are left out and listed in `issues`; unknown keys
 * are ignored, and given to `onUnknown`.
 */
export function readSettings(config: object, onUnknown?: OnUnknown): { settings: AgentSettings; issues: Issue[] } {
  const settings: AgentSettings = {};
  const issues: Issue[] = [];
  for (const [key, reader] of Object.entries(READERS)) {
    if (!Object.hasOwn(config, key)) continue;
    try {
      Object.assign(settings, { [key]: reader(Reflect.get(config, key), key, onUnknown) });
    } catch (error) {
      if (!(error instanceof InvalidSetting)) throw error;
      issues.push({ path: error.path, message: error.message });
    }
  }
  if (onUnknown) reportUnknown(config, "", Object.keys(READERS), onUnknown);
  return { settings, issues };
}
