// Converts a reply into Discord's messages. A code block that is split is fenced in each part.
import type { RichText } from "../../../src/kernel/util/markdown/rich-text.ts";
import { splitText } from "../../shared/split-text.ts";
import { parseDiscordMarkdown, toMarkdown } from "./discord-markdown.ts";

/** https://discord.com/developers/docs/resources/message#create-message */
export const MAX_TEXT_LENGTH = 2000;
/** Six backquotes and two line ends. */
const FENCE_LENGTH = 8;

/** The messages of a Markdown reply; empty if there is nothing to show. The same reply is always split the same way. */
export function toMessageParts(markdown: string, limit = MAX_TEXT_LENGTH): string[] {
  const whole = parseDiscordMarkdown(markdown);
  // Leaves room for one fence, so that no part is split again for a few characters.
  const fences = whole.spans.map(({ language = "" }) => FENCE_LENGTH + language.length);
  return splitToFit(whole, limit - Math.max(0, ...fences), limit);
}

/** Splits parts again that their fences make too long. */
function splitToFit(whole: RichText, size: number, limit: number): string[] {
  return splitText(whole, size).flatMap((part) => {
    const text = toMarkdown(part);
    if (text.length <= limit) return [text];
    const room = Math.min(limit - (text.length - part.text.length), part.text.length - 1);
    return splitToFit(part, Math.max(room, Math.ceil(part.text.length / 2)), limit);
  });
}
