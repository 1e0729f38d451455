// Makes the addresses that platforms post to, and decides whether one is registered already.
import type { ChannelId } from "../../../channels/port.ts";
import type { Config } from "../../../src/kernel/config/config.ts";
import type { Adapters } from "../adapters.ts";
import type { Connection } from "../connections/connection-store.ts";

/** The key after the callback's id, if the address proves the sender: the row in the database is not enough to post. */
export const urlKeyOf = (secret: string) =>
  new Bun.CryptoHasher("sha256", secret).update("address").digest("base64url").slice(0, 32);

export interface WebhookUrls {
  /** The recorded part of a registered address: the public base and the form of the address, without secrets. */
  registrationBase(channel: ChannelId): string;
  /** The address that the platform posts to for this connection. */
  urlOf(connection: Connection, secret: string): string;
  /** Whether the channel is configured to receive by webhook. */
  usesWebhook(channel: ChannelId): boolean;
  /** Whether the current address of this bot is registered with its platform. */
  isRegistered(connection: Pick<Connection, "channel" | "registeredBase">): boolean;
}

export function createWebhookUrls({ baseUrl }: Pick<Config, "baseUrl">, adapters: Adapters): WebhookUrls {
  const prefixOf = (channel: ChannelId) => `${baseUrl}/hooks/${channel}/`;
  const hasUrlKey = (channel: ChannelId) => adapters.get(channel).capabilities.isAuthenticatedByUrl === true;
  const registrationBase = (channel: ChannelId) => `${prefixOf(channel)}${hasUrlKey(channel) ? "+key" : ""}`;
  const usesWebhook = (channel: ChannelId) => adapters.get(channel).mode === "webhook";
  return {
    registrationBase,
    urlOf: ({ channel, callbackId }, secret) =>
      `${prefixOf(channel)}${callbackId}${hasUrlKey(channel) ? urlKeyOf(secret) : ""}`,
    usesWebhook,
    isRegistered: ({ channel, registeredBase }) => usesWebhook(channel) && registeredBase === registrationBase(channel),
  };
}
