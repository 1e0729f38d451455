// Turns the HTML of an article or of a converted document into Markdown.
import { gfm } from "@joplin/turndown-plugin-gfm";
import TurndownService from "turndown";

/** `base`: resolves relative links. Pictures become their descriptions: no client should load anything from here. */
export function toMarkdown(html: string, base: string): string {
  return createConverter(base).turndown(html).trim();
}

function createConverter(base: string): TurndownService {
  const converter = new TurndownService({
    headingStyle: "atx",
    codeBlockStyle: "fenced",
    bulletListMarker: "-",
    hr: "---",
    emDelimiter: "*",
  });
  converter.use(gfm);
  converter.remove(["script", "style", "noscript", "iframe", "object", "select", "button"]);
  converter.addRule("picture", {
    filter: "img",
    replacement: (_content, node) => attributeOf(node, "alt").replace(/\s+/g, " ").trim(),
  });
  converter.addRule("preformatted", {
    filter: (node) => node.nodeName === "PRE" && node.firstChild?.nodeName !== "CODE",
    replacement: (_content, node) => `\n\n\`\`\`\n${(node.textContent ?? "").replace(/^\n+|\s+$/g, "")}\n\`\`\`\n\n`,
  });
  converter.addRule("link", {
    filter: "a",
    replacement: (content, node) => {
      const address = linkOf(attributeOf(node, "href"), base);
      const words = content.trim();
      return words === "" || address === undefined ? content : `[${words.replace(/\s+/g, " ")}](${address})`;
    },
  });
  return converter;
}

const attributeOf = (node: object, name: string): string =>
  "getAttribute" in node && typeof node.getAttribute === "function" ? String(node.getAttribute(name) ?? "") : "";

/** The absolute address of an http(s) link to another page; undefined for any other link. */
function linkOf(href: string, base: string): string | undefined {
  if (href === "" || href.startsWith("#")) return undefined;
  const url = URL.parse(href.trim(), base);
  return url && /^https?:$/.test(url.protocol) ? url.href.replaceAll("(", "%28").replaceAll(")", "%29") : undefined;
}
