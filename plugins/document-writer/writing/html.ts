// Writes blocks as one HTML page that needs nothing else: no script, no address is called.
import { escapeHtml } from "../../../src/kernel/pages/html.ts";
import type { Block, Run } from "./blocks.ts";

const STYLE =
  "body{max-width:46rem;margin:2rem auto;padding:0 1rem;font:1rem/1.6 system-ui,sans-serif;color:#1a1a1a;background:#fff}" +
  "table{border-collapse:collapse;margin:1rem 0}th,td{border:1px solid #bbb;padding:.3rem .6rem;vertical-align:top}th{background:#f0f0f0}" +
  "pre{background:#f5f5f5;padding:.8rem;overflow-x:auto}code{font-family:ui-monospace,monospace}" +
  "blockquote{margin:1rem 0;padding-left:1rem;border-left:3px solid #bbb;color:#555}";

export const writeHtml = (blocks: readonly Block[], title: string): string =>
  `<!doctype html>\n<html>\n<head>\n<meta charset="utf-8">\n<meta name="viewport" content="width=device-width">\n` +
  `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">\n` +
  `<title>${escapeHtml(title)}</title>\n<style>${STYLE}</style>\n</head>\n<body dir="auto">\n${htmlOf(blocks)}\n</body>\n</html>\n`;

const htmlOf = (blocks: readonly Block[]): string => blocks.map(blockHtml).join("\n");

function blockHtml(block: Block): string {
  switch (block.kind) {
    case "heading":
      return `<h${block.level} dir="auto">${runsHtml(block.runs)}</h${block.level}>`;
    case "paragraph":
      return `<p dir="auto">${runsHtml(block.runs)}</p>`;
    case "list": {
      const tag = block.ordered ? "ol" : "ul";
      const start = block.ordered && block.start !== 1 ? ` start="${block.start}"` : "";
      return `<${tag}${start}>\n${block.items.map((item) => `<li>${itemHtml(item)}</li>`).join("\n")}\n</${tag}>`;
    }
    case "table": {
      const row = (cells: readonly Run[][], tag: "th" | "td") =>
        `<tr>${cells.map((cell, n) => `<${tag} style="text-align:${block.align[n] ?? "left"}">${runsHtml(cell)}</${tag}>`).join("")}</tr>`;
      const body = block.rows.map((cells) => row(cells, "td")).join("\n");
      return `<table>\n<thead>${row(block.header, "th")}</thead>\n<tbody>\n${body}\n</tbody>\n</table>`;
    }
    case "code":
      return `<pre><code>${escapeHtml(block.text)}</code></pre>`;
    case "quote":
      return `<blockquote>\n${htmlOf(block.blocks)}\n</blockquote>`;
    case "line":
      return "<hr>";
  }
}

/** A single paragraph needs no mark of its own. */
function itemHtml(item: readonly Block[]): string {
  const [first, ...others] = item;
  if (first?.kind !== "paragraph") return htmlOf(item);
  return runsHtml(first.runs) + (others.length > 0 ? `\n${htmlOf(others)}\n` : "");
}

const runsHtml = (runs: readonly Run[]): string => runs.map(runHtml).join("");

function runHtml({ text, bold, italic, code, struck, link }: Run): string {
  let html = escapeHtml(text).replaceAll("\n", "<br>");
  if (code) html = `<code>${html}</code>`;
  if (italic) html = `<em>${html}</em>`;
  if (bold) html = `<strong>${html}</strong>`;
  if (struck) html = `<s>${html}</s>`;
  return link ? `<a href="${escapeHtml(link)}" rel="noreferrer">${html}</a>` : html;
}
