// Cuts a long reply where it hurts least. A block of code that is cut is whole in each part.
import type { RichText } from "../../shared/rich-text.ts";
import { splitText } from "../../shared/split-text.ts";
import { parseDiscordMarkdown, toMarkdown } from "./discord-markdown.ts";

/** https://discord.com/developers/docs/resources/message#create-message */
export const MAX_TEXT_LENGTH = 2000;
/** Six backquotes and two ends of lines. */
const FENCE_LENGTH = 8;

/** A Markdown reply as the messages that carry it; the same reply is always cut the same way. Empty when there is nothing to show. */
export function toMessageParts(markdown: string, limit = MAX_TEXT_LENGTH): string[] {
  const whole = parseDiscordMarkdown(markdown);
  // Room for one fence, so that no part is cut again for a few characters.
  const fences = whole.spans.map(({ language = "" }) => FENCE_LENGTH + language.length);
  return splitToFit(whole, limit - Math.max(0, ...fences), limit);
}

/** Fences count too, so what they make too long is cut once more. */
function splitToFit(whole: RichText, size: number, limit: number): string[] {
  return splitText(whole, size).flatMap((part) => {
    const text = toMarkdown(part);
    if (text.length <= limit) return [text];
    const room = Math.min(limit - (text.length - part.text.length), part.text.length - 1);
    return splitToFit(part, Math.max(room, Math.ceil(part.text.length / 2)), limit);
  });
}
