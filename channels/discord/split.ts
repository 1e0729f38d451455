// Cuts a long reply where it hurts least. A block of code that is cut is whole in each part.
import type { Formatted } from "../shared/inline.ts";
import { split } from "../shared/split.ts";
import { format, toMarkdown } from "./format.ts";

/** https://discord.com/developers/docs/resources/message#create-message */
export const LONGEST_TEXT = 2000;
/** Six backquotes and two ends of lines. */
const FENCES = 8;

/** A Markdown reply as the messages that carry it; the same reply is always cut the same way. Empty when there is nothing to show. */
export function render(markdown: string, limit = LONGEST_TEXT): string[] {
  const whole = format(markdown);
  // Room for one fence, so that no part is cut again for a few characters.
  const fences = whole.spans.map(({ language = "" }) => FENCES + language.length);
  return fit(whole, limit - Math.max(0, ...fences), limit);
}

/** Fences count too, so what they make too long is cut once more. */
function fit(whole: Formatted, size: number, limit: number): string[] {
  return split(whole, size).flatMap((part) => {
    const text = toMarkdown(part);
    if (text.length <= limit) return [text];
    const room = Math.min(limit - (text.length - part.text.length), part.text.length - 1);
    return fit(part, Math.max(room, Math.ceil(part.text.length / 2)), limit);
  });
}
