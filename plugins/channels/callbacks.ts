// Where platforms that post are told to post to, and whether one was told already.
import type { ChannelId } from "../../channels/channel.ts";
import type { Config } from "../../src/config.ts";
import type { Adapters } from "./adapters.ts";
import type { Connection } from "./connections.ts";

export interface Callbacks {
  /** The address without the callback's id. */
  base(channel: ChannelId): string;
  /** Whether this channel's platform posts to us, as it is configured here. */
  isPosted(channel: ChannelId): boolean;
  /** Whether this bot's platform posts to where we are now. */
  isRegistered(connection: Connection): boolean;
}

export function createCallbacks({ baseUrl }: Pick<Config, "baseUrl">, adapters: Adapters): Callbacks {
  const base = (channel: ChannelId) => `${baseUrl}/hooks/${channel}/`;
  const isPosted = (channel: ChannelId) => adapters[channel].mode === "webhook";
  return {
    base,
    isPosted,
    isRegistered: ({ channel, registeredBase }) => isPosted(channel) && registeredBase === base(channel),
  };
}
