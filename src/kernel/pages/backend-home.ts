// The home page of the backend surface: it says what the address is, and where its documentation is.
import { Elysia } from "elysia";
import { openRoutes } from "../http/route-guards.ts";
import { prefersHtml } from "./accept.ts";
import { type Language, languageOf } from "./language.ts";
import { messagePage, type PageMessage } from "./message-page.ts";

const MESSAGES: Readonly<Record<Language, PageMessage>> = {
  en: {
    title: "Berth backend",
    text: "This address serves operators and other services. People use the web address.",
    links: { "/swagger": "API documentation", "/healthz": "Health" },
  },
  de: {
    title: "Berth-Backend",
    text: "Diese Adresse ist für Betreiber und andere Dienste. Menschen nutzen die Web-Adresse.",
    links: { "/swagger": "API-Dokumentation", "/healthz": "Zustand" },
  },
};

export const backendHome = () =>
  new Elysia({ name: "backend-home" }).use(openRoutes).get(
    "/",
    ({ request }) => {
      const language = languageOf(request);
      if (prefersHtml(request)) return messagePage(MESSAGES[language], language);
      return Response.json(
        { name: "Berth backend API", docs: "/swagger", openapi: "/swagger/json" },
        { headers: HEADERS },
      );
    },
    { open: true, detail: { hide: true } },
  );

const HEADERS = { vary: "accept, accept-language" };
