// Defines the tables of wallets for Drizzle. The migrations 0017_wallets.sql, 0024_wallet_lanes.sql and
// 0025_wallet_takeover.sql create them.
import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

export const wallets = sqliteTable("wallets", {
  id: text("id").primaryKey(),
  userId: text("user_id"),
  kind: text("kind", { enum: ["user", "managed", "client"] }).notNull(),
  name: text("name").notNull(),
  address: text("address").notNull(),
  keyId: text("key_id"),
  sealed: text("sealed"),
  /** The user gave the key, and may hold it elsewhere. */
  imported: integer("brought", { mode: "boolean" }).notNull(),
  createdAt: integer("created_at").notNull(),
});

export const policies = sqliteTable("wallet_policies", {
  userId: text("user_id").primaryKey(),
  perTransaction: integer("per_transaction").notNull(),
  perDay: integer("per_day").notNull(),
  recipients: text("recipients"),
  assets: text("assets"),
  approvalAbove: integer("approval_above"),
  enabled: integer("enabled", { mode: "boolean" }).notNull(),
  updatedAt: integer("updated_at").notNull(),
  /** Spends requested before this time are refused: the account was reclaimed then. */
  resetAt: integer("reset_at").notNull().default(0),
});

export const spends = sqliteTable("wallet_spends", {
  id: text("id").primaryKey(),
  userId: text("user_id").notNull(),
  agentId: text("agent_id"),
  walletId: text("wallet_id").notNull(),
  requestKey: text("request_key"),
  /** See spending/request-hash.ts. */
  requestHash: text("request_hash").notNull(),
  kind: text("kind", { enum: ["send", "trade", "pay"] }).notNull(),
  network: text("network", { enum: ["mainnet_chain", "testnet_chain"] }).notNull(),
  address: text("address").notNull(),
  asset: text("asset").notNull(),
  /** Amount of the asset in its smallest unit. */
  units: text("units").notNull(),
  /** Value in millionths of a USD. */
  usd: integer("usd").notNull(),
  amount: text("amount").notNull(),
  recipient: text("recipient"),
  details: text("details").notNull(),
  plan: text("plan").notNull(),
  step: integer("step").notNull(),
  state: text("state", { enum: ["waiting", "reserved", "signed", "sent", "confirmed", "failed"] }).notNull(),
  reason: text("reason"),
  hash: text("hash"),
  createdAt: integer("created_at").notNull(),
  reservedAt: integer("reserved_at").notNull(),
  updatedAt: integer("updated_at").notNull(),
  /** Since when the nonce is known to be used although no receipt of this spend is found; epoch ms. */
  nonceUsedSince: integer("overtaken_at"),
  /** Wei paid for gas so far. */
  fee: text("fee"),
});

export const transactions = sqliteTable("wallet_transactions", {
  hash: text("hash").primaryKey(),
  spendId: text("spend_id").notNull(),
  step: integer("step").notNull(),
  network: text("network", { enum: ["mainnet_chain", "testnet_chain"] }).notNull(),
  address: text("address").notNull(),
  nonce: integer("nonce").notNull(),
  attempt: integer("attempt").notNull(),
  /** The signed transaction, as hex. */
  raw: text("raw").notNull(),
  /** JSON of `TransactionCost`. */
  cost: text("cost").notNull(),
  /** The step of its spend is not finished yet. */
  open: integer("open", { mode: "boolean" }).notNull(),
  createdAt: integer("created_at").notNull(),
});
