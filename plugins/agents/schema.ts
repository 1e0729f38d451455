// Drizzle definitions of the agents' tables, which migrations/0003_agents.sql creates.
import { integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { MODEL_CHOICES } from "./model-choices.ts";

export const STATUSES = ["running", "active", "stopped", "error"] as const;

export const agents = sqliteTable("agents", {
  id: text("id").primaryKey(),
  userId: text("user_id").notNull(),
  name: text("name").notNull(),
  model: text("model", { enum: MODEL_CHOICES }).notNull(),
  status: text("status", { enum: STATUSES }).notNull(),
  statusReason: text("status_reason"),
  wanted: text("wanted", { enum: ["up", "down"] }).notNull(),
  subdomain: text("subdomain").notNull(),
  tier: text("tier"),
  runtimeVersion: text("runtime_version").notNull(),
  verified: integer("verified", { mode: "boolean" }).notNull(),
  verificationType: text("verification_type"),
  attestationUid: text("attestation_uid"),
  verifierAddress: text("verifier_address"),
  verifiedAt: integer("verified_at"),
  verificationMetadata: text("verification_metadata"),
  /** When an admin froze the agent (epoch ms), and why. */
  frozenAt: integer("frozen_at"),
  frozenReason: text("frozen_reason"),
  /** Frozen with its owner's account. */
  ownerFrozen: integer("owner_frozen", { mode: "boolean" }).notNull().default(false),
  /** Of a frozen agent: the status that it has again afterwards. */
  thawedStatus: text("thawed_status", { enum: STATUSES }),
  startedAt: integer("started_at"),
  createdAt: integer("created_at").notNull(),
  updatedAt: integer("updated_at").notNull(),
});

export const agentConfigs = sqliteTable(
  "agent_configs",
  {
    agentId: text("agent_id").notNull(),
    version: integer("version").notNull(),
    /** JSON text, byte for byte as the caller sent it. */
    body: text("body").notNull(),
    imported: integer("imported", { mode: "boolean" }).notNull().default(false),
    updatedAt: integer("updated_at").notNull(),
  },
  (table) => [primaryKey({ columns: [table.agentId, table.version] })],
);

export const credentials = sqliteTable(
  "credentials",
  {
    ownerKind: text("owner_kind", { enum: ["agent", "user"] }).notNull(),
    ownerId: text("owner_id").notNull(),
    kind: text("kind").notNull(),
    sealed: text("sealed").notNull(),
    updatedAt: integer("updated_at").notNull(),
  },
  (table) => [primaryKey({ columns: [table.ownerKind, table.ownerId, table.kind] })],
);

export const agentLogs = sqliteTable("agent_logs", {
  id: text("id").primaryKey(),
  agentId: text("agent_id").notNull(),
  at: integer("at").notNull(),
  level: text("level").notNull(),
  source: text("source").notNull(),
  message: text("message").notNull(),
  /** JSON: `LogLinks`. */
  links: text("links"),
});
