// Agents' own hosts: each shows its agent's place and nothing else, is an origin of its own, and no socket opens there.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Elysia } from "elysia";
import { contextOf } from "../../src/kernel/http/request-context.ts";
import { openRoutes } from "../../src/kernel/http/route-guards.ts";
import { plugin } from "../../src/kernel/plugin.ts";
import { eventually } from "../../tests/support/eventually.ts";
import { rawRequest } from "../../tests/support/raw.ts";
import { openServer, type TestServer } from "../../tests/support/server.ts";
import { createVirtualHost } from "./virtual-host.ts";

const place = { agentsDomain: "agents.example", baseUrl: "https://berth.example" };
const hostOf = createVirtualHost(place);
const pathAt = (host: string) => {
  const resolved = hostOf(new Request(`http://${host}/x`));
  return resolved && new URL(resolved.request.url).pathname;
};

describe("a host", () => {
  test.each(["fox-1.agents.example", "FOX-1.agents.example", "fox-1.agents.example:3000", "fox-1.agents.example."])(
    "%s is an agent's",
    (host) => expect(pathAt(host)).toBe("/a/fox-1/x"),
  );

  test.each(["berth.example", "agents.example", "localhost:3000", "evilagents.example", "agents.example.evil.example"])(
    "%s is not",
    (host) => expect(pathAt(host)).toBeUndefined(),
  );

  test("Berth's own is never an agent's, though it lies in their domain", () => {
    const own = createVirtualHost({ agentsDomain: "berth.example", baseUrl: "https://www.berth.example" });
    expect(own(new Request("http://www.berth.example/"))).toBeUndefined();
    expect(own(new Request("http://fox.berth.example/"))?.origin).toBe("https://fox.berth.example");
  });
});

describe("a request to one", () => {
  let server: TestServer;
  let waiting = false;
  const host = "fox-1.agents.example";
  const FRIEND = "https://console.example";

  beforeAll(async () => {
    const echo = plugin("echo", () => {
      const show = ({ request }: { request: Request }) => ({
        path: new URL(request.url).pathname + new URL(request.url).search,
        address: contextOf(request).address,
      });
      const web = new Elysia({ name: "echo" })
        .use(openRoutes)
        .get("/a/:subdomain/echo/*", show, { open: true })
        .post("/a/:subdomain/echo", ({ body }) => body, { open: true })
        .post(
          "/a/:subdomain/hang",
          async ({ request }) => {
            waiting = true;
            await new Promise<void>((resolve) => request.signal.addEventListener("abort", () => resolve()));
            waiting = false;
          },
          { open: true },
        );
      const socket = { open: () => undefined, message: () => undefined, close: () => undefined };
      return { service: {}, web, sockets: [{ prefix: "/echo/", accept: async () => socket }] };
    });
    const env = { BASE_URL: place.baseUrl, AGENTS_DOMAIN: place.agentsDomain, CORS_ORIGINS: FRIEND };
    server = await openServer({ env, plugins: [echo] });
  });
  afterAll(() => server[Symbol.asyncDispose]());

  const ask = (path: string, headers: Record<string, string> = {}, more: { method?: string; body?: string } = {}) =>
    rawRequest(server.web, { path, headers: { host, ...headers }, ...more });
  const post = (path: string, headers: Record<string, string>) =>
    ask(path, { "content-type": "application/json", ...headers }, { method: "POST", body: '{"said":"x"}' });

  test("is answered by the agent's place, with the client's address and the query", async () => {
    const { status, body } = await ask("/echo/b%20c?d=e");
    expect(status).toBe(200);
    expect(JSON.parse(String(body))).toEqual({ path: "/a/fox-1/echo/b%20c?d=e", address: "127.0.0.1" });
    expect(JSON.parse(String((await post("/echo", {})).body))).toEqual({ said: "x" });
  });

  test.each(["/healthz", "/swagger", "/login", "/api/agents", "/../../healthz", "/%2e%2e/%2e%2e/healthz", "//healthz"])(
    "finds nothing else of Berth: %s",
    async (path) => expect((await ask(path)).status).toBe(404),
  );

  test("that changes something comes from that host's own pages", async () => {
    expect((await post("/echo", { origin: `https://${host}` })).status).toBe(200);
    const foreign = [place.baseUrl, FRIEND, "https://fox-2.agents.example", `http://${host}`, "null"];
    for (const origin of foreign) expect((await post("/echo", { origin })).status).toBe(403);
    for (const site of ["same-site", "cross-site"]) {
      expect((await post("/echo", { "sec-fetch-site": site })).status).toBe(403);
    }
  });

  test("may be read by no other page, and its pages may not change anything on Berth's own host", async () => {
    const read = await ask("/echo/x", { origin: FRIEND });
    expect(read.headers.get("access-control-allow-origin")).toBeNull();
    expect((await ask("/echo/x", { origin: FRIEND }, { method: "OPTIONS" })).status).toBe(403);
    const headers = { host: "berth.example", origin: `https://${host}` };
    expect((await post("/a/fox-1/echo", headers)).status).toBe(403);
  });

  test("opens no socket", async () => {
    const upgrade = {
      upgrade: "websocket",
      connection: "Upgrade, close",
      "sec-websocket-version": "13",
      "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
    };
    expect((await ask("/echo/x", upgrade)).status).toBe(200);
    const socket = new WebSocket(`${server.web.replace("http", "ws")}/echo/x`);
    await new Promise<void>((resolve) => socket.addEventListener("open", () => resolve()));
    socket.close();
  });

  test("ends with its client", async () => {
    const left = new AbortController();
    const hanging = fetch(`${server.web}/hang`, { method: "POST", headers: { host }, signal: left.signal });
    hanging.catch(() => undefined);
    await eventually(() => waiting);
    left.abort();
    await eventually(() => !waiting);
  });
});
