// The tables of accounts. Created by migrations/0002_auth.sql.
import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

export const users = sqliteTable("users", {
  id: text("id").primaryKey(),
  /** Trimmed, NFC, lower case: as it is compared. */
  email: text("email").notNull(),
  name: text("name").notNull(),
  passwordHash: text("password_hash"),
  emailVerified: integer("email_verified", { mode: "boolean" }).notNull(),
  /** Made an admin by the first-admin link or the command line, whatever the address. */
  isAdmin: integer("is_admin", { mode: "boolean" }).notNull(),
  plan: text("plan").notNull(),
  credits: integer("credits").notNull(),
  twoFactorEnabled: integer("two_factor_enabled", { mode: "boolean" }).notNull(),
  referralCode: text("referral_code").notNull(),
  notifications: text("notifications").notNull(),
  createdAt: integer("created_at").notNull(),
  updatedAt: integer("updated_at").notNull(),
});

export const subscriptions = sqliteTable("subscriptions", {
  userId: text("user_id").primaryKey(),
  plan: text("plan").notNull(),
  status: text("status", { enum: ["active", "trialing", "past_due", "canceled"] }).notNull(),
  currentPeriodEnd: integer("current_period_end").notNull(),
  updatedAt: integer("updated_at").notNull(),
});

export const authSessions = sqliteTable("auth_sessions", {
  id: text("id").primaryKey(),
  userId: text("user_id").notNull(),
  direct: integer("direct", { mode: "boolean" }).notNull(),
  createdAt: integer("created_at").notNull(),
  renewedAt: integer("renewed_at").notNull(),
  expiresAt: integer("expires_at").notNull(),
});

export const authLinks = sqliteTable("auth_links", {
  tokenHash: text("token_hash").primaryKey(),
  kind: text("kind", { enum: ["first-admin"] }).notNull(),
  userId: text("user_id"),
  expiresAt: integer("expires_at").notNull(),
});
