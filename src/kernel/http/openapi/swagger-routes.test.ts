// Tests the OpenAPI document of a surface, and the page that shows it.
import { beforeAll, describe, expect, test } from "bun:test";
import { gunzipSync } from "node:zlib";
import { type AnyElysia, Elysia, t } from "elysia";
import { problemsOf } from "../../../../tests/support/openapi.ts";
import { createLog } from "../../telemetry/log.ts";
import { errorHandler } from "../error-response.ts";
import { attachContext } from "../request-context.ts";
import { guarded, openRoutes } from "../route-guards.ts";
import type { OpenApiDocument, Operation, Schema } from "./document.ts";
import { documentErrors, documentGuard } from "./openapi.ts";
import { swaggerRoutes } from "./swagger-routes.ts";

const boat = t.Object(
  {
    id: t.String({ error: "Name the boat." }),
    kind: t.Union([t.Literal("sail"), t.Literal("motor")]),
    length: t.Union([t.Number(), t.Null()]),
    error: t.Optional(t.String({ description: "What is broken" })),
  },
  { $id: "boat" },
);
const detail = { tags: ["Boats"] };

const guards = new Elysia({ name: "test.guards" }).macro({
  crew: (_: true) => ({ ...guarded(() => undefined), detail: documentGuard(["session"], { 404: "BOAT_NOT_FOUND" }) }),
});

const routes = new Elysia()
  .use(openRoutes)
  .use(guards)
  .get("/boats", () => ({ boats: [], count: 0 }), {
    open: true,
    query: t.Object({ limit: t.Optional(t.String({ description: "1 to 100", examples: ["20"] })) }),
    response: { 200: t.Object({ boats: t.Array(boat), count: t.Integer() }) },
    detail: { ...detail, summary: "All boats" },
  })
  .get("/boats/:id", ({ params: { id } }) => ({ id, kind: "sail" as const, length: null }), {
    crew: true,
    response: { 200: boat },
    detail: { ...detail, summary: "A boat" },
  })
  .post("/boats", ({ body, status }) => status(201, body), {
    crew: true,
    body: boat,
    response: { 201: boat, 409: t.Object({ berth: t.Integer() }, { description: "The berth is taken" }) },
    detail: { ...detail, summary: "Moor a boat", ...documentErrors({ 402: "FEE_UNPAID", 429: ["HARBOUR_FULL"] }) },
  })
  .patch("/boats/:id", () => ({ ok: true }), {
    crew: true,
    body: t.Object({ kind: t.Optional(t.String()) }),
    response: { 200: t.Object({ ok: t.Boolean() }) },
    detail: { ...detail, summary: "Change a boat" },
  })
  .get("/chart.svg", () => "", {
    open: true,
    detail: {
      ...detail,
      summary: "The chart",
      responses: { 200: { description: "A picture", content: { "image/svg+xml": { schema: { type: "string" } } } } },
    },
  })
  .get("/secret-cove", () => "", { open: true, detail: { hide: true } });

const app: AnyElysia = new Elysia().use(errorHandler(createLog({ level: "error", format: "json" }))).use(routes);
const socketPath: OpenApiDocument["paths"] = {
  "/radio/{id}": {
    get: { security: [{ radioToken: [] }], responses: { 101: { description: "The socket is open." } } },
  },
};
const securitySchemes = {
  session: { type: "apiKey", in: "cookie", name: "s" },
  radioToken: { type: "http", scheme: "bearer" },
};
app.use(
  swaggerRoutes("web", async () => [app], {
    description: "Boats.",
    tags: { Boats: { description: "Everything that floats." } },
    paths: socketPath,
    securitySchemes,
    examples: async () => ({
      "POST /boats": [
        { body: { id: "b", kind: "sail" }, status: 201, type: "application/json", response: { id: "b" } },
      ],
      "GET /boats/{id}": [{ parameters: { id: "b" }, status: 200 }],
      "GET /gone": [{ status: 200 }],
    }),
    reference: {
      names: async () => ["reference-1.css", "reference-2.js"],
      response: async (name) => new Response(name),
    },
  }),
);

function ask(path: string, headers: Record<string, string> = {}): Promise<Response> {
  const request = new Request(`http://localhost${path}`, { headers });
  attachContext(request, { id: "test", address: "", socketAddress: "", cookies: [] });
  return Promise.resolve(app.handle(request));
}

