// The tables of accounts. Created by migrations/0002_auth.sql, 0008_accounts.sql, 0009_keys_and_two_factor.sql and 0020_once_verified.sql.
import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

export const users = sqliteTable("users", {
  id: text("id").primaryKey(),
  /** Trimmed, NFC, lower case: as it is compared. */
  email: text("email").notNull(),
  name: text("name").notNull(),
  passwordHash: text("password_hash"),
  emailVerified: integer("email_verified", { mode: "boolean" }).notNull(),
  /** Whether any address was ever verified. Kept by the database itself. */
  onceVerified: integer("once_verified", { mode: "boolean" }).notNull().default(false),
  /** Made an admin by the first-admin link or the command line, whatever the address. */
  isAdmin: integer("is_admin", { mode: "boolean" }).notNull(),
  plan: text("plan").notNull(),
  credits: integer("credits").notNull(),
  twoFactorEnabled: integer("two_factor_enabled", { mode: "boolean" }).notNull(),
  referralCode: text("referral_code").notNull(),
  notifications: text("notifications").notNull(),
  /** Two letters: the language of mails. */
  locale: text("locale").notNull(),
  /** Blocked by an admin since then. */
  disabledAt: integer("disabled_at"),
  /** The user whose referral code it signed up with. */
  referredBy: text("referred_by"),
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
  address: text("address").notNull(),
  userAgent: text("user_agent").notNull(),
  createdAt: integer("created_at").notNull(),
  renewedAt: integer("renewed_at").notNull(),
  expiresAt: integer("expires_at").notNull(),
});

export const authLinks = sqliteTable("auth_links", {
  tokenHash: text("token_hash").primaryKey(),
  kind: text("kind", { enum: ["first-admin", "verify-email", "reset-password"] }).notNull(),
  userId: text("user_id"),
  email: text("email"),
  expiresAt: integer("expires_at").notNull(),
});

export const linkedAccounts = sqliteTable("linked_accounts", {
  provider: text("provider", { enum: ["google", "github", "wallet"] }).notNull(),
  subject: text("subject").notNull(),
  userId: text("user_id").notNull(),
  createdAt: integer("created_at").notNull(),
});

export const apiKeys = sqliteTable("api_keys", {
  id: text("id").primaryKey(),
  userId: text("user_id").notNull(),
  name: text("name").notNull(),
  keyHash: text("key_hash").notNull(),
  prefix: text("prefix").notNull(),
  /** A JSON array. */
  scopes: text("scopes").notNull(),
  direct: integer("direct", { mode: "boolean" }).notNull(),
  expiresAt: integer("expires_at"),
  lastUsedAt: integer("last_used_at"),
  createdAt: integer("created_at").notNull(),
});

export const twoFactor = sqliteTable("two_factor", {
  userId: text("user_id").primaryKey(),
  /** Sealed. */
  secret: text("secret").notNull(),
  confirmedAt: integer("confirmed_at"),
  lastStep: integer("last_step").notNull(),
  createdAt: integer("created_at").notNull(),
});

export const recoveryCodes = sqliteTable("recovery_codes", {
  userId: text("user_id").notNull(),
  codeHash: text("code_hash").notNull(),
});
