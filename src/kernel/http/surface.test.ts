// Tests the rules of a surface for every request: ids, origins, CORS, addresses, rate limits and WebSockets.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import Anthropic from "@anthropic-ai/sdk";
import { DefaultChatTransport } from "ai";
import { Elysia } from "elysia";
import OpenAI from "openai";
import { createClient } from "../../../tests/support/client.ts";
import { rawRequest } from "../../../tests/support/raw.ts";
import { expectRefusal } from "../../../tests/support/refusal.ts";
import { openServer, type TestServer } from "../../../tests/support/server.ts";
import { currentActor } from "../audit/current-actor.ts";
import { notFound } from "../errors.ts";
import { plugin } from "../plugin.ts";
import { createLog } from "../telemetry/log.ts";
import type { Grant } from "./backend/service-tokens.ts";
import { errorResponse } from "./error-response.ts";
import { attachContext, contextOf, isLocalRequest } from "./request-context.ts";
import { openRoutes } from "./route-guards.ts";
import type { SocketRoute } from "./web-sockets.ts";

const echo: SocketRoute = {
  prefix: "/echo/",
  accept: async (_, rest) => ({
    protocol: "echo.v1",
    open: (socket) => void socket.send(`hello ${rest}`),
    message: (socket, data) => void socket.send(data),
    close: () => undefined,
  }),
};

/** The actor of work that a request began, and that goes on when `released` is resolved. */
let later: Promise<string> | undefined;
let released = Promise.withResolvers<void>();

const probe = plugin("probe", () => {
  const routes = (name: string) =>
    new Elysia({ name })
      .use(openRoutes)
      .get("/probe", ({ request }) => ({ address: contextOf(request).address, direct: isLocalRequest(request) }), {
        open: true,
      })
      .post("/probe", () => ({ done: true }), { open: true })
      .delete("/probe", () => ({ done: true }), { open: true })
      .get("/probe/foreign", () => fetch(`data:application/json,{"from":"elsewhere"}`), { open: true })
      .get(
        "/probe/cookies",
        ({ request }) => {
          contextOf(request).cookies.push("a=1; Path=/", "b=2; Path=/");
          throw new Error("and then it failed");
        },
        { open: true },
      )
      .get(
        "/probe/later",
        () => {
          const actor = () => currentActor().kind;
          const during = actor();
          later = released.promise.then(actor);
          return { during };
        },
        { open: true },
      )
      .put("/probe/items/:item", ({ params }) => ({ length: params.item.length }), { open: true })
      .post("/callbacks/probe", () => ({ done: true }), { open: true });
  const selfLimitedPaths = [{ method: "POST", prefix: "/callbacks/" }];
  return { service: {}, web: routes("probe.web"), backend: routes("probe.backend"), sockets: [echo], selfLimitedPaths };
});

const OWN = "https://berth.example";
const FRIEND = "https://console.example";
const env = { BASE_URL: OWN, CORS_ORIGINS: FRIEND };
let testServer: TestServer;
beforeAll(async () => {
  testServer = await openServer({ env, plugins: [probe] });
});
afterAll(() => testServer?.[Symbol.asyncDispose]());

const ask = async (origin: string, method: string, path = "/probe", headers: Record<string, string> = {}) => {
  const response = await fetch(origin + path, { method, headers });
  const text = await response.text();
  const isJson = response.headers.get("content-type")?.includes("json");
  return { status: response.status, headers: response.headers, text, body: isJson && text ? JSON.parse(text) : text };
};
const web = (method: string, path?: string, headers?: Record<string, string>) =>
  ask(testServer.web, method, path, headers);
const backend = (method: string, path?: string, headers?: Record<string, string>) =>
  ask(testServer.backend, method, path, headers);

