// The API's own description: OpenAPI 3.1 at /swagger/json, and a page at /swagger that works offline.
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { type AnyElysia, Elysia } from "elysia";
// By its path: the package does not export the one file that a page can load by itself.
import scalar from "../../../../node_modules/@scalar/api-reference/dist/browser/standalone.js" with { type: "file" };
import { license, version } from "../../../../package.json";
import { openRoutes } from "../http.ts";
import { type OpenApiDocument, toOpenApi } from "./openapi.ts";
import { webSocketPaths } from "./web-socket-paths.ts";

const SURFACE_DESCRIPTIONS = {
  web: "Accounts, agents and conversations. Sign in first (`POST /api/auth/callback/credentials`); the session cookie does the rest.",
  backend:
    "The AI layer, and the agents' back room. A caller shows a service token or its own session; the AI layer asks for neither.",
};

const API_CONVENTIONS = `
- Bodies are JSON of at most 1 MiB (an exported agent 32 MiB). Unknown fields are ignored.
- Every error has the shape \`Error\`, with a \`code\` for programs; every answer has an \`x-request-id\`.
- Times are ISO 8601 in UTC, unless a field says epoch milliseconds.
- With an \`Idempotency-Key\` header, a POST that creates or spends is done once; its answer is replayed for 24 hours.
- A request with a cookie that changes something must come from Berth's own origin.`;

/** Nothing but what Berth itself serves: no foreign address, no evaluated text, no inline script. */
const PAGE_HEADERS = {
  "content-type": "text/html;charset=utf-8",
  "referrer-policy": "no-referrer",
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; connect-src 'self'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'",
};
const JSON_HEADERS = { "content-type": "application/json;charset=utf-8" };
/** The page asks for the script with the version, so it may be kept for as long as anyone likes. */
const SCRIPT_HEADERS = {
  "content-type": "text/javascript;charset=utf-8",
  "cache-control": "public, max-age=31536000, immutable",
  vary: "accept-encoding",
};

/** Everything in Scalar that would ask somebody else, or offer to, is off. */
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
 * The page and document routes of one surface. The generator (@elysiajs/swagger) is loaded at the first visit, over the
 * routes `app` has by then; the start doesn't pay for it. What was made once is kept.
 */
export function swaggerRoutes(surfaceName: "web" | "backend", app: AnyElysia): AnyElysia {
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
          description: `${SURFACE_DESCRIPTIONS[surfaceName]}\n${API_CONVENTIONS}`,
        },
        paths: surfaceName === "web" ? webSocketPaths : {},
      },
    });
    return new Elysia({ name: `docs.${surfaceName}` }).use(app).use(generator);
  });
  const generate = async (path: string) => (await documentedApp()).handle(new Request(`http://localhost${path}`));

  const page = once(async () => withoutInlineScript(await (await generate("/swagger")).text()));
  const document = once(async () => {
    const generated = (await (await generate("/swagger/json")).json()) as OpenApiDocument;
    return JSON.stringify(toOpenApi(generated));
  });
  const gzippedScript = once(async () => promisify(gzip)(await Bun.file(scalar).bytes()));

  const undocumented = { open: true, detail: { hide: true } } as const;
  return new Elysia({ name: `swagger.${surfaceName}` })
    .use(openRoutes)
    .get("/swagger", async () => new Response(await page(), { headers: PAGE_HEADERS }), undocumented)
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

/** The element that holds the page's settings has blanks inside, which count as a script of their own. */
function withoutInlineScript(page: string): string {
  const strict = page.replace(/(<script[^>]*>)\s+(<\/script>)/, "$1$2").replace("<head>", `<head>${ICON}`);
  if (strict === page) throw new Error("The page of @elysiajs/swagger has changed.");
  return strict;
}

/** Else browsers ask for /favicon.ico. */
const ICON = '<link rel="icon" href="data:," />';

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
