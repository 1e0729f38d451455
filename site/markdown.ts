// Rules for markdown-it: links as the site needs them, the reader's slugs of a code host, no Vue in texts.

import type { MarkdownRenderer } from "vitepress";
import { targetOf } from "./links.ts";
import { listedPages, nameOf, titleOf } from "./pages.ts";

type Token = ReturnType<MarkdownRenderer["parse"]>[number];

/** Pages whose tables define something in each row: a setting, an error code, an event. Their rows have anchors. */
const REFERENCES = ["configuration.md", "errors.md", "events.md"];

const pathsByName = new Map(listedPages().map((path) => [nameOf(path), path]));

/** The anchor of a heading, as code hosts make it: lower case, without punctuation, hyphens for spaces. */
export const slugOf = (heading: string): string =>
  heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M}_ -]/gu, "")
    .replaceAll(" ", "-");

export function markdownRules(md: MarkdownRenderer): void {
  md.core.ruler.push("links", ({ tokens, env }) => {
    const from = pathsByName.get(String(env.relativePath).replace(/\.md$/, ""));
    if (from === undefined) return;
    for (const token of tokens) if (token.children) token.children = token.children.filter(keepLink(from));
  });
  md.core.ruler.push("table-styles", ({ tokens }) => {
    for (const token of tokens) {
      const align = /text-align:(\w+)/.exec(token.attrGet("style") ?? "")?.[1];
      if (align === undefined) continue;
      token.attrs = (token.attrs ?? []).filter(([name]) => name !== "style");
      token.attrJoin("class", `align-${align}`);
    }
  });
  md.core.ruler.push("row-anchors", ({ tokens, env }) => {
    if (!REFERENCES.includes(String(env.relativePath))) return;
    for (const [at, token] of tokens.entries()) {
      // A row begins with: tr_open, td_open, inline.
      const [name] = tokens[at + 2]?.children ?? [];
      if (token.type !== "tr_open" || tokens[at + 1]?.type !== "td_open") continue;
      if (name?.type === "code_inline") token.attrSet("id", name.content);
    }
  });
  const { text } = md.renderer.rules;
  if (!text) throw new Error("markdown-it has no rule for texts.");
  // Vue would read double braces as an expression.
  md.renderer.rules.text = (...given) => text(...given).replaceAll("{{", "&#123;&#123;");
}

/** Directs each link to its page on the site. A file of the source is not on it: its name stays as text. */
function keepLink(from: string): (token: Token) => boolean {
  let isDropped = false;
  /** The page to which the link leads in which the token is. */
  let linked: string | undefined;
  return (token) => {
    if (token.type === "link_close") {
      const isKept = !isDropped;
      [isDropped, linked] = [false, undefined];
      return isKept;
    }
    // A code host shows files, so pages call each other by the names of their files.
    if (token.type === "text" && linked !== undefined && /^[\w/.-]+\.md$/.test(token.content)) {
      token.content = titleOf(linked);
    }
    if (token.type !== "link_open") return true;
    const href = token.attrGet("href") ?? "";
    // Headings link to themselves; the search finds them by that.
    if (href.startsWith("#")) return true;
    const target = targetOf(from, href);
    isDropped = target.kind === "source";
    if (target.kind === "page") {
      linked = target.path;
      token.attrSet("href", `/${target.name}.md${target.anchor && `#${target.anchor}`}`);
    }
    return !isDropped;
  };
}
