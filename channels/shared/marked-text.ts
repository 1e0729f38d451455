// Writes rich text with marks around words, for the platforms whose formatting is a few marks within plain text.
import type { RichText, Span, SpanKind } from "../../src/kernel/util/markdown/rich-text.ts";
import { splitText } from "./split-text.ts";

export interface MarkDialect {
  /** The mark on both sides of the words. */
  marks: Readonly<Partial<Record<SpanKind, string>>>;
  /** What stands before and after the name of a link; left out: links have no mark. */
  link?(url: string): readonly [before: string, after: string];
  /** Escapes the text between the marks. */
  escape?(text: string): string;
}

/** Splits a text into parts of at most `limit` UTF-16 units, marks included. */
export function splitMarkedText(whole: RichText, dialect: MarkDialect, limit: number, size = limit): string[] {
  return splitText(whole, size).flatMap((part) => {
    const text = writeMarkedText(part, dialect);
    if (text.length <= limit || part.text.length < 2) return [text];
    return splitMarkedText(part, dialect, limit, Math.ceil(Math.min(size, part.text.length) / 2));
  });
}

/** Puts marks next to the words on each line, and only where platforms recognise them: not inside a word. */
export function writeMarkedText({ text, spans }: RichText, dialect: MarkDialect): string {
  const { marks, link, escape: escapeText = (plain) => plain } = dialect;
  const before = new Map<number, string>();
  const after = new Map<number, string>();
  const open = (at: number, mark: string) => before.set(at, (before.get(at) ?? "") + mark);
  const close = (at: number, mark: string) => after.set(at, mark + (after.get(at) ?? ""));
  const isInLink = ({ start, end }: Span) =>
    link !== undefined && spans.some((one) => one.kind === "a" && one.start <= start && one.end >= end);
  for (const [index, span] of spans.entries()) {
    const { kind, start, end, url } = span;
    const mark = marks[kind];
    if (kind === "pre") {
      open(start, "```");
      close(end, "```");
    } else if (kind === "blockquote") {
      for (const line of linesOf(text, start, end)) open(line.start, "> ");
    } else if (kind === "a" && link && url !== undefined) {
      const [first, last] = link(url);
      open(start, first);
      close(end, last);
    } else if (mark !== undefined && !isInside(span, spans.slice(0, index)) && !isInLink(span)) {
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
    out += escapeText(text.slice(from, at)) + (after.get(at) ?? "") + (before.get(at) ?? "");
    from = at;
  }
  return out + escapeText(text.slice(from));
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
