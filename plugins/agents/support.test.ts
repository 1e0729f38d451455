// What tests of agents stand on: the services over a real database, and owners made with a subscription.

import { loadConfig } from "../../src/config.ts";
import { createEvents } from "../../src/events.ts";
import { createJobs } from "../../src/jobs.ts";
import { createResealing } from "../../src/resealing.ts";
import { createVault } from "../../src/vault.ts";
import { silent, type TestDatabase } from "../../tests/support/database.ts";
import type { Plan } from "../auth/index.ts";
import { createAgents } from "./agents.ts";
import { createChanges } from "./changes.ts";
import { createConfigs } from "./configs.ts";
import { createCredentials } from "./credentials.ts";
import { createLogs } from "./logs.ts";
import { createProvision } from "./provision.ts";

export const DAY = 86_400_000;

/** Every service of the plugin over this database, as one process (or one of two) has them. */
export function servicesOver({ database, dir }: TestDatabase, role: "all" | "backend" = "all") {
  const env = { DATA_DIR: dir, ROLE: role, SECRET_KEY: "0".repeat(64), DATABASE_URL: "http://127.0.0.1:1" };
  const { DATABASE_URL: _, ...local } = env;
  const config = loadConfig(role === "all" ? local : env, { cwd: dir });
  const log = silent;
  const changes = createChanges(log);
  const events = createEvents({ database, log, jobs: createJobs({ database, log }) });
  const vault = createVault({ key: env.SECRET_KEY });
  const resealing = createResealing({ database, vault, log });
  const agents = createAgents({ database, events, config, changes });
  const configs = createConfigs({ database, config, changes });
  const credentials = createCredentials({ database, vault, resealing, config, log, agents, changes });
  const logs = createLogs({ database, log, changes });
  const provision = createProvision({ database, events, agents, configs });

  /** A user, with a subscription where a plan is named. */
  async function owner(plan?: Plan, { status = "active", endsIn = DAY } = {}): Promise<string> {
    const id = Bun.randomUUIDv7();
    const now = Date.now();
    await database.write([
      {
        sql: "INSERT INTO users (id, email, name, referral_code, created_at, updated_at) VALUES (?1, ?1, 'Ada', ?1, ?2, ?2)",
        args: [id, now],
      },
    ]);
    if (plan) {
      await database.write([
        {
          sql: "INSERT INTO subscriptions (user_id, plan, status, current_period_end, updated_at) VALUES (?, ?, ?, ?, ?)",
          args: [id, plan, status, now + endsIn, now],
        },
      ]);
    }
    return id;
  }
  const add = (userId: string, name = "Ada's agent") => provision({ userId, isAdmin: true, name });

  return { database, changes, events, agents, configs, credentials, logs, provision, owner, add };
}

export type Services = ReturnType<typeof servicesOver>;

/** The AppError that a promise ends in, as plain data. */
export async function refusal(promise: Promise<unknown>): Promise<Record<string, unknown>> {
  try {
    await promise;
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return { ...error, message: error.message };
  }
  throw new Error("It was not refused.");
}
