// Serves the OpenAPI 3.1 document of a surface at /swagger/json, and a page that shows it, without the internet, at /swagger.

import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { type AnyElysia, Elysia } from "elysia";
import { license, version } from "../../../../package.json";
import type { LateRoutes } from "../../late-routes.ts";
import { createCompressedAsset } from "../../pages/compressed-asset.ts";
import { pageHeaders } from "../../pages/html.ts";
import { once } from "../../util/cache.ts";
import { openRoutes } from "../route-guards.ts";
import type { Tag } from "./document.ts";
import { addExamples, completeDocument, type OpenApiDocument, type RecordedExamples, shareSchemas } from "./openapi.ts";

/** The texts and registrations of plugins that the document shows beside the routes. */
export interface ApiDocumentation {
  /** What the API is for, in Markdown. */
  description: string;
  /** What is said of tags, by name. */
  tags?: Readonly<Record<string, Omit<Tag, "name">>>;
  /** Paths that are not routes. */
  paths?: OpenApiDocument["paths"];
  securitySchemes?: Record<string, object>;
  /** Reads the recorded examples; called once, when the document is made. */
  examples?: () => Promise<RecordedExamples>;
  /** The script and the style sheet that draw the page. Their names hold a hash of their content. */
  reference: {
    names(): Promise<readonly string[]>;
    response(name: string, request: Request): Promise<Response>;
  };
}

/** Allows only files that Berth serves: no foreign address, no evaluated text, nothing inline. */
const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'; require-trusted-types-for 'script'; trusted-types 'none'";
const JSON_HEADERS = { "content-type": "application/json;charset=utf-8" };

/**
 * Makes the page and document routes of one surface. The generator (@elysiajs/swagger) is loaded at the first visit, to
 * keep the start fast, and describes the routes that the apps have by then. Its results are kept. It works in steps, since
 * all at once would block the event loop.
 */
export function swaggerRoutes(
  surfaceName: "web" | "backend",
  apps: readonly (AnyElysia | LateRoutes)[],
  { description, tags, paths = {}, securitySchemes = {}, examples, reference }: ApiDocumentation,
): AnyElysia {
  const documentedApp = once(async () => {
    const { swagger } = await import("@elysiajs/swagger");
    const [script = ""] = (await reference.names()).filter((name) => name.endsWith(".js"));
    const generator = swagger({
      provider: "scalar",
      path: "/swagger",
      // Our own script in place of Scalar's, which takes seconds to draw an API of this size.
      scalarCDN: `swagger/${script}`,
      scalarConfig: { customCss: "" },
      excludeStaticFile: false,
      documentation: {
        openapi: "3.1.1",
        info: {
          title: `Berth ${surfaceName} API`,
          version,
          license: { name: license },
          contact: { name: "The operator of this installation" },
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

  const page = once(async () => {
    const [style = ""] = (await reference.names()).filter((name) => name.endsWith(".css"));
    return completePage(await (await generate("/swagger")).text(), style);
  });
  const document = createCompressedAsset(async () => {
    const generated = (await (await generate("/swagger/json")).json()) as OpenApiDocument;
    await yieldToEventLoop();
    const completed = completeDocument(generated, securitySchemes, tags);
    await yieldToEventLoop();
    shareSchemas(completed);
    await yieldToEventLoop();
    if (examples) addExamples(completed, await examples());
    await yieldToEventLoop();
    return new TextEncoder().encode(JSON.stringify(completed));
  }, JSON_HEADERS);

  async function pageResponse(): Promise<Response> {
    // The browser requests it next.
    document.prepare();
    return new Response(await page(), { headers: pageHeaders(PAGE_POLICY) });
  }

  const undocumented = { open: true, detail: { hide: true } } as const;
  return new Elysia({ name: `swagger.${surfaceName}` })
    .use(openRoutes)
    .get("/swagger", pageResponse, undocumented)
    .get("/swagger/json", ({ request }) => document.response(request), undocumented)
    .get("/swagger/:file", ({ request, params: { file } }) => reference.response(file, request), undocumented);
}

/**
 * Adds what the page of @elysiajs/swagger lacks: its language, an icon, its style sheet, and an early request for the document. Removes
 * its inline styles, and blanks and settings from the element that names the document: the policy would report them.
 */
function completePage(page: string, style: string): string {
  const head = `${HEAD}<link rel="stylesheet" href="swagger/${style}" />`;
  const replacements = [
    ["<html>", '<html lang="en">'],
    ["<head>", `<head>${head}`],
    [/<style>[\s\S]*<\/style>/, ""],
    [/ *data-configuration='[^']*'/, ""],
    [/(<script[^>]*>)\s+(<\/script>)/, "$1$2"],
    [/" crossorigin><\/script>/, '" defer></script>'],
    [
      "</body>",
      '<noscript>This page needs scripts. The document itself: <a href="swagger/json">JSON</a>.</noscript></body>',
    ],
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
