// Serves the OpenAPI 3.1 document of a surface at /swagger/json, and a page that shows it, without the internet, at /swagger.
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { type AnyElysia, Elysia } from "elysia";
// Imported by its path, since the package does not export the bundle for browsers.
import scalar from "../../../../node_modules/@scalar/api-reference/dist/browser/standalone.js" with { type: "file" };
import { license, version } from "../../../../package.json";
import { pageHeaders } from "../../util/html.ts";
import { openRoutes } from "../route-guards.ts";
import { type OpenApiDocument, toOpenApi } from "./openapi.ts";

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
  vary: "accept-encoding",
};

/** Switches off every part of Scalar that would contact another service. */
const SCALAR = {
  withDefaultFonts: false,
  telemetry: false,
  proxyUrl: "",
  hideClientButton: true,
  showDeveloperTools: "never",
  agent: { disabled: true },
  mcp: { disabled: true },
  documentDownloadType: "json",
  defaultHttpClient: { targetKey: "shell", clientKey: "curl" },
} as const;

/**
 * Makes the page and document routes of one surface. The generator (@elysiajs/swagger) is loaded at the first visit, to
 * keep the start fast, and describes the routes that `app` has by then. Its results are kept.
 */
export function swaggerRoutes(
  surfaceName: "web" | "backend",
  app: AnyElysia,
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
    return new Elysia({ name: `docs.${surfaceName}` }).use(app).use(generator);
  });
  const generate = async (path: string) => (await documentedApp()).handle(new Request(`http://localhost${path}`));

  const page = once(async () => withoutInlineScript(await (await generate("/swagger")).text()));
  const document = once(async () => {
    const generated = (await (await generate("/swagger/json")).json()) as OpenApiDocument;
    return JSON.stringify(toOpenApi(generated, securitySchemes));
  });
  const gzippedScript = once(async () => promisify(gzip)(await Bun.file(scalar).bytes()));

  const undocumented = { open: true, detail: { hide: true } } as const;
  return new Elysia({ name: `swagger.${surfaceName}` })
    .use(openRoutes)
    .get("/swagger", async () => new Response(await page(), { headers: pageHeaders(PAGE_POLICY) }), undocumented)
    .get("/swagger/json", async () => new Response(await document(), { headers: JSON_HEADERS }), undocumented)
    .get(
      "/swagger/scalar.js",
      async ({ request }) => {
        const isPlain = !/\bgzip\b/.test(request.headers.get("accept-encoding") ?? "");
        if (isPlain) return new Response(Bun.file(scalar), { headers: SCRIPT_HEADERS });
        return new Response(await gzippedScript(), { headers: { ...SCRIPT_HEADERS, "content-encoding": "gzip" } });
      },
      undocumented,
    );
}

/** Removes blanks from the element that holds the page's settings: the policy would report them as an inline script. */
function withoutInlineScript(page: string): string {
  const strict = page.replace(/(<script[^>]*>)\s+(<\/script>)/, "$1$2").replace("<head>", `<head>${ICON}`);
  if (strict === page) throw new Error("The page of @elysiajs/swagger has changed.");
  return strict;
}

/** Without it, browsers request /favicon.ico. */
const ICON = '<link rel="icon" href="data:," />';

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
