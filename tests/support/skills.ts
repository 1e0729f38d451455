// What the skills stand on in tests: a real database with agents in it, and the turn in which a tool is called.

import type { PreparedTool } from "../../plugins/skills/prepared-tool.ts";
import type { ToolContext } from "../../plugins/skills/skill.ts";
import { loadConfig } from "../../src/kernel/config/config.ts";

/** All defaults: role `all`, so that caches are on. */
export const config = loadConfig({});

export { insertAgent } from "./records.ts";

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
