// Tests the rules of every route: authorization before the body, valid JSON bodies, and one error shape.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Elysia, t } from "elysia";
import { auth } from "../../../plugins/auth/index.ts";
import { createClient } from "../../../tests/support/client.ts";
import { bun, launch } from "../../../tests/support/process.ts";
import { rawRequest } from "../../../tests/support/raw.ts";
import { expectRefusal } from "../../../tests/support/refusal.ts";
import { openServer, type TestServer } from "../../../tests/support/server.ts";
import { AppError, invalidInput } from "../errors.ts";
import { plugin } from "../plugin.ts";
import { createLog } from "../telemetry/log.ts";
import { MAX_BODY_BYTES } from "./body/json-body.ts";
import { errorHandler, errorResponse } from "./error-response.ts";
import { attachContext, contextOf } from "./request-context.ts";
import { guarded, openRoutes } from "./route-guards.ts";

const seen: string[] = [];
const thrown: Record<string, unknown> = {
  error: new Error("SELECT secret FROM /srv/places"),
  type: new TypeError("undefined is not an object"),
  text: "a text with a secret",
  number: 42,
  nothing: null,
  undefined,
  object: { secret: "canary", status: 200 },
  known: new AppError(418, "TEAPOT", "I am a teapot.", { current: 1 }, { headers: { "retry-after": "7" } }),
  invalid: invalidInput([
    { path: "a", message: "First." },
    { path: "b", message: "Second." },
  ]),
  wrapped: new Error("outer", { cause: new AppError(409, "INNER", "The cause is public.") }),
};

const body = t.Object({
  name: t.String({ minLength: 1 }),
  count: t.Optional(t.Number()),
  mood: t.Optional(t.Union([t.Literal("calm"), t.Literal("rough")])),
  stars: t.Optional(t.Integer({ minimum: 1, maximum: 5 })),
  depth: t.Optional(t.Number({ minimum: 0 })),
  note: t.Optional(t.Union([t.String({ maxLength: 3 }), t.Null()])),
  wind: t.Optional(t.Union([t.Literal("calm"), t.Null()])),
  list: t.Optional(t.Array(t.Object({ role: t.String({ error: "A role is text." }) }))),
});

const probe = plugin("probe", (host) => {
  const { identities } = host.use(auth);
  const gate = new Elysia({ name: "probe.gate" }).macro({
    gate: (word: string) =>
      guarded(
        () => void seen.push("first"),
        ({ params }) => {
          if (params.word !== word) throw new AppError(403, "WRONG_WORD", "That is not the word.");
          seen.push("second");
        },
      ),
  });
  const web = new Elysia({ name: "probe.web" })
    .use(openRoutes)
    .use(identities.guards)
    .use(gate)
    .post("/probe/body", ({ body }) => body, { open: true, body })
    .post("/probe/any", ({ body }) => ({ got: body }), { open: true })
    .delete("/probe/any", () => ({ done: true }), { open: true })
    .post("/probe/text", ({ body, request }) => ({ text: contextOf(request).bodyText, body }), { open: true })
    .post("/probe/mine", ({ body }) => body, { signedIn: "write", body })
    .post("/probe/gate/:word", () => ({ seen: seen.splice(0) }), { gate: "sesame", body })
    .get("/probe/gate/:word", () => ({ seen: seen.splice(0) }), { gate: "sesame" })
    .post("/probe/both/:word", () => ({ seen: seen.splice(0) }), { open: true, gate: "sesame" })
    .get("/probe/query", ({ query }) => query, { open: true, query: t.Object({ limit: t.Numeric({ minimum: 1 }) }) })
    .get("/probe/throw/:what", ({ params }) => Promise.reject(thrown[params.what]), { open: true })
    .get(
      "/probe/throw-now/:what",
      ({ params }) => {
        throw thrown[params.what];
      },
      { open: true },
    )
    .get("/probe/liar", () => JSON.parse('{"age":"canary-in-a-response"}'), {
      open: true,
      response: { 200: t.Object({ age: t.Number() }) },
    });
  return { service: {}, web };
});

