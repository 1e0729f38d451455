// Renders the page that plays a live stream, and the 404 page. Each is one file without cookies or foreign addresses.

import { contentPolicy, escapeHtml, fillTemplate, pageHeaders } from "../../src/kernel/pages/html.ts";
import type { Language } from "../../src/kernel/pages/language.ts";
import { messagePage, type PageMessage } from "../../src/kernel/pages/message-page.ts";
import { pageTemplate, pageText, translateText } from "../../src/kernel/pages/page-template.ts";
import source from "./player-page.htm" with { type: "text" };

const NOT_FOUND: PageMessage = {
  title: pageText("Nothing is shown here"),
  text: pageText("There is no live stream at this address."),
};

const template = pageTemplate(source);

/** `name`: the agent's name where its public page is on, else null. */
export function playerPage(name: string | null, language: Language): Response {
  const page = template(language);
  // Media is what the script has fetched (blob:), or the playlist where the browser plays HLS natively.
  // The console shows it in a frame of the same origin; there is nothing on it that a click could give away.
  const frameAncestors = ["'self'"];
  const media = ["'self'", "blob:"];
  const policy = contentPolicy({ styles: page, scripts: page, connect: ["'self'"], media, frameAncestors });
  const title = escapeHtml(name ?? translateText("Live stream", language));
  return new Response(fillTemplate(page, { title }), { headers: pageHeaders(policy) });
}

/** Status 404. */
export const streamNotFoundPage = (language: Language): Response => messagePage(NOT_FOUND, language, 404);
