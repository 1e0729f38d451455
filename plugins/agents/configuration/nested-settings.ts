// Reads the settings that are objects: of a channel, an MCP server, an agent of another host, the chat on other sites.
import {
  boolean,
  check,
  described,
  httpUrl,
  InvalidSetting,
  listOf,
  mapOf,
  object,
  oneOf,
  type Reader,
  reader,
  string,
} from "./value-readers.ts";

const languageCode = check(
  { type: "string", pattern: "^[a-z]{2}$" },
  (value): value is string => typeof value === "string" && /^[a-z]{2}$/.test(value),
  "This must be a language as two small letters, such as en or de.",
);

/** A user's, chat's or group's id on a platform. */
const platformIds = listOf(string(200, 1));

export const CHANNEL = described(
  object({
    access: described(oneOf("owner", "pairing", "allowlist", "open"), {
      description:
        "Who may talk to the agent: only its owners; people whom an owner admits by a code; those in `allow`; or everybody. Left out: `owner` if the agent has owners there, else `pairing`.",
    }),
    owners: described(platformIds, {
      description: "The ids of the agent's owners on the platform. Never user names, which people can change.",
    }),
    allow: described(platformIds, {
      description: 'The ids of people who may talk to it with `"access": "allowlist"`.',
    }),
    groups: described(oneOf("mention", "all", "off"), {
      description: "When the agent answers in groups: if it is mentioned or answered, to every message, or never.",
      default: "mention",
    }),
  }),
  { title: "ChannelSettings", description: "Who may talk to the agent on a channel, and who owns it there." },
);

const headerValue = check(
  { type: "string", maxLength: 4_096, pattern: "^[\\t\\x20-\\x7e\\x80-\\xff]*$" },
  (value): value is string =>
    typeof value === "string" && value.length <= 4_096 && /^[\t\x20-\x7e\x80-\xff]*$/.test(value),
  "The value of a header is one line of at most 4096 characters, without emoji and letters outside of Latin-1.",
);
const HEADERS = mapOf(headerValue, {
  max: 50,
  tooMany: "At most 50 headers can be set.",
  names: /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/,
  invalidName: "The name of a header is 1 to 100 letters, digits and hyphens, without spaces.",
});

/** The most MCP servers of an agent. */
const MAX_MCP_SERVERS = 20;
const toolNames = listOf(string(200, 1));

const mcpServerFields = object({
  url: described(httpUrl, { description: "The address of a server that speaks streamable HTTP." }),
  headers: described(HEADERS, {
    description: `Names of headers and their values. A value may name a credential of the agent, as \`${"$"}{credential:KEY}\`.`,
  }),
  command: described(string(1_000, 1), {
    description: "In place of `url`: one of the operator's `MCP_COMMANDS` (stdio).",
  }),
  args: described(listOf(string(2_000)), { description: "Arguments of the command." }),
  tools: described(toolNames, {
    description: "The tools that the agent may use. Left out: the first 20 of the server.",
  }),
  reads: described(toolNames, {
    description: "The tools of which you know that they only read: they run without approval.",
  }),
  trusted: described(boolean, {
    description:
      "You answer for what the server says of its tools now, so that offering them taints no conversation. Their results do.",
    default: false,
  }),
  access: described(oneOf("owner", "everyone"), {
    description: "In whose conversations its tools are offered.",
    default: "owner",
  }),
  enabled: described(boolean, { description: "`false` switches the server off.", default: true }),
});
export type McpServerSettings = ReturnType<typeof mcpServerFields>;

const mcpServer = described(
  reader(
    () => ({ ...mcpServerFields.schema(), oneOf: [{ required: ["url"] }, { required: ["command"] }] }),
    (value, path, onUnknown): McpServerSettings => {
      const server = mcpServerFields(value, path, onUnknown);
      if ((server.url === undefined) === (server.command === undefined)) {
        throw new InvalidSetting(path, "An MCP server has either a url or a command.");
      }
      return server;
    },
  ),
  { title: "McpServer", description: "A server whose tools the agent uses." },
);

export const MCP_SERVERS = mapOf(mcpServer, {
  max: MAX_MCP_SERVERS,
  tooMany: `An agent has at most ${MAX_MCP_SERVERS} MCP servers.`,
  names: /^[A-Za-z0-9][A-Za-z0-9 ._-]{0,63}$/,
  invalidName: "The name of an MCP server is 1 to 64 letters, digits, spaces, dots, - and _.",
});

/** The most agents of other hosts that an agent may ask. */
const MAX_REMOTE_AGENTS = 20;