let document: OpenApiDocument;
beforeAll(async () => {
  document = (await (await ask("/swagger/json")).json()) as OpenApiDocument;
});

function operation(method: string, path: string): Operation {
  const found = document.paths[path]?.[method];
  if (!found) throw new Error(`${method} ${path} is not in the document.`);
  return found;
}
const statuses = (of: Operation) => Object.keys(of.responses ?? {}).map(Number);
/** Returns the description of a response, also of a shared one. */
function said(of: Operation, status: number): string | undefined {
  const answer = of.responses?.[status];
  const name = answer?.$ref?.split("/").at(-1);
  return name === undefined ? answer?.description : document.components?.responses?.[name]?.description;
}

describe("the document", () => {
  test("is valid OpenAPI 3.1", async () => {
    expect(document.openapi).toStartWith("3.1.");
    expect(await problemsOf(document)).toEqual([]);
  });

  test("lists every route that is not hidden, also those with a dot, but not itself", () => {
    const shown = Object.keys(document.paths).filter((path) => !path.startsWith("/radio/"));
    expect(shown.sort()).toEqual(["/boats", "/boats/{id}", "/chart.svg"]);
  });

  test("documents parameters of the path and the query", () => {
    expect(operation("get", "/boats/{id}").parameters).toEqual([
      {
        name: "id",
        in: "path",
        required: true,
        description: "The id of the boat",
        schema: { type: "string" },
        example: "b",
      },
    ]);
    expect(operation("get", "/boats").parameters).toEqual([
      {
        name: "limit",
        in: "query",
        required: false,
        description: "1 to 100",
        schema: { type: "string", examples: ["20"] },
      },
    ]);
  });

  test("documents only JSON bodies, which are required if a field is", () => {
    const { requestBody } = operation("post", "/boats");
    expect(Object.keys(requestBody?.content ?? {})).toEqual(["application/json"]);
    expect(requestBody?.required).toBe(true);
    expect(operation("patch", "/boats/{id}").requestBody?.required).toBe(false);
  });

  test("keeps hand-written responses of a route", () => {
    expect(operation("get", "/chart.svg").responses?.[200]).toMatchObject({
      description: "A picture",
      content: { "image/svg+xml": { schema: { type: "string" } } },
    });
  });

  test("names a shared schema after its field, in plain JSON Schema", () => {
    const { Boat, ...others } = document.components?.schemas ?? {};
    expect(Object.keys(others)).toEqual(
      ["Error", "Issue", "ListBoatsResponse", "CreateBoatError"].filter((name) => name in others),
    );
    expect(Boat).toEqual({
      type: "object",
      required: ["id", "kind", "length"],
      properties: {
        id: { type: "string" },
        kind: { type: "string", enum: ["sail", "motor"] },
        length: { type: ["number", "null"] },
        error: { type: "string", description: "What is broken" },
      },
    } satisfies Schema);
    const refers = { "application/json": { schema: { $ref: "#/components/schemas/Boat" } } };
    expect(operation("get", "/boats/{id}").responses?.[200]?.content).toEqual(refers);
    expect(operation("post", "/boats").requestBody?.content).toMatchObject(refers);
  });

  test("documents the security schemes of the guard; open routes have none", () => {
    expect(operation("get", "/boats").security).toEqual([]);
    expect(operation("get", "/boats/{id}").security).toEqual([{ session: [] }]);
    expect(Object.keys(document.components?.securitySchemes ?? {})).toEqual(["session", "radioToken"]);
  });

  test("names operations, and describes tags", () => {
    const ids = Object.values(document.paths).flatMap((methods) =>
      Object.values(methods).map((one) => one.operationId),
    );
    expect(ids).toEqual(expect.arrayContaining(["listBoats", "getBoat", "createBoat", "updateBoat"]));
    expect(document.tags).toContainEqual({ name: "Boats", description: "Everything that floats." });
  });

  test("shows recorded examples beside the schemas", () => {
    const moor = operation("post", "/boats");
    const example = { example1: { value: { id: "b", kind: "sail" } } };
    expect(moor.requestBody?.content?.["application/json"]?.examples).toEqual(example);
    expect(moor.responses?.[201]?.content?.["application/json"]?.examples).toEqual({
      example1: { value: { id: "b" } },
    });
  });

  test("describes paths that are not routes", () => {
    expect(operation("get", "/radio/{id}").responses).toHaveProperty("101");
  });
});

