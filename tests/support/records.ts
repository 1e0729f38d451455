// Rows that tests insert directly: users, agents and subscriptions, each with defaults in one place.

import type { Database, Statement } from "../../src/kernel/database/database.ts";

export interface UserRecord {
  id: string;
  /** Default: the id, which is no address, so that nothing is ever mailed. */
  email: string;
  name: string;
  plan: string;
  credits: number;
  emailVerified: boolean;
  isAdmin: boolean;
  referralCode: string;
  createdAt: number;
}

/** Inserts a user; the id is new unless it is given. */
export function userStatement(over: Partial<UserRecord> = {}): Statement & { id: string } {
  const id = over.id ?? Bun.randomUUIDv7();
  const user = { email: id, name: "Ada", plan: "free", credits: 0, referralCode: id, createdAt: 0, ...over };
  const { email, name, plan, credits, emailVerified = false, isAdmin = false, referralCode, createdAt } = user;
  return {
    id,
    sql: `INSERT INTO users (id, email, name, plan, credits, email_verified, is_admin, referral_code, created_at, updated_at)
      VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?9)`,
    args: [id, email, name, plan, credits, emailVerified, isAdmin, referralCode, createdAt],
  };
}

export interface AgentRecord {
  id: string;
  userId: string;
  name: string;
  model: string;
  status: string;
  wanted: "up" | "down";
  /** Default: the id. */
  subdomain: string;
  createdAt: number;
}

/** Inserts a running agent of this user; the id is new unless it is given. */
export function agentStatement(over: Partial<AgentRecord> & { userId: string }): Statement & { id: string } {
  const id = over.id ?? Bun.randomUUIDv7();
  const defaults = { name: "Bot", model: "model_a", status: "active", wanted: "up", subdomain: id, createdAt: 0 };
  const { userId, name, model, status, wanted, subdomain, createdAt } = { ...defaults, ...over };
  return {
    id,
    sql: `INSERT INTO agents (id, user_id, name, model, status, wanted, subdomain, runtime_version, created_at, updated_at)
      VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, '1', ?8, ?8)`,
    args: [id, userId, name, model, status, wanted, subdomain, createdAt],
  };
}

/** Gives a user a subscription until then (epoch ms). */
export const subscriptionStatement = (userId: string, plan: string, until: number, status = "active"): Statement => ({
  sql: "INSERT INTO subscriptions (user_id, plan, status, current_period_end, updated_at) VALUES (?, ?, ?, ?, 0)",
  args: [userId, plan, status, until],
});

/** Inserts a user and returns its id. */
export async function insertUser(database: Database, over: Partial<UserRecord> = {}): Promise<string> {
  const { id, ...statement } = userStatement(over);
  await database.write([statement]);
  return id;
}

/** Inserts an agent, and its owner unless `userId` names one; returns the agent's id. */
export async function insertAgent(database: Database, over: Partial<AgentRecord> = {}): Promise<string> {
  const userId = over.userId ?? (await insertUser(database));
  const { id, ...statement } = agentStatement({ ...over, userId });
  await database.write([statement]);
  return id;
}
