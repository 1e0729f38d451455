// Describes Discord for the registry: id, settings, token shapes, owner ids, documentation, and the adapter's factory.
import { httpUrl } from "../../src/kernel/config/parsers.ts";
import { defineSettings } from "../../src/kernel/config/section.ts";
import { withDefault } from "../../src/kernel/config/variable.ts";
import { SECOND } from "../../src/kernel/util/time.ts";
import type { ChannelDefinition, TokenProblem } from "../definition.ts";
import { numericOwnerId } from "../shared/numeric-id.ts";
import { isSnowflake } from "./ids.ts";

interface DiscordSettings {
  apiRoot: string;
}

const settings = defineSettings({
  name: "channel_b",
  variables: { CHANNEL_B_API_ROOT: withDefault(httpUrl, "https://discord.com/api", "Discord REST API.") },
  build: ({ CHANNEL_B_API_ROOT: apiRoot }): DiscordSettings => ({ apiRoot }),
});

/**
 * View channels, send messages (in threads too), embed links, attach files, read the history, add reactions.
 * https://discord.com/developers/docs/topics/permissions
 */
const PERMISSIONS = [10n, 11n, 38n, 14n, 15n, 16n, 6n].reduce((bits, bit) => bits | (1n << bit), 0n);

/** https://discord.com/developers/docs/topics/oauth2#bot-authorization-flow; a bot's id is its application's. */
function inviteAddress(applicationId: string): string {
  const query = new URLSearchParams({
    client_id: applicationId,
    scope: "bot applications.commands",
    permissions: String(PERMISSIONS),
  });
  return `https://discord.com/oauth2/authorize?${query}`;
}

/** Texts of Discord's developer portal that people take for the token. */
const CONFUSED_TEXTS: readonly [RegExp, TokenProblem["code"], string][] = [
  [/^\d{15,20}$/, "id", "This is an id. The token is on the page Bot: Reset Token."],
  [/^[0-9a-f]{64}$/, "public_key", "This is the application's public key. The token is on the page Bot: Reset Token."],
  [/^[\w-]{32}$/, "client_secret", "This looks like the client secret. The token is on the page Bot: Reset Token."],
];

/** Discord's tokens: three parts with dots between them, the first of which is the bot's id. */
function findTokenProblem(token: string): TokenProblem | undefined {
  if (/\s/.test(token)) return { code: "spaces", message: "A bot token has no spaces. Copy only the token." };
  const confused = CONFUSED_TEXTS.find(([pattern]) => pattern.test(token));
  if (confused) return { code: confused[1], message: confused[2] };
  if (!/^[\w.-]*$/.test(token)) {
    return { code: "characters", message: "A Discord bot token has only letters, digits, dots, - and _." };
  }
  return /^[\w-]{16,}\.[\w-]+\.[\w-]{25,}$/.test(token)
    ? undefined
    : { code: "incomplete", message: "This token is cut off: it has three parts with dots between them." };
}

export const discordDefinition: ChannelDefinition<DiscordSettings> = {
  id: "channel_b",
  label: "Discord",
  environmentPrefix: "CHANNEL_B",
  settings,
  tokenShapes: [/(?<![\w-])[MNO][\w-]{22,28}\.[\w-]{6}\.[\w-]{25,}/],
  tokenLogPattern: /(?<![\w-])[MNO][\w-]{22,28}\.[\w-]{6}\.[\w-]{25,}/g,
  findTokenProblem,
  link: { kind: "invite", of: ({ id }) => (isSnowflake(id) ? inviteAddress(id) : undefined) },
  capabilities: {
    hasListener: true,
    hasWebhook: false,
    hasGroups: true,
    hasPreviews: true,
    hasButtons: true,
    isSingleReceiver: false,
    isIdempotent: true,
    // Two and a half heartbeats; Discord asks for one every 41 s.
    silenceTimeout: 110 * SECOND,
  },
  ownerId: numericOwnerId,
  provisioning: {
    token: {
      field: "channelBBotToken",
      alias: "discordBotToken",
      description: "A bot's token of the second channel",
    },
    unsupportedFields: ["channelBGuildId", "discordGuildId", "channelBChannelId", "discordChannelId"],
  },
  documentation: {
    token:
      "*Bot → Reset Token* in the [developer portal](https://discord.com/developers/applications); invite it with the scopes `bot` and `applications.commands`",
    ownerId: "a number: *Developer Mode*, then *Copy User ID*",
    receiving:
      "over Discord's gateway. Without the privileged *Message Content Intent* it hears direct messages, mentions, answers and its slash commands, which is enough",
  },
  mode: () => "gateway",
  async create({ settings: { apiRoot }, ...options }) {
    const { createDiscord } = await import("./index.ts");
    return createDiscord({ apiRoot, ...options });
  },
};
