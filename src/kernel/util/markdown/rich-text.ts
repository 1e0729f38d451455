// Parses the Markdown within one block (emphasis, code, links), as people and models write it, into text and ranges.

export type SpanKind = "b" | "i" | "s" | "code" | "pre" | "a" | "blockquote";

/** A marked range of a text; UTF-16 offsets. */
export interface Span {
  kind: SpanKind;
  start: number;
  end: number;
  /** With `a`. */
  url?: string;
  /** With `pre`. */
  language?: string;
}

/** Text with ranges that are disjoint or nested, ordered by start, the outer before the inner. */
export interface RichText {
  text: string;
  spans: Span[];
}

/** Text without ranges. */
export const plainText = (text: string): RichText => ({ text, spans: [] });

/** Adds a range around all of `inner`. */
export function wrapInSpan(kind: SpanKind, inner: RichText, extra: Pick<Span, "url" | "language"> = {}): RichText {
  if (inner.text === "") return inner;
  return { text: inner.text, spans: [{ kind, start: 0, end: inner.text.length, ...extra }, ...inner.spans] };
}

/** Concatenates texts and shifts their ranges. */
export function joinTexts(parts: RichText[], separator = ""): RichText {
  const spans: Span[] = [];
  let text = "";
  for (const [index, part] of parts.entries()) {
    if (index > 0) text += separator;
    for (const span of part.spans)
      spans.push({ ...span, start: span.start + text.length, end: span.end + text.length });
    text += part.text;
  }
  return { text, spans };
}

/** A run of `*`, `_` or `~~` that may still open or close a range. */
interface Delimiter {
  character: string;
  length: number;
  remaining: number;
  opens: boolean;
  closes: boolean;
  starts: SpanKind[];
  ends: number;
}

type Node = { content: RichText } | { delimiter: Delimiter };

