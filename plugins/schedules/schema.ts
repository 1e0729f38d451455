// Declares the tables of schedules, which migrations/0050_schedules.sql creates.
import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { Taint } from "../skills/index.ts";

/** Where the reply of a run goes; null: it is only stored in the schedule's own conversation. */
export type DeliverTo = { platform: string; peer: string } | { webhook: true } | null;

export const MISSED_POLICIES = ["skip", "once", "all"] as const;
export type MissedPolicy = (typeof MISSED_POLICIES)[number];

export const RUN_STATUSES = ["running", "done", "failed", "cancelled", "skipped"] as const;
export type RunStatus = (typeof RUN_STATUSES)[number];

export const schedules = sqliteTable("schedules", {
  id: text("id").primaryKey(),
  agentId: text("agent_id").notNull(),
  name: text("name").notNull(),
  prompt: text("prompt").notNull(),
  cron: text("cron"),
  at: integer("at"),
  timezone: text("timezone").notNull(),
  deliver: text("deliver", { mode: "json" }).$type<DeliverTo>(),
  missed: text("missed", { enum: MISSED_POLICIES }).notNull(),
  enabled: integer("enabled", { mode: "boolean" }).notNull(),
  statusReason: text("status_reason"),
  taint: integer("taint").$type<Taint>().notNull(),
  origin: text("origin", { enum: ["owner", "agent", "config"] }).notNull(),
  digest: text("digest"),
  sessionId: text("session_id"),
  nextRunAt: integer("next_run_at"),
  lastRunAt: integer("last_run_at"),
  lastStatus: text("last_status", { enum: RUN_STATUSES }),
  failures: integer("failures").notNull(),
  createdAt: integer("created_at").notNull(),
  updatedAt: integer("updated_at").notNull(),
});

export const scheduleRuns = sqliteTable("schedule_runs", {
  id: text("id").primaryKey(),
  agentId: text("agent_id").notNull(),
  scheduleId: text("schedule_id").notNull(),
  cause: text("cause", { enum: ["time", "missed", "manual"] }).notNull(),
  dueAt: integer("due_at").notNull(),
  missed: integer("missed").notNull(),
  status: text("status", { enum: RUN_STATUSES }).notNull(),
  inboxId: text("inbox_id"),
  sessionId: text("session_id"),
  error: text("error"),
  startedAt: integer("started_at").notNull(),
  endedAt: integer("ended_at"),
});

/** A schedule's row; times are epoch ms. */
export type Schedule = Readonly<typeof schedules.$inferSelect>;
export type ScheduleRun = Readonly<typeof scheduleRuns.$inferSelect>;
