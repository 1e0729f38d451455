// Tests the whole application: every route authorizes first, and plugins start and stop in order.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { expectRefusal } from "../../tests/support/refusal.ts";
import { openServer, type TestServer } from "../../tests/support/server.ts";
import { StartError } from "../kernel/errors.ts";
import { type PluginParts, plugin } from "../kernel/plugin.ts";

let server: TestServer;
beforeAll(async () => {
  server = await openServer();
});
afterAll(() => server?.[Symbol.asyncDispose]());

interface Operation {
  security?: Record<string, string[]>[];
  responses: Record<string, unknown>;
}

/** Returns every route of the API's document. */
async function routesOf(origin: string): Promise<[method: string, path: string, guarded: boolean][]> {
  const document = (await (await fetch(`${origin}/swagger/json`)).json()) as {
    paths: Record<string, Record<string, Operation>>;
  };
  return Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, { security = [] }]): [string, string, boolean] => [
      method.toUpperCase(),
      path.replaceAll(/\{\w+\}/g, "00000000-0000-7000-8000-000000000000"),
      // The gateway's path is a WebSocket.
      !path.startsWith("/agent/") && security.length > 0 && security.every((way) => Object.keys(way).length > 0),
    ]),
  );
}

const bodies: [type: string, body: string][] = [
  ["application/json", "{}"],
  ["application/json", "{broken"],
  ["application/json", "x".repeat(1024 * 1024 + 1)],
  ["text/plain", "hello"],
];

describe.each(["web", "backend"] as const)("on the %s surface", (side) => {
  test("a guarded route is 401 for other callers, whatever they send", async () => {
    const routes = (await routesOf(server[side])).filter(([, , guarded]) => guarded);
    expect(routes.length).toBeGreaterThan(side === "web" ? 10 : 5);
    for (const [method, path] of routes) {
      for (const [type, body] of method === "GET" ? [["", ""] as const] : bodies) {
        const headers: Record<string, string> = {
          cookie: "berth_session=nobody",
          ...(type && { "content-type": type }),
        };
        const response = await fetch(server[side] + path, { method, headers, ...(body && { body }) });
        const text = await response.text();
        expect({ method, path, type, status: response.status }).toEqual({ method, path, type, status: 401 });
        expectRefusal({ status: response.status, headers: response.headers, text, body: text }, 401, "UNAUTHORIZED");
      }
    }
  });

  test("a service token for another action, or a forged one, is refused", async () => {
    const grant = { userId: Bun.randomUUIDv7(), isAdmin: true, action: "nothing", address: "203.0.113.7" };
    const token = server.kernel.backend.tokens.sign(grant);
    for (const bearer of [token, "st.e30.x", "", "st..", "null"]) {
      for (const [method, path] of (await routesOf(server[side])).filter(([, , guarded]) => guarded)) {
        const response = await fetch(server[side] + path, { method, headers: { authorization: `Bearer ${bearer}` } });
        expect({ path, status: response.status }).toEqual({ path, status: 401 });
        await response.body?.cancel();
      }
    }
  });
});

describe("starting and stopping", () => {
  const calls: string[] = [];
  const one = (name: string, parts: Partial<PluginParts<object>> = {}) =>
    plugin(name, () => ({
      service: {},
      start: () => void calls.push(`start ${name}`),
      stop: () => void calls.push(`stop ${name}`),
      ...parts,
    }));
  const opened = async (...plugins: ReturnType<typeof one>[]) => {
    calls.length = 0;
    return openServer({ plugins });
  };
  const sockets: PluginParts<object>["sockets"] = [];

  test("plugins start in order and stop in reverse, those with sockets last", async () => {
    await using three = await opened(one("a", { sockets }), one("b"), one("c"));
    await three.app.start();
    await three.app.stop();
    expect(calls).toEqual(["start a", "start b", "start c", "stop c", "stop b", "stop a"]);
    await three.app.stop();
    expect(calls.slice(6)).toEqual(["stop a"]);
  });

  test("sockets are closed even if nothing was started", async () => {
    await using two = await opened(one("a", { sockets }), one("b"));
    await two.app.stop();
    expect(calls).toEqual(["stop a"]);
  });

  test("a plugin that can't start stops the start with its name; started ones are stopped", async () => {
    const bad = () => {
      throw new Error("no berth free");
    };
    await using three = await opened(one("a"), one("bad", { start: bad }), one("c"));
    const failure = await three.app.start().catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(StartError);
    expect(String(failure)).toContain("The plugin bad can't be started: no berth free");
    await three.app.stop();
    expect(calls).toEqual(["start a", "stop bad", "stop a"]);
  });

  test("a plugin that can't stop does not prevent the others from stopping, and is logged", async () => {
    const stop = () => Promise.reject(new Error("stuck"));
    await using three = await opened(one("a"), one("bad", { stop }), one("c"));
    await three.app.start();
    await expect(three.app.stop()).rejects.toThrow("stuck");
    expect(calls.slice(2)).toEqual(["start c", "stop c", "stop a"]);
  });
});
