import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { AnyElysia } from "elysia";
import { configSchema } from "../plugins/agents/configuration/config-schema.ts";
import { healthRoutes } from "../src/kernel/http/health-routes.ts";
import type { OpenApiDocument, Operation } from "../src/kernel/http/openapi/document.ts";
import type { Plugin } from "../src/kernel/plugin.ts";
import { readExamples } from "../src/server/api/api-examples.ts";
import { differences } from "./api-examples/check.ts";
import { type Berth, startBerth } from "./support/berth.ts";
import { guideAt, pathPattern } from "./support/guides.ts";
import { problemsOf, spectralProblemsOf } from "./support/openapi.ts";
import { openPluginHost } from "./support/plugin-host.ts";

/** Statuses whose response has no body. */
const BODILESS = new Set(["101", "204"]);
const SIDES = ["web", "backend"] as const;
type Side = (typeof SIDES)[number];

let berth: Berth;
let documents: Record<Side, OpenApiDocument>;
let routes: Record<Side, string[]>;
/** The routes whose handler takes the body from its context. */
let readers: Record<Side, string[]>;
/** The routes that are built at the start, and those that are built at the first request. */
let early: Record<Side, string[]>;
let late: Record<Side, string[]>;

beforeAll(async () => {
  berth = await startBerth();
  documents = { web: await documentOf("web"), backend: await documentOf("backend") };
  ({ routes, readers, early, late } = await routesOfAllPlugins());
});
afterAll(() => berth[Symbol.asyncDispose]());

async function documentOf(side: Side): Promise<OpenApiDocument> {
  const answer = await fetch(`${berth[side]}/swagger/json`);
  expect(answer.status).toBe(200);
  return (await answer.json()) as OpenApiDocument;
}

test.each(SIDES)("on the %s, no route that is built at the start hides one that is built later", (side) => {
  expect(late[side].length).toBeGreaterThan(50);
  const matchers = early[side].map((route) => new RegExp(`^${route.replace(/\{\w+\}/g, "[^/]+").replace("*", ".*")}$`));
  expect(late[side].filter((route) => matchers.some((matcher) => matcher.test(route)))).toEqual([]);
  expect(late[side].filter((route) => !/^[A-Z]+ \/(?:api|v1)\//.test(route))).toEqual([]);
});

/** The routes ("GET /path/{id}") of every plugin in the plugins folder, from the plugins' own route tables. */
async function routesOfAllPlugins(): Promise<Record<"routes" | "readers" | "early" | "late", Record<Side, string[]>>> {
  await using opened = await openPluginHost();
  const { host } = opened;
  for (const path of [...new Bun.Glob("plugins/*/index.ts").scanSync(join(import.meta.dir, ".."))].sort()) {
    const [, folder = ""] = path.split("/");
    const exported = (await import(`../${path}`)) as Record<string, Plugin<unknown>>;
    // A folder's plugin has its name in camel case: agent-stats exports agentStats.
    const found = exported[folder.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())];
    if (!found) throw new Error(`${path} exports no plugin of its folder's name.`);
    host.use(found);
  }
  const earlyApps = (side: Side) => [healthRoutes(side, host), ...host.built.map(({ parts }) => parts[side])];
  const lateApps = (side: Side) =>
    Promise.all(host.built.flatMap(({ parts }) => parts.lateRoutes?.[side] ?? []).map((make) => make()));
  const apps = {
    early: { web: earlyApps("web"), backend: earlyApps("backend") },
    late: { web: await lateApps("web"), backend: await lateApps("backend") },
  };
  const routesOf = (found: readonly (AnyElysia | undefined)[]) => found.flatMap((app) => app?.routes ?? []);
  const nameOf = ({ method, path }: { method: string; path: string }) =>
    `${method} ${path.replace(/:(\w+)\??/g, "{$1}")}`;
  const of = (side: Side, isWanted: (handler: string) => boolean = () => true) =>
    routesOf([...apps.early[side], ...apps.late[side]])
      .filter(({ hooks, handler }) => hooks?.detail?.hide !== true && isWanted(String(handler)))
      .map(nameOf);
  const readsBody = (handler: string) => /\bbody\b|\bbodyText\b/.test(handler.slice(0, handler.indexOf("=>")));
  return {
    routes: { web: of("web"), backend: of("backend") },
    readers: { web: of("web", readsBody), backend: of("backend", readsBody) },
    early: { web: routesOf(apps.early.web).map(nameOf), backend: routesOf(apps.early.backend).map(nameOf) },
    late: { web: routesOf(apps.late.web).map(nameOf), backend: routesOf(apps.late.backend).map(nameOf) },
  };
}

const operationsOf = (document: OpenApiDocument): [name: string, Operation][] =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): [string, Operation] => [
      `${method.toUpperCase()} ${path}`,
      operation,
    ]),
  );

