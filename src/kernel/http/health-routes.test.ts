// Tests /healthz, /readyz with the name of a failing part, and access to /metrics.
import { describe, expect, test } from "bun:test";
import { rawRequest } from "../../../tests/support/raw.ts";
import { expectRefusal } from "../../../tests/support/refusal.ts";
import { openServer } from "../../../tests/support/server.ts";
import { plugin } from "../plugin.ts";

async function ask(origin: string, path: string, headers: Record<string, string> = {}) {
  const response = await fetch(origin + path, { headers });
  const text = await response.text();
  const json = response.headers.get("content-type")?.startsWith("application/json");
  return { status: response.status, headers: response.headers, text, body: json ? JSON.parse(text) : text };
}

test("/healthz is 200 on both surfaces, whatever else fails", async () => {
  const bad = plugin("bad", () => ({ service: {}, ready: () => false }));
  await using server = await openServer({ plugins: [bad] });
  for (const origin of [server.web, server.backend]) {
    expect((await ask(origin, "/healthz")).body).toEqual({ status: "ok" });
  }
});

describe("/readyz", () => {
  test("lists every part, once the work has started", async () => {
    await using server = await openServer({ plugins: [plugin("good", () => ({ service: {}, ready: () => true }))] });
    const before = await ask(server.web, "/readyz");
    expect(expectRefusal(before, 503, "NOT_READY").error).toContain("worker");
    await server.kernel.jobs.start();
    await server.app.start();
    for (const origin of [server.web, server.backend]) {
      const { status, body } = await ask(origin, "/readyz");
      expect(status).toBe(200);
      expect(body).toMatchObject({ status: "ready", parts: { database: true, worker: true, good: true } });
    }
    await server.kernel.jobs.stop();
    expectRefusal(await ask(server.web, "/readyz"), 503, "NOT_READY");
  });

  test("names a failing part, without its error", async () => {
    const parts = {
      says: () => false,
      throws: () => {
        throw new Error("canary");
      },
      rejects: () => Promise.reject(new Error("canary")),
      works: () => Promise.resolve(true),
    };
    const plugins = Object.entries(parts).map(([name, ready]) => plugin(name, () => ({ service: {}, ready })));
    await using server = await openServer({ plugins });
    await server.kernel.jobs.start();
    const answer = await ask(server.backend, "/readyz");
    expect(expectRefusal(answer, 503, "NOT_READY").error).toBe("Not ready: says, throws, rejects.");
    expect(answer.body).toMatchObject({ status: "error", parts: { database: true, works: true, says: false } });
    expect(answer.text).not.toContain("canary");
    await server.kernel.jobs.stop();
  });

  test("checks each part once for requests at the same time", async () => {
    let checks = 0;
    const answer = Promise.withResolvers<boolean>();
    const ready = () => {
      checks++;
      return answer.promise;
    };
    const counted = plugin("counted", () => ({ service: {}, ready }));
    await using server = await openServer({ plugins: [counted] });
    const readyz = () => server.app.web.handle(new Request("http://localhost/readyz"));
    const answers = Promise.all(Array.from({ length: 20 }, readyz));
    answer.resolve(true);
    for (const one of await answers) expect(await one.json()).toMatchObject({ parts: { counted: true } });
    expect(checks).toBe(1);
    await readyz();
    expect(checks).toBe(2);
  });

  test("waits at most two seconds for a part", async () => {
    const stuck = plugin("stuck", () => ({ service: {}, ready: () => new Promise<boolean>(() => undefined) }));
    await using server = await openServer({ plugins: [stuck] });
    const since = performance.now();
    expect(expectRefusal(await ask(server.web, "/readyz"), 503).error).toContain("stuck");
    expect(performance.now() - since).toBeLessThan(10_000);
  });
});

describe("/metrics", () => {
  test("is only on the backend, and open on loopback", async () => {
    await using server = await openServer();
    const { status, headers, text } = await ask(server.backend, "/metrics");
    expect([status, headers.get("content-type")]).toEqual([200, "text/plain; version=0.0.4"]);
    expect(text).toContain("berth_http_seconds");
    expectRefusal(await ask(server.web, "/metrics"), 404, "NOT_FOUND");
  });

  test("has the times of each operation under its name in the API document", async () => {
    await using server = await openServer();
    await ask(server.web, "/healthz");
    await ask(server.web, "/api/agents/agent_none");
    await ask(server.web, "/api/no-such-address/1");
    await ask(server.web, "/no-such-page");
    const { text } = await ask(server.backend, "/metrics");
    const operations = [...text.matchAll(/^berth_http_operation_seconds_count\{operation="(\w+)"\}/gm)];
    expect(operations.map(([, operation = ""]) => operation)).toEqual(["getHealth", "getAgent"]);
  });

  test("needs the token if one is set, on loopback too", async () => {
    await using server = await openServer({ env: { METRICS_TOKEN: "canary-metrics-token" } });
    expect((await ask(server.backend, "/metrics", { authorization: "Bearer canary-metrics-token" })).status).toBe(200);
    for (const authorization of ["", "Bearer ", "Bearer canary-metrics-toke", "Bearer canary-metrics-tokens", "x"]) {
      const answer = await ask(server.backend, "/metrics", { authorization });
      expectRefusal(answer, 401, "UNAUTHORIZED");
      expect(answer.text).not.toContain("canary");
    }
  });

  test("without a token, is closed to other names of this machine and behind a proxy", async () => {
    await using server = await openServer();
    const raw = async (headers: Record<string, string>) => {
      const answer = await rawRequest(server.backend, { path: "/metrics", headers });
      return { ...answer, text: answer.body };
    };
    for (const host of ["rebound.example:3001", "127.0.0.1.example", "192.0.2.1:3001"]) {
      const answer = await raw({ host });
      expectRefusal(answer, 403, "METRICS_CLOSED");
      expect(answer.text).not.toContain("berth_http_seconds");
    }
    expectRefusal(await raw({ "x-forwarded-for": "127.0.0.1" }), 403, "METRICS_CLOSED");
    for (const host of ["localhost:3001", "127.0.0.1", "[::1]:3001"]) expect((await raw({ host })).status).toBe(200);
    // A scraper in another place names the token, so the name of the host proves nothing more.
    await using token = await openServer({ env: { METRICS_TOKEN: "canary-metrics-token" } });
    const headers = { host: "rebound.example", authorization: "Bearer canary-metrics-token" };
    expect((await rawRequest(token.backend, { path: "/metrics", headers })).status).toBe(200);
  });

  test.each([
    ["0.0.0.0", 403],
    ["10.0.0.1", 403],
    ["127.0.0.2", 200],
    ["localhost", 200],
  ])("without a token, on a listener of %s: %d", async (BACKEND_HOST, status) => {
    await using server = await openServer({ env: { BACKEND_HOST } });
    const answer = await ask(server.backend, "/metrics");
    expect(answer.status).toBe(status);
    if (status === 403) expectRefusal(answer, 403, "METRICS_CLOSED");
  });
});
