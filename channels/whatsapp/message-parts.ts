// Converts a reply into WhatsApp's messages: its few marks stand around each line, everything else is text.
// https://faq.whatsapp.com/539178204879377

import { parseMarkdown } from "../../src/kernel/util/markdown/markdown.ts";
import type { RichText } from "../../src/kernel/util/markdown/rich-text.ts";
import { type MarkDialect, splitMarkedText } from "../shared/marked-text.ts";

/**
 * UTF-16 units of a message, marks included:
 * https://developers.facebook.com/documentation/business-messaging/whatsapp/messages/text-messages
 */
export const MAX_TEXT_LENGTH = 4096;

const DIALECT: MarkDialect = { marks: { b: "*", i: "_", s: "~", code: "`" } };

/** The messages of a Markdown reply; empty if there is nothing to show. The same reply is always split the same way. */
export function toMessageParts(markdown: string, limit = MAX_TEXT_LENGTH): string[] {
  return splitMarkedText(withVisibleLinks(parseMarkdown(markdown)), DIALECT, limit);
}

/** Adds the address of each link after its name, because WhatsApp has no mark for links. */
function withVisibleLinks({ text, spans }: RichText): RichText {
  const added = spans.flatMap(({ kind, start, end, url = "" }) => {
    const name = text.slice(start, end);
    return kind !== "a" || url === "" || name === url || url === `mailto:${name}`
      ? []
      : [{ at: end, text: ` (${url})` }];
  });
  if (added.length === 0) return { text, spans };
  let from = 0;
  const pieces = added.map((one) => {
    const piece = text.slice(from, one.at) + one.text;
    from = one.at;
    return piece;
  });
  /** A range that ends with the link's name still ends before the address. */
  const shift = (position: number, isEnd: boolean) =>
    added.reduce(
      (sum, { at, text }) => sum + (at < position || (at === position && !isEnd) ? text.length : 0),
      position,
    );
  const kept = spans.map((span) => ({ ...span, start: shift(span.start, false), end: shift(span.end, true) }));
  return { text: pieces.join("") + text.slice(from), spans: kept };
}
