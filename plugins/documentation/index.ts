// The documentation: serves the site that site/build.ts makes of docs/, from inside the binary, at /docs.

import { Elysia } from "elysia";
import { openRoutes } from "../../src/kernel/http/route-guards.ts";
import { plugin } from "../../src/kernel/plugin.ts";
import { documentationSettings } from "./settings.ts";

export const documentation = plugin("documentation", ({ kernel }) => {
  if (!kernel.config.of(documentationSettings).isServed) return { service: undefined };
  const hidden = { open: true, detail: { hide: true } } as const;
  const serve = async ({ request }: { request: Request }) =>
    (await import("./site-files.ts")).siteResponse(new URL(request.url).pathname, request);
  return {
    service: undefined,
    web: new Elysia({ name: "documentation" })
      .use(openRoutes)
      .get("/docs", serve, hidden)
      .get("/docs/*", serve, hidden),
    // A page asks for a dozen files, and for those of the pages that it links to.
    selfLimitedPaths: [{ surface: "web", method: "GET", prefix: "/docs/" }],
  };
});
