// What the skills stand on in tests: a real database with agents in it, and the turn in which a tool is called.

import type { PreparedTool } from "../../plugins/skills/prepared-tool.ts";
import type { ToolContext } from "../../plugins/skills/skill.ts";
import { loadConfig } from "../../src/kernel/config/config.ts";
import type { Database } from "../../src/kernel/database/database.ts";

/** All defaults: role `all`, so that caches are on. */
export const config = loadConfig({});

/** A new agent of a new account; its id. */
export async function insertAgent(database: Database): Promise<string> {
  const [user, agent] = [Bun.randomUUIDv7(), Bun.randomUUIDv7()];
  await database.write([
    {
      sql: `INSERT INTO users (id, email, name, referral_code, created_at, updated_at) VALUES (?1, ?1, 'Ada', ?1, 0, 0)`,
      args: [user],
    },
    {
      sql: `INSERT INTO agents (id, user_id, name, model, status, wanted, subdomain, runtime_version, created_at, updated_at)
        VALUES (?1, ?2, 'Bot', 'model_a', 'active', 'up', ?1, '1', 0, 0)`,
      args: [agent, user],
    },
  ]);
  return agent;
}

/** The owner speaking over the web, unless said otherwise. */
export const toolContext = (agentId: string, but: Partial<ToolContext> = {}): ToolContext => ({
  agentId,
  userId: "user",
  sessionId: "sess_0123456789abcdef",
  inboxId: Bun.randomUUIDv7(),
  platform: "web",
  peer: "owner",
  byOwner: true,
  timezone: "UTC",
  signal: new AbortController().signal,
  ...but,
});

/** Somebody else, on a channel. */
export const guestAudience = (peer: string) => ({ byOwner: false, platform: "channel_a", peer });

/** The tool of that name; throws when it isn't offered. */
export function toolNamed(tools: readonly PreparedTool[], name: string): PreparedTool {
  const tool = tools.find((one) => one.name === name);
  if (!tool) throw new Error(`No tool ${name} among ${tools.map((one) => one.name).join(", ")}.`);
  return tool;
}
