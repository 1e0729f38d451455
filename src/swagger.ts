// The API's own description: OpenAPI 3.1 at /swagger/json, and a page at /swagger that works offline.
import { gzipSync } from "node:zlib";
import scalar from "@scalar/api-reference/dist/browser/standalone.js" with { type: "file" };
import { type AnyElysia, Elysia } from "elysia";
import { version } from "../package.json";
import { openRoutes } from "./http.ts";
import { toOpenApi } from "./openapi.ts";

const SCRIPT = "/swagger/scalar.js";

const PAGE_POLICY =
  "default-src 'none'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; connect-src 'self'; worker-src blob:; frame-ancestors 'none'; base-uri 'none'";

const INTRO = {
  web: "Accounts, agents and conversations. Sign in first; the session cookie does the rest.",
  backend: "The AI layer, and the agents' back room. Callers show a service token, or their own session.",
};

/**
 * The page and document routes of one surface. The generator (@elysiajs/swagger) is loaded at the first visit, over the
 * routes `app` has by then; the start doesn't pay for it.
 */
export function swaggerPage(side: "web" | "backend", app: AnyElysia): AnyElysia {
  let docs: Promise<AnyElysia> | undefined;
  let script: Promise<Uint8Array<ArrayBuffer>> | undefined;

  async function load(): Promise<AnyElysia> {
    const { swagger } = await import("@elysiajs/swagger");
    const generator = swagger({
      provider: "scalar",
      path: "/swagger",
      scalarCDN: SCRIPT,
      scalarConfig: { withDefaultFonts: false, proxyUrl: "", telemetry: false, hideClientButton: true },
      excludeStaticFile: false,
      exclude: [/^\/swagger/, "/setup"],
      documentation: {
        openapi: "3.1.0",
        info: { title: `Berth · ${side} API`, version, description: INTRO[side] },
      },
    });
    return new Elysia({ name: `docs.${side}` }).use(app).use(generator);
  }
  const ask = async (path: string) => {
    docs ??= load();
    return (await docs).handle(new Request(`http://localhost${path}`));
  };

  return new Elysia({ name: `swagger.${side}` })
    .use(openRoutes)
    .get(
      "/swagger",
      async () => {
        const page = await ask("/swagger");
        const headers = { "content-type": "text/html;charset=utf-8", "content-security-policy": PAGE_POLICY };
        return new Response(await page.text(), { headers });
      },
      { open: true, detail: { hide: true } },
    )
    .get("/swagger/json", async () => toOpenApi(await (await ask("/swagger/json")).json()), {
      open: true,
      detail: { hide: true },
    })
    .get(
      SCRIPT,
      async () => {
        script ??= Bun.file(scalar).bytes().then(gzipSync);
        const headers = {
          "content-type": "text/javascript;charset=utf-8",
          "content-encoding": "gzip",
          "cache-control": "public, max-age=86400",
        };
        return new Response(await script, { headers });
      },
      { open: true, detail: { hide: true } },
    );
}
