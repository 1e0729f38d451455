// Helpers for tests of skills: the default configuration, the context of a tool call, and tools by name.

import type { CallToApprove, PreparedTool, ToolResult } from "../../plugins/skills/prepared-tool.ts";
import type { ToolContext } from "../../plugins/skills/skill.ts";
import { TAINT } from "../../plugins/skills/taint.ts";
import { loadConfig } from "../../src/kernel/config/config.ts";

/** The default configuration; with its role `all`, caches are on. */
export const config = loadConfig({});

/** The context of a tool call in the owner's web session; `overrides` replace fields. */
export const toolContext = (agentId: string, overrides: Partial<ToolContext> = {}): ToolContext => ({
  agentId,
  userId: "user",
  sessionId: "sess_0123456789abcdef",
  inboxId: Bun.randomUUIDv7(),
  callKey: `${Bun.randomUUIDv7()}.2`,
  platform: "web",
  peer: "owner",
  byOwner: true,
  timezone: "UTC",
  taint: TAINT.none,
  raiseTaint: () => undefined,
  approved: false,
  signal: new AbortController().signal,
  ...overrides,
});

/** The audience of a guest on a channel. */
export const guestAudience = (peer: string) => ({ byOwner: false, platform: "channel_a", peer });

/** The tool with this name; throws if it is not among `tools`. */
export function toolNamed(tools: readonly PreparedTool[], name: string): PreparedTool {
  const tool = tools.find((one) => one.name === name);
  if (!tool) throw new Error(`No tool ${name} among ${tools.map((one) => one.name).join(", ")}.`);
  return tool;
}

/** Checks and runs a call. \`authorize\` returns why a call is refused that needs the owner's approval. */
export async function callTool(
  tool: PreparedTool,
  input: unknown,
  context: ToolContext,
  authorize: (call: CallToApprove) => string | undefined = () => "Nobody can be asked.",
): Promise<ToolResult> {
  const checked = tool.check(input, context);
  if ("refusal" in checked) return { ok: false, text: checked.refusal };
  const refusal = checked.asks && authorize(checked.asks);
  if (refusal !== undefined) return { ok: false, text: refusal };
  return tool.run(checked.input, { ...context, approved: checked.asks !== undefined });
}
