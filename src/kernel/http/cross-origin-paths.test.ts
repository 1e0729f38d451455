// Tests paths whose plugin names the origins that may call them: no others, no credentials, and no other path.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { Elysia } from "elysia";
import { rawRequest } from "../../../tests/support/raw.ts";
import { expectRefusal } from "../../../tests/support/refusal.ts";
import { openServer, type TestServer } from "../../../tests/support/server.ts";
import { plugin } from "../plugin.ts";
import { openRoutes } from "./route-guards.ts";

const FRIEND = "https://console.example";
const SHOP = "https://shop.example";

const shared = plugin("shared", () => {
  const routes = (name: string) =>
    new Elysia({ name })
      .use(openRoutes)
      .get("/shared/:shop", () => ({ done: true }), { open: true })
      .post("/shared/:shop", () => ({ done: true }), { open: true })
      .post("/sharedness", () => ({ done: true }), { open: true });
  const path = {
    surface: "web" as const,
    prefix: "/shared/",
    allows: async ({ url }: Request, origin: string) => origin === SHOP && url.endsWith("/shop"),
  };
  return {
    service: {},
    web: routes("shared.web"),
    backend: routes("shared.backend"),
    crossOriginPaths: [path],
  };
});

let server: TestServer;
beforeAll(async () => {
  server = await openServer({ env: { BASE_URL: "https://berth.example", CORS_ORIGINS: FRIEND }, plugins: [shared] });
});
afterAll(() => server?.[Symbol.asyncDispose]());

const ask = (method: string, path: string, origin: string, base = server.web) =>
  rawRequest(base, { method, path, headers: { origin } });

test.each(["GET", "POST", "OPTIONS"])("%s: only the named origin, only where the plugin says so", async (method) => {
  const allowed = await ask(method, "/shared/shop", SHOP);
  expect(allowed.status).toBe(method === "OPTIONS" ? 204 : 200);
  expect(allowed.headers.get("access-control-allow-origin")).toBe(SHOP);
  expect(allowed.headers.get("access-control-allow-credentials")).toBeNull();
  expect(allowed.headers.get("vary")).toContain("origin");
  expect(allowed.headers.get("x-request-id")).toMatch(/\w/);
  for (const [path, origin] of [
    ["/shared/other", SHOP],
    ["/shared/shop", "https://evil.example"],
    ["/shared/shop", "null"],
    ["/shared/shop", `${SHOP}:444`],
    // The operator trusts it with sessions. Here the plugin alone decides.
    ["/shared/shop", FRIEND],
  ] as const) {
    const refused = await ask(method, path, origin);
    expectRefusal({ ...refused, text: refused.body, body: JSON.parse(refused.body) }, 403, "FOREIGN_ORIGIN");
    expect(refused.headers.get("access-control-allow-origin")).toBeNull();
  }
});

test("no other path and no other surface is opened", async () => {
  for (const answer of [
    await ask("POST", "/sharedness", SHOP),
    await ask("POST", "/probe/shared/shop", SHOP),
    await ask("POST", "/shared/shop", SHOP, server.backend),
  ]) {
    expect(answer.status).toBe(403);
    expect(answer.headers.get("access-control-allow-origin")).toBeNull();
  }
});

test("a preflight allows neither credentials nor a header for them", async () => {
  const { headers } = await ask("OPTIONS", "/shared/shop", SHOP);
  expect(headers.get("access-control-allow-headers")).toBe("content-type");
  expect(headers.get("access-control-allow-methods")).toBe("GET, POST");
});

test("preflights count under the default rate limit", async () => {
  await using limited = await openServer({ env: { RATE_LIMITS: '{"default":"3/m"}' }, plugins: [shared] });
  const statuses: number[] = [];
  for (let n = 0; n < 5; n++) statuses.push((await ask("OPTIONS", "/shared/shop", SHOP, limited.web)).status);
  expect(statuses).toEqual([204, 204, 204, 429, 429]);
});
