// A Markdown reply as Discord shows it: mostly as it is, since Discord reads Markdown itself; what it does not know becomes what it knows.
// https://support.discord.com/hc/en-us/articles/210298617
import { isTableRule, layOut } from "../shared/table.ts";

// Each pattern stays linear on hostile lines: no two open-ended repeats that could share a character.
export const FENCE = /^ {0,3}(`{3,}|~{3,})([^`]*)$/;
const DEEP_HEADING = /^ {0,3}#{4,6}\s+(.*)$/;
const HEADING_END = /(?<=\s)#+$/;
const RULE = /^ {0,3}(?:(?:\*\s*){3,}|(?:-\s*){3,}|(?:_\s*){3,})$/;
const TASK = /^(\s*)[-*+]\s+\[([ xX])\]\s+(.*)$/;
const IMAGE = /!\[([^\]\n]{0,512})\]\((\S{1,2048}?)(?:\s"[^"\n]{0,512}")?\)/g;
const MARKS = /\*\*|__|~~|`/g;
const LANGUAGE = /^[\w+#.-]{1,32}$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: exactly these are what no message carries
const UNPRINTABLE = /[\u0000-\u0008\u000b-\u001f\u007f]/g;

/** Reads Markdown; what Discord shows by itself stays as written. Blocks of code come out fenced with backquotes. */
export function format(markdown: string): string {
  const text = markdown.toWellFormed().replace(/\r\n?/g, "\n").replace(UNPRINTABLE, "");
  const lines = text.split("\n");
  const out: string[] = [];
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? "";
    const fence = FENCE.exec(line);
    const heading = DEEP_HEADING.exec(line);
    const task = TASK.exec(line);
    if (fence) {
      const [, marks = "", info = ""] = fence;
      const end = endOf(lines, at + 1, (next) => !closes(next, marks));
      out.push(...block(lines.slice(at + 1, end), info.trim().split(" ", 1)[0] ?? ""));
      at = end;
    } else if (line.includes("|") && isTableRule(lines[at + 1] ?? "")) {
      const end = endOf(lines, at + 2, (next) => next.includes("|"));
      const table = layOut([line, ...lines.slice(at + 2, end)], (cell) => cell.replace(MARKS, ""));
      out.push(...block(table.split("\n"), ""));
      at = end - 1;
    } else if (heading) {
      const title = (heading[1] ?? "").replace(HEADING_END, "").trim();
      out.push(title === "" ? "" : `**${title.replaceAll("**", "")}**`);
    } else if (RULE.test(line)) {
      out.push("———");
    } else if (task) {
      out.push(`${task[1]}- ${task[2] === " " ? "☐" : "☑"} ${task[3]}`);
    } else {
      // A picture can't be shown by its address; what is left is a link to it.
      out.push(line.replace(IMAGE, (_, name: string, url: string) => (name === "" ? `<${url}>` : `[${name}](${url})`)));
    }
  }
  return out.join("\n");
}

/** Fenced with three backquotes; what would end the block early is broken by a character of no width. */
function block(lines: string[], language: string): string[] {
  const code = lines.map((line) => line.replaceAll("```", "`\u200b`\u200b`"));
  return [`\`\`\`${LANGUAGE.test(language) ? language : ""}`, ...code, "```"];
}

const closes = (line: string, marks: string) => {
  const text = line.trim();
  return text.startsWith(marks) && text === marks.charAt(0).repeat(text.length);
};

function endOf(lines: string[], from: number, wanted: (line: string) => boolean): number {
  let end = from;
  while (end < lines.length && wanted(lines[end] ?? "")) end += 1;
  return end;
}
