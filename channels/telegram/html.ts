// Converts text and marked ranges into Telegram's HTML, in which only `&`, `<` and `>` are escaped.
import type { RichText, Span } from "../../src/kernel/util/markdown/rich-text.ts";

const escapeHtml = (text: string) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

function tags(span: Span): [open: string, close: string] {
  if (span.kind === "a") return [`<a href="${escapeHtml(span.url ?? "").replaceAll('"', "&quot;")}">`, "</a>"];
  if (span.kind === "pre" && span.language)
    return [`<pre><code class="language-${escapeHtml(span.language)}">`, "</code></pre>"];
  return [`<${span.kind}>`, `</${span.kind}>`];
}

/** Telegram's HTML for a text: https://core.telegram.org/bots/api#html-style. Tags are balanced, everything else is escaped. */
export function toHtml({ text, spans }: RichText): string {
  const open: Span[] = [];
  let html = "";
  let at = 0;
  const writeTo = (end: number) => {
    html += escapeHtml(text.slice(at, end));
    at = end;
  };
  const closeUpTo = (position: number) => {
    for (let last = open.at(-1); last && last.end <= position; last = open.at(-1)) {
      writeTo(last.end);
      html += tags(last)[1];
      open.pop();
    }
  };
  for (const span of spans) {
    closeUpTo(span.start);
    writeTo(span.start);
    html += tags(span)[0];
    open.push(span);
  }
  closeUpTo(text.length);
  writeTo(text.length);
  return html;
}
