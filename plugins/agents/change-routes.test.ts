// Tests the routes that change an agent's name, model and configuration at once, and those of the configuration's
// versions.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createMember } from "../../tests/support/account-setup.ts";
import { createClient } from "../../tests/support/client.ts";
import { type AgentItem, provision } from "../../tests/support/members.ts";
import { expectRefusal } from "../../tests/support/refusal.ts";
import { openServer, type TestServer } from "../../tests/support/server.ts";

let server: TestServer;
beforeAll(async () => {
  server = await openServer();
});
afterAll(() => server[Symbol.asyncDispose]());

const member = async () => (await createMember(server, { plan: "pro" })).client;

interface Versions {
  versions: { version: number; bytes: number; savedAt: string; current: boolean }[];
  count: number;
}

describe.each(["PATCH", "PUT"] as const)("%s /api/agents/:id", (method) => {
  const changing = async () => {
    const ada = await member();
    const agent = await provision(ada, "Harbour", { instructions: "Be brief." });
    const path = `/api/agents/${agent.id}`;
    const send = (body: unknown) => (method === "PUT" ? ada.put : ada.patch)<{ agent: AgentItem }>(path, body);
    const configText = async () => (await ada.get(`${path}/config`)).text;
    return { ada, agent, path, send, configText };
  };

  test("changes the given fields and leaves the rest", async () => {
    const { send, ada, path, configText } = await changing();
    const renamed = await send({ name: "  Pier " });
    expect(renamed).toMatchObject({ status: 200, body: { agent: { name: "Pier", model: "model_a" } } });
    expect(renamed.body).toEqual({ agent: expect.any(Object), status: "updated" } as never);
    expect((await send({ model: "model_b" })).body.agent).toMatchObject({ name: "Pier", model: "model_b" });
    expect(await configText()).toBe('{"config":{"instructions":"Be brief."},"status":"ok"}');
    const reconfigured = await send({ name: "Quay", model: "custom", config: { b: 1, a: 2 } });
    const warnings = [{ path: "b" }, { path: "a" }, { path: "model" }];
    expect(reconfigured.body).toMatchObject({ status: "updated", warnings } as never);
    expect(await configText()).toBe('{"config":{"b":1,"a":2},"status":"ok"}');
    const { body } = await ada.get(path);
    expect(body).toMatchObject({ agent: { name: "Quay", model: "custom", status: "running" }, status: "ok" });
    const listed = (await ada.get<{ agents: (AgentItem & { updatedAt: string })[] }>("/api/agents")).body.agents[0];
    expect(Date.parse(listed?.updatedAt ?? "")).toBeGreaterThan(Date.parse(listed?.createdAt ?? ""));
  });

  test("answers with the agent in detail; an empty body changes nothing", async () => {
    const { send, ada, path } = await changing();
    const { body } = await ada.get<object>(path);
    expect((await send({})).body).toEqual({ ...body, status: "updated" } as never);
  });

  test.each([
    [{ name: "" }, "name"],
    [{ name: "x".repeat(65) }, "name"],
    [{ name: "a\u0007b" }, "name"],
    [{ name: 7 }, "name"],
    [{ name: "Good", model: "gpt" }, "model"],
    [{ name: "Good", model: 1 }, "model"],
    [{ name: "Good", config: [] }, "config"],
    [{ name: "Good", config: "{}" }, "config"],
    [{ name: "Good", config: { temperature: "hot" } }, "temperature"],
    [{ name: "Good", config: { apiKey: "sk-x" } }, "apiKey"],
  ])("%j is 400 and changes nothing", async (body, path) => {
    const { send, ada, path: at, configText } = await changing();
    const answer = await send(body);
    expect(expectRefusal(answer, 400).issues?.[0]?.path).toBe(path);
    expect((await ada.get(at)).body).toMatchObject({ agent: { name: "Harbour", model: "model_a" } });
    expect(await configText()).toBe('{"config":{"instructions":"Be brief."},"status":"ok"}');
  });

  test("saves a configuration that was made from the version in force; after another save it is 409", async () => {
    const { send, configText } = await changing();
    expect((await send({ config: { n: 1 }, configVersion: 1 })).status).toBe(200);
    const late = await send({ name: "Late", config: { n: 2 }, configVersion: 1 });
    expect(expectRefusal(late, 409, "CONFIG_CHANGED")).toMatchObject({ current: 2 });
    expect(await configText()).toBe('{"config":{"n":1},"status":"ok"}');
    expect((await send({ config: { n: 3 }, configVersion: 2 })).status).toBe(200);
    const both = await Promise.all([4, 5].map((n) => send({ config: { n }, configVersion: 3 })));
    expect(both.map(({ status }) => status).sort()).toEqual([200, 409]);
  });

  test("records what changed, and nothing if nothing did", async () => {
    const { send, agent, path, ada } = await changing();
    const changes = async () =>
      (await server.kernel.events.since(0, { agentId: agent.id, types: ["agent.updated"] })).map(({ data }) => data);
    await send({ name: "Harbour", model: "model_a" });
    expect(await changes()).toEqual([]);
    await send({ name: "Pier", model: "model_b", config: {} });
    await ada.put(`${path}/config`, { n: 1 });
    expect(await changes()).toEqual([
      { id: agent.id, name: "Pier", changed: ["name", "model", "config"] },
      { id: agent.id, name: "Pier", changed: ["config"] },
    ]);
  });

  test("ignores all other fields of the body", async () => {
    const { send, ada, path } = await changing();
    const more = {
      id: Bun.randomUUIDv7(),
      userId: "x",
      status: "stopped",
      verified: true,
      plan: "enterprise",
      tier: "pro",
    };
    const { body } = await send({ ...more, subdomain: "admin", runtimeVersion: "9.9.9", wanted: "down" });
    const warnings = ["userId", "tier", "wanted"].map((path) => ({
      path,
      message: "This was ignored: there is no such field here.",
    }));
    expect(body).toEqual({ ...(await ada.get<object>(path)).body, status: "updated", warnings } as never);
    expect(body.agent).toMatchObject({ status: "running", verified: false, runtimeVersion: "1.0.0" });
  });

  test("is the same 404 for a foreign agent and a missing one, whatever the body", async () => {
    const { agent, ada } = await changing();
    const eve = await member();
    const send = method === "PUT" ? eve.put : eve.patch;
    const foreign = await send(`/api/agents/${agent.id}`, { name: 7 });
    expectRefusal(foreign, 404, "AGENT_NOT_FOUND");
    expect((await send(`/api/agents/${Bun.randomUUIDv7()}`, { name: 7 })).text).toBe(foreign.text);
    expectRefusal(await createClient(server.web).patch(`/api/agents/${agent.id}`, { name: 7 }), 401);
    expect((await ada.get(`/api/agents/${agent.id}`)).body).toMatchObject({ agent: { name: "Harbour" } });
  });
});

