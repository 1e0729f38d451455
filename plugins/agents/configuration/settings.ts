// Defines the known keys of an agent's configuration: one row for each, with its rules, description and examples.
// The rows validate configurations, type the settings, and are the schema in the API document and docs/agents.md.
import type { ChannelId } from "../../../channels/port.ts";
import { mapChannels } from "../../../channels/registry.ts";
import type { Issue } from "../../../src/kernel/errors.ts";
import { CHANNEL, EMBED, MCP_SERVERS, PICTURES, REMOTE_AGENTS, TRANSCRIPTION, VOICE } from "./nested-settings.ts";
import { MAX_SCHEDULES, schedule } from "./schedule-settings.ts";
import {
  deferred,
  described,
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

export type Approval = "allow" | "ask" | "deny";
export type ChannelSettings = ReturnType<typeof CHANNEL>;

/** The known keys, in the order in which they are documented. */
export const SETTINGS = {
  instructions: described(string(MAX_CONFIG_BYTES), {
    description:
      "What the agent is told before every conversation: who it is, what it knows, how it answers. It is the first part of each prompt.",
    examples: ["You are the harbour's assistant. Answer in two sentences."],
  }),
  model: described(string(200, 1), {
    description:
      "The model behind the choice `custom`, as `provider_N:id`; `GET /api/ai/models` lists the ids. An id that no list has yet is accepted.",
    examples: ["provider_1:openai/gpt-4o-mini"],
  }),
  temperature: described(number(0, 2), {
    description:
      "How freely the model chooses its words: low for facts, high for ideas. Left out: the provider's default.",
    examples: [0.7],
  }),
  topP: described(number(0, 1), {
    description:
      "Nucleus sampling: the share of the likeliest words that the model chooses from. Change this or `temperature`, not both.",
    examples: [0.9],
  }),
  maxTokens: described(positiveInteger, {
    description: "The longest answer of one model call, in tokens. Longer answers are cut off there.",
    examples: [800],
  }),
  memory: described(readSwitch, {
    description: "Long-term memory: whether the agent keeps facts and finds them again in later conversations.",
    examples: [true],
    default: true,
  }),
  skills: described(listOrElse(namesMappedTo(true), mapOf(readSwitch)), {
    description:
      "Which skills are on, by their id from `GET /api/skills`. Skills that are not named keep their own default. A list switches all that it names on.",
    examples: [{ "web-fetch": true, reminder: false }],
  }),
  mcpServers: described(MCP_SERVERS, {
    description: "Servers whose tools the agent uses, by a name of your choice: see docs/mcp.md.",
    examples: [
      {
        docs: {
          url: "https://docs.example.com/mcp",
          headers: { Authorization: `Bearer ${"$"}{credential:DOCS_TOKEN}` },
          reads: ["search"],
        },
      },
    ],
  }),
  remoteAgents: described(REMOTE_AGENTS, {
    description: "Agents of other hosts that the agent may ask, by a name of your choice: see docs/a2a.md.",
    examples: [{ tides: { url: "https://tides.example.com/a/tides" } }],
  }),
  channels: described(
    deferred((): Reader<Partial<Record<ChannelId, ChannelSettings>>> => object(mapChannels(() => CHANNEL))),
    {
      description: "Who may talk to the agent on each channel, and who owns it there: see docs/channels.md.",
      examples: [{ channel_a: { access: "allowlist", owners: ["42"], allow: ["43", "44"], groups: "mention" } }],
    },
  ),
  schedules: described(listOf(schedule, MAX_SCHEDULES), {
    description: "Prompts that the agent gets at set times: see docs/schedules.md.",
    examples: [
      [
        {
          name: "Morning news",
          prompt: "Tell me what happened in the harbour tonight.",
          cron: "0 9 * * MON-FRI",
          timezone: "Europe/Vienna",
          deliver: { platform: "channel_a", peer: "42" },
        },
      ],
    ],
  }),
  budget: described(
    object({
      usdPerDay: described(usdAmount, { description: "US dollars for model calls in a day (UTC)." }),
      usdPerMonth: described(usdAmount, { description: "US dollars for model calls in a calendar month (UTC)." }),
    }),
    {
      description:
        "The most that the agent may cost. A call that could go beyond it is refused (402 `BUDGET_EXCEEDED`) until the next day or month. 0 stops the agent's calls.",
      examples: [{ usdPerDay: 0.5, usdPerMonth: 10 }],
    },
  ),
  approvals: described(listOrElse(namesMappedTo<Approval>("ask"), mapOf(oneOf("allow", "ask", "deny"))), {
    description:
      "Whether a tool runs, waits for your approval, or never runs: by the name of a tool, all tools of an MCP server (`docs:*`), or a class (`read`, `write`, `spend`, `outside`); the narrowest name wins. A list means `ask` for each. See docs/approvals.md.",
    examples: [{ web_fetch: "deny", "docs:*": "ask", write: "ask" }],
  }),
  transcription: described(TRANSCRIPTION, {
    description: "How recordings and voice messages are written down: see docs/voice.md.",
    examples: [{ model: "provider_3:whisper-large-v3-turbo", language: "de" }],
  }),
  voice: described(VOICE, {
    description:
      "Whether replies are spoken, as voice messages of the platform and with a player in the console: see docs/voice.md.",
    examples: ["when spoken to", { replies: "always", model: "provider_5:gpt-4o-mini-tts", voice: "nova" }],
    default: "never",
  }),
  pictures: described(PICTURES, {
    description: "How the skill `pictures` makes pictures: see docs/tools.md.",
    examples: [{ model: "provider_5:gpt-image-1" }],
  }),
  embed: described(EMBED, {
    description:
      "The chat on sites of yours, for their visitors: see docs/embed.md. They spend the agent's budget, so set one.",
    examples: [{ origins: ["https://www.example.com"], greeting: "Ahoy! Ask me about our boats.", accent: "#0b6e8a" }],
  }),
  timezone: described(timezone, {
    description: "The time zone in which the agent tells times and in which schedules without one of their own run.",
    examples: ["Europe/Vienna"],
    default: "UTC",
  }),
} satisfies Record<string, Reader<unknown>>;

/** The known keys of a configuration, validated and converted; lists of names and maps are maps. */
export type AgentSettings = { [Key in keyof typeof SETTINGS]?: ReturnType<(typeof SETTINGS)[Key]> };

/** The settings that are in force. */
export interface CurrentSettings extends AgentSettings {
  /** The configuration came in an imported file, and the owner has not saved one since: its instructions taint turns. */
  readonly imported?: boolean;
}

/**
 * Reads the settings of a configuration. Known keys with a wrong value are left out and listed in `issues`; unknown keys
 * are ignored, and given to `onUnknown`.
 */
export function readSettings(config: object, onUnknown?: OnUnknown): { settings: AgentSettings; issues: Issue[] } {
  const settings: AgentSettings = {};
  const issues: Issue[] = [];
  for (const [key, read] of Object.entries(SETTINGS)) {
    if (!Object.hasOwn(config, key)) continue;
    try {
      Object.assign(settings, { [key]: read(Reflect.get(config, key), key, onUnknown) });
    } catch (error) {
      if (!(error instanceof InvalidSetting)) throw error;
      issues.push({ path: error.path, message: error.message });
    }
  }
  if (onUnknown) reportUnknown(config, "", Object.keys(SETTINGS), onUnknown);
  return { settings, issues };
}