let testServer: TestServer;
beforeAll(async () => {
  testServer = await openServer({ plugins: [probe] });
});
afterAll(() => testServer?.[Symbol.asyncDispose]());

interface Sent {
  path?: string;
  method?: string;
  body?: string | Uint8Array<ArrayBuffer> | ReadableStream;
  headers?: Record<string, string>;
}

async function send({ path = "/probe/any", method = "POST", body, headers = {} }: Sent) {
  const type = body === undefined ? {} : { "content-type": "application/json" };
  const response = await fetch(testServer.web + path, {
    method,
    headers: { ...type, ...headers },
    ...(body === undefined ? {} : { body }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, body: text && JSON.parse(text) };
}

/** A stream, which has no declared length. */
const streamOf = (...chunks: string[]) =>
  new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(new TextEncoder().encode(chunk));
      controller.close();
    },
  });

const nested = (depth: number) => `${"[".repeat(depth)}${"]".repeat(depth)}`;

describe("authorization comes before the body", () => {
  const bad: [string, Sent][] = [
    ["a good body", { body: '{"name":"Ada"}' }],
    ["none", {}],
    ["broken JSON", { body: "{" }],
    ["a wrong type", { body: '{"name":1}' }],
    ["another content type", { body: "name=Ada", headers: { "content-type": "application/x-www-form-urlencoded" } }],
    ["too large a body", { body: `"${"x".repeat(MAX_BODY_BYTES)}"` }],
    ["too large a body of unknown length", { body: streamOf(`"${"x".repeat(MAX_BODY_BYTES)}"`) }],
    ["too deep a body", { body: nested(65) }],
    ["no UTF-8", { body: new Uint8Array([0x22, 0xff, 0x22]) }],
  ];

  test.each(bad)("without a session: 401, with %s", async (_, sent) => {
    expectRefusal(await send({ ...sent, path: "/probe/mine" }), 401, "UNAUTHORIZED");
  });

  test("with a session: the problems of the body", async () => {
    const ada = createClient(testServer.web);
    await ada.join();
    expect((await ada.post("/probe/mine", { name: "Ada" })).body).toEqual({ name: "Ada" });
    expectRefusal(await ada.post("/probe/mine", {}), 400, "INVALID_INPUT");
    const form = { headers: { "content-type": "text/plain" } };
    expectRefusal(await ada.post("/probe/mine", "x", form), 415, "UNSUPPORTED_MEDIA_TYPE");
  });

  test("guards run once and in order, also without a body", async () => {
    const good = await send({ path: "/probe/gate/sesame", body: '{"name":"Ada"}' });
    expect(good.body).toEqual({ seen: ["first", "second"] });
    expect((await send({ path: "/probe/gate/sesame", method: "GET" })).body).toEqual({ seen: ["first", "second"] });
    for (const method of ["POST", "GET"]) {
      expectRefusal(await send({ path: "/probe/gate/barley", method }), 403, "WRONG_WORD");
      expect(seen.splice(0)).toEqual(["first"]);
    }
  });

  test("two guards on one route both run", async () => {
    expectRefusal(await send({ path: "/probe/both/barley", body: "{}" }), 403, "WRONG_WORD");
    seen.length = 0;
    expect((await send({ path: "/probe/both/sesame", body: "{}" })).body).toEqual({ seen: ["first", "second"] });
  });
});

