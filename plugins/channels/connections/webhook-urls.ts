// Where platforms that post are told to post to, and whether one was told already.
import type { ChannelId } from "../../../channels/port.ts";
import type { Config } from "../../../src/kernel/config/config.ts";
import type { Adapters } from "../adapters.ts";
import type { Connection } from "./connection-store.ts";

/** What stands behind a callback's id in its address, where that alone proves who posts: the row in the database is not enough to post. */
export const urlKeyOf = (secret: string) =>
  new Bun.CryptoHasher("sha256", secret).update("address").digest("base64url").slice(0, 32);

export interface WebhookUrls {
  /** What is noted of an address that a platform was told: where we are, and what form addresses have. */
  registrationBase(channel: ChannelId): string;
  /** Where the platform is to post for this connection. */
  urlOf(connection: Connection, secret: string): string;
  /** Whether this channel's platform posts to us, as it is configured here. */
  usesWebhook(channel: ChannelId): boolean;
  /** Whether this bot's platform posts to where we are now. */
  isRegistered(connection: Connection): boolean;
}

export function createWebhookUrls({ baseUrl }: Pick<Config, "baseUrl">, adapters: Adapters): WebhookUrls {
  const prefixOf = (channel: ChannelId) => `${baseUrl}/hooks/${channel}/`;
  const hasUrlKey = (channel: ChannelId) => adapters[channel].adapter.webhook?.isAuthenticatedByUrl === true;
  const registrationBase = (channel: ChannelId) => `${prefixOf(channel)}${hasUrlKey(channel) ? "+key" : ""}`;
  const usesWebhook = (channel: ChannelId) => adapters[channel].mode === "webhook";
  return {
    registrationBase,
    urlOf: ({ channel, callbackId }, secret) =>
      `${prefixOf(channel)}${callbackId}${hasUrlKey(channel) ? urlKeyOf(secret) : ""}`,
    usesWebhook,
    isRegistered: ({ channel, registeredBase }) => usesWebhook(channel) && registeredBase === registrationBase(channel),
  };
}
