// Parses a Markdown reply into text and marked ranges, which each adapter converts to its platform's markup.

import { isTableRule, layOutTable } from "./markdown-table.ts";
import { joinTexts, parseInline, plainText, type RichText, wrapInSpan } from "./rich-text.ts";

// Each pattern stays linear on hostile lines: no two open-ended repeats that could share a character.
const FENCE = /^(\s*)(`{3,}|~{3,})([^`]*)$/;
const HEADING = /^ {0,3}#{1,6}\s+(.*)$/;
const HEADING_END = /(?<=\s)#+$/;
const RULE = /^ {0,3}(?:(?:\*\s*){3,}|(?:-\s*){3,}|(?:_\s*){3,})$/;
/** Matches all levels at once, because quotes don't nest on the platforms. */
const QUOTE = /^ {0,3}>(?: {0,4}>)* ?(.*)$/s;
const BULLET = /^(\s*)[-*+]\s+(?:\[([ xX])\]\s+)?(.*)$/;
const NUMBER = /^(\s*\d{1,9}[.)]\s+)(.*)$/;
const LANGUAGE = /^[\w+#.-]{1,32}$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: chat apps reject exactly these characters, and no reader needs them
const UNPRINTABLE = /[\u0000-\u0008\u000b-\u001f\u007f]/g;

/** Parses Markdown. The result is well-formed for any input; text that is not Markdown stays as written. */
export function parseMarkdown(markdown: string): RichText {
  const text = markdown.toWellFormed().replace(/\r\n?/g, "\n").replace(UNPRINTABLE, "").replaceAll("\t", "    ");
  return parseBlocks(text.split("\n"));
}

function parseBlocks(lines: string[]): RichText {
  const out: RichText[] = [];
  let paragraph: string[] = [];
  let blank = false;

  const endParagraph = () => {
    if (paragraph.length > 0) out.push(parseInline(paragraph.join("\n")));
    paragraph = [];
  };
  const block = (content: RichText) => {
    endParagraph();
    out.push(content);
    blank = false;
  };
  /** The index after the lines, from `from` on, that `isWanted` accepts. */
  const endOf = (from: number, isWanted: (line: string) => boolean): number => {
    let end = from;
    while (end < lines.length && isWanted(lines[end] ?? "")) end += 1;
    return end;
  };

  for (let at = 0; at < lines.length; at += 1) {
    const line = (lines[at] ?? "").trimEnd();
    const fence = FENCE.exec(line);
    const heading = HEADING.exec(line);
    const bullet = BULLET.exec(line);
    const number = NUMBER.exec(line);
    if (line === "") {
      endParagraph();
      if (!blank) out.push(plainText(""));
      blank = true;
    } else if (fence) {
      const [, indent = "", marks = "", info = ""] = fence;
      const end = endOf(at + 1, (next) => !isClosingFence(next, marks));
      block(codeBlock(lines.slice(at + 1, end), indent.length, info.trim().split(" ", 1)[0] ?? ""));
      at = end;
    } else if (heading) {
      block(wrapInSpan("b", parseInline((heading[1] ?? "").replace(HEADING_END, "").trimEnd())));
    } else if (RULE.test(line)) {
      block(plainText("———"));
    } else if (QUOTE.test(line)) {
      const end = endOf(at, (next) => QUOTE.test(next));
      const inner = lines.slice(at, end).map((next) => QUOTE.exec(next)?.[1] ?? "");
      block(wrapInSpan("blockquote", parseBlocks(inner)));
      at = end - 1;
    } else if (line.includes("|") && isTableRule(lines[at + 1] ?? "")) {
      const end = endOf(at + 2, (next) => next.includes("|"));
      block(tableBlock([line, ...lines.slice(at + 2, end)]));
      at = end - 1;
    } else if (bullet) {
      const [, indent = "", box, rest = ""] = bullet;
      const mark = box === undefined ? (indent === "" ? "•" : "◦") : box === " " ? "☐" : "☑";
      block(joinTexts([plainText(`${indent}${mark} `), parseInline(rest)]));
    } else if (number) {
      block(joinTexts([plainText(number[1] ?? ""), parseInline(number[2] ?? "")]));
    } else {
      paragraph.push(line.endsWith("\\") ? line.slice(0, -1) : line);
      blank = false;
    }
  }
  endParagraph();
  return joinTexts(out, "\n");
}

const isClosingFence = (line: string, marks: string) => {
  const text = line.trim();
  return text.startsWith(marks) && text === marks.charAt(0).repeat(text.length);
};

function codeBlock(lines: string[], indent: number, language: string): RichText {
  const code = lines.map((line) => line.slice(Math.min(indent, line.length - line.trimStart().length))).join("\n");
  return wrapInSpan("pre", plainText(code), LANGUAGE.test(language) ? { language } : {});
}

const tableBlock = (lines: string[]) =>
  wrapInSpan("pre", plainText(layOutTable(lines, (cell) => parseInline(cell).text.replaceAll("\n", " "))));