describe("a body", () => {
  test("may be any JSON, with or without a length, and its text is kept", async () => {
    const text = '{ "a": [1, "ü", null], "a": 2 }';
    for (const body of [text, streamOf(text), streamOf('{ "a": [1, "', 'ü", null], "a": 2 }')]) {
      expect((await send({ path: "/probe/text", body })).body).toEqual({ text, body: { a: 2 } });
    }
    for (const type of [
      "application/json;charset=utf-8",
      "Application/JSON",
      "application/vnd.api+json",
      " application/json ",
    ]) {
      expect((await send({ body: "[1]", headers: { "content-type": type } })).body).toEqual({ got: [1] });
    }
    expect((await send({ body: "\u{feff}[1]" })).body).toEqual({ got: [1] });
  });

  test.each(["", " ", "\r\n\t"])("may be empty (%j), which is read as {}", async (empty) => {
    expect((await send({ body: empty })).body).toEqual({ got: {} });
    expect((await send({ body: empty, headers: { "content-type": "application/json" } })).status).toBe(200);
    expect((await send({})).body).toEqual({ got: {} });
    expect((await send({ method: "DELETE" })).body).toEqual({ done: true });
  });

  test("is at most 1 MiB, with or without a declared length", async () => {
    const most = `"${"x".repeat(MAX_BODY_BYTES - 2)}"`;
    const more = `${most} `;
    expect((await send({ body: most })).status).toBe(200);
    expect((await send({ body: streamOf(most) })).status).toBe(200);
    expectRefusal(await send({ body: more }), 413, "BODY_TOO_LARGE");
    expectRefusal(await send({ body: streamOf(most.slice(0, 9), most.slice(9), " ") }), 413, "BODY_TOO_LARGE");
    const declared = { path: "/probe/any", method: "POST", body: "", headers: { "content-length": "2000000" } };
    const answer = await rawRequest(testServer.web, { ...declared, headers: { ...declared.headers, ...json } });
    expectRefusal({ ...answer, text: answer.body }, 413, "BODY_TOO_LARGE");
  });

  test("must arrive in time: one that stops is 408, and the connection is closed", async () => {
    const head = "POST /probe/any HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{";
    const answer = await rawRequest(testServer.web, head, 30_000);
    expectRefusal({ ...answer, text: answer.body }, 408, "BODY_TIMEOUT");
    expect(answer.headers.get("connection")).toBe("close");
  });

  test("is nested at most 64 levels deep; brackets in strings do not count", async () => {
    expect((await send({ body: nested(64) })).status).toBe(200);
    expectRefusal(await send({ body: nested(65) }), 400, "JSON_TOO_DEEP");
    expectRefusal(await send({ body: '{"a":'.repeat(20_000) }), 400, "JSON_TOO_DEEP");
    expect((await send({ body: JSON.stringify(`${"[".repeat(100)}\\"{`) })).status).toBe(200);
  });

  test.each([
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "application/jsonp",
    "text/json",
    "application/xml",
    "",
  ])("of the type %j is 415", async (type) => {
    const headers = { "content-type": type };
    const raw = await rawRequest(testServer.web, { method: "POST", path: "/probe/any", body: '{"a":1}', headers });
    expectRefusal({ ...raw, text: raw.body }, 415, "UNSUPPORTED_MEDIA_TYPE");
  });

  test("without a type is 415, unless it is empty", async () => {
    const raw = await rawRequest(testServer.web, { method: "POST", path: "/probe/any", body: "{}" });
    expectRefusal({ ...raw, text: raw.body }, 415, "UNSUPPORTED_MEDIA_TYPE");
    expect((await rawRequest(testServer.web, { method: "POST", path: "/probe/any", body: "" })).status).toBe(200);
  });

  test.each(["{", "{'a':1}", "[1,]", "undefined", "NaN", '"a', "{}{}", "\u{0}", '"\t"', "01"])(
    "that is not JSON (%j): 400",
    async (text) => {
      expectRefusal(await send({ body: text }), 400, "INVALID_JSON");
    },
  );

  test("that is not UTF-8: 400", async () => {
    for (const bytes of [
      [0x22, 0xff, 0x22],
      [0x22, 0xc0, 0x80, 0x22],
      [0x22, 0xed, 0xa0, 0x80, 0x22],
      [0x22, 0xe2, 0x82],
    ]) {
      expectRefusal(await send({ body: new Uint8Array(bytes) }), 400, "INVALID_JSON");
    }
  });

  test.each([
    ['{"name":"a\\u0000b"}', "name"],
    ['{"name":"\\ud800"}', "name"],
    ['{"name":"\\uDC00\\uD800"}', "name"],
    ['{"a":{"b":["x","\\udfff"]}}', "a.b.1"],
    ['{"a\\u0000":1}', ""],
    ['"\\u0000"', ""],
  ])("with text that can't be stored (%s): 400 and its path", async (text, path) => {
    const { issues } = expectRefusal(await send({ body: text }), 400, "INVALID_TEXT");
    expect(issues).toEqual([{ path, message: "This text holds a NUL or half of a surrogate pair." }]);
  });

  test("may hold whole pairs, and escapes of escapes", async () => {
    const text = '["\\ud83d\\ude00","\\\\u0000","\\\\ud800"]';
    expect((await send({ body: text })).body).toEqual({ got: ["😀", "\\u0000", "\\ud800"] });
  });

  test("can't change prototypes, and unknown fields are removed", async () => {
    const text = '{"name":"Ada","__proto__":{"count":1},"constructor":{"prototype":{"count":1}},"isAdmin":true}';
    const { body } = await send({ path: "/probe/body", body: text });
    const warnings = ["constructor", "isAdmin"].map((path) => ({
      path,
      message: "This was ignored: there is no such field here.",
    }));
    expect(body).toEqual({ name: "Ada", warnings });
    expect(Reflect.get({}, "count")).toBeUndefined();
    for (const other of ["[]", "null", "1", '"x"', '[{"name":"Ada"}]']) {
      expectRefusal(await send({ path: "/probe/body", body: other }), 400, "INVALID_INPUT");
    }
  });

  test("a number that JSON does not allow is refused, not turned into null", async () => {
    expectRefusal(await send({ path: "/probe/body", body: '{"name":"a","count":1e999}' }), 400, "INVALID_INPUT");
  });
});

