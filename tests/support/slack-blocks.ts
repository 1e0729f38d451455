// Checks the blocks of messages as Slack does. https://docs.slack.dev/reference/block-kit/blocks
import { SlackRefusal } from "./slack-refusal.ts";

export function requireBlocks(given: unknown): Record<string, unknown>[] {
  if (given === undefined) return [];
  const blocks = given as Record<string, unknown>[];
  if (blocks.length > 50) throw new SlackRefusal("invalid_blocks");
  const actionIds = new Set<unknown>();
  for (const block of blocks) {
    if (block.type === "section") {
      const { type, text } = (block.text ?? {}) as { type?: unknown; text?: unknown };
      if (type !== "mrkdwn" || typeof text !== "string") throw new SlackRefusal("invalid_blocks");
      if (text === "" || text.length > 3_000) throw new SlackRefusal("invalid_blocks");
      continue;
    }
    if (block.type !== "actions" || !Array.isArray(block.elements)) throw new SlackRefusal("invalid_blocks");
    const elements = block.elements as Record<string, unknown>[];
    if (elements.length === 0 || elements.length > 25) throw new SlackRefusal("invalid_blocks");
    for (const { type, text, action_id: id, value } of elements) {
      const label = (text ?? {}) as { type?: unknown; text?: unknown };
      const isButton = type === "button" && label.type === "plain_text" && String(label.text).length <= 75;
      if (!isButton || typeof value !== "string" || value.length > 2_000) throw new SlackRefusal("invalid_blocks");
      if (typeof id !== "string" || actionIds.has(id)) throw new SlackRefusal("invalid_blocks");
      actionIds.add(id);
    }
  }
  return blocks;
}