describe("errors", () => {
  test("follow from the method, the query and the guard", () => {
    expect(statuses(operation("get", "/chart.svg"))).toEqual([200, 429, 500]);
    expect(statuses(operation("get", "/boats"))).toEqual([200, 400, 429, 500]);
    expect(statuses(operation("get", "/boats/{id}"))).toEqual([200, 401, 404, 429, 500]);
    expect(statuses(operation("patch", "/boats/{id}"))).toEqual([
      200, 400, 401, 403, 404, 408, 409, 413, 415, 429, 500,
    ]);
  });

  test("list their codes: those of every route, and a route's own", () => {
    const moor = operation("post", "/boats");
    expect(said(moor, 401)).toContain("`UNAUTHORIZED`");
    expect(said(moor, 402)).toContain("`FEE_UNPAID`");
    expect(said(moor, 429)).toContain("`RATE_LIMITED`, `HARBOUR_FULL`");
    expect(said(operation("get", "/boats"), 429)).not.toContain("HARBOUR_FULL");
    expect(JSON.stringify(document)).not.toContain("x-errors");
  });

  test("that a route declares itself are kept", () => {
    const own = operation("post", "/boats").responses?.[409];
    expect(own?.description).toBe("The berth is taken");
    expect(JSON.stringify(own?.content)).toContain("berth");
  });

  test("have one schema", () => {
    const shared = Object.values(document.components?.responses ?? {});
    expect(shared).not.toBeEmpty();
    for (const { content } of shared) {
      expect(content).toEqual({ "application/json": { schema: { $ref: "#/components/schemas/Error" } } });
    }
  });
});

describe("the page", () => {
  test("contains no foreign URL, and its policy allows none", async () => {
    const answer = await ask("/swagger");
    const page = await answer.text();
    expect(answer.headers.get("content-type")).toStartWith("text/html");
    expect(page).not.toMatch(/https?:|["'(]\/\//);
    const policy = answer.headers.get("content-security-policy") ?? "";
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("script-src 'self'; style-src 'self';");
    expect(policy).not.toMatch(/unsafe-eval|https?:|\*/);
  });

  test("has no inline script, which the policy forbids", async () => {
    const page = await (await ask("/swagger")).text();
    const scripts = [...page.matchAll(/<script[^>]*>([\s\S]*?)<\/script>/g)].map(([, inside]) => inside);
    expect(scripts).toEqual(["", ""]);
    expect(page).toContain('src="swagger/reference-2.js"');
    expect(page).not.toMatch(/<style|style=|data-configuration/);
  });

  test("names its language, and requests the document before the script runs", async () => {
    const page = await (await ask("/swagger")).text();
    expect(page).toContain('<html lang="en">');
    expect(page).toContain('<link rel="preload" href="swagger/json" as="fetch" crossorigin="anonymous" />');
  });

  test("loads its own script and style sheet, which the surface serves", async () => {
    const page = await (await ask("/swagger")).text();
    expect(page).toContain('<link rel="stylesheet" href="swagger/reference-1.css" />');
    expect(await (await ask("/swagger/reference-2.js")).text()).toBe("reference-2.js");
  });

  test("serves the document compressed if the client accepts gzip", async () => {
    const packed = await ask("/swagger/json", { "accept-encoding": "gzip" });
    const plain = await ask("/swagger/json");
    expect(packed.headers.get("content-encoding")).toBe("gzip");
    expect(plain.headers.get("content-encoding")).toBeNull();
    expect(plain.headers.get("vary")).toBe("accept-encoding");
    expect(gunzipSync(await packed.bytes()).equals(await plain.bytes())).toBe(true);
  });
});

test("nothing loads the generator before the first visit", async () => {
  const files = [...new Bun.Glob("{src,plugins}/**/*.ts").scanSync(`${import.meta.dir}/../../../..`)];
  const imports = await Promise.all(
    files.map(async (path) => {
      const source = await Bun.file(`${import.meta.dir}/../../../../${path}`).text();
      return new Bun.Transpiler({ loader: "ts" }).scanImports(source);
    }),
  );
  const kinds = imports.flat().filter(({ path }) => path === "@elysiajs/swagger");
  expect(kinds.map(({ kind }) => kind)).toEqual(["dynamic-import"]);
});
