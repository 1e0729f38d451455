// The table of the audit log, and the place of its key, created by migrations/0155_audit_chain.sql.
import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

export const auditLog = sqliteTable("audit_log", {
  id: text("id").primaryKey(),
  at: integer("at").notNull(),
  actorKind: text("actor_kind", { enum: ["user", "key", "agent", "visitor", "command", "service"] }).notNull(),
  actorId: text("actor_id"),
  actorName: text("actor_name").notNull(),
  action: text("action").notNull(),
  targetKind: text("target_kind").notNull(),
  targetId: text("target_id").notNull(),
  targetName: text("target_name").notNull(),
  details: text("details").notNull(),
  address: text("address"),
  requestId: text("request_id"),
});

/** What the key of the hashes (audit_chain.chain_key) is sealed to. */
export const SEAL_CONTEXT = "audit-chain";