/** The addresses in a text that are neither on this machine nor reserved for examples. */
const foreign = (text: string) =>
  text.match(/(?:https?:)?\/\/(?!localhost|127\.0\.0\.1|(?:\w+\.)?example\.com)[\w-]+\.[\w.-]+/g) ?? [];

const NEEDS_EXAMPLE = /^(?:application\/json|application\/x-www-form-urlencoded|multipart\/form-data)$/;
/** Operations whose success no scenario can show: a playlist is there while a camera sends. */
const ONLY_REFUSED = { web: ["GET /live/{liveStreamId}/{file}"], backend: ["GET /api/live/{liveStreamId}/{file}"] };

/** The address of a skill has to be https, which no server of the scenarios is. Its schema has an example. */
const UNSHOWN = { web: ["POST /api/skills: body, application/json"], backend: [] };

/** Names that say nothing by themselves. */
const MEANINGLESS = new Set(
  ["Body", "Bot", "Data", "Database", "Entry", "Info", "Item", "List", "Match", "Message", "Object", "Options"].concat([
    "Part",
    "Payload",
    "Record",
    "Request",
    "Response",
    "Result",
    "State",
    "Target",
    "Value",
  ]),
);

/** The properties of an operation's JSON body, with their types; undefined if it has no body. */
function bodyFields(document: OpenApiDocument, operation: Operation | undefined): string | undefined {
  const json = operation?.requestBody?.content?.["application/json"];
  if (!json) return undefined;
  const { $ref } = json.schema ?? {};
  const schema = typeof $ref === "string" ? document.components?.schemas?.[$ref.split("/").at(-1) ?? ""] : json.schema;
  return JSON.stringify(schema);
}

test("what the web forwards to the backend is documented with the same body on both, by either address", () => {
  const compared: string[] = [];
  for (const [path, methods] of Object.entries(documents.web.paths)) {
    const backendPath = path.replace("/api/instance/{userId}/", "/api/agents/{id}/");
    for (const [method, operation] of Object.entries(methods)) {
      const same = documents.backend.paths[backendPath]?.[method];
      if (!same || method === "get") continue;
      const name = `${method} ${path}`;
      expect({ name, body: bodyFields(documents.web, operation) }).toEqual({
        name,
        body: bodyFields(documents.backend, same),
      });
      compared.push(name);
    }
  }
  for (const operation of ["update", "rollback"]) {
    expect(compared).toContain(`post /api/agents/{id}/${operation}`);
    expect(compared).toContain(`post /api/instance/{userId}/${operation}`);
  }
});

test("each route whose handler reads a body documents it", () => {
  expect(readers.web.length + readers.backend.length).toBeGreaterThan(30);
  for (const side of SIDES) {
    const documented = operationsOf(documents[side]).flatMap(([name, { requestBody }]) => (requestBody ? [name] : []));
    expect(readers[side].filter((name) => !documented.includes(name))).toEqual([]);
  }
});

