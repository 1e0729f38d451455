// Test support: the services of agents over a real database, and users with subscriptions.

import { createAudit } from "../../src/kernel/audit/audit.ts";
import { createMarks } from "../../src/kernel/cells/create-marks.ts";
import { loadConfig } from "../../src/kernel/config/config.ts";
import { createEvents } from "../../src/kernel/events/events.ts";
import { createKeyRotation } from "../../src/kernel/security/key-rotation.ts";
import { createVault } from "../../src/kernel/security/vault.ts";
import { DAY } from "../../src/kernel/util/time.ts";
import { silent, type TestDatabase } from "../../tests/support/database.ts";
import { insertUser, subscriptionStatement } from "../../tests/support/records.ts";
import { createAgentHooks } from "./agent-hooks.ts";
import { createAgentStore } from "./agent-store.ts";
import { createConfigStore } from "./configuration/config-store.ts";
import { createCredentialStore } from "./credential-store.ts";
import { createLogStore } from "./logs/log-store.ts";
import { createAgentQuota } from "./ownership/agent-quota.ts";
import { createProvisioner } from "./ownership/provisioner.ts";

/** Every service of the plugin over this database; `backend` makes them as one of two processes that share it. */
export function createServices({ database, dir }: TestDatabase, role: "all" | "backend" = "all") {
  const env = { DATA_DIR: dir, ROLE: role, SECRET_KEY: "0".repeat(64), DATABASE_URL: "http://127.0.0.1:1" };
  const { DATABASE_URL: _, ...local } = env;
  const config = loadConfig(role === "all" ? local : env, { cwd: dir });
  const log = silent;
  const hooks = createAgentHooks(log);
  const events = createEvents({ database, log });
  const vault = createVault({ key: env.SECRET_KEY });
  const keyRotation = createKeyRotation({ database, vault, log });
  const audit = createAudit({ database, vault, keyRotation, log, marks: createMarks(0), isAlone: true });
  const agents = createAgentStore({ database, events, config, audit, hooks });
  const logs = createLogStore({ database, log, hooks });
  const configs = createConfigStore({ database, config, events, log: silent, audit, hooks, logs });
  const credentials = createCredentialStore({ database, vault, keyRotation, config, log, audit, agents, hooks });
  const provision = createProvisioner({
    ...{ database, events, audit, agents, configs },
    quota: createAgentQuota({ database, config }),
    marks: createMarks(0),
    logs: { add: () => undefined },
  });

  /** Inserts a user, with a subscription if a plan is given; returns the user's id. */
  async function owner(plan?: string, { status = "active", endsIn = DAY } = {}): Promise<string> {
    const id = await insertUser(database);
    if (plan) await database.write([subscriptionStatement(id, plan, Date.now() + endsIn, status)]);
    return id;
  }
  const add = (userId: string, name = "Ada's agent") => provision({ userId, isAdmin: true, name });

  return { database, hooks, events, agents, configs, credentials, logs, provision, owner, add };
}

export type Services = ReturnType<typeof createServices>;
