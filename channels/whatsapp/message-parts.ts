// Converts a reply into WhatsApp's messages: its few marks stand around each line, everything else is text.
// https://faq.whatsapp.com/539178204879377

import { parseMarkdown } from "../../src/kernel/util/markdown/markdown.ts";
import type { RichText, Span } from "../../src/kernel/util/markdown/rich-text.ts";
import { splitText } from "../shared/split-text.ts";

/**
 * UTF-16 units of a message, marks included:
 * https://developers.facebook.com/documentation/business-messaging/whatsapp/messages/text-messages
 */
export const MAX_TEXT_LENGTH = 4096;

const MARKS: Readonly<Partial<Record<Span["kind"], string>>> = { b: "*", i: "_", s: "~", code: "`" };

/** The messages of a Markdown reply; empty if there is nothing to show. The same reply is always split the same way. */
export function toMessageParts(markdown: string, limit = MAX_TEXT_LENGTH): string[] {
  return splitToFit(withVisibleLinks(parseMarkdown(markdown)), limit, limit);
}

/** Splits parts again that their marks make too long. */
function splitToFit(whole: RichText, size: number, limit: number): string[] {
  return splitText(whole, size).flatMap((part) => {
    const text = toWhatsAppMarkup(part);
    if (text.length <= limit || part.text.length < 2) return [text];
    return splitToFit(part, Math.ceil(Math.min(size, part.text.length) / 2), limit);
  });
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

/** Puts marks next to the words on each line, and only where WhatsApp recognises them: not inside a word. */
function toWhatsAppMarkup({ text, spans }: RichText): string {
  const before = new Map<number, string>();
  const after = new Map<number, string>();
  const open = (at: number, mark: string) => before.set(at, (before.get(at) ?? "") + mark);
  const close = (at: number, mark: string) => after.set(at, mark + (after.get(at) ?? ""));
  for (const [index, span] of spans.entries()) {
    const { kind, start, end } = span;
    const mark = MARKS[kind];
    if (kind === "pre") {
      open(start, "```");
      close(end, "```");
    } else if (kind === "blockquote") {
      for (const line of linesOf(text, start, end)) open(line.start, "> ");
    } else if (mark !== undefined && !isInside(span, spans.slice(0, index))) {
      for (const line of linesOf(text, start, end)) {
        const words = trimmed(text, line);
        if (!words || isLetter(text, words.start, -1) || isLetter(text, words.end, 0)) continue;
        open(words.start, mark);
        close(words.end, mark);
      }
    }
  }
  const places = [...new Set([...before.keys(), ...after.keys()])].sort((a, b) => a - b);
  let out = "";
  let from = 0;
  for (const at of places) {
    out += text.slice(from, at) + (after.get(at) ?? "") + (before.get(at) ?? "");
    from = at;
  }
  return out + text.slice(from);
}

interface Range {
  start: number;
  end: number;
}

const isInside = ({ kind, end }: Span, outer: Span[]) => outer.some((one) => one.kind === kind && one.end >= end);
/** Whether the character at a position, or the one before it, is part of a word. */
const isLetter = (text: string, at: number, shift: -1 | 0) => /[\p{L}\p{N}]/u.test(text.charAt(at + shift));

function linesOf(text: string, start: number, end: number): Range[] {
  const lines: Range[] = [];
  for (let at = start; at <= end; ) {
    const next = text.indexOf("\n", at);
    const stop = next < 0 || next > end ? end : next;
    lines.push({ start: at, end: stop });
    at = stop + 1;
  }
  return lines;
}

function trimmed(text: string, { start, end }: Range): Range | undefined {
  const line = text.slice(start, end);
  const from = start + line.length - line.trimStart().length;
  const to = start + line.trimEnd().length;
  return from < to ? { start: from, end: to } : undefined;
}
