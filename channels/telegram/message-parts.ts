// Converts a reply into the messages that carry it on Telegram.
import { parseMarkdown } from "../../src/kernel/util/markdown/markdown.ts";
import { splitText } from "../shared/split-text.ts";
import { toHtml } from "./html.ts";

/** UTF-16 units of a message, markup not counted: https://core.telegram.org/bots/api#sendmessage */
export const MAX_TEXT_LENGTH = 4096;

/** One message as HTML, and as plain text in case Telegram can't parse the HTML. */
export interface MessagePart {
  html: string;
  text: string;
}

/** The messages of a Markdown reply; empty if there is nothing to show. The same reply is always split the same way. */
export function toMessageParts(markdown: string, limit = MAX_TEXT_LENGTH): MessagePart[] {
  return splitText(parseMarkdown(markdown), limit).map((part) => ({ html: toHtml(part), text: part.text }));
}
