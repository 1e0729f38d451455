// Renders a page that shows one message, such as "Page not found", without a script.
import { contentPolicy, escapeHtml, fillTemplate, pageHeaders } from "./html.ts";
import type { Language } from "./language.ts";
import source from "./message-page.htm" with { type: "text" };
import { pageTemplate } from "./page-template.ts";

/** `title` and `text` are in the page's language. `links`: labels by address. */
export interface PageMessage {
  title: string;
  text: string;
  links?: Readonly<Record<string, string>>;
}

const template = pageTemplate(source, { de: { texts: { "Made with Berth": "Mit Berth gemacht" } } });

export function messagePage({ title, text, links = {} }: PageMessage, language: Language, status = 200): Response {
  const page = template(language);
  const anchors = Object.entries(links).map(
    ([address, label]) => `<a href="${escapeHtml(address)}">${escapeHtml(label)}</a>`,
  );
  const paragraphs = [escapeHtml(text), anchors.join(" · ")].filter(Boolean).map((inner) => `<p>${inner}</p>`);
  const html = fillTemplate(page, { title: escapeHtml(title), paragraphs: paragraphs.join("\n") });
  return new Response(html, { status, headers: pageHeaders(contentPolicy({ styles: page })) });
}