describe("every response", () => {
  test("ends its work: what goes on afterwards is the service's own", async () => {
    for (const headers of [undefined, { origin: FRIEND }]) {
      released = Promise.withResolvers();
      expect((await web("GET", "/probe/later", headers)).body).toEqual({ during: "visitor" });
      released.resolve();
      expect(await later).toBe("service");
    }
  });

  test("has a unique request id, whatever the result of the request", async () => {
    const answers = await Promise.all([
      web("GET"),
      web("GET", "/nothing"),
      web("POST", "/probe", { origin: "https://evil.example" }),
      web("OPTIONS", "/probe", { origin: FRIEND }),
      web("OPTIONS", "/probe", { origin: "https://evil.example" }),
      web("GET", "/probe/cookies"),
      web("HEAD"),
      backend("GET"),
      ask(testServer.web, "GET", "/echo/x", { upgrade: "websocket" }),
    ]);
    const ids = answers.map(({ headers }) => headers.get("x-request-id") ?? "");
    expect(new Set(ids).size).toBe(answers.length);
    for (const id of ids) expect(id).toMatch(/^[\w-]{4,64}$/);
    for (const { headers } of answers) expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect((await web("GET", "/probe", { "x-request-id": "mine" })).headers.get("x-request-id")).not.toBe("mine");
  });

  test("carries the cookies that were set, also if the route failed afterwards", async () => {
    const answer = await web("GET", "/probe/cookies");
    expectRefusal(answer, 500, "INTERNAL");
    expect(answer.headers.getSetCookie()).toEqual(["a=1; Path=/", "b=2; Path=/"]);
  });

  test("may be one that is passed on from another server", async () => {
    const answer = await web("GET", "/probe/foreign");
    expect(answer.body).toEqual({ from: "elsewhere" });
    expect(answer.headers.get("x-request-id")).toMatch(/\w/);
  });
});

describe("an unknown route", () => {
  test.each(["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])("is 404 for %s", async (method) => {
    const paths = ["/nothing", "/PROBE", "/probe/nothing/more", ...(method === "GET" ? [] : ["/"])];
    for (const path of paths) {
      expectRefusal(await web(method, path), 404, "NOT_FOUND");
      expectRefusal(await backend(method, path), 404, "NOT_FOUND");
    }
    if (!["GET", "POST", "DELETE"].includes(method)) expectRefusal(await web(method), 404, "NOT_FOUND");
  });

  test("is a page in the reader's language for browsers, and JSON for programs", async () => {
    const browser = { accept: "text/html,application/xhtml+xml,*/*;q=0.8" };
    for (const ask of [web, backend]) {
      const page = await ask("GET", "/nothing/<here>", browser);
      expect(page.status).toBe(404);
      expect(page.headers.get("content-type")).toBe("text/html;charset=utf-8");
      expect(page.headers.get("content-security-policy")).toContain("default-src 'none'");
      expect(page.headers.get("vary")).toContain("accept, accept-language");
      expect(page.text).toContain('<html lang="en">');
      expect(page.text).toContain('<a href="/swagger">');
      expect(page.text).not.toContain("here>");
      const german = await ask("GET", "/nothing", { ...browser, "accept-language": "de" });
      expect(german.text).toContain("Seite nicht gefunden");
      const json = await ask("GET", "/nothing", { accept: "application/json, text/html" });
      expectRefusal(json, 404, "NOT_FOUND");
      expect(json.headers.get("vary")).toContain("accept");
      expectRefusal(await ask("POST", "/nothing", browser), 404, "NOT_FOUND");
    }
  });

  test("on the host of an agent links to that host only", async () => {
    const request = new Request("http://agent.test/nothing", { headers: { accept: "text/html" } });
    const pageOrigin = "http://agent.test";
    attachContext(request, { id: "1", address: "", socketAddress: "", cookies: [], pageOrigin });
    const response = errorResponse(notFound(), request, createLog({ level: "error", format: "json" }));
    const text = await response.text();
    expect(text).toContain('<a href="/">');
    expect(text).not.toContain("/swagger");
  });

  test("the home page of the backend is a page for browsers, and JSON for programs", async () => {
    expect((await backend("GET", "/")).body).toEqual({
      name: "Berth backend API",
      docs: "/swagger",
      openapi: "/swagger/json",
    });
    const page = await backend("GET", "/", { accept: "text/html" });
    expect([page.status, page.headers.get("content-type")]).toEqual([200, "text/html;charset=utf-8"]);
    expect(page.text).toContain('<a href="/swagger">');
  });

  test("HEAD is GET without a body; TRACE is 404", async () => {
    const head = await web("HEAD");
    expect([head.status, head.text]).toEqual([200, ""]);
    expect((await web("HEAD", "/nothing")).status).toBe(404);
    const trace = await rawRequest(testServer.web, {
      method: "TRACE",
      path: "/probe",
      headers: { cookie: "canary=1" },
    });
    expectRefusal({ ...trace, text: trace.body }, 404);
    expect(trace.body).not.toContain("canary");
  });

  test("unusual paths are unknown routes, not exceptions", async () => {
    for (const path of ["//probe", "/%", "/%ff", "/probe%00", "/probe;x", "/probe/..%2fprobe"]) {
      for (const origin of [testServer.web, testServer.backend]) {
        const raw = await rawRequest(origin, { path });
        expect({ path, status: raw.status }).toEqual({ path, status: 404 });
        expectRefusal({ ...raw, text: raw.body }, 404, "NOT_FOUND");
      }
    }
  });
});

