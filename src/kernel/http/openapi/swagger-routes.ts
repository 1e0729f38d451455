// Serves the OpenAPI 3.1 document of a surface at /swagger/json, and a page that shows it, without the internet, at /swagger.

import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { type AnyElysia, Elysia } from "elysia";
import { license, version } from "../../../../package.json";
import type { LateRoutes } from "../../late-apps.ts";
import { createCompressedAsset } from "../../pages/compressed-asset.ts";
import { pageHeaders } from "../../pages/html.ts";
import { once } from "../../util/cache.ts";
import { openRoutes } from "../route-guards.ts";
import type { Tag } from "./document.ts";
import type { OpenApiDocument, RecordedExamples } from "./openapi.ts";

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
 * keep the start fast, and describes the routes that the `apps` have by then, a few at a time, since all at once would block the event
 * loop. Its results are kept.
 */
export function swaggerRoutes(
  surfaceName: "web" | "backend",
  apps: () => Promise<readonly (AnyElysia | LateRoutes)[]>,
  { description, tags, paths = {}, securitySchemes = {}, examples, reference }: ApiDocumentation,
): AnyElysia {
  const makeGenerator = once(async () => {
    const { swagger } = await import("@elysiajs/swagger");
    await yieldToEventLoop();
    const options: Parameters<typeof swagger>[0] = {
      provider: "scalar",
      path: "/swagger",
      // Our own script in place of Scalar's, which takes seconds to draw an API of this size. The page gets its real name later, because
      // the document must not depend on built files.
      scalarCDN: SCRIPT,
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
      },
    };
    return () => swagger(options);
  });

  /** Describes these routes. The handler is called directly: an app that serves it would be compiled for each of them. */
  async function describe(routes: AnyElysia["routes"]): Promise<OpenApiDocument> {
    const generator = (await makeGenerator())();
    new RouteList(routes).use(generator);
    const handler: unknown = generator.routes.find(({ path }) => path === DOCUMENT_PATH)?.handler;
    if (typeof handler !== "function") throw new Error("The document of @elysiajs/swagger has another path.");
    // A copy: it holds the routes' own schemas, some of which are made only now.
    return JSON.parse(JSON.stringify(handler()));
  }

  async function generateDocument(): Promise<OpenApiDocument> {
    const document = await describe([]);
    document.paths = {};
    for (const app of await apps()) {
      const { routes } = typeof app === "function" ? await app() : app;
      for (let at = 0; at < routes.length; at += ROUTES_AT_ONCE) {
        const described = await describe(routes.slice(at, at + ROUTES_AT_ONCE));
        for (const [path, methods] of Object.entries(described.paths)) {
          document.paths[path] = { ...document.paths[path], ...methods };
        }
        await yieldToEventLoop();
      }
    }
    // Serialized, since their schemas may be made only then.
    Object.assign(document.paths, JSON.parse(JSON.stringify(paths)));
    return document;
  }

  const page = once(async () => {
    const names = await reference.names();
    const script = names.find((name) => name.endsWith(".js")) ?? "";
    const style = names.find((name) => name.endsWith(".css")) ?? "";
    const app = new RouteList([]).use((await makeGenerator())());
    const original = await app.handle(new Request("http://localhost/swagger"));
    return completePage(await original.text(), { script, style });
  });
  const document = createCompressedAsset(async () => {
    const { addExamples, completeDocument, shareSchemas } = await import("./openapi.ts");
    const completed = await completeDocument(await generateDocument(), securitySchemes, tags);
    await shareSchemas(completed);
    if (examples) {
      const recorded = await examples();
      await yieldToEventLoop();
      addExamples(completed, recorded);
    }
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
    .get(DOCUMENT_PATH, ({ request }) => document.response(request), undocumented)
    .get("/swagger/:file", ({ request, params: { file } }) => reference.response(file, request), undocumented);
}

const DOCUMENT_PATH = "/swagger/json";
/** Stands for the script's name, which holds a hash of its content, until the page is completed. */
const SCRIPT = "swagger/script.js";
/** How many routes the generator describes at a time: a few milliseconds of work. */
const ROUTES_AT_ONCE = 8;

/** An app that the generator takes to have these routes. */
class RouteList extends Elysia {
  private readonly shown: AnyElysia["routes"];

  constructor(shown: AnyElysia["routes"]) {
    super();
    this.shown = shown;
  }

  protected override getGlobalRoutes(): AnyElysia["routes"] {
    return this.shown;
  }
}

/**
 * Adds what the page of @elysiajs/swagger lacks: its language, an icon, its script and style sheet, and an early request for the document. Removes
 * its inline styles, and blanks and settings from the element that names the document: the policy would report them.
 */
function completePage(page: string, { script, style }: { script: string; style: string }): string {
  const head = `${HEAD}<link rel="stylesheet" href="swagger/${style}" />`;
  const replacements = [
    ["<html>", '<html lang="en">'],
    ["<head>", `<head>${head}`],
    [SCRIPT, `swagger/${script}`],
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