test("a configuration is documented by the schema that validates it, wherever one is given", () => {
  const given = {
    web: ["/api/agents", "/api/agents/provision", "/api/agents/{id}", "/api/deployments"],
    backend: ["/api/agents", "/api/agents/{id}", "/api/agents/{id}/deploy"],
  };
  const reference = { $ref: "#/components/schemas/AgentConfig" };
  for (const side of SIDES) {
    const { paths, components } = documents[side];
    const { properties, examples } = configSchema();
    expect(components?.schemas?.AgentConfig).toMatchObject({ examples });
    expect(Object.keys(components?.schemas?.AgentConfig?.properties ?? {})).toEqual(Object.keys(properties ?? {}));
    const whole = paths["/api/agents/{id}/config"]?.put?.requestBody?.content?.["application/json"]?.schema;
    expect(whole).toEqual(reference);
    for (const path of given[side]) {
      const operation = Object.values(paths[path] ?? {}).find(({ requestBody }) => requestBody);
      expect({ path, body: bodyFields(documents[side], operation) }).toEqual({
        path,
        body: expect.stringContaining(`"config":${JSON.stringify(reference)}`),
      });
    }
  }
});

test("the frames of the socket and the events of streams are typed", () => {
  const { schemas = {} } = documents.web.components ?? {};
  const frames = documents.web.paths["/agent/{id}"]?.get?.responses?.[101]?.content?.["application/json"]?.schema;
  expect(frames).toEqual({ $ref: "#/components/schemas/GatewayFrame" });
  expect(JSON.stringify(schemas.GatewayServerFrame)).toContain("GatewayReplyFrame");
  expect(schemas.GatewayChatFrame).toMatchObject({ required: ["type", "id", "message"] });
  const streams = operationsOf(documents.web).flatMap(([name, { responses = {} }]) => {
    const { schema } = responses[200]?.content?.["text/event-stream"] ?? {};
    return schema ? [[name, schema.$ref]] : [];
  });
  expect(Object.fromEntries(streams)).toMatchObject({
    "POST /api/agent": "#/components/schemas/ChatEvent",
    "POST /api/agents/{id}/chat": "#/components/schemas/UiMessageEvent",
    "POST /api/embed/{agent}/messages": "#/components/schemas/EmbedEvent",
    "GET /api/agents/{id}/turns/{turnId}/events": "#/components/schemas/TurnEvent",
    "GET /api/events": "#/components/schemas/FeedEvent",
    "GET /api/agents/{id}/logs": "#/components/schemas/LogEvent",
  });
});

