// Defines the tables of verification for Drizzle; migrations/0014_verification.sql creates them.
import { integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";

/** The values of `verificationType` in the API and the database. */
export const VERIFICATION_TYPES = ["attestation", "exchange", "name_service", "webauthn"] as const;
export type VerificationType = (typeof VERIFICATION_TYPES)[number];

export const challenges = sqliteTable(
  "verification_challenges",
  {
    agentId: text("agent_id").notNull(),
    type: text("type", { enum: VERIFICATION_TYPES }).notNull(),
    userId: text("user_id").notNull(),
    nonce: text("nonce").notNull(),
    message: text("message").notNull(),
    ceremony: text("ceremony", { enum: ["create", "get"] }),
    expiresAt: integer("expires_at").notNull(),
  },
  (table) => [primaryKey({ columns: [table.agentId, table.type] })],
);

export const webauthnCredentials = sqliteTable("webauthn_credentials", {
  id: text("id").primaryKey(),
  userId: text("user_id").notNull(),
  publicKey: text("public_key").notNull(),
  counter: integer("counter").notNull(),
  transports: text("transports").notNull(),
  createdAt: integer("created_at").notNull(),
});