describe("invalid input", () => {
  test("is reported field by field, in sentences", async () => {
    const text = '{"name":"","count":"3","list":[{"role":1},{}]}';
    const { issues, error } = expectRefusal(await send({ path: "/probe/body", body: text }), 400, "INVALID_INPUT");
    expect(issues?.map(({ path }) => path)).toEqual(["name", "count", "list.0.role", "list.1.role"]);
    for (const { message } of issues ?? []) expect(message).toMatch(/^[A-Z].{8,}\.$/);
    expect(issues?.map(({ message }) => message).slice(0, 3)).toEqual([
      "Give a text.",
      "Give a number.",
      "A role is text.",
    ]);
    expect(error).toBe(`name: ${issues?.[0]?.message}`);
  });

  test("missing fields and the allowed choices are reported", async () => {
    const { issues } = expectRefusal(await send({ path: "/probe/body", body: '{"mood":"foggy"}' }), 400);
    expect(issues).toEqual([
      { path: "name", message: "This field is required." },
      { path: "mood", message: "One of: calm, rough." },
    ]);
  });

  test("limits are named, also of a type that may be null or is written as text", async () => {
    const issuesOf = async (fields: object) => {
      const body = JSON.stringify({ name: "a", ...fields });
      const { issues } = expectRefusal(await send({ path: "/probe/body", body }), 400, "INVALID_INPUT");
      return issues?.map(({ path, message }) => `${path}: ${message}`);
    };
    expect(await issuesOf({ stars: 9, depth: -1 })).toEqual([
      "stars: Give a number from 1 to 5.",
      "depth: Give a number of at least 0.",
    ]);
    expect(await issuesOf({ stars: 2.5 })).toEqual(["stars: Give a whole number."]);
    expect(await issuesOf({ stars: "nine" })).toEqual(["stars: Give a whole number."]);
    expect(await issuesOf({ note: "long", wind: "storm" })).toEqual([
      "note: Give a text of at most 3 characters.",
      "wind: One of: calm, null.",
    ]);
    expect(await issuesOf({ note: 7 })).toEqual(["note: Give a text."]);
  });

  test("an object that can't be turned into text is refused like any other", async () => {
    for (const value of ['{"toString":1}', '{"toString":1,"valueOf":2}', '{"toString":{}}']) {
      for (const body of [
        `{"name":${value}}`,
        `{"name":"a","list":[{"role":${value}}]}`,
        `{"name":"a","mood":${value}}`,
      ]) {
        expectRefusal(await send({ path: "/probe/body", body }), 400, "INVALID_INPUT");
      }
    }
  });

  test("an object that claims to be a long list is refused, without copying it", async () => {
    for (const length of ["1e9", "1e15", "4294967295", "-1", "0.5", "3"]) {
      const bodies = [
        `{"name":"a","list":{"length":${length}}}`,
        `{"name":"a","list":[{"role":{"l\\u0065ngth":${length}}}]}`,
      ];
      for (const body of bodies) expectRefusal(await send({ path: "/probe/body", body }), 400, "INVALID_INPUT");
    }
    const many = `{"name":"a","list":[${Array.from({ length: 10_000 }, () => '{"role":{"length":99999}}').join(",")}]}`;
    expectRefusal(await send({ path: "/probe/body", body: many }), 400, "INVALID_INPUT");
  });

  test("in the query is reported likewise, without the value", async () => {
    for (const query of ["", "?limit=", "?limit=canary", "?limit[]=1"]) {
      const answer = await send({ path: `/probe/query${query}`, method: "GET" });
      const { issues } = expectRefusal(answer, 400, "INVALID_INPUT");
      expect(issues?.[0]?.path).toBe("limit");
      expect(answer.text).not.toContain("canary");
    }
  });

  test("is reported in the same way in production", async () => {
    const code = `
      import { Elysia, t } from "elysia";
      const { errorHandler } = await import("${import.meta.dir}/error-response.ts");
      const { attachContext } = await import("${import.meta.dir}/request-context.ts");
      const { openRoutes } = await import("${import.meta.dir}/route-guards.ts");
      const { createLog } = await import("${import.meta.dir}/../telemetry/log.ts");
      const app = new Elysia().use(errorHandler(createLog({ level: "silent", format: "json" }))).use(openRoutes)
        .post("/x", () => "", { open: true, body: t.Object({ name: t.String(), age: t.Number({ error: "An age is a number." }) }) })
        .get("/y", () => ({ a: "canary" }), { open: true, response: t.Object({ a: t.Number() }) });
      const ask = async (path, init) => {
        const request = new Request("http://localhost" + path, init);
        attachContext(request, { id: "r", address: "", socketAddress: "", cookies: [] });
        const answer = await app.fetch(request);
        return [answer.status, await answer.json()];
      };
      const headers = { "content-type": "application/json" };
      console.log(JSON.stringify([await ask("/x", { method: "POST", headers, body: '{"name":7}' }), await ask("/y", {})]));`;
    const child = launch({ command: [bun, "-e", code], env: { NODE_ENV: "production" }, dir: import.meta.dir });
    const [[status, body], [second, liar]] = JSON.parse(await child.ready());
    expect([status, body.code, second, liar.code]).toEqual([400, "INVALID_INPUT", 500, "INTERNAL"]);
    expect(body.issues.map(({ path }: { path: string }) => path)).toEqual(["name", "age"]);
    expect(body.issues[1].message).toBe("An age is a number.");
    expect(JSON.stringify([body, liar])).not.toContain("canary");
    await child.exited;
  });
});

