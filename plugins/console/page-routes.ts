// Serves the console's page for each of its addresses, and its hashed files. Programs get JSON at `/` and 404 elsewhere.

import { Elysia } from "elysia";
import { notFound } from "../../src/kernel/errors.ts";
import { openRoutes } from "../../src/kernel/http/route-guards.ts";
import { prefersHtml } from "../../src/kernel/pages/accept.ts";
import { assetResponse, pageResponse } from "./built-files.ts";

interface Deps {
  /** The page for visitors without a session. */
  homePage: (context: { request: Request }) => Promise<Response>;
  /** Whether a session cookie came along. The API checks it; without a valid one the page leads to the sign-in form. */
  hasSessionCookie: (request: Request) => boolean;
}

/** The first part of the addresses that the console's own router knows (web/app/routes.ts). */
export const PAGE_ROOTS = [
  "agents",
  "approvals",
  "usage",
  "wallet",
  "webhooks",
  "account",
  "admin",
  "welcome",
] as const;

export function pageRoutes({ homePage, hasSessionCookie }: Deps) {
  const hidden = { open: true, detail: { hide: true } } as const;
  const routes = new Elysia({ name: "console" })
    .use(openRoutes)
    .get(
      "/",
      (context) => {
        if (!prefersHtml(context.request)) return homeData();
        return hasSessionCookie(context.request) ? pageResponse(context.request) : homePage(context);
      },
      hidden,
    )
    .get("/assets/:name", ({ params: { name }, request }) => assetResponse(name, request), hidden);
  for (const root of PAGE_ROOTS) {
    const serve = ({ request }: { request: Request }) => {
      if (!prefersHtml(request)) throw notFound("There is no such route.");
      return hasSessionCookie(request) ? pageResponse(request) : toSignIn(request);
    };
    routes.get(`/${root}`, serve, hidden).get(`/${root}/*`, serve, hidden);
  }
  return routes;
}

/** The home page for programs. */
const homeData = () =>
  Response.json(
    { name: "Berth", docs: "/swagger", openapi: "/swagger/json", guides: "/docs" },
    { headers: { vary: "accept, accept-language, cookie" } },
  );

/** Leads to the sign-in form, which comes back to the same address. */
function toSignIn(request: Request): Response {
  const { pathname, search } = new URL(request.url);
  const location = `/login?next=${encodeURIComponent(pathname + search)}`;
  return new Response(null, {
    status: 302,
    headers: { location, "cache-control": "no-store", vary: "accept, cookie" },
  });
}
