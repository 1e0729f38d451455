// Makes elements of the Markdown in replies: paragraphs, headings, lists, quotes, code, tables, emphasis and links. A reply is
// hostile: HTML stays text, pictures become links, only web and mail addresses are linked, and nothing is loaded. The parser
// is our own because the script's budget has no room for a library; its time grows linearly with the text.

import { createElement as h } from "./element.ts";

/** Longer replies are shown as they are. */
const MAX_LENGTH = 20_000;
/** How deep lists, quotes and emphasis may be nested; what is deeper is text. */
const MAX_DEPTH = 6;

const FENCE = /^ {0,3}(`{3,}|~{3,})[^`]*$/;
const HEADING = /^ {0,3}(#{1,6})\s+(.*)$/;
const RULE = /^ {0,3}(?:(?:\*\s*){3,}|(?:-\s*){3,}|(?:_\s*){3,})$/;
const QUOTE = /^ {0,3}> ?/;
const ITEM = /^(\s*)([-*+]|\d{1,9}[.)])(\s+|$)(.*)$/;
const TASK = /^\[([ xX])\]\s+/;

export function markdown(text: string): Node[] {
  return text.length > MAX_LENGTH
    ? [h("p", [text], { class: "plain" })]
    : blocks(text.replace(/\r\n?/g, "\n").split("\n"), 0);
}

