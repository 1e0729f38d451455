// Reads a Markdown page: its links, the anchors of its headings, and its code blocks, each with its line.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Lexer, walkTokens } from "marked";
import { slugOf } from "./markdown.ts";
import { root } from "./pages.ts";

export interface Link {
  href: string;
  line: number;
}

export interface CodeBlock {
  /** The path of its page in the project. */
  page: string;
  /** The line of its first line of code. */
  line: number;
  /** The first word after the fence; empty if there is none. */
  language: string;
  /** What follows `no-run: ` after the language: why no test runs the block. */
  reason: string | undefined;
  /** What follows `tested-by: `: the test of a part of a program, which can't be run by itself. */
  testedBy: string | undefined;
  /** The rest of the words after the language. */
  marks: readonly string[];
  code: string;
}

export interface Page {
  path: string;
  links: readonly Link[];
  /** The anchors of its headings, without `#`. */
  anchors: ReadonlySet<string>;
  blocks: readonly CodeBlock[];
  /** HTML other than comments. The site would show it as text. */
  html: readonly Link[];
}

/** `path` is relative to the project. */
export function readPage(path: string): Page {
  const text = readFileSync(join(root, path), "utf8");
  const links: Link[] = [];
  const html: Link[] = [];
  const blocks: CodeBlock[] = [];
  const anchors = new Set<string>();
  // The tokens have no places. They come in the order of the text, so each is looked for behind the one before. What is in a list
  // has lost its indentation: one line of it is enough.
  let at = 0;
  const lineOf = (needle: string) => {
    const found = text.indexOf(needle.split("\n")[0] ?? "", at);
    if (found >= 0) at = found;
    return text.slice(0, at).split("\n").length;
  };
  // It returns what the function returns, which is nothing to wait for.
  void walkTokens(new Lexer().lex(text), (token) => {
    if (token.type === "heading") {
      const slug = slugOf(token.text.replace(/[`*]/g, "").replace(/\[([^\]]*)\]\([^)]*\)/g, "$1"));
      anchors.add(anchors.has(slug) ? `${slug}-1` : slug);
    } else if (token.type === "link" || token.type === "image") {
      links.push({ href: token.href, line: lineOf(`](${token.href}`) });
    } else if (token.type === "html" && !token.raw.startsWith("<!--")) {
      html.push({ href: token.raw.trim(), line: lineOf(token.raw.trim()) });
    } else if (token.type === "code") {
      blocks.push(blockOf(path, lineOf(token.text), token.lang ?? "", token.text));
    }
  });
  return { path, links, anchors, blocks, html };
}

function blockOf(page: string, line: number, info: string, code: string): CodeBlock {
  const [, language = "", rest = ""] = /^(\S*)\s*(.*)$/.exec(info) ?? [];
  const reason = /^no-run: (.+)$/.exec(rest)?.[1];
  const testedBy = /^tested-by: (.+)$/.exec(rest)?.[1];
  const marks = (reason ?? testedBy) === undefined ? rest.split(/\s+/).filter(Boolean) : [];
  return { page, line, language, reason, testedBy, marks, code };
}
