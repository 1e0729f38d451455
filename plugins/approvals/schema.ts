// Declares the table of approvals, which migrations/0034_approvals.sql creates.
import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

export const approvals = sqliteTable("approvals", {
  id: text("id").primaryKey(),
  agentId: text("agent_id").notNull(),
  sessionId: text("session_id").notNull(),
  turnId: text("turn_id").notNull(),
  platform: text("platform").notNull(),
  byOwner: integer("by_owner", { mode: "boolean" }).notNull(),
  tool: text("tool").notNull(),
  class: text("class", { enum: ["read", "write", "spend", "outside"] }).notNull(),
  summary: text("summary").notNull(),
  /** JSON, with secrets blacked out. */
  input: text("input").notNull(),
  digest: text("digest").notNull(),
  status: text("status", { enum: ["pending", "approved", "denied", "expired"] }).notNull(),
  scope: text("scope", { enum: ["once", "conversation"] }),
  requestedAt: integer("requested_at").notNull(),
  expiresAt: integer("expires_at").notNull(),
  decidedAt: integer("decided_at"),
  decidedBy: text("decided_by"),
  usedAt: integer("used_at"),
  usedTurn: text("used_turn"),
  usedAttempt: integer("used_attempt"),
});

/** Times are epoch ms. */
export type Approval = typeof approvals.$inferSelect;