test("a path whose parameter is no valid UTF-8 is 400, and names the parameter", async () => {
  for (const encoded of ["%FF", "%", "%C3%28", "%ED%A0%80"]) {
    for (const origin of [testServer.web, testServer.backend]) {
      const answer = await rawRequest(origin, { method: "PUT", path: `/probe/items/${encoded}` });
      expect(expectRefusal(answer, 400, "INVALID_INPUT")).toMatchObject({ issues: [{ path: "item" }] });
    }
  }
});

describe("a host", () => {
  test("may have any length", async () => {
    for (const host of ["a", "b:1", "backend:3001", `${"x".repeat(60)}.example`]) {
      expect((await rawRequest(testServer.web, { path: "/probe", headers: { host } })).status).toBe(200);
    }
  });

  test("does not shift the path", async () => {
    const raw = await rawRequest(testServer.web, { path: "/x/yyyyyyyyy/probe", headers: { host: "a" } });
    expectRefusal({ ...raw, text: raw.body }, 404, "NOT_FOUND");
  });

  test.each(["", "a b", "a/b", "a#b", "[::1", "a:99999999"])("that is not valid (%j) is 400", async (host) => {
    for (const more of [{}, { upgrade: "websocket" }] as Record<string, string>[]) {
      const raw = await rawRequest(testServer.web, { path: "/probe", headers: { host, ...more } });
      expectRefusal({ ...raw, text: raw.body }, 400, "BAD_REQUEST");
      expect(raw.headers.get("x-request-id")).toMatch(/\w/);
    }
  });

  test.each([
    ["berth.example", "evil.example"],
    ["berth.example", "berth.example"],
    ["berth.example", ""],
  ])("that is given twice (%j, %j) is 400", async (first, second) => {
    for (const origin of [testServer.web, testServer.backend]) {
      for (const more of ["", "Upgrade: websocket\r\nConnection: Upgrade\r\n"]) {
        const text = `GET /probe HTTP/1.1\r\nHost: ${first}\r\nHost: ${second}\r\n${more}Connection: close\r\n\r\n`;
        const raw = await rawRequest(origin, text);
        expectRefusal({ ...raw, text: raw.body }, 400, "BAD_REQUEST");
      }
    }
  });
});

