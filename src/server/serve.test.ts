// Tests starting and stopping the service: order, failures, and running requests.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createClient } from "../../tests/support/client.ts";
import { eventually } from "../../tests/support/eventually.ts";
import { temporaryDir } from "../../tests/support/process.ts";
import { expectRefusal } from "../../tests/support/refusal.ts";
import { startErrorOf } from "../../tests/support/rejection.ts";
import { type RunningServer, serve } from "./serve.ts";

let dir: ReturnType<typeof temporaryDir>;
let running: RunningServer | undefined;
beforeEach(() => {
  dir = temporaryDir();
});
afterEach(async () => {
  await running?.stop();
  running = undefined;
  dir.remove();
});

const settings = (more: Record<string, string> = {}) => ({
  DATA_DIR: join(dir.path, "data"),
  PORT: "0",
  BACKEND_PORT: "0",
  LOG_LEVEL: "error",
  RATE_LIMITS: "off",
  ...more,
});

function pluginFile(name: string, source: string): string {
  const path = join(dir.path, `${name}.js`);
  writeFileSync(path, source);
  return path;
}

async function start(env: Record<string, string> = {}, plugins: string[] = []) {
  running = await serve({ env: settings(env), plugins });
  return { running, web: running.addresses.web ?? "", backend: running.addresses.backend ?? "" };
}

const refusal = (env: Record<string, string> = {}, plugins: string[] = []) => startErrorOf(start(env, plugins));

const listener = (port = 0) => Bun.serve({ hostname: "127.0.0.1", port, fetch: () => new Response("mine") });

/** Shared by a plugin of these tests and its test. */
const shared: { steps: string[]; gate: PromiseWithResolvers<void>; started: PromiseWithResolvers<void> } = {
  steps: [],
  gate: Promise.withResolvers(),
  started: Promise.withResolvers(),
};
Reflect.set(globalThis, "berthServeTest", shared);
beforeEach(() => {
  shared.steps = [];
  shared.gate = Promise.withResolvers();
  shared.started = Promise.withResolvers();
});

describe("a start", () => {
  test("serves both surfaces, returns their addresses, and a link for the first admin", async () => {
    const { running, web, backend } = await start();
    expect(web).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(running.config.baseUrl).toBe(`http://localhost:${new URL(web).port}`);
    expect(running.firstAdmin).toEqual({
      kind: "link",
      link: expect.stringContaining(`${running.config.baseUrl}/setup?token=`),
    });
    for (const origin of [web, backend]) {
      expect((await fetch(`${origin}/healthz`)).status).toBe(200);
      expect((await fetch(`${origin}/readyz`)).status).toBe(200);
    }
    expect(existsSync(join(dir.path, "data/berth.sock"))).toBe(true);
  });

  test("serves one surface if the role says so", async () => {
    const shared = { DATABASE_URL: "http://127.0.0.1:1", SECRET_KEY: "1".repeat(64) };
    expect(await refusal({ ...shared, ROLE: "web" })).toMatch(/database/i);
    await expect(start({ ROLE: "web" })).rejects.toThrow("ROLE");
  });

  test("requests before it is ready wait, except for /healthz", async () => {
    const port = String(freePort());
    const slow = pluginFile(
      "slow",
      `const { gate, started } = globalThis.berthServeTest;
       export default ({ plugin }) => plugin("slow", () => ({ service: {}, start: () => { started.resolve(); return gate.promise; } }));`,
    );
    const starting = start({ PORT: port }, [slow]);
    await shared.started.promise;
    const origin = `http://127.0.0.1:${port}`;
    const alive = await fetch(`${origin}/healthz`);
    expect(await alive.json()).toEqual({ status: "ok" });
    expect(alive.headers.get("x-request-id")).toMatch(/^[\w-]{4,64}$/);
    let settled = false;
    const held = createClient(origin)
      .post("/api/register", { email: "early@example.com", password: "early horse" })
      .finally(() => {
        settled = true;
      });
    expect(await (await fetch(`${origin}/healthz`)).json()).toEqual({ status: "ok" });
    expect(settled).toBe(false);
    shared.gate.resolve();
    await starting;
    expect((await held).status).toBe(201);
  });
});

const freePort = () => {
  const probe = listener();
  const { port } = probe;
  void probe.stop(true);
  return port;
};

