// Where platforms that post are told to post to, and whether one was told already.
import type { ChannelId } from "../../channels/channel.ts";
import type { Config } from "../../src/config.ts";
import type { Adapters } from "./adapters.ts";
import type { Connection } from "./connections.ts";

/** What stands behind a callback's id in its address, where that alone proves who posts: the row in the database is not enough to post. */
export const keyOf = (secret: string) =>
  new Bun.CryptoHasher("sha256", secret).update("address").digest("base64url").slice(0, 32);

export interface Callbacks {
  /** What is noted of an address that a platform was told: where we are, and what form addresses have. */
  base(channel: ChannelId): string;
  /** Where the platform is to post for this connection. */
  address(connection: Connection, secret: string): string;
  /** Whether this channel's platform posts to us, as it is configured here. */
  isPosted(channel: ChannelId): boolean;
  /** Whether this bot's platform posts to where we are now. */
  isRegistered(connection: Connection): boolean;
}

export function createCallbacks({ baseUrl }: Pick<Config, "baseUrl">, adapters: Adapters): Callbacks {
  const start = (channel: ChannelId) => `${baseUrl}/hooks/${channel}/`;
  const isKeyed = (channel: ChannelId) => adapters[channel].channel.posts?.provenByAddress === true;
  const base = (channel: ChannelId) => `${start(channel)}${isKeyed(channel) ? "+key" : ""}`;
  const isPosted = (channel: ChannelId) => adapters[channel].mode === "webhook";
  return {
    base,
    address: ({ channel, callbackId }, secret) =>
      `${start(channel)}${callbackId}${isKeyed(channel) ? keyOf(secret) : ""}`,
    isPosted,
    isRegistered: ({ channel, registeredBase }) => isPosted(channel) && registeredBase === base(channel),
  };
}
