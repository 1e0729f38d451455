// Describes Discord for the registry: id, settings, token shapes, owner ids, documentation, and the adapter's factory.
import { httpUrl } from "../../src/kernel/config/parsers.ts";
import { defineSettings } from "../../src/kernel/config/section.ts";
import { withDefault } from "../../src/kernel/config/variable.ts";
import type { ChannelDefinition } from "../definition.ts";
import { numericOwnerId } from "../shared/numeric-id.ts";
import { createDiscord } from "./index.ts";

interface DiscordSettings {
  apiRoot: string;
}

const settings = defineSettings({
  name: "channel_b",
  variables: { CHANNEL_B_API_ROOT: withDefault(httpUrl, "https://discord.com/api", "Discord REST API.") },
  build: ({ CHANNEL_B_API_ROOT: apiRoot }): DiscordSettings => ({ apiRoot }),
});

export const discordDefinition: ChannelDefinition<DiscordSettings> = {
  id: "channel_b",
  label: "Discord",
  environmentPrefix: "CHANNEL_B",
  settings,
  tokenShapes: [/(?<![\w-])[MNO][\w-]{22,28}\.[\w-]{6}\.[\w-]{25,}/],
  tokenLogPattern: /(?<![\w-])[MNO][\w-]{22,28}\.[\w-]{6}\.[\w-]{25,}/g,
  capabilities: {
    hasListener: true,
    hasWebhook: false,
    hasGroups: true,
    hasPreviews: true,
    isSingleReceiver: false,
    isIdempotent: true,
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
  create: ({ settings: { apiRoot }, ...options }) => createDiscord({ apiRoot, ...options }),
};
