// Declares the table of approvals, which migrations/0074_suspended_turns.sql creates and later ones extend.
import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { Taint } from "../skills/index.ts";

export const approvals = sqliteTable("approvals", {
  id: text("id").primaryKey(),
  agentId: text("agent_id").notNull(),
  sessionId: text("session_id").notNull(),
  turnId: text("turn_id").notNull(),
  /** The step of the call in the turn's journal. */
  step: integer("step"),
  /** By which the owner decides in a chat. */
  code: text("code").notNull(),
  platform: text("platform").notNull(),
  byOwner: integer("by_owner", { mode: "boolean" }).notNull(),
  tool: text("tool").notNull(),
  class: text("class", { enum: ["read", "write", "spend", "outside"] }).notNull(),
  /** In words, with secrets blacked out. */
  summary: text("summary").notNull(),
  /** JSON, with secrets blacked out. */
  input: text("input").notNull(),
  /** Until it is decided: the call as sealed JSON `[summary, input]` with nothing blacked out. Null if nothing was. */
  whole: text("whole"),
  /** JSON, sealed. */
  edited: text("edited"),
  status: text("status", { enum: ["pending", "approved", "denied", "expired"] }).notNull(),
  scope: text("scope", { enum: ["once", "conversation", "always"] }),
  asked: integer("asked", { mode: "boolean" }).notNull(),
  requestedAt: integer("requested_at").notNull(),
  expiresAt: integer("expires_at").notNull(),
  decidedAt: integer("decided_at"),
  decidedBy: text("decided_by"),
  decidedOn: text("decided_on"),
  usedAt: integer("used_at"),
  /** Of everything that the model had read when it made the call. */
  taint: integer("taint").$type<Taint>().notNull(),
});

/** Times are epoch ms. */
export type Approval = typeof approvals.$inferSelect;