const remoteAgentFields = object({
  url: described(httpUrl, {
    description: "Its public address, or that of its card: one that answers by the A2A protocol.",
  }),
  headers: described(HEADERS, {
    description: `Names of headers and their values, for that host alone. A value may name a credential of the agent, as \`${"$"}{credential:KEY}\`.`,
  }),
  enabled: described(boolean, { description: "`false` switches it off.", default: true }),
});
export type RemoteAgentSettings = ReturnType<typeof remoteAgentFields>;

const remoteAgent = described(
  reader(
    () => ({ ...remoteAgentFields.schema(), required: ["url"] }),
    (value, path, onUnknown): RemoteAgentSettings & { url: string } => {
      const { url, ...rest } = remoteAgentFields(value, path, onUnknown);
      if (url === undefined) throw new InvalidSetting(path, "An agent of another host has a url.");
      return { ...rest, url };
    },
  ),
  { title: "RemoteAgent", description: "An agent of another host that the agent may ask." },
);

export const REMOTE_AGENTS = mapOf(remoteAgent, {
  max: MAX_REMOTE_AGENTS,
  tooMany: `An agent may ask at most ${MAX_REMOTE_AGENTS} agents of other hosts.`,
  names: /^[A-Za-z0-9][A-Za-z0-9 ._-]{0,63}$/,
  invalidName: "The name of an agent is 1 to 64 letters, digits, spaces, dots, - and _.",
});

export const TRANSCRIPTION = object({
  when: described(oneOf("needed", "always", "never"), {
    description:
      "`needed`: if the agent's model does not hear. `always`: also if it does, so that later turns know what was said. `never`: the agent says that it can't listen.",
    default: "needed",
  }),
  model: described(string(200, 1), {
    description:
      "The model that writes them down, as `provider_N:id`. Left out: the operator's, else the first that a provider of the agent or the operator is known to have.",
  }),
  language: described(languageCode, {
    description: "The language that is spoken, as two letters (ISO 639-1). Left out: the model finds it out.",
  }),
});

const spokenReplies = oneOf("never", "when spoken to", "always");
const voiceFields = object({
  replies: described(spokenReplies, {
    description: "When replies are spoken: never, in answer to a voice message, or always.",
    default: "never",
  }),
  model: described(string(200, 1), {
    description:
      "The model that speaks, as `provider_N:id`. Left out: the operator's, else the first that a provider of the agent or the operator is known to have.",
  }),
  voice: described(string(100, 1), {
    description: "The provider's name of the voice, such as `nova`. Left out: the usual one of the model.",
  }),
});

/** One of the words means the object with it. */
export const VOICE: Reader<ReturnType<typeof voiceFields>> = reader(
  () => ({ anyOf: [spokenReplies.schema(), voiceFields.schema()] }),
  (value, path, onUnknown) =>
    typeof value === "string" ? { replies: spokenReplies(value, path) } : voiceFields(value, path, onUnknown),
);

export const PICTURES = object({
  model: described(string(200, 1), {
    description:
      "The model that makes pictures, as `provider_N:id`. Left out: the operator's, else the first that a provider of the agent or the operator is known to have.",
  }),
});

/** The most sites that may show an agent's chat. */
const MAX_EMBED_ORIGINS = 20;
/**
 * An origin as browsers write it: https, or http on this machine to try it out. A policy can't name IPv6 addresses (CSP level 3,
 * section 2.3.1), so none is accepted.
 */
const ORIGIN =
  /^(?:https:\/\/[a-z0-9]([a-z0-9.-]*[a-z0-9])?|http:\/\/(?:localhost|127\.0\.0\.1))(?::[1-9][0-9]{0,4})?$/;
const origin = check(
  { type: "string", maxLength: 300, pattern: ORIGIN.source },
  (value): value is string => typeof value === "string" && value.length <= 300 && ORIGIN.test(value),
  "This must be the origin of a site, in small letters and without a path, like https://www.example.com.",
);
const COLOR = /^#[0-9a-fA-F]{6}$/;
const color = check(
  { type: "string", pattern: COLOR.source },
  (value): value is string => typeof value === "string" && COLOR.test(value),
  "This must be a colour as six hexadecimal digits, like #0b6e8a.",
);

export const EMBED = object({
  origins: described(listOf(origin, MAX_EMBED_ORIGINS), {
    description: "The sites that may show the chat: scheme, host and port of each. Left out or empty: none.",
    default: [],
  }),
  greeting: described(string(500), { description: "What visitors read before they write. Left out: nothing." }),
  accent: described(color, {
    description: "The colour of the button and of what visitors wrote. Left out: Berth's own.",
  }),
  theme: described(oneOf("auto", "light", "dark"), {
    description: "Light or dark; `auto` follows the visitor's system.",
    default: "auto",
  }),
});
