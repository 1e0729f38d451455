// The tables of channels. Created by migrations/0007_channels.sql; `resume` came with 0021, `detail` with 0027.
import { integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";

export const CHANNEL_IDS = ["channel_a", "channel_b", "channel_c"] as const;

export const connections = sqliteTable(
  "channel_connections",
  {
    agentId: text("agent_id").notNull(),
    channel: text("channel", { enum: CHANNEL_IDS }).notNull(),
    botId: text("bot_id").notNull(),
    botUsername: text("bot_username").notNull(),
    /** `BotIdentity.detail`. */
    detail: text("detail"),
    tokenDigest: text("token_digest").notNull(),
    ownerId: text("owner_id"),
    callbackId: text("callback_id").notNull(),
    /** Sealed. */
    callbackSecret: text("callback_secret").notNull(),
    registeredBase: text("registered_base"),
    registeredAt: integer("registered_at"),
    /** What the adapter goes on from when it listens again. */
    resume: text("resume"),
    createdAt: integer("created_at").notNull(),
  },
  (table) => [primaryKey({ columns: [table.agentId, table.channel] })],
);

export const pairings = sqliteTable(
  "pairings",
  {
    agentId: text("agent_id").notNull(),
    channel: text("channel", { enum: CHANNEL_IDS }).notNull(),
    senderId: text("sender_id").notNull(),
    senderName: text("sender_name").notNull(),
    peer: text("peer").notNull(),
    code: text("code"),
    expiresAt: integer("expires_at"),
    approvedAt: integer("approved_at"),
    createdAt: integer("created_at").notNull(),
  },
  (table) => [primaryKey({ columns: [table.agentId, table.channel, table.senderId] })],
);
