// Tests the requests of MCP connections: where configured headers go, and what is left of a stranger's error.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { createOutbound } from "../../../src/kernel/security/outbound.ts";
import { createGuardedFetch } from "./guarded-fetch.ts";

const seen: { path: string; key: string | null; body: string }[] = [];
let server: ReturnType<typeof Bun.serve>;
let other: ReturnType<typeof Bun.serve>;
beforeAll(() => {
  const fetch = async (request: Request) => {
    const path = new URL(request.url).pathname;
    const body = await request.text();
    seen.push({ path, key: request.headers.get("x-key"), body });
    if (path === "/token") {
      return Response.json({ error: "invalid_grant", error_description: `Not valid: ${body}` }, { status: 400 });
    }
    return path === "/broken" ? new Response(body, { status: 500 }) : new Response("ok");
  };
  server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch });
  other = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch });
});
afterAll(() => Promise.all([server.stop(true), other.stop(true)]));

const guarded = () =>
  createGuardedFetch(
    createOutbound({ allow: ["127.0.0.1/32"] }),
    new URL("/mcp", server.url),
    async () => new Map([["x-key", "secret"]]),
  );

test("the configuration's headers go to the server's own address alone", async () => {
  const send = guarded();
  for (const url of [new URL("/mcp?a=b", server.url), new URL("/other", server.url), new URL("/mcp", other.url)]) {
    await send(url, { headers: { "x-key": "of the library" } });
  }
  expect(seen.splice(0).map(({ key }) => key)).toEqual(["secret", "of the library", "of the library"]);
});

test("an authorization server's error keeps its code, and nothing that may repeat a token", async () => {
  const body = new URLSearchParams({ refresh_token: "canary" });
  for (const [path, status, error] of [
    ["/token", 400, "invalid_grant"],
    ["/broken", 500, "server_error"],
  ] as const) {
    const response = await guarded()(new URL(path, server.url), { method: "POST", body });
    expect([response.status, await response.text()]).toEqual([status, JSON.stringify({ error })]);
  }
  expect(seen.map(({ body }) => body)).toEqual(["refresh_token=canary", "refresh_token=canary"]);
});
