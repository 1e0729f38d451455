// The tables of accounts, created by migrations/0002_auth.sql, 0008_accounts.sql, 0009_keys_and_two_factor.sql,
// 0020_once_verified.sql, 0056_sign_ins.sql, 0135_admin_groups.sql 0163_freezes.sql and 0164_limits_lifted.sql.
import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

export const users = sqliteTable("users", {
  id: text("id").primaryKey(),
  /** Normalised as `normalizeEmail` does: trimmed, NFC, lower case. */
  email: text("email").notNull(),
  name: text("name").notNull(),
  passwordHash: text("password_hash"),
  emailVerified: integer("email_verified", { mode: "boolean" }).notNull(),
  /** Whether any address of the account was ever verified. Set by triggers. */
  onceVerified: integer("once_verified", { mode: "boolean" }).notNull().default(false),
  /** Made an admin by the first-admin link, an admin or the command line; independent of ADMIN_EMAILS. */
  isAdmin: integer("is_admin", { mode: "boolean" }).notNull(),
  /** Made an admin by a group at a linked provider. Set by triggers. */
  adminByGroup: integer("admin_by_group", { mode: "boolean" }).notNull().default(false),
  plan: text("plan").notNull(),
  credits: integer("credits").notNull(),
  twoFactorEnabled: integer("two_factor_enabled", { mode: "boolean" }).notNull(),
  referralCode: text("referral_code").notNull(),
  notifications: text("notifications").notNull(),
  /** Two letters: the language of mails. */
  locale: text("locale").notNull(),
  /** When an admin disabled the account (epoch ms). */
  disabledAt: integer("disabled_at"),
  /** When an admin froze the account (epoch ms), and why. */
  frozenAt: integer("frozen_at"),
  frozenReason: text("frozen_reason"),
  /** Whether an admin has lifted the limits of new accounts for it. */
  limitsLifted: integer("limits_lifted", { mode: "boolean" }).notNull().default(false),
  /** The id of the user whose referral code was used at sign-up. */
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
  kind: text("kind", { enum: ["first-admin", "invitation", "verify-email", "reset-password"] }).notNull(),
  userId: text("user_id"),
  email: text("email"),
  expiresAt: integer("expires_at").notNull(),
});

export const linkedAccounts = sqliteTable("linked_accounts", {
  provider: text("provider", { enum: ["google", "github", "oidc", "wallet"] }).notNull(),
  subject: text("subject").notNull(),
  userId: text("user_id").notNull(),
  createdAt: integer("created_at").notNull(),
  /** The address or name of the account at the provider. */
  label: text("label"),
  /** A JSON array of the groups at the provider that make the account an admin; null if there are none. */
  adminGroups: text("admin_groups"),
});

export const apiKeys = sqliteTable("api_keys", {
  id: text("id").primaryKey(),
  userId: text("user_id").notNull(),
  name: text("name").notNull(),
  keyHash: text("key_hash").notNull(),
  prefix: text("prefix").notNull(),
  /** A JSON array of scopes. */
  scopes: text("scopes").notNull(),
  direct: integer("direct", { mode: "boolean" }).notNull(),
  expiresAt: integer("expires_at"),
  lastUsedAt: integer("last_used_at"),
  createdAt: integer("created_at").notNull(),
});

export const twoFactor = sqliteTable("two_factor", {
  userId: text("user_id").primaryKey(),
  /** Base32, sealed by the vault. */
  secret: text("secret").notNull(),
  confirmedAt: integer("confirmed_at"),
  lastStep: integer("last_step").notNull(),
  createdAt: integer("created_at").notNull(),
});

export const recoveryCodes = sqliteTable("recovery_codes", {
  userId: text("user_id").notNull(),
  codeHash: text("code_hash").notNull(),
});