describe("pages of other sites", () => {
  const foreign = [
    "https://evil.example",
    "null",
    "http://berth.example",
    "https://berth.example.evil.example",
    "https://berth.example:444",
  ];

  test.each(foreign)("Origin %s: reads get no CORS headers, changes are refused", async (origin) => {
    for (const surface of [web, backend]) {
      const read = await surface("GET", "/probe", { origin });
      expect([read.status, read.headers.get("access-control-allow-origin")]).toEqual([200, null]);
      for (const method of ["POST", "DELETE"]) {
        expectRefusal(await surface(method, "/probe", { origin }), 403, "FOREIGN_ORIGIN");
        expectRefusal(await surface(method, "/nothing", { origin }), 403, "FOREIGN_ORIGIN");
      }
    }
  });

  test("are refused before authentication, whatever the body", async () => {
    const headers = { origin: "https://evil.example", "content-type": "text/plain" };
    expectRefusal(await web("POST", "/api/agents/provision", headers), 403, "FOREIGN_ORIGIN");
  });

  test("without Origin, Sec-Fetch-Site decides", async () => {
    for (const site of ["cross-site", "same-site"]) {
      expectRefusal(await web("POST", "/probe", { "sec-fetch-site": site }), 403, "FOREIGN_ORIGIN");
      expect((await web("GET", "/probe", { "sec-fetch-site": site })).status).toBe(200);
    }
    for (const site of ["same-origin", "none"]) {
      expect((await web("POST", "/probe", { "sec-fetch-site": site })).status).toBe(200);
    }
  });

  test("own pages, those of CORS_ORIGINS, programs without either header, and bearer tokens are allowed", async () => {
    expect((await web("POST", "/probe", { origin: OWN, "sec-fetch-site": "same-origin" })).status).toBe(200);
    expect((await web("POST", "/probe", { origin: FRIEND, "sec-fetch-site": "cross-site" })).status).toBe(200);
    expect((await web("POST")).status).toBe(200);
    const bearer = { authorization: "Bearer bk_x", origin: "https://evil.example" };
    expect((await web("POST", "/probe", bearer)).status).toBe(200);
    // A form can send these: https://user:password@berth.example/
    const basic = { authorization: "Basic dTpw", origin: "https://evil.example" };
    expectRefusal(await web("POST", "/probe", basic), 403, "FOREIGN_ORIGIN");
  });

  test("all names of loopback are one host, ports differ, and the backend's own page may call it", async () => {
    await using local = await openServer({ env: { PORT: "3123", BACKEND_PORT: "3124" }, plugins: [probe] });
    for (const name of ["localhost", "127.0.0.1", "[::1]"]) {
      const [page, other] = [`http://${name}:3123`, `http://${name}:3124`];
      expect((await ask(local.web, "POST", "/probe", { origin: page })).status).toBe(200);
      expect((await ask(local.backend, "POST", "/probe", { origin: page })).status).toBe(200);
      expect((await ask(local.backend, "POST", "/probe", { origin: other })).status).toBe(200);
      expectRefusal(await ask(local.web, "POST", "/probe", { origin: other }), 403, "FOREIGN_ORIGIN");
      expectRefusal(await ask(local.web, "POST", "/probe", { origin: `https://${name}:3123` }), 403);
    }
    expectRefusal(await ask(local.web, "POST", "/probe", { origin: "http://127.0.0.2:3123" }), 403);
  });
});

