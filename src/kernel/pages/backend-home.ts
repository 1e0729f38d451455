// The home page of the backend surface: it says what the address is, and where its documentation is.
import { Elysia } from "elysia";
import { openRoutes } from "../http/route-guards.ts";
import { prefersHtml } from "./accept.ts";
import { languageOf } from "./language.ts";
import { messagePage, type PageMessage } from "./message-page.ts";
import { pageText } from "./page-template.ts";

const MESSAGE: PageMessage = {
  title: pageText("Berth backend"),
  text: pageText("This address serves operators and other services. People use the web address."),
  links: { "/swagger": pageText("API documentation"), "/healthz": pageText("Health") },
};

export const backendHome = () =>
  new Elysia({ name: "backend-home" }).use(openRoutes).get(
    "/",
    ({ request }) => {
      if (prefersHtml(request)) return messagePage(MESSAGE, languageOf(request));
      return Response.json(
        { name: "Berth backend API", docs: "/swagger", openapi: "/swagger/json" },
        { headers: HEADERS },
      );
    },
    { open: true, detail: { hide: true } },
  );

const HEADERS = { vary: "accept, accept-language" };