describe("versions of the configuration", () => {
  const withVersions = async (count: number) => {
    const ada = await member();
    const { id } = await provision(ada, "Harbour", { n: 1 });
    const path = `/api/agents/${id}/config`;
    for (let n = 2; n <= count; n++) await ada.put(path, { n });
    const versions = async () => (await ada.get<Versions>(`${path}/versions`)).body;
    return { ada, id, path, versions };
  };

  test("are listed newest first, with size, time and which is current", async () => {
    const { versions, ada, path, id } = await withVersions(2);
    await ada.patch(`/api/agents/${id}`, { config: { é: "ü" } });
    const { versions: kept, count } = await versions();
    expect(count).toBe(3);
    expect(kept).toMatchObject([
      { version: 3, bytes: Buffer.byteLength('{"é":"ü"}'), current: true },
      { version: 2, bytes: 7, current: false },
      { version: 1, bytes: 7, current: false },
    ]);
    for (const { savedAt } of kept) expect(savedAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect((await ada.get(`${path}/versions/2`)).text).toBe('{"config":{"n":2},"status":"ok"}');
  });

  test("renaming the agent adds none", async () => {
    const { versions, ada, id } = await withVersions(1);
    await ada.patch(`/api/agents/${id}`, { name: "Pier" });
    expect((await versions()).count).toBe(1);
  });

  test("the newest 20 are stored", async () => {
    const { versions, ada, path } = await withVersions(25);
    const { versions: kept, count } = await versions();
    expect(count).toBe(20);
    expect(kept.map(({ version }) => version)).toEqual(Array.from({ length: 20 }, (_, n) => 25 - n));
    for (const gone of [1, 5, 26, 0, -1, "abc", "1.5", "06"]) {
      expectRefusal(await ada.get(`${path}/versions/${gone}`), 404);
      if (typeof gone === "number" && gone > 0) {
        expectRefusal(await ada.post(`${path}/restore`, { version: gone }), 404, "VERSION_NOT_FOUND");
      }
    }
  });

  test("an earlier one is restored as the newest, byte for byte", async () => {
    const { versions, ada, path } = await withVersions(1);
    const odd = ' { "2": 1, "1": 1.50, "__proto__": {"a":1}, "a":1,"a":2 }';
    const raw = { method: "PUT", path, headers: { "content-type": "application/json" }, body: odd };
    expect((await ada.raw(raw)).status).toBe(200);
    await ada.put(path, { n: 3 });
    const restored = await ada.post(`${path}/restore`, { version: 2 });
    expect(restored.status).toBe(200);
    expect(restored.text).toStartWith(`{"config":${odd},"status":"updated","warnings":[`);
    expect((await ada.get(path)).text).toBe(`{"config":${odd},"status":"ok"}`);
    expect((await versions()).versions.map(({ version, current }) => [version, current])).toEqual([
      [4, true],
      [3, false],
      [2, false],
      [1, false],
    ]);
  });

  test.each([[{}], [{ version: "1" }], [{ version: 1.5 }], [{ version: 0 }], [{ version: null }]])(
    "restoring %j is 400 and changes nothing",
    async (body) => {
      const { versions, ada, path } = await withVersions(2);
      expect(expectRefusal(await ada.post(`${path}/restore`, body), 400).issues?.[0]?.path).toBe("version");
      expect((await versions()).count).toBe(2);
    },
  );

  test("are for the agent's owner only", async () => {
    const { path, id } = await withVersions(2);
    const [eve, anonymous] = [await member(), createClient(server.web)];
    const missing = path.replace(id, Bun.randomUUIDv7());
    const asks: [string, string, object?][] = [
      ["GET", "/versions"],
      ["GET", "/versions/1"],
      ["POST", "/restore", { version: 1 }],
    ];
    for (const [method, rest, body] of asks) {
      const ask = async (client: typeof eve, at: string) => {
        const answer = await client.fetch(method, `${at}${rest}`, body);
        return { status: answer.status, headers: answer.headers, body: undefined, text: await answer.text() };
      };
      const foreign = await ask(eve, path);
      expectRefusal(foreign, 404, "AGENT_NOT_FOUND");
      expect((await ask(eve, missing)).text).toBe(foreign.text);
      expectRefusal(await ask(anonymous, path), 401);
    }
  });
});