describe("a failing start", () => {
  test("a port in use is named, and nothing is created", async () => {
    await using taken = listener();
    expect(await refusal({ PORT: String(taken.port) })).toMatch(`PORT: port ${taken.port} is in use`);
    expect(await refusal({ BACKEND_PORT: String(taken.port) })).toMatch(/^BACKEND_PORT: .* is in use/);
    expect(readdirSync(dir.path)).toEqual([]);
  });

  test("an address of another machine is reported with its variable", async () => {
    expect(await refusal({ HOST: "203.0.113.1" })).toMatch(/^HOST: .*203\.0\.113\.1/);
    expect(await refusal({ BACKEND_HOST: "203.0.113.1" })).toMatch(/^BACKEND_HOST: /);
    expect(readdirSync(dir.path)).toEqual([]);
  });

  test("a plugin that can't be loaded leaves nothing behind", async () => {
    const before = pluginFile("broken", 'throw new Error("no licence");');
    expect(await refusal({}, [before])).toContain("no licence");
    expect(readdirSync(dir.path)).toEqual(["broken.js"]);
  });

  const failing = {
    "while it is set up": 'plugin("odd", () => { throw new Error("no berth"); })',
    "while it starts": 'plugin("odd", () => ({ service: {}, start() { throw new Error("no berth"); } }))',
  };
  test.each(Object.entries(failing))("a plugin that fails %s: everything is closed again", async (_, made) => {
    const port = freePort();
    const path = pluginFile("odd", `export default ({ plugin }) => ${made};`);
    expect(await refusal({ PORT: String(port) }, [path])).toMatch(/plugin odd can't be \w+( \w+)?: no berth/);
    // The port, the database with its lock, and the commands' socket are free.
    await listener(port).stop(true);
    expect(existsSync(join(dir.path, "data/berth.sock"))).toBe(false);
    await start({ PORT: String(port) });
  });

  test("a database in use: the port is free again", async () => {
    await start();
    const first = running;
    const port = freePort();
    running = undefined;
    await expect(start({ PORT: String(port) })).rejects.toThrow("Another process is using the database");
    await listener(port).stop(true);
    await first?.stop();
  });

  test("waiting requests are ended", async () => {
    const port = freePort();
    const path = pluginFile(
      "slow",
      `const { gate, started } = globalThis.berthServeTest;
       export default ({ plugin }) => plugin("slow", () => ({ service: {}, start: async () => { started.resolve(); await gate.promise; throw new Error("after all"); } }));`,
    );
    const starting = refusal({ PORT: String(port) }, [path]);
    await shared.started.promise;
    const held = fetch(`http://127.0.0.1:${port}/api/agents`).then(
      ({ status }) => String(status),
      () => "let go",
    );
    await fetch(`http://127.0.0.1:${port}/healthz`);
    shared.gate.resolve();
    expect(await starting).toContain("after all");
    expect(await held).toBe("let go");
  });
});

describe("a stop", () => {
  test("releases the ports, the file and the socket; a second stop does nothing", async () => {
    const { running, web } = await start();
    const port = Number(new URL(web).port);
    expect(running.stop()).toBe(running.stop());
    await running.stop();
    await running.stop();
    await listener(port).stop(true);
    expect(existsSync(join(dir.path, "data/berth.sock"))).toBe(false);
    await start();
  });

  test("is quick if no request is running, also with idle connections", async () => {
    const { running, web } = await start();
    await fetch(`${web}/healthz`);
    const since = performance.now();
    await running.stop();
    expect(performance.now() - since).toBeLessThan(4_000);
  });

  const answering = `const { steps, gate, started } = globalThis.berthServeTest;
    export default ({ plugin, Elysia, openRoutes }) => plugin("slow", ({ kernel }) => ({
      service: {},
      web: new Elysia({ name: "slow" }).use(openRoutes)
        .get("/slow", async () => { started.resolve(); await gate.promise; await kernel.database.read("SELECT 1"); return { answer: 42 }; }, { open: true })
        .get("/hang", () => { started.resolve(); return new Promise(() => undefined); }, { open: true }),
      start: () => { steps.push("start"); },
      stop: async () => { steps.push("stop"); },
    }));`;

  test("accepts no new requests, sends running responses, and closes the database last", async () => {
    const { running, web } = await start({}, [pluginFile("slow", answering)]);
    const answer = fetch(`${web}/slow`);
    await shared.started.promise;
    const stopped = running.stop();
    await eventually(async () => {
      const refused = await fetch(`${web}/healthz`).then(
        () => false,
        () => true,
      );
      return refused;
    });
    expect(shared.steps).toContain("start");
    shared.gate.resolve();
    expect(await (await answer).json()).toEqual({ answer: 42 });
    await stopped;
    expect(shared.steps).toEqual(["start", "stop"]);
  });

  test("waits for them at most SHUTDOWN_GRACE", async () => {
    const { running, web } = await start({ SHUTDOWN_GRACE: "1200ms" }, [pluginFile("slow", answering)]);
    const answer = fetch(`${web}/hang`).then(
      () => "answered",
      () => "cut",
    );
    await shared.started.promise;
    const since = performance.now();
    await running.stop();
    expect(performance.now() - since).toBeWithin(1_000, 6_000);
    expect(await answer).toBe("cut");
  });

  test("closes everything else if a plugin fails to stop, and throws its error", async () => {
    const bad = pluginFile(
      "bad",
      'export default ({ plugin }) => plugin("bad", () => ({ service: {}, stop() { throw new Error("stuck"); } }));',
    );
    const { running: first } = await start({}, [bad]);
    running = undefined;
    await expect(first.stop()).rejects.toThrow("stuck");
    await start();
  });
});

test("a folder whose path is too long for a socket is served nevertheless", async () => {
  const deep = join(dir.path, "x".repeat(110));
  mkdirSync(deep);
  const { web } = await start({ DATA_DIR: deep });
  const answer = await createClient(web).get("/api/nothing");
  expectRefusal(answer, 404, "NOT_FOUND");
  expect(existsSync(join(deep, "berth.sock"))).toBe(false);
});
