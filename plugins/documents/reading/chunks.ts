// Divides a document's pages into chunks: whole paragraphs of about a thousand characters, below one heading.
import type { DocumentChunk, DocumentPage } from "../document.ts";

/** A chunk is closed at the next paragraph once it is this long. */
const TARGET = 900;
/** A longer paragraph is divided at sentences, lines or words. */
const MAX = 1_400;
const MAX_HEADING = 200;
const MAX_LEVELS = 3;

interface Position {
  page: number | undefined;
  heading: string;
}

/** Headings are recognized in Markdown; `hasHeadings` is false for formats in which a line with `#` is no heading. */
export function* chunksOf(pages: Iterable<DocumentPage>, hasHeadings: boolean): Generator<DocumentChunk, void> {
  let path: string[] = [];
  let paragraphs: string[] = [];
  let length = 0;
  let start: Position | undefined;

  function* close(): Generator<DocumentChunk, void> {
    if (start && paragraphs.length > 0) yield { ...start, text: paragraphs.join("\n\n") };
    [paragraphs, length, start] = [[], 0, undefined];
  }

  for (const { page, text } of pages) {
    // A quote names one page, so a chunk never spans two.
    if (start && start.page !== page) yield* close();
    for (const paragraph of hasHeadings ? paragraphsOf(text) : blocksOf(text)) {
      const heading = hasHeadings ? /^(#{1,6})\s+(.+)$/.exec(paragraph) : null;
      if (heading) {
        yield* close();
        path = [...path.slice(0, (heading[1]?.length ?? 1) - 1), heading[2]?.trim() ?? ""];
        continue;
      }
      for (const part of partsOf(paragraph)) {
        if (length > 0 && length + part.length > TARGET) yield* close();
        start ??= { page, heading: path.filter(Boolean).slice(-MAX_LEVELS).join(" › ").slice(0, MAX_HEADING) };
        paragraphs.push(part);
        length += part.length + 2;
      }
    }
  }
  yield* close();
}

/** Blocks are one or more empty lines apart. */
const blocksOf = (text: string) => text.split(/\n[^\S\n]*\n\s*/).filter((block) => block.trim() !== "");

/** Blocks, in which a heading is one by itself. */
function* paragraphsOf(text: string): Generator<string, void> {
  for (const block of blocksOf(text)) {
    let lines: string[] = [];
    for (const line of block.split("\n")) {
      if (!/^#{1,6}\s/.test(line)) {
        lines.push(line);
        continue;
      }
      if (lines.some((text) => text.trim() !== "")) yield lines.join("\n").trim();
      lines = [];
      yield line.trim();
    }
    const rest = lines.join("\n").trim();
    if (rest !== "") yield rest;
  }
}

function* partsOf(paragraph: string): Generator<string, void> {
  let rest = paragraph;
  while (rest.length > MAX) {
    const at = breakBefore(rest);
    yield rest.slice(0, at).trim();
    rest = rest.slice(at).trimStart();
  }
  if (rest !== "") yield rest;
}

/** The last line, sentence or word that ends within the limit; else the limit, between two whole characters. */
function breakBefore(text: string): number {
  const head = text.slice(0, MAX);
  const candidates = [head.lastIndexOf("\n"), lastSentenceEnd(head), head.lastIndexOf(" ")];
  const found = candidates.find((at) => at > MAX / 2);
  if (found !== undefined) return found + 1;
  const code = head.charCodeAt(MAX - 1);
  return code >= 0xd800 && code <= 0xdbff ? MAX - 1 : MAX;
}

function lastSentenceEnd(text: string): number {
  let last = -1;
  for (const { index } of text.matchAll(/[.!?。！？]["'”’)]?\s/g)) last = index;
  return last;
}
