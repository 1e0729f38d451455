// Makes an adapter for each row of the channel registry, from that channel's part of the configuration.
import type { ChannelCapabilities, ReceiveMode } from "../../channels/definition.ts";
import type { ChannelAdapter, ChannelId, RecordTraffic } from "../../channels/port.ts";
import { channelDefinitions, channelIds, isChannelId } from "../../channels/registry.ts";
import { notFound } from "../../src/kernel/errors.ts";
import type { Kernel } from "../../src/kernel/plugin.ts";
import { COMMANDS } from "../runtime/index.ts";
import { createLateAdapter } from "./late-adapter.ts";
import { channelSettings } from "./settings.ts";

export interface ConfiguredAdapter {
  adapter: ChannelAdapter;
  mode: ReceiveMode;
  capabilities: ChannelCapabilities;
}

export interface Adapters {
  /** Throws for a channel that the registry did not have when the app was built. */
  get(channel: ChannelId): ConfiguredAdapter;
}

interface Deps extends Pick<Kernel, "config" | "log" | "outbound"> {
  traffic: RecordTraffic;
}

export function createAdapters({ config, log, outbound, traffic }: Deps): Adapters {
  const adapters = new Map<ChannelId, ConfiguredAdapter>();
  const allSettings = config.of(channelSettings);
  for (const definition of channelDefinitions()) {
    const settings = allSettings[definition.id];
    const adapter = createLateAdapter(definition, () =>
      definition.create({ settings, commands: COMMANDS, log, traffic, resolveHost: outbound.resolve }),
    );
    adapters.set(definition.id, { adapter, mode: definition.mode(settings), capabilities: definition.capabilities });
  }
  return {
    get(channel) {
      const found = adapters.get(channel);
      if (!found) throw new Error(`There is no adapter for ${channel}.`);
      return found;
    },
  };
}

/** The channel that a path names; 404 for any other text. */
export function requireChannelId(text: string): ChannelId {
  if (isChannelId(text)) return text;
  throw notFound(`There is no such channel. Channels: ${channelIds().join(", ")}.`, "CHANNEL_NOT_FOUND");
}