describe("CORS", () => {
  test("a preflight from CORS_ORIGINS gets the allowed methods and headers", async () => {
    const headers = { origin: FRIEND, "access-control-request-method": "POST" };
    for (const path of ["/probe", "/api/settings", "/nothing"]) {
      const answer = await web("OPTIONS", path, headers);
      expect([answer.status, answer.text]).toEqual([204, ""]);
      expect(answer.headers.get("access-control-allow-origin")).toBe(FRIEND);
      expect(answer.headers.get("access-control-allow-credentials")).toBe("true");
      expect(answer.headers.get("access-control-allow-methods")).toContain("PATCH");
      expect(answer.headers.get("access-control-allow-headers")).toContain("idempotency-key");
      expect(answer.headers.get("vary")).toContain("origin");
    }
  });

  test("a preflight names every header that the clients of OpenAI, Anthropic and the AI SDK send", async () => {
    const sent = new Set<string>();
    const note = async (_: string | URL | Request, init?: RequestInit) => {
      for (const name of new Headers(init?.headers).keys()) sent.add(name);
      throw new Error("Not sent.");
    };
    const options = { apiKey: "k", maxRetries: 0, dangerouslyAllowBrowser: true, fetch: note };
    const chat = { model: "m", messages: [{ role: "user" as const, content: "Hi" }] };
    const openAi = new OpenAI({ ...options, organization: "o", project: "p" });
    const calls = [
      openAi.chat.completions.create(chat),
      openAi.beta.threads.create(),
      new Anthropic(options).beta.messages.create({ ...chat, max_tokens: 9, betas: ["files-api-2025-04-14"] }),
      new DefaultChatTransport({ api: OWN, fetch: Object.assign(note, fetch) }).sendMessages({
        ...{ chatId: "c", messages: [], trigger: "submit-message" },
        ...{ messageId: undefined, abortSignal: undefined },
      }),
    ];
    await Promise.allSettled(calls);
    expect([...sent]).toContain("x-stainless-lang");
    expect([...sent]).toContain("anthropic-beta");
    const headers = {
      ...{ origin: FRIEND, "access-control-request-method": "POST" },
      "access-control-request-headers": [...sent].join(","),
    };
    const allowed = (await web("OPTIONS", "/v1/chat/completions", headers)).headers.get("access-control-allow-headers");
    const missing = [...sent].filter((name) => name !== "accept" && !allowed?.split(", ").includes(name));
    expect(missing).toEqual([]);
    const other = { ...headers, "access-control-request-headers": "x-evil, x-stainless-a b" };
    const answer = await web("OPTIONS", "/probe", other);
    expect(answer.headers.get("access-control-allow-headers")).not.toMatch(/x-evil|stainless/);
  });

  test("a preflight from another origin is refused", async () => {
    for (const origin of ["https://evil.example", "null", `${FRIEND}.evil.example`, "*"]) {
      const answer = await web("OPTIONS", "/probe", { origin });
      expectRefusal(answer, 403, "FOREIGN_ORIGIN");
      expect(answer.headers.get("access-control-allow-origin")).toBeNull();
    }
  });

  test("a page of CORS_ORIGINS may read responses, errors and headers; caches distinguish origins", async () => {
    for (const path of ["/probe", "/nothing"]) {
      const answer = await web("GET", path, { origin: FRIEND });
      expect(answer.headers.get("access-control-allow-origin")).toBe(FRIEND);
      expect(answer.headers.get("access-control-expose-headers")).toContain("x-request-id");
    }
    expect((await web("GET")).headers.get("vary")).toContain("origin");
    expect((await web("GET")).headers.get("access-control-allow-origin")).toBeNull();
  });

  test("is off without CORS_ORIGINS", async () => {
    await using alone = await openServer({ plugins: [probe] });
    const answer = await ask(alone.web, "GET", "/probe", { origin: FRIEND });
    for (const name of answer.headers.keys()) expect(name).not.toMatch(/^access-control|^vary$/);
    expectRefusal(await ask(alone.web, "OPTIONS", "/probe", { origin: FRIEND }), 403, "FOREIGN_ORIGIN");
  });
});

describe("the client's address", () => {
  test("is the socket's; headers are ignored, but show that the request is not local", async () => {
    expect((await web("GET")).body).toEqual({ address: "127.0.0.1", direct: true });
    for (const name of [
      "forwarded",
      "via",
      "x-forwarded-for",
      "x-forwarded-proto",
      "X-Forwarded-Host",
      "x-real-ip",
      "x-client-ip",
      "true-client-ip",
      "cf-connecting-ip",
      "cf-ray",
      "cdn-loop",
      "x-original-forwarded-for",
      "x-originating-ip",
      "x-remote-addr",
      "x-azure-clientip",
      "x-envoy-external-address",
      "x-cluster-client-ip",
      "fly-client-ip",
      "x-original-host",
    ]) {
      expect((await web("GET", "/probe", { [name]: "127.0.0.1" })).body).toEqual({
        address: "127.0.0.1",
        direct: false,
      });
    }
  });

  test("is not local for a name that anyone can point to this machine", async () => {
    for (const [host, direct] of [
      ["localhost:3000", true],
      ["[::1]:3000", true],
      ["agent.localhost", true],
      ["rebound.example", false],
      ["127.0.0.1.example:3000", false],
      ["192.0.2.1", false],
    ] as const) {
      const raw = await rawRequest(testServer.web, { path: "/probe", headers: { host } });
      expect({ host, ...JSON.parse(raw.body) }).toEqual({ host, address: "127.0.0.1", direct });
    }
  });

  test("behind a trusted proxy is the one that it reports, and never local", async () => {
    await using behind = await openServer({ env: { TRUSTED_PROXIES: "127.0.0.0/8" }, plugins: [probe] });
    const named = { "x-forwarded-for": "198.51.100.9, 203.0.113.7" };
    expect((await ask(behind.web, "GET", "/probe", named)).body).toEqual({ address: "203.0.113.7", direct: false });
    const asLoopback = { "x-forwarded-for": "127.0.0.1" };
    expect((await ask(behind.web, "GET", "/probe", asLoopback)).body).toMatchObject({ direct: false });
  });

  test("is empty for calls inside the process", async () => {
    const answer = await testServer.app.web.handle(new Request("http://localhost/probe"));
    expect(await answer.json()).toEqual({ address: "", direct: false });
  });
});