function blocks(lines: readonly string[], depth: number): Node[] {
  const nodes: Node[] = [];
  let paragraph: string[] = [];
  const endParagraph = () => {
    if (paragraph.length > 0) nodes.push(h("p", inline(paragraph.join("\n"), 0)));
    paragraph = [];
  };
  const isNested = depth < MAX_DEPTH;

  for (let at = 0; at < lines.length; ) {
    const line = lines[at] ?? "";
    const [, fence = ""] = FENCE.exec(line) ?? [];
    const [, marks, title = ""] = HEADING.exec(line) ?? [];
    const begin = at++;
    if (line.trim() === "") {
      endParagraph();
    } else if (fence !== "") {
      endParagraph();
      while (at < lines.length && !isFenceEnd(lines[at] ?? "", fence)) at++;
      const code = lines.slice(begin + 1, at++).join("\n");
      nodes.push(h("pre", [h("code", [code])], { tabindex: "0" }));
    } else if (marks !== undefined) {
      endParagraph();
      // The chat has a heading of its own. These are text in it, not a part of the page's outline.
      nodes.push(h("p", inline(title.trim().replace(/ #{1,6}$/, ""), 0), { class: "heading" }));
    } else if (RULE.test(line)) {
      endParagraph();
      nodes.push(h("hr", []));
    } else if (isNested && QUOTE.test(line)) {
      endParagraph();
      while (at < lines.length && QUOTE.test(lines[at] ?? "")) at++;
      const quoted = lines.slice(begin, at).map((one) => one.replace(QUOTE, ""));
      nodes.push(h("blockquote", blocks(quoted, depth + 1)));
    } else if (isNested && ITEM.test(line)) {
      endParagraph();
      at = list(lines, begin, depth, nodes);
    } else if (line.includes("|") && isDivider(lines[at] ?? "")) {
      endParagraph();
      while (at < lines.length && (lines[at] ?? "").includes("|")) at++;
      nodes.push(table(line, lines.slice(begin + 2, at)));
    } else {
      paragraph.push(line.trimStart());
    }
  }
  endParagraph();
  return nodes;
}

const isFenceEnd = (line: string, fence: string) => {
  const end = line.trim();
  return end.startsWith(fence) && end === (fence[0] ?? "").repeat(end.length);
};

/** Adds the list that begins at a line, and returns the line after it. */
function list(lines: readonly string[], begin: number, depth: number, nodes: Node[]): number {
  const [, firstIndent = "", firstMark = ""] = ITEM.exec(lines[begin] ?? "") ?? [];
  const isOrdered = /\d/.test(firstMark);
  const items: string[][] = [];
  let width = 0;
  let at = begin;
  for (; at < lines.length; at++) {
    const line = lines[at] ?? "";
    const [, indent = "", mark, , rest = ""] = ITEM.exec(line) ?? [];
    const lead = line.length - line.trimStart().length;
    if (mark !== undefined && indent.length <= firstIndent.length + 1 && !RULE.test(line)) {
      if (/\d/.test(mark) !== isOrdered) break;
      width = indent.length + mark.length + 1;
      items.push([rest]);
    } else if (line.trim() === "") {
      const next = lines[at + 1] ?? "";
      // A blank line ends the list, unless it goes on behind it.
      if (next.trim() === "" || (!ITEM.test(next) && next.length - next.trimStart().length < width)) break;
      items.at(-1)?.push("");
    } else if (lead > firstIndent.length || (lines[at - 1] ?? "").trim() !== "") {
      if (lead <= firstIndent.length && (HEADING.test(line) || FENCE.test(line) || QUOTE.test(line) || RULE.test(line)))
        break;
      items.at(-1)?.push(line.slice(Math.min(lead, width)));
    } else break;
  }
  const start = isOrdered && firstMark !== "1." ? { start: String(Number.parseInt(firstMark, 10)) } : {};
  nodes.push(
    h(
      isOrdered ? "ol" : "ul",
      items.map((item) => listItem(item, depth)),
      start,
    ),
  );
  return at;
}

function listItem([first = "", ...rest]: string[], depth: number): Node {
  const [, mark] = TASK.exec(first) ?? [];
  const text = mark === undefined ? first : `${mark === " " ? "☐" : "☑"} ${first.replace(TASK, "")}`;
  const children = blocks([text, ...rest], depth + 1);
  const [begin, ...others] = children;
  // The first paragraph is the item itself, without the margins of one.
  return h("li", begin instanceof HTMLParagraphElement ? [...begin.childNodes, ...others] : children);
}

const isDivider = (line: string) => line.includes("-") && cellsOf(line).every((cell) => /^:?-+:?$/.test(cell));

const cellsOf = (row: string) =>
  row
    .trim()
    .replace(/^\||(?<!\\)\|$/g, "")
    .split(/(?<!\\)\|/)
    .map((cell) => cell.replaceAll("\\|", "|").trim());

function table(head: string, rows: readonly string[]): Node {
  const row = (line: string, name: string) =>
    h(
      "tr",
      cellsOf(line).map((cell) => h(name, inline(cell, 0))),
    );
  const body = rows.map((line) => row(line, "td"));
  return h("div", [h("table", [h("thead", [row(head, "th")]), h("tbody", body)])], { class: "wide", tabindex: "0" });
}

/** Characters that may begin something; all others are passed over. */
const SPECIAL = /[\\`*_~![\n<h]/g;
const ADDRESS = /https?:\/\/[^\s<>"'`]+/y;
const LINE_BREAK = /<br\s*\/?>/iy;
const EMPHASIS = [
  ["**", "strong"],
  ["__", "strong"],
  ["~~", "del"],
  ["*", "em"],
  ["_", "em"],
] as const;

function inline(text: string, depth: number, isInLink = false): (Node | string)[] {
  const parts: (Node | string)[] = [];
  /** Marks that have no end in the rest of the text, so that it is searched once for each. */
  const endless = new Set<string>();
  let plain = 0;
  let at = 0;
  const add = (from: number, to: number, ...made: (Node | string)[]) => {
    if (from > plain) parts.push(text.slice(plain, from));
    parts.push(...made);
    plain = to;
    at = to;
  };
  const endOf = (mark: string, from: number) => {
    if (endless.has(mark)) return -1;
    const end = text.indexOf(mark, from);
    if (end < 0) endless.add(mark);
    return end;
  };

  while (at < text.length) {
    SPECIAL.lastIndex = at;
    const found = SPECIAL.exec(text);
    if (!found) break;
    at = found.index;
    const letter = text[at];
    if (letter === "\\" && /[!-/:-@[-`{-~]/.test(text[at + 1] ?? "")) {
      add(at, at + 2, text[at + 1] ?? "");
    } else if (letter === "\n") {
      add(at, at + 1, h("br", []));
    } else if (letter === "`") {
      const mark = /`+/y;
      mark.lastIndex = at;
      const [ticks = "`"] = mark.exec(text) ?? [];
      const end = endOf(ticks, at + ticks.length);
      if (end < 0) at += ticks.length;
      else add(at, end + ticks.length, h("code", [text.slice(at + ticks.length, end).replace(/^ (.+) $/, "$1")]));
    } else if (letter === "<") {
      LINE_BREAK.lastIndex = at;
      const [tag] = LINE_BREAK.exec(text) ?? [];
      if (tag === undefined) at++;
      else add(at, at + tag.length, h("br", []));
    } else if (letter === "h") {
      ADDRESS.lastIndex = at;
      const [address] = isInLink || /\w/.test(text[at - 1] ?? "") ? [] : (ADDRESS.exec(text) ?? []);
      const trimmed = address === undefined ? "" : withoutPunctuation(address);
      if (trimmed.length > 8) add(at, at + trimmed.length, link(trimmed, [trimmed]));
      else at++;
    } else if (letter === "[" || letter === "!") {
      at = bracket(at) ?? at + 1;
    } else {
      at = emphasis(at) ?? at + 1;
    }
  }
  add(text.length, text.length);
  return parts;

  /** A link or a picture, which is shown as a link; returns where it ends. */
  function bracket(from: number): number | undefined {
    const begin = text[from] === "!" ? from + 1 : from;
    if (text[begin] !== "[" || isInLink) return undefined;
    const middle = endOf("](", begin);
    const end = middle < 0 ? -1 : endOf(")", middle);
    if (end < 0 || text.slice(begin + 1, middle).includes("[")) return undefined;
    const label = text.slice(begin + 1, middle);
    const [address = ""] = text
      .slice(middle + 2, end)
      .trim()
      .split(/\s/);
    const close = address.includes("(") && text[end + 1] === ")" ? end + 1 : end;
    const target = (close > end ? `${address})` : address).replace(/^<|>$/g, "");
    add(from, close + 1, link(target, label === "" ? [target] : inline(label, depth + 1, true)));
    return at;
  }

  function emphasis(from: number): number | undefined {
    const [mark, name] = EMPHASIS.find(([one]) => text.startsWith(one, from)) ?? [];
    if (mark === undefined || name === undefined) return from + 1;
    const inner = from + mark.length;
    const isWordMark = mark[0] === "_";
    // 2 * 3 and snake_case are no emphasis.
    if (depth >= MAX_DEPTH || /\s/.test(text[inner] ?? " ") || (isWordMark && /\w/.test(text[from - 1] ?? "")))
      return inner;
    let end = endOf(mark, inner + 1);
    // `**` inside `*…*` is another mark.
    while (end > 0 && mark.length === 1 && text[end + 1] === mark) end = text.indexOf(mark, end + 2);
    // The `***` at the end of `**a *b***` closes the inner mark first.
    if (end > 0 && mark.length === 2 && text[end + 2] === mark[0]) end++;
    if (end < 0 || /\s/.test(text[end - 1] ?? " ") || (isWordMark && /\w/.test(text[end + mark.length] ?? "")))
      return inner;
    add(from, end + mark.length, h(name, inline(text.slice(inner, end), depth + 1, isInLink)));
    return at;
  }
}

/** Punctuation behind an address belongs to the sentence, and so does a bracket that was opened before it. */
function withoutPunctuation(address: string): string {
  let open = 0;
  for (const letter of address) open += letter === "(" ? 1 : letter === ")" ? -1 : 0;
  let end = address.length;
  for (; end > 0; end--) {
    const last = address[end - 1] ?? "";
    if (last === ")" && open < 0) open++;
    else if (!".,:;!?*_~".includes(last)) break;
  }
  return address.slice(0, end);
}

/** Only web and mail addresses become links. They open elsewhere, without access to the page, and tell the site nothing of it. */
function link(address: string, children: (Node | string)[]): Node {
  const isAllowed = URL.canParse(address) && /^(?:https?|mailto):$/.test(new URL(address).protocol);
  if (!isAllowed) return h("span", children);
  return h("a", children, { href: address, target: "_blank", rel: "noopener noreferrer nofollow" });
}