test("what is deprecated is marked", () => {
  const marked = operationsOf(documents.web).filter(([, { deprecated }]) => deprecated);
  const doubles = operationsOf(documents.web).filter(([name]) => name.includes(" /api/instance/"));
  expect(doubles).toHaveLength(11);
  expect(marked.map(([name]) => name).sort()).toEqual(
    ["DELETE /api/agents/{id}", ...doubles.map(([name]) => name)].sort(),
  );
  const inUse = operationsOf(documents.web).flatMap(([name, { deprecated }]) => (deprecated ? [] : [name]));
  for (const [name, { description = "" }] of doubles) {
    const [, replacement = ""] = /Deprecated: use `([^`]+)`/.exec(description) ?? [];
    expect({ name, isThere: inUse.includes(replacement) }).toEqual({ name, isThere: true });
    expect(replacement).toBe(name.replace("/api/instance/{userId}", "/api/agents/{id}"));
  }
});

test("the console, the client and the commands call no deprecated double", () => {
  const root = join(import.meta.dir, "..");
  const callers = ["web", "packages/client/src", "src/server/commands"];
  const sources = callers.flatMap((folder) => [...new Bun.Glob(`${folder}/**/*.{ts,tsx}`).scanSync(root)]);
  expect(sources.length).toBeGreaterThan(100);
  const calling = sources.filter((path) => readFileSync(join(root, path), "utf8").includes("/api/instance"));
  expect(calling).toEqual([]);
});

for (const side of SIDES) {
  describe(`the ${side} API's own description`, () => {
    test("is OpenAPI 3.1 that Redocly's recommended rules have nothing against", async () => {
      expect(documents[side].openapi).toStartWith("3.1.");
      expect(await problemsOf(documents[side], "recommended")).toEqual([]);
    });

    test("is a document that Spectral has nothing against", async () => {
      expect(await spectralProblemsOf(documents[side])).toEqual([]);
    });

    test("has a readable id and a description for each operation", () => {
      const all = operationsOf(documents[side]);
      const ids = all.map(([, { operationId = "" }]) => operationId);
      const described = "add a `description` to the route's `detail`";
      const named = "give the route an `operationId`, a verb and a noun in camel case, in its `detail`";
      const problems = all.flatMap(([name, { operationId = "", description }]) => [
        ...(description ? [] : [`${name}: ${described}`]),
        ...(/^[a-z]+[A-Z][A-Za-z0-9]*$|^signUp$/.test(operationId) ? [] : [`${name}, "${operationId}": ${named}`]),
        ...(ids.filter((id) => id === operationId).length > 1
          ? [`${name}: another is "${operationId}", too; ${named}`]
          : []),
      ]);
      expect(problems).toEqual([]);
    });

    test("has an example for each operation", async () => {
      const committed = await readExamples(side);
      const missing = differences(side, documents[side], committed).map(({ message }) => message);
      expect(missing).toEqual([]);
      const examples = documents[side].paths["/api/agents"]?.post?.requestBody?.content?.["application/json"]?.examples;
      expect(JSON.stringify(examples)).toContain('"name":"Harbour"');
    });

    test("has an example of each JSON body, form and JSON answer, and no operation shows only refusals", async () => {
      const lacking = operationsOf(documents[side]).flatMap(([name, { requestBody, responses = {} }]) => {
        const answers = Object.entries(responses).filter(([status]) => status.startsWith("2"));
        const media = [
          ...Object.entries(requestBody?.content ?? {}).map(([type, one]) => ({ where: "body", type, one })),
          ...answers.flatMap(([where, { content = {} }]) =>
            Object.entries(content).map(([type, one]) => ({ where, type, one })),
          ),
        ];
        return media
          .filter(({ type, one }) => NEEDS_EXAMPLE.test(type) && !one.examples)
          .map(({ where, type }) => `${name}: ${where}, ${type}`);
      });
      expect(lacking).toEqual(UNSHOWN[side]);
      const refused = Object.entries(await readExamples(side)).flatMap(([name, examples]) =>
        examples.every(({ status }) => status >= 400) ? [name] : [],
      );
      expect(refused).toEqual(ONLY_REFUSED[side]);
    });

    test("names schemas as people would", () => {
      const names = Object.keys(documents[side].components?.schemas ?? {});
      const wordsOf = (name: string) => name.match(/[A-Z][a-z0-9]*/g) ?? [];
      const bad = names.filter(
        (name) =>
          !/^[A-Z][A-Za-z]*$/.test(name.replace(/2fa|Oauth2/i, "")) ||
          /Answer|EventData$/.test(name) ||
          // No word twice, as in `DecideRequestRequest` and `DeleteResponseResponse`.
          new Set(wordsOf(name)).size < wordsOf(name).length ||
          MEANINGLESS.has(name),
      );
      expect(
        bad.map((name) => `${name}: give the schemas that share this name a \`title\` in the plugin's model.ts`),
      ).toEqual([]);
      const numbers = names.filter((name) => /\d$/.test(name));
      expect(numbers).toEqual([]);
    });

    test("has a description and a guide for each tag", async () => {
      const { tags = [] } = documents[side];
      for (const { name, description, externalDocs } of tags) {
        const page = externalDocs?.url.split("/docs/")[1]?.replace(/#.*/, "") ?? "";
        const what = "add a row to src/server/api/api-tags.ts";
        expect({
          name,
          what,
          description,
          isThere: await Bun.file(join(import.meta.dir, `../docs/${page}.md`)).exists(),
        }).toEqual({
          name,
          what,
          description: expect.stringMatching(/\.$/),
          isThere: true,
        });
      }
    });

    test("has a guide for each tag that names a request of it", async () => {
      const { tags = [] } = documents[side];
      const operations = SIDES.flatMap((one) => operationsOf(documents[one]));
      for (const { name, externalDocs } of tags) {
        const guide = await guideAt(externalDocs?.url.split("/docs/")[1] ?? "");
        const own = operations.filter(([, operation]) => operation.tags?.includes(name));
        const isNamed = own.some(([route]) => pathPattern(route.split(" ")[1] ?? "").test(guide));
        expect({ name, isNamed }).toEqual({ name, isNamed: true });
      }
    });

    test("lists the codes of errors for programs, too", () => {
      const codes = operationsOf(documents[side]).flatMap(([, { responses = {} }]) =>
        Object.values(responses).flatMap((one) => one["x-error-codes"] ?? []),
      );
      expect(codes).toEqual(expect.arrayContaining(["AGENT_NOT_FOUND", "INVALID_CONFIG", "OPERATION_IN_PROGRESS"]));
      expect(codes.filter((code) => !/^[A-Z][A-Z0-9_]+$/.test(code))).toEqual([]);
    });

    test("has every route of every plugin", () => {
      const shown = operationsOf(documents[side]).map(([name]) => name);
      expect(routes[side].length).toBeGreaterThan(5);
      expect(routes[side].filter((route) => !shown.includes(route))).toEqual([]);
    });

    test("names nothing but routes and the gateway", () => {
      const shown = operationsOf(documents[side]).map(([name]) => name);
      const beside = shown.filter((name) => !routes[side].includes(name));
      expect(beside).toEqual(side === "web" ? ["GET /agent/{id}"] : []);
    });

    test("has a summary, a tag and an error response for each route", () => {
      const lacking = operationsOf(documents[side]).filter(
        ([, { summary, tags, operationId, responses = {} }]) =>
          !summary || !tags?.length || !operationId || !Object.keys(responses).some((status) => Number(status) >= 400),
      );
      expect(lacking.map(([name]) => name)).toEqual([]);
    });

    test("has the security and a response schema for each route", () => {
      const vague = operationsOf(documents[side]).filter(([name, { security, responses = {} }]) => {
        const good = Object.entries(responses).filter(([status]) => Number(status) < 300);
        return (
          !security ||
          (!name.includes("/hooks/") && good.some(([status, { content }]) => !BODILESS.has(status) && !content))
        );
      });
      expect(vague.map(([name]) => name)).toEqual([]);
    });

    test("names 401 exactly for guarded routes", () => {
      for (const [name, { security = [], responses = {} }] of operationsOf(documents[side])) {
        if (responses[101]) continue;
        if (security.length > 0)
          expect([name, Object.keys(responses)]).toEqual([name, expect.arrayContaining(["401"])]);
      }
      const open = operationsOf(documents[side]).filter(([, { security = [] }]) => security.length === 0);
      expect(open.map(([name]) => name)).not.toContain(side === "web" ? "GET /api/settings" : "POST /api/agents");
    });

    test("names no foreign address, and only its own server", () => {
      expect(foreign(JSON.stringify(documents[side]))).toEqual([]);
      expect(documents[side].servers).toEqual([{ url: "/", description: expect.any(String) }]);
    });

    test("equals the output of `berth openapi`, which changes no data", async () => {
      const { stdout, stderr, exitCode } = await berth.command("openapi", side);
      expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 0 });
      const withoutOrigin = (text: string) => text.replaceAll(/"http:\/\/localhost:\d+\/docs\//g, '"/docs/');
      expect(JSON.parse(withoutOrigin(stdout))).toEqual(JSON.parse(withoutOrigin(JSON.stringify(documents[side]))));
    });

    test("has a page that works offline", async () => {
      const page = await fetch(`${berth[side]}/swagger`);
      const html = await page.text();
      expect(page.headers.get("content-security-policy")).toContain("default-src 'none'; script-src 'self';");
      expect(foreign(html)).toEqual([]);
      const [, script = ""] = /<script src="([^"]+)"/.exec(html) ?? [];
      const answer = await fetch(new URL(script, `${berth[side]}/swagger`));
      expect(answer.headers.get("content-type")).toStartWith("text/javascript");
      expect(answer.headers.get("cache-control")).toContain("immutable");
      expect(answer.headers.get("content-encoding")).toBe("br");
    });
  });
}
