// Drizzle definitions of the skills' tables. migrations/0005_skills.sql creates them, and the search index over
// memories; 0033_taint.sql and 0051_pinned_memories.sql and 0071_memory_kinds.sql add columns.
import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { Taint } from "./taint.ts";

export const agentSkills = sqliteTable("agent_skills", {
  agentId: text("agent_id").notNull(),
  skillId: text("skill_id").notNull(),
  enabled: integer("enabled", { mode: "boolean" }).notNull(),
});

export const memories = sqliteTable("memories", {
  seq: integer("seq").primaryKey(),
  id: text("id").notNull(),
  agentId: text("agent_id").notNull(),
  /** The conversations that know the fact: "" for the owner's, else `platform:peer`. */
  circle: text("circle").notNull(),
  content: text("content").notNull(),
  digest: text("digest").notNull(),
  source: text("source", { enum: ["agent", "compaction", "owner"] }).notNull(),
  taint: integer("taint").$type<Taint>().notNull(),
  /** Comes first in every prompt of its circle. */
  pinned: integer("pinned", { mode: "boolean" }).notNull(),
  kind: text("kind", { enum: ["owner", "person", "world"] }).notNull(),
  /** The turn in which it was noted. */
  turnId: text("turn_id"),
  /** When an agent looked it up last. */
  usedAt: integer("used_at"),
  createdAt: integer("created_at").notNull(),
  updatedAt: integer("updated_at").notNull(),
});

export const reminders = sqliteTable("reminders", {
  id: text("id").primaryKey(),
  agentId: text("agent_id").notNull(),
  sessionId: text("session_id").notNull(),
  platform: text("platform").notNull(),
  peer: text("peer").notNull(),
  byOwner: integer("by_owner", { mode: "boolean" }).notNull(),
  text: text("text").notNull(),
  taint: integer("taint").$type<Taint>().notNull(),
  /** False for an imported reminder that the owner has not switched on. */
  enabled: integer("enabled", { mode: "boolean" }).notNull(),
  dedupe: text("dedupe").notNull(),
  dueAt: integer("due_at").notNull(),
  createdAt: integer("created_at").notNull(),
  firedAt: integer("fired_at"),
});
