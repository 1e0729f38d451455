// A reply as the messages that carry it in Telegram.
import { parseMarkdown } from "../shared/markdown.ts";
import { splitText } from "../shared/split-text.ts";
import { toHtml } from "./html.ts";

/** UTF-16 units of text per message, after Telegram has read the markup: https://core.telegram.org/bots/api#sendmessage */
export const MAX_TEXT_LENGTH = 4096;

/** One message: as HTML, and as plain text for when Telegram won't read the HTML. */
export interface MessagePart {
  html: string;
  text: string;
}

/** A Markdown reply as the messages that carry it; the same reply is always cut the same way. Empty when there is nothing to show. */
export function toMessageParts(markdown: string, limit = MAX_TEXT_LENGTH): MessagePart[] {
  return splitText(parseMarkdown(markdown), limit).map((part) => ({ html: toHtml(part), text: part.text }));
}