describe("a thrown value", () => {
  test.each(["error", "type", "text", "number", "nothing", "undefined", "object"])(
    "%s: 500 without details",
    async (what) => {
      for (const path of [`/probe/throw/${what}`, `/probe/throw-now/${what}`]) {
        const answer = await send({ path, method: "GET" });
        const { error, ...more } = expectRefusal(answer, 500, "INTERNAL");
        expect(Object.keys(more).sort()).toEqual(["code", "message"]);
        expect(answer.text).not.toMatch(/secret|canary|undefined|SELECT/);
        expect(error).toContain("x-request-id");
      }
    },
  );

  test("an AppError: its status, message, extras and headers", async () => {
    const answer = await send({ path: "/probe/throw/known", method: "GET" });
    const { current } = expectRefusal(answer, 418, "TEAPOT");
    expect(current).toBe(1);
    expect(answer.headers.get("retry-after")).toBe("7");
    expect((await send({ path: "/probe/throw/invalid", method: "GET" })).body).toEqual({
      error: "a: First.",
      message: "a: First.",
      code: "INVALID_INPUT",
      issues: [
        { path: "a", message: "First." },
        { path: "b", message: "Second." },
      ],
    });
    expectRefusal(await send({ path: "/probe/throw/wrapped", method: "GET" }), 409, "INNER");
  });

  test("a response that does not match its schema: 500, and its value is neither in the response nor in the log", async () => {
    expectRefusal(await send({ path: "/probe/liar", method: "GET" }), 500, "INTERNAL");
    const lines: string[] = [];
    const log = createLog({ level: "debug", format: "json", write: (line) => lines.push(line) });
    const app = new Elysia()
      .use(errorHandler(log))
      .get("/", () => JSON.parse('{"deep":{"age":"canary-in-a-response"}}'), {
        response: { 200: t.Object({ deep: t.Object({ age: t.Number() }) }) },
      });
    const request = made("http://localhost/");
    expect((await app.fetch(request)).status).toBe(500);
    expect(lines.join()).toContain("/deep/age");
    expect(lines.join()).not.toContain("canary");
  });

  test("is logged with its cause if it is unexpected, and only for debugging if the client disconnected", () => {
    const lines: Record<string, unknown>[] = [];
    const log = createLog({ level: "debug", format: "json", write: (line) => lines.push(JSON.parse(line)) });
    errorResponse(new AppError(404, "NOT_FOUND", "Not found."), made("http://localhost/a"), log);
    expect(lines).toEqual([]);
    errorResponse(new Error("the reason"), made("http://localhost/a?token=canary"), log);
    expect(lines[0]).toMatchObject({ level: "error", method: "GET", path: "/a", requestId: "r" });
    expect(JSON.stringify(lines[0])).toContain("the reason");
    expect(JSON.stringify(lines[0])).not.toContain("canary");
    errorResponse(new Error("cut"), made("http://localhost/a", AbortSignal.abort()), log);
    expect(lines[1]).toMatchObject({ level: "debug" });
  });

  test("of a server of somebody else is a warning without a trace", () => {
    const lines: Record<string, unknown>[] = [];
    const log = createLog({ level: "debug", format: "json", write: (line) => lines.push(JSON.parse(line)) });
    const cause = new Error("connect ECONNREFUSED");
    errorResponse(new AppError(502, "UPSTREAM", "It is down.", {}, { cause }), made("http://localhost/a"), log);
    expect(lines).toMatchObject([
      { level: "warn", path: "/a", code: "UPSTREAM", reason: "It is down.", cause: cause.message },
    ]);
    expect(JSON.stringify(lines)).not.toContain("    at ");
    errorResponse(new AppError(503, "STORAGE", "The disk is full."), made("http://localhost/a"), log);
    expect(lines[1]).toMatchObject({ level: "error" });
  });

  test("is logged without the end of a path that is a secret", () => {
    const lines: Record<string, unknown>[] = [];
    const log = createLog({ level: "debug", format: "json", write: (line) => lines.push(JSON.parse(line)) });
    const secretPaths = [/^((?:\/api)?\/callbacks\/[^/]*)\/.*/];
    for (const path of ["/callbacks/shop/canary", "/api/callbacks/shop/canary?verify_token=canary"]) {
      errorResponse(new Error("the reason"), made(`http://localhost${path}`), log, { secretPaths });
    }
    expect(lines.map(({ path }) => path)).toEqual(["/callbacks/shop/…", "/api/callbacks/shop/…"]);
    expect(JSON.stringify(lines)).not.toContain("canary");
  });
});

test("a guard makes Elysia parse nothing that the route doesn't use", () => {
  const app = new Elysia().use(openRoutes).post("/probe", ({ body }) => body, { open: true });
  const source = String(app.routes[0]?.compile());
  expect(source).toContain("e.parse[0]");
  for (const costly of ["parseCookie", "c.headers=", "c.query=", "'server'"]) expect(source).not.toContain(costly);
});

test("a request that came through no surface has no context", () => {
  expect(() => contextOf(new Request("http://localhost/"))).toThrow("did not come through a surface");
});

const json = { "content-type": "application/json" };

function made(url: string, signal?: AbortSignal): Request {
  const request = new Request(url, signal ? { signal } : {});
  attachContext(request, { id: "r", address: "", socketAddress: "", cookies: [] });
  return request;
}
