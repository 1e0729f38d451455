// Splits a long reply at paragraphs, lines or words. Marked ranges are split with the text, so each part is
// well-formed.

import type { RichText, Span } from "../../src/kernel/util/markdown/rich-text.ts";
import { findCut } from "./cut-position.ts";

/**
 * Splits a text into parts of at most `limit` UTF-16 units. A block of code is cut only if it does not fit into one
 * part.
 */
export function splitText(whole: RichText, limit: number): RichText[] {
  const { text, spans } = whole;
  const blocks = spans.filter((span) => span.kind === "pre");
  const inBlock = (position: number) => blocks.some((block) => block.start < position && position < block.end);
  const parts: RichText[] = [];
  let start = skipBlank(text, 0, blocks);
  while (start < text.length) {
    const end = text.length - start <= limit ? text.length : findCut(text, start, limit, inBlock);
    const part = slice(text, spans, start, end);
    if (part.text.trim() !== "") parts.push(part);
    if (!inBlock(end)) start = skipBlank(text, end, blocks);
    else start = text[end] === "\n" ? end + 1 : end;
  }
  return parts;
}

/** Skips blank lines, and spaces too unless they indent code. */
function skipBlank(text: string, position: number, blocks: Span[]): number {
  let at = position;
  while (at < text.length && /\s/.test(text.charAt(at)) && !blocks.some((block) => block.start === at)) at += 1;
  return at;
}

function slice(text: string, spans: Span[], start: number, end: number): RichText {
  const kept = text.slice(start, end).trimEnd();
  const clipped: Span[] = [];
  for (const span of spans) {
    const from = Math.max(span.start - start, 0);
    const to = Math.min(span.end - start, kept.length);
    if (from < to) clipped.push({ ...span, start: from, end: to });
  }
  return { text: kept, spans: clipped };
}
