// Converts a Markdown reply into Discord's dialect. Discord renders most of Markdown itself, so only tables, deep
// headings,
// rules, task lists and images change.
// https://support.discord.com/hc/en-us/articles/210298617

import { isTableRule, layOutTable } from "../../../src/kernel/util/markdown/markdown-table.ts";
import { joinTexts, plainText, type RichText, wrapInSpan } from "../../../src/kernel/util/markdown/rich-text.ts";

// Each pattern stays linear on hostile lines: no two open-ended repeats that could share a character.
const FENCE = /^ {0,3}(`{3,}|~{3,})([^`]*)$/;
const DEEP_HEADING = /^ {0,3}#{4,6}\s+(.*)$/;
const HEADING_END = /(?<=\s)#+$/;
const RULE = /^ {0,3}(?:(?:\*\s*){3,}|(?:-\s*){3,}|(?:_\s*){3,})$/;
const TASK = /^(\s*)[-*+]\s+\[([ xX])\]\s+(.*)$/;
const IMAGE = /!\[([^\]\n]{0,512})\]\((\S{1,2048}?)(?:\s"[^"\n]{0,512}")?\)/g;
const MARKS = /\*\*|__|~~|`/g;
const LANGUAGE = /^[\w+#.-]{1,32}$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: no message may contain exactly these characters
const UNPRINTABLE = /[\u0000-\u0008\u000b-\u001f\u007f]/g;

/**
 * Parses Markdown. What Discord renders itself stays as written; only code blocks become ranges, so that they can be
 * split.
 */
export function parseDiscordMarkdown(markdown: string): RichText {
  const text = markdown.toWellFormed().replace(/\r\n?/g, "\n").replace(UNPRINTABLE, "");
  const lines = text.split("\n");
  const out: RichText[] = [];
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? "";
    const fence = FENCE.exec(line);
    const heading = DEEP_HEADING.exec(line);
    const task = TASK.exec(line);
    if (fence) {
      const [, marks = "", info = ""] = fence;
      const end = endOf(lines, at + 1, (next) => !isClosingFence(next, marks));
      out.push(codeBlock(lines.slice(at + 1, end).join("\n"), info.trim().split(" ", 1)[0] ?? ""));
      at = end;
    } else if (line.includes("|") && isTableRule(lines[at + 1] ?? "")) {
      const end = endOf(lines, at + 2, (next) => next.includes("|"));
      const table = layOutTable([line, ...lines.slice(at + 2, end)], (cell) => cell.replace(MARKS, ""));
      out.push(codeBlock(table, ""));
      at = end - 1;
    } else if (heading) {
      const title = (heading[1] ?? "").replace(HEADING_END, "").trim();
      out.push(plainText(title === "" ? "" : `**${title.replaceAll("**", "")}**`));
    } else if (RULE.test(line)) {
      out.push(plainText("———"));
    } else if (task) {
      out.push(plainText(`${task[1]}- ${task[2] === " " ? "☐" : "☑"} ${task[3]}`));
    } else {
      // Discord shows no image by its address, so it becomes a link.
      out.push(
        plainText(line.replace(IMAGE, (_, name: string, url: string) => (name ? `[${name}](${url})` : `<${url}>`))),
      );
    }
  }
  return joinTexts(out, "\n");
}

/** Backquotes that would end the block are broken up by zero-width spaces. */
function codeBlock(text: string, language: string): RichText {
  const code = text.replaceAll("```", "`\u200b`\u200b`");
  return wrapInSpan("pre", plainText(code), LANGUAGE.test(language) ? { language } : {});
}

/** The text with fences around its code blocks. */
export function toMarkdown({ text, spans }: RichText): string {
  let out = "";
  let at = 0;
  for (const { start, end, language = "" } of spans) {
    out += `${text.slice(at, start)}\`\`\`${language}\n${text.slice(start, end)}\n\`\`\``;
    at = end;
  }
  return out + text.slice(at);
}

const isClosingFence = (line: string, marks: string) => {
  const text = line.trim();
  return text.startsWith(marks) && text === marks.charAt(0).repeat(text.length);
};

function endOf(lines: string[], from: number, isWanted: (line: string) => boolean): number {
  let end = from;
  while (end < lines.length && isWanted(lines[end] ?? "")) end += 1;
  return end;
}