const ORDINARY = /[^\\`*_~[!<]+/y;
const ESCAPE = /\\([!-/:-@[-`{-~])/y;
const AUTOLINK = /<((?:https?:\/\/|mailto:)[^\s<>]+)>/y;
const BREAK = /<br\s*\/?>/iy;
const TARGET =
  /\(\s{0,4}(?:<([^<>\n]*)>|((?:[^\s()\\]|\\.|\([^\s()]*\)){0,2048}))(?:\s{1,4}(?:"[^"]*"|'[^']*'))?\s{0,4}\)/y;
const LINKABLE = /^(?:https?|tg):\/\//i;
const MAX_URL_LENGTH = 2048;
/** Openers without a closer that are kept; older ones become text, which keeps hostile input linear. */
const MAX_OPEN_DELIMITERS = 64;

/** Parses one block. Marks without a partner stay as written. `label`: inside a link, where links don't nest. */
export function parseInline(source: string, label = false): RichText {
  const nodes: Node[] = [];
  const unclosed = new Set<number>();
  const brackets = source.includes("](") ? matchBrackets(source) : undefined;
  const push = (content: RichText) => void nodes.push({ content });
  let at = 0;

  const match = (pattern: RegExp, from = at): RegExpExecArray | null => {
    pattern.lastIndex = from;
    return pattern.exec(source);
  };

  while (at < source.length) {
    const character = source.charAt(at);
    const ordinary = match(ORDINARY);
    if (ordinary) {
      push(plainText(ordinary[0]));
      at += ordinary[0].length;
      continue;
    }
    if (character === "*" || character === "_" || character === "~") {
      const length = runLength(source, at);
      nodes.push({ delimiter: delimiterAt(source, at, length) });
      at += length;
      continue;
    }
    if (character === "`") {
      const length = runLength(source, at);
      const end = unclosed.has(length) ? -1 : closingRun(source, at + length, length);
      if (end < 0) {
        unclosed.add(length);
        push(plainText("`".repeat(length)));
        at += length;
      } else {
        push(wrapInSpan("code", plainText(codeText(source.slice(at + length, end)))));
        at = end + length;
      }
      continue;
    }
    const open = character === "[" ? at : character === "!" && source[at + 1] === "[" ? at + 1 : -1;
    const close = open < 0 ? undefined : brackets?.get(open);
    const target = close === undefined ? null : match(TARGET, close + 1);
    if (close !== undefined && target) {
      push(link(source.slice(open + 1, close), target[1] ?? target[2] ?? "", label));
      at = close + 1 + target[0].length;
      continue;
    }
    const special = match(ESCAPE) ?? match(AUTOLINK);
    const lineBreak = special ? null : match(BREAK);
    push(plainText(special?.[1] ?? (lineBreak ? "\n" : character)));
    at += (special ?? lineBreak)?.[0].length ?? 1;
  }

  pairDelimiters(nodes.flatMap((node) => ("delimiter" in node ? [node.delimiter] : [])));
  return assemble(nodes);
}

function link(label: string, rawUrl: string, nested: boolean): RichText {
  const content = parseInline(label, true);
  if (nested) return content;
  const url = rawUrl.replace(/\\(?=[!-/:-@[-`{-~])/g, "");
  const text = content.text.trim() === "" ? plainText(url) : content;
  if (LINKABLE.test(url) && url.length <= MAX_URL_LENGTH && URL.canParse(url)) return wrapInSpan("a", text, { url });
  // An address that can't be linked is shown as text, so that no name hides it.
  return content.text.trim() === "" || url === "" ? text : joinTexts([text, plainText(` (${url})`)]);
}

function runLength(source: string, at: number): number {
  let end = at + 1;
  while (source[end] === source[at]) end += 1;
  return end - at;
}

function closingRun(source: string, from: number, length: number): number {
  let at = source.indexOf("`", from);
  while (at >= 0) {
    const found = runLength(source, at);
    if (found === length) return at;
    at = source.indexOf("`", at + found);
  }
  return -1;
}

function codeText(text: string): string {
  const line = text.replaceAll("\n", " ");
  return line.startsWith(" ") && line.endsWith(" ") && line.trim() !== "" ? line.slice(1, -1) : line;
}

function matchBrackets(source: string): Map<number, number> {
  const matched = new Map<number, number>();
  const open: number[] = [];
  for (let at = 0; at < source.length; at += 1) {
    const character = source[at];
    if (character === "\\") at += 1;
    else if (character === "[") open.push(at);
    else if (character === "]") {
      const start = open.pop();
      if (start !== undefined) matched.set(start, at);
    }
  }
  return matched;
}

/** CommonMark's flanking rule without its punctuation rule, which would leave `**重要：**文` and `**"so"**,` unmarked. */
function delimiterAt(source: string, at: number, length: number): Delimiter {
  const character = source.charAt(at);
  const before = source.charAt(at - 1);
  const after = source.charAt(at + length);
  const usable = character !== "~" || length === 2;
  const inWord = (neighbour: string) => character === "_" && /[\p{L}\p{N}]/u.test(neighbour);
  return {
    character,
    length,
    remaining: length,
    opens: usable && /\S/.test(after) && !inWord(before),
    closes: usable && /\S/.test(before) && !inWord(after),
    starts: [],
    ends: 0,
  };
}

/** CommonMark's "process emphasis": a closer takes the nearest opener of its kind; openers in between become text. */
function pairDelimiters(delimiters: Delimiter[]): void {
  const openers: Delimiter[] = [];
  for (const closer of delimiters) {
    while (closer.closes && closer.remaining > 0) {
      const index = openers.findLastIndex((opener) => canPair(opener, closer));
      const opener = openers[index];
      if (!opener) break;
      openers.length = index + 1;
      const strong = opener.remaining >= 2 && closer.remaining >= 2;
      opener.starts.unshift(closer.character === "~" ? "s" : strong ? "b" : "i");
      closer.ends += 1;
      opener.remaining -= strong ? 2 : 1;
      closer.remaining -= strong ? 2 : 1;
      if (opener.remaining === 0) openers.pop();
    }
    if (closer.opens && closer.remaining > 0) openers.push(closer);
    if (openers.length > MAX_OPEN_DELIMITERS) openers.shift();
  }
}

function canPair(opener: Delimiter, closer: Delimiter): boolean {
  if (opener.character !== closer.character) return false;
  const ambiguous = opener.closes || closer.opens;
  const sum = opener.length + closer.length;
  return !(ambiguous && sum % 3 === 0 && !(opener.length % 3 === 0 && closer.length % 3 === 0));
}

function assemble(nodes: Node[]): RichText {
  const spans: Span[] = [];
  const open: Span[] = [];
  let text = "";
  for (const node of nodes) {
    if ("content" in node) {
      for (const span of node.content.spans)
        spans.push({ ...span, start: span.start + text.length, end: span.end + text.length });
      text += node.content.text;
      continue;
    }
    const { character, remaining, starts, ends } = node.delimiter;
    for (let count = 0; count < ends; count += 1) {
      const span = open.pop();
      if (span) span.end = text.length;
    }
    text += character.repeat(remaining);
    for (const kind of starts) {
      const span: Span = { kind, start: text.length, end: text.length };
      spans.push(span);
      open.push(span);
    }
  }
  return { text, spans };
}
