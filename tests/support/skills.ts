// What the skills stand on in tests: a real database with agents in it, and the turn in which a tool is called.

import type { OfferedTool } from "../../plugins/skills/offered.ts";
import type { ToolContext } from "../../plugins/skills/tool.ts";
import { loadConfig } from "../../src/config.ts";
import type { Database } from "../../src/database.ts";

/** All defaults: role `all`, so that caches are on. */
export const config = loadConfig({});

/** A new agent of a new account; its id. */
export async function anAgent(database: Database): Promise<string> {
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
export const aTurn = (agentId: string, but: Partial<ToolContext> = {}): ToolContext => ({
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
export const aGuest = (peer: string) => ({ byOwner: false, platform: "channel_a", peer });

/** The tool of that name; throws when it isn't offered. */
export function toolNamed(tools: readonly OfferedTool[], name: string): OfferedTool {
  const tool = tools.find((one) => one.name === name);
  if (!tool) throw new Error(`No tool ${name} among ${tools.map((one) => one.name).join(", ")}.`);
  return tool;
}
