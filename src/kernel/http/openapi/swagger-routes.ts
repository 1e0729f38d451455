// Serves the OpenAPI 3.1 document of a surface at /swagger/json, and a page that shows it, without the internet, at /swagger.

import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { type AnyElysia, Elysia } from "elysia";
// Imported by its path, since the package does not export the bundle for browsers.
import scalar from "../../../../node_modules/@scalar/api-reference/dist/browser/standalone.js" with { type: "file" };
import { license, version } from "../../../../package.json";
import type { LateRoutes } from "../../late-routes.ts";
import { createCompressedAsset } from "../../pages/compressed-asset.ts";
import { pageHeaders } from "../../pages/html.ts";
import { once } from "../../util/cache.ts";
import { openRoutes } from "../route-guards.ts";
import { type OpenApiDocument, toOpenApi } from "./openapi.ts";
import theme from "./swagger-theme.css" with { type: "text" };

/** The texts and registrations of plugins that the document shows beside the routes. */
export interface ApiDocumentation {
  /** What the API is for, in Markdown. */
  description: string;
  /** Paths that are not routes. */
  paths?: OpenApiDocument["paths"];
  securitySchemes?: Record<string, object>;
}

/** Allows only files that Berth serves: no foreign address, no evaluated text, no inline script. */
const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; connect-src 'self'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'";
const JSON_HEADERS = { "content-type": "application/json;charset=utf-8" };
/** The page requests the script with Berth's version in the query, so caches may keep it. */
const SCRIPT_HEADERS = {
  "content-type": "text/javascript;charset=utf-8",
  "cache-control": "public, max-age=31536000, immutable",
};

/** Switches off every part of Scalar that would contact another service, and sets its colours. */
const SCALAR = {
  customCss: theme,
  withDefaultFonts: false,
  telemetry: false,
  proxyUrl: "",
  hideClientButton: true,
  showDeveloperTools: "never",
  agent: { disabled: true },
  mcp: { disabled: true },
  documentDownloadType: "json",
  defaultHttpClient: { targetKey: "shell", clientKey: "curl" },
  // The name of a button must hold its text, "Show More" (WCAG 2.2, 2.5.3).
  localization: { locale: "en", translations: { navigation: { showAllEndpoints: "Show More: {name}" } } },
} as const;

/**
 * Makes the page and document routes of one surface. The generator (@elysiajs/swagger) is loaded at the first visit, to
 * keep the start fast, and describes the routes that the apps have by then. Its results are kept. It works in steps, since
 * all at once would block the event loop.
 */
export function swaggerRoutes(
  surfaceName: "web" | "backend",
  apps: readonly (AnyElysia | LateRoutes)[],
  { description, paths = {}, securitySchemes = {} }: ApiDocumentation,
): AnyElysia {
  const documentedApp = once(async () => {
    const { swagger } = await import("@elysiajs/swagger");
    const generator = swagger({
      provider: "scalar",
      path: "/swagger",
      scalarCDN: `swagger/scalar.js?${version}`,
      scalarConfig: SCALAR,
      excludeStaticFile: false,
      documentation: {
        openapi: "3.1.1",
        info: {
          title: `Berth ${surfaceName} API`,
          version,
          license: { name: license },
          description,
        },
        paths,
      },
    });
    await yieldToEventLoop();
    const documented: AnyElysia = new Elysia({ name: `docs.${surfaceName}` });
    for (const app of apps) documented.use(typeof app === "function" ? await app() : app);
    documented.use(generator);
    await yieldToEventLoop();
    return documented;
  });
  const generate = async (path: string) => (await documentedApp()).handle(new Request(`http://localhost${path}`));

  const page = once(async () => completePage(await (await generate("/swagger")).text()));
  const document = createCompressedAsset(async () => {
    const generated = (await (await generate("/swagger/json")).json()) as OpenApiDocument;
    await yieldToEventLoop();
    const completed = toOpenApi(generated, securitySchemes);
    await yieldToEventLoop();
    return new TextEncoder().encode(JSON.stringify(completed));
  }, JSON_HEADERS);
  const script = createCompressedAsset(() => Bun.file(scalar).bytes(), SCRIPT_HEADERS);

  async function pageResponse(): Promise<Response> {
    // The browser requests both next.
    script.prepare();
    document.prepare();
    return new Response(await page(), { headers: pageHeaders(PAGE_POLICY) });
  }

  const undocumented = { open: true, detail: { hide: true } } as const;
  return new Elysia({ name: `swagger.${surfaceName}` })
    .use(openRoutes)
    .get("/swagger", pageResponse, undocumented)
    .get("/swagger/json", ({ request }) => document.response(request), undocumented)
    .get("/swagger/scalar.js", ({ request }) => script.response(request), undocumented);
}

/**
 * Adds what the page of @elysiajs/swagger lacks: its language, an icon, and an early request for the document. Removes
 * blanks from the element that holds the page's settings: the policy would report them as an inline script.
 */
function completePage(page: string): string {
  const replacements = [
    ["<html>", '<html lang="en">'],
    ["<head>", `<head>${HEAD}`],
    [/(<script[^>]*>)\s+(<\/script>)/, "$1$2"],
  ] as const;
  return replacements.reduce((text, [original, replacement]) => {
    const replaced = text.replace(original, replacement);
    if (replaced === text) throw new Error("The page of @elysiajs/swagger has changed.");
    return replaced;
  }, page);
}

/** Without the icon, browsers request /favicon.ico. */
const HEAD =
  '<link rel="icon" href="data:," /><link rel="preload" href="swagger/json" as="fetch" crossorigin="anonymous" />';
