// A reply as the messages that carry it in Telegram.
import { format } from "../shared/markdown.ts";
import { split } from "../shared/split.ts";
import { toHtml } from "./format.ts";

/** UTF-16 units of text per message, after Telegram has read the markup: https://core.telegram.org/bots/api#sendmessage */
export const LONGEST_TEXT = 4096;

/** One message: as HTML, and as plain text for when Telegram won't read the HTML. */
export interface Part {
  html: string;
  text: string;
}

/** A Markdown reply as the messages that carry it; the same reply is always cut the same way. Empty when there is nothing to show. */
export function render(markdown: string, limit = LONGEST_TEXT): Part[] {
  return split(format(markdown), limit).map((part) => ({ html: toHtml(part), text: part.text }));
}
