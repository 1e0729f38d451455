// Declares the tables of the runtime, which migrations/0006_runtime.sql creates; 0033_taint.sql and later ones add columns.
import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { Taint } from "../skills/index.ts";

const taint = (column: string) => integer(column).$type<Taint>().notNull();

export const sessions = sqliteTable("sessions", {
  id: text("id").primaryKey(),
  agentId: text("agent_id").notNull(),
  platform: text("platform").notNull(),
  peer: text("peer"),
  status: text("status", { enum: ["open", "completed"] }).notNull(),
  messageCount: integer("message_count").notNull(),
  summary: text("summary"),
  summaryUpto: integer("summary_upto").notNull(),
  summaryTaint: taint("summary_taint"),
  createdAt: integer("created_at").notNull(),
  lastActivityAt: integer("last_activity_at").notNull(),
});

export const messages = sqliteTable("messages", {
  seq: integer("seq").primaryKey(),
  id: text("id").notNull(),
  sessionId: text("session_id").notNull(),
  agentId: text("agent_id").notNull(),
  inboxId: text("inbox_id").notNull(),
  platform: text("platform").notNull(),
  role: text("role", { enum: ["user", "assistant"] }).notNull(),
  content: text("content").notNull(),
  taint: taint("taint"),
  steps: text("steps"),
  createdAt: integer("created_at").notNull(),
});

export const inbox = sqliteTable("inbox", {
  id: text("id").notNull(),
  agentId: text("agent_id").notNull(),
  sessionId: text("session_id").notNull(),
  platform: text("platform").notNull(),
  platformMessageId: text("platform_message_id"),
  peer: text("peer"),
  senderId: text("sender_id").notNull(),
  senderName: text("sender_name").notNull(),
  /** As the platform names it. */
  language: text("language"),
  byOwner: integer("by_owner", { mode: "boolean" }).notNull(),
  isGroup: integer("is_group", { mode: "boolean" }).notNull(),
  kind: text("kind", { enum: ["message", "command", "reminder"] }).notNull(),
  content: text("content").notNull(),
  taint: taint("taint"),
  attachments: text("attachments"),
  repliesTo: text("replies_to"),
  topic: text("topic"),
  transcribedBy: text("transcribed_by"),
  status: text("status", { enum: ["pending", "done", "failed", "cancelled", "parked"] }).notNull(),
  attempts: integer("attempts").notNull(),
  hasSteps: integer("has_steps", { mode: "boolean" }).notNull(),
  /** Whether the turn waits for an approval; null if it never has. */
  suspended: integer("suspended", { mode: "boolean" }),
  /** Epoch ms, while it waits. */
  suspendedAt: integer("suspended_at"),
  /** How long it has waited before. */
  waitedMs: integer("waited_ms").notNull().default(0),
  previewId: text("preview_id"),
  reply: integer("reply"),
  error: text("error"),
  receivedAt: integer("received_at").notNull(),
  settledAt: integer("settled_at"),
});

export const outbox = sqliteTable("outbox", {
  id: text("id").primaryKey(),
  inboxId: text("inbox_id").notNull(),
  agentId: text("agent_id").notNull(),
  platform: text("platform").notNull(),
  peer: text("peer").notNull(),
  body: text("body").notNull(),
  replyTo: text("reply_to"),
  previewId: text("preview_id"),
  choices: text("choices"),
  files: text("files"),
  parts: text("parts").notNull(),
  status: text("status", { enum: ["pending", "sent", "failed"] }).notNull(),
  attempts: integer("attempts").notNull(),
  error: text("error"),
  createdAt: integer("created_at").notNull(),
  sentAt: integer("sent_at"),
});