describe("the default rate limit", () => {
  const limited = (rate: string, more: Record<string, string> = {}) =>
    openServer({ env: { RATE_LIMITS: JSON.stringify({ default: rate }), ...more }, plugins: [probe] });
  const statuses = async (count: number, one: () => Promise<{ status: number }>) => {
    const seen: number[] = [];
    for (let n = 0; n < count; n++) seen.push((await one()).status);
    return seen;
  };

  test("is per address and surface, over all routes, with retry-after", async () => {
    await using tight = await limited("3/m");
    expect(await statuses(3, () => ask(tight.web, "GET", "/nothing"))).toEqual([404, 404, 404]);
    const answer = await ask(tight.web, "GET");
    expectRefusal(answer, 429, "RATE_LIMITED");
    expect(answer.headers.get("ratelimit-policy")).toBe('"default";q=3;w=60');
    expect(answer.headers.get("ratelimit")).toMatch(/^"default";r=0;t=\d+$/);
    expect(Number(answer.headers.get("retry-after"))).toBeWithin(1, 61);
    // Requests that another site causes are refused first, and do not count for the user.
    expectRefusal(await ask(tight.web, "POST", "/probe", { origin: "https://evil.example" }), 403);
  });

  test("counts each client of a trusted proxy, an IPv6 network as one", async () => {
    await using behind = await limited("1/m", { TRUSTED_PROXIES: "127.0.0.1" });
    const from = (address: string) => ask(behind.web, "GET", "/probe", { "x-forwarded-for": address });
    expect(await statuses(2, () => from("203.0.113.7"))).toEqual([200, 429]);
    expect((await from("203.0.113.8")).status).toBe(200);
    expect((await from("2001:db8::1")).status).toBe(200);
    expect((await from("2001:db8::ffff")).status).toBe(429);
    expect((await from("2001:db8:0:1::1")).status).toBe(200);
  });

  test("is per account too, from any number of addresses; other accounts are not affected", async () => {
    await using behind = await limited("5/m", { TRUSTED_PROXIES: "127.0.0.1", BASE_URL: "http://localhost:3000" });
    const [ada, bob] = [createClient(behind.web), createClient(behind.web)];
    await ada.join();
    await bob.join();
    let host = 0;
    const from = (client: typeof ada, path: string) =>
      client.get(path, { headers: { "x-forwarded-for": `203.0.113.${++host}` } });
    expect(await statuses(5, () => from(ada, "/api/settings"))).toEqual([200, 200, 200, 200, 200]);
    const refused = await from(ada, "/api/settings");
    expectRefusal(refused, 429, "RATE_LIMITED");
    expect(refused.headers.get("retry-after")).toMatch(/^\d+$/);
    expect((await from(ada, "/api/auth/session")).status).toBe(429);
    expect((await from(bob, "/api/settings")).status).toBe(200);
    // Requests to routes without authentication do not count for the account.
    expect((await from(ada, "/healthz")).status).toBe(200);
  });

  test("does not apply to registered paths, and no other path can pass for one", async () => {
    await using tight = await limited("1/m");
    expect(await statuses(4, () => ask(tight.web, "POST", "/callbacks/probe"))).toEqual([200, 200, 200, 200]);
    expect((await ask(tight.web, "GET")).status).toBe(200);
    expect((await ask(tight.web, "GET", "/callbacks/probe")).status).toBe(429);
    for (const path of ["/callbacks/../probe", "/probe?/callbacks/", "/probe#/callbacks/", "//callbacks/../probe"]) {
      const raw = await rawRequest(tight.web, { method: "POST", path, headers: { host: "a" } });
      expect({ path, status: raw.status }).toEqual({ path, status: 429 });
    }
  });

  test("does not count requests with a service token of the web surface, but those with a forged one", async () => {
    await using tight = await limited("2/m");
    const grant: Grant = { userId: "u", isAdmin: false, action: "x", address: "203.0.113.7" };
    const { tokens } = tight.kernel.backend;
    const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
    expect(await statuses(4, () => ask(tight.backend, "GET", "/probe", bearer(tokens.sign(grant))))).toEqual([
      200, 200, 200, 200,
    ]);
    const forged = tokens.sign(grant).replace(/.$/, (last) => (last === "A" ? "B" : "A"));
    expect(await statuses(3, () => ask(tight.backend, "GET", "/probe", bearer(forged)))).toEqual([200, 200, 429]);
    await using other = await limited("2/m");
    const own = bearer(other.kernel.backend.tokens.sign(grant));
    expect(await statuses(3, () => ask(other.web, "GET", "/probe", own))).toEqual([200, 200, 429]);
  });

  test("never refuses /healthz and /readyz, nor /metrics on loopback", async () => {
    await using tight = await limited("1/m");
    for (const origin of [tight.web, tight.backend]) {
      expect(await statuses(4, () => ask(origin, "GET", "/healthz"))).toEqual([200, 200, 200, 200]);
      expect(await statuses(4, () => ask(origin, "GET", "/readyz?probe=1"))).toEqual([503, 503, 503, 503]);
      expect(await statuses(2, () => ask(origin, "HEAD", "/healthz"))).toEqual([200, 200]);
      expect((await statuses(2, () => ask(origin, "GET", "/probe"))).at(-1)).toBe(429);
      expect(await statuses(2, () => ask(origin, "POST", "/healthz"))).toEqual([429, 429]);
      for (const path of ["/healthz/", "/healthzz", "/probe?/healthz", "//healthz"]) {
        expect({ path, status: (await rawRequest(origin, { path })).status }).toEqual({ path, status: 429 });
      }
    }
    const metrics = () => fetch(`${tight.backend}/metrics`);
    expect(await statuses(3, metrics)).toEqual([200, 200, 200]);
    expect((await ask(tight.web, "GET", "/metrics")).status).toBe(429);
  });

  test("applies to upgrades too", async () => {
    await using tight = await limited("2/m");
    const knock = () => ask(tight.web, "GET", "/echo/x", { upgrade: "websocket" });
    expect(await statuses(3, knock)).toEqual([400, 400, 429]);
  });
});

