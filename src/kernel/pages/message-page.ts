// Renders a page that shows one message, such as "Page not found", without a script.
import { contentPolicy, escapeHtml, fillTemplate, pageHeaders } from "./html.ts";
import type { Language } from "./language.ts";
import source from "./message-page.htm" with { type: "text" };
import { pageTemplate, translateText } from "./page-template.ts";

/** Texts are English, each marked by `pageText()`. `links`: labels by address. */
export interface PageMessage {
  title: string;
  text: string;
  links?: Readonly<Record<string, string>>;
}

const template = pageTemplate(source);

export function messagePage(message: PageMessage, language: Language, status = 200): Response {
  const page = template(language);
  const inLanguage = (english: string) => escapeHtml(translateText(english, language));
  const anchors = Object.entries(message.links ?? {}).map(
    ([address, label]) => `<a href="${escapeHtml(address)}">${inLanguage(label)}</a>`,
  );
  const paragraphs = [inLanguage(message.text), anchors.join(" · ")].filter(Boolean).map((inner) => `<p>${inner}</p>`);
  const html = fillTemplate(page, { title: inLanguage(message.title), paragraphs: paragraphs.join("\n") });
  return new Response(html, { status, headers: pageHeaders(contentPolicy({ styles: page })) });
}
