// The page for people at an address that does not exist.
import { type Language, languageOf } from "./language.ts";
import { messagePage, type PageMessage } from "./message-page.ts";

const MESSAGES: Readonly<Record<Language, Omit<PageMessage, "links"> & { home: string; docs: string }>> = {
  en: {
    title: "Page not found",
    text: "There is nothing at this address. Check it, or go on from here:",
    home: "Home page",
    docs: "API documentation",
  },
  de: {
    title: "Seite nicht gefunden",
    text: "Unter dieser Adresse gibt es nichts. Prüfe sie, oder geh von hier aus weiter:",
    home: "Startseite",
    docs: "API-Dokumentation",
  },
};

/** `hasDocs`: whether the host serves the API's documentation. */
export function notFoundPage(request: Request, hasDocs: boolean): Response {
  const language = languageOf(request);
  const { home, docs, ...message } = MESSAGES[language];
  return messagePage({ ...message, links: { "/": home, ...(hasDocs && { "/swagger": docs }) } }, language, 404);
}
