// The platforms this binary speaks to, by their neutral names, and how each one's messages come in.

import { createDiscord } from "../../channels/discord/index.ts";
import type { ChannelAdapter, ChannelId } from "../../channels/port.ts";
import { createTelegram, type TelegramOptions } from "../../channels/telegram/index.ts";
import { createWhatsApp } from "../../channels/whatsapp/index.ts";
import { notFound } from "../../src/kernel/errors.ts";
import type { Kernel } from "../../src/kernel/plugin.ts";
import { COMMANDS } from "../runtime/index.ts";
import { CHANNEL_IDS } from "./schema.ts";
import { channelSettings } from "./settings.ts";

/** `polling` and `gateway`: a connection of our own that is kept; `webhook`: the platform posts to Berth. */
export type ReceiveMode = "polling" | "gateway" | "webhook";

export interface ConfiguredAdapter {
  adapter: ChannelAdapter;
  mode: ReceiveMode;
}

export type Adapters = Readonly<Record<ChannelId, ConfiguredAdapter>>;

export const isChannelId = (text: string): text is ChannelId => CHANNEL_IDS.some((id) => id === text);

interface Deps extends Pick<Kernel, "config" | "log"> {
  traffic: NonNullable<TelegramOptions["traffic"]>;
}

export function createAdapters({ config, log, traffic }: Deps): Adapters {
  const settings = config.of(channelSettings);
  const { apiRoot, mode } = settings.channel_a;
  const { apiRoot: graphApiRoot, appId, appSecret } = settings.channel_c;
  const app = appId && appSecret ? { app: { id: appId, secret: appSecret } } : {};
  const whatsapp = createWhatsApp({ apiRoot: graphApiRoot, log, traffic, ...app });
  const discord = createDiscord({ apiRoot: settings.channel_b.apiRoot, commands: COMMANDS, log, traffic });
  return {
    channel_a: { adapter: createTelegram({ apiRoot, commands: COMMANDS, log, traffic }), mode },
    channel_b: { adapter: discord, mode: "gateway" },
    channel_c: { adapter: whatsapp, mode: "webhook" },
  };
}

/** The channel a path names; 404 for any other text. */
export function requireChannelId(text: string): ChannelId {
  if (isChannelId(text)) return text;
  throw notFound(`There is no such channel. Channels: ${CHANNEL_IDS.join(", ")}.`, "CHANNEL_NOT_FOUND");
}
