// The tables of connections and pairings. Created by migrations/0007_channels.sql and 0031_any_channel.sql, which
// created both again without the list of channels.
import { integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { ChannelId } from "../../channels/port.ts";

export const connections = sqliteTable(
  "channel_connections",
  {
    agentId: text("agent_id").notNull(),
    channel: text("channel").$type<ChannelId>().notNull(),
    botId: text("bot_id").notNull(),
    botUsername: text("bot_username").notNull(),
    /** `BotIdentity.detail`. */
    detail: text("detail"),
    tokenDigest: text("token_digest").notNull(),
    ownerId: text("owner_id"),
    callbackId: text("callback_id").notNull(),
    /** Sealed by the vault. */
    callbackSecret: text("callback_secret").notNull(),
    registeredBase: text("registered_base"),
    registeredAt: integer("registered_at"),
    /** The resume point, from which the adapter continues to receive. */
    resume: text("resume"),
    createdAt: integer("created_at").notNull(),
  },
  (table) => [primaryKey({ columns: [table.agentId, table.channel] })],
);

export const pairings = sqliteTable(
  "pairings",
  {
    agentId: text("agent_id").notNull(),
    channel: text("channel").$type<ChannelId>().notNull(),
    senderId: text("sender_id").notNull(),
    senderName: text("sender_name").notNull(),
    /** As the platform names it; null where it does not. */
    language: text("language"),
    peer: text("peer").notNull(),
    code: text("code"),
    expiresAt: integer("expires_at"),
    approvedAt: integer("approved_at"),
    createdAt: integer("created_at").notNull(),
  },
  (table) => [primaryKey({ columns: [table.agentId, table.channel, table.senderId] })],
);