describe("WebSockets", () => {
  const wsOrigin = () => testServer.web.replace("http", "ws");
  function open(path: string, headers: Record<string, string> = {}) {
    const socket = new WebSocket(`${wsOrigin()}${path}`, { headers, protocols: ["echo.v1"] });
    const firstEvent = Promise.withResolvers<string>();
    socket.onmessage = ({ data }) => firstEvent.resolve(String(data));
    socket.onclose = ({ code }) => firstEvent.resolve(`closed ${code}`);
    return { socket, firstEvent: firstEvent.promise };
  }

  test("open on a registered path", async () => {
    const { socket, firstEvent } = open("/echo/ada?x=1");
    expect(await firstEvent).toBe("hello ada");
    expect(socket.protocol).toBe("echo.v1");
    socket.close();
  });

  test("an upgrade on another path is an ordinary request", async () => {
    const { firstEvent } = open("/nothing");
    expect(await firstEvent).toMatch(/^closed/);
    const upgrade = { upgrade: "websocket", connection: "upgrade" };
    expectRefusal(await web("GET", "/nothing", upgrade), 404, "NOT_FOUND");
    expect((await web("GET", "/probe", upgrade)).status).toBe(200);
    expectRefusal(await web("POST", "/probe", { ...upgrade, origin: "https://evil.example" }), 403, "FOREIGN_ORIGIN");
    expect((await backend("GET", "/echo/x", upgrade)).status).toBe(404);
  });

  test("a request that can't be upgraded is refused", async () => {
    for (const method of ["GET", "POST"]) {
      expectRefusal(await web(method, "/echo/x", { upgrade: "websocket" }), 400, "UPGRADE_FAILED");
    }
    expectRefusal(await web("GET", "/echo/x"), 404, "NOT_FOUND");
  });
});
