// Tests the routes of agents on both surfaces: access, responses, and data that they must not disclose.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Surface } from "../../src/kernel/http/surface.ts";
import { subscribe } from "../../tests/support/account-setup.ts";
import { openPluginHost, type PluginHost } from "../../tests/support/plugin-host.ts";
import { auth } from "../auth/index.ts";
import { agents } from "./index.ts";

let opened: PluginHost;
let web: Surface;
let backend: Surface;
let service: ReturnType<typeof agents.setup>["service"];
let accounts: ReturnType<typeof auth.setup>["service"];

beforeAll(async () => {
  opened = await openPluginHost({ env: { BASE_URL: "https://berth.example" } });
  const { host, kernel } = opened;
  service = host.use(agents);
  accounts = host.use(auth);
  web = opened.surface("web");
  backend = opened.surface("backend");
  kernel.backend.attach(backend.handle);
});
afterAll(() => opened?.[Symbol.asyncDispose]());

interface Answer {
  status: number;
  body: Record<string, unknown>;
  text: string;
  headers: Headers;
}

type Ask = (method: string, path: string, body?: unknown, headers?: Record<string, string>) => Promise<Answer>;

const asker =
  (surface: () => Surface, cookie = ""): Ask =>
  async (method, path, body, headers = {}) => {
    const init: RequestInit = { method, headers: { ...(cookie ? { cookie } : {}), ...headers } };
    if (body !== undefined) {
      init.body = typeof body === "string" ? body : JSON.stringify(body);
      init.headers = { "content-type": "application/json", ...init.headers };
    }
    const response = await surface().handle(new Request(`http://localhost${path}`, init));
    const text = await response.text();
    const json = response.headers.get("content-type")?.includes("json");
    return { status: response.status, body: json ? JSON.parse(text) : {}, text, headers: response.headers };
  };

const anonymous = asker(() => web);

let made = 0;
/** A signed-in user, with a subscription where a plan is given. */
async function member(plan?: "starter" | "pro" | "enterprise") {
  const email = `user-${++made}@example.com`;
  // A hash names its own parameters; with the real ones hashing would take most of the tests' time.
  const passwordHash = await Bun.password.hash("12345678", { algorithm: "argon2id", memoryCost: 8, timeCost: 1 });
  const { id } = await accounts.users.create({ email, name: "Ada", passwordHash });
  if (plan) await subscribe({ app: { accounts } }, email, plan);
  const answer = await anonymous("POST", "/api/auth/callback/credentials", { email, password: "12345678" });
  const cookie = answer.headers.get("set-cookie")?.split(";")[0] ?? "";
  const ask = asker(() => web, cookie);
  const provision = async (name = "Ada's agent", more = {}) => {
    const { status, body } = await ask("POST", "/api/agents/provision", { name, ...more });
    expect(status).toBe(201);
    return (body.agent as { id: string }).id;
  };
  return { id, ask, backend: asker(() => backend, cookie), provision };
}

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe("provisioning", () => {
  test.each(["/api/agents/provision", "/api/agents"])("POST %s creates an agent", async (path) => {
    const ada = await member("pro");
    const { status, body } = await ada.ask("POST", path, {
      name: " Ada's ",
      model: "model_b",
      config: { timezone: "UTC" },
    });
    expect(status).toBe(201);
    const { id } = body.agent as { id: string };
    expect(body).toEqual({
      success: true,
      agent: {
        id: expect.stringMatching(UUID),
        name: "Ada's",
        status: "running",
        websocketUrl: `wss://berth.example/agent/${id}`,
        model: "model_b",
        createdAt: expect.stringMatching(ISO),
      },
    });
  });

  test("names what has no effect: unknown keys, a model that is not chosen, a tier that is not the plan", async () => {
    const ada = await member("enterprise");
    const warningsOf = async (body: object) => {
      const answer = await ada.ask("POST", "/api/agents/provision", { name: "Ada", ...body });
      expect(answer.status).toBe(201);
      return answer.body.warnings;
    };
    expect(await warningsOf({ tier: "enterprise" })).toBeUndefined();
    const config = { instuctions: "Be kind.", model: "provider_1:x/y" };
    expect(await warningsOf({ tier: "pro", config })).toEqual([
      { path: "instuctions", message: expect.stringContaining("Did you mean instructions?") },
      { path: "model", message: expect.stringContaining('"custom"') },
      { path: "tier", message: expect.stringContaining("your account, enterprise") },
    ]);
    expect(await warningsOf({ model: "custom" })).toEqual([
      { path: "model", message: expect.stringContaining("the default model answers") },
    ]);
    expect(await warningsOf({ tier: "entreprise", model: "custom", config: { model: "provider_1:x/y" } })).toEqual([
      { path: "tier", message: expect.stringContaining("Did you mean enterprise?") },
    ]);
  });

  test("ignores fields of the body that the caller may not set", async () => {
    const [ada, bob] = [await member("starter"), await member("starter")];
    const more = { id: Bun.randomUUIDv7(), userId: bob.id, isAdmin: true, plan: "enterprise", status: "active" };
    const id = await ada.provision("One", {
      ...more,
      tier: "enterprise",
      subdomain: "admin",
      verified: true,
      limit: 99,
    });
    expect(id).not.toBe(more.id);
    const { body } = await ada.ask("GET", `/api/agents/${id}`);
    expect(body.agent).toMatchObject({ status: "running", plan: "starter", verified: false });
    expect((body.agent as { subdomain: string }).subdomain).toStartWith("one-");
    const second = await ada.ask("POST", "/api/agents/provision", { name: "Two", ...more });
    expect(second.status).toBe(429);
    expect(second.body).toMatchObject({ code: "AGENT_LIMIT_REACHED", current: 1, limit: 1 });
    expect((await bob.ask("GET", "/api/agents")).body.count).toBe(0);
  });

  test("needs a session before the body is checked", async () => {
    for (const body of [{ name: "Ada" }, {}, "{broken", undefined]) {
      const { status, body: answer } = await anonymous("POST", "/api/agents/provision", body);
      expect({ status, code: answer.code }).toEqual({ status: 401, code: "UNAUTHORIZED" });
    }
    expect((await anonymous("GET", "/api/agents/provision")).status).toBe(401);
  });

  test("is 402 without a subscription", async () => {
    const ada = await member();
    const { status, body } = await ada.ask("POST", "/api/agents/provision", { name: "Ada" });
    expect({ status, code: body.code }).toEqual({ status: 402, code: "SUBSCRIPTION_REQUIRED" });
  });

  test.each([
    [{}, "name"],
    [{ name: 1 }, "name"],
    [{ name: "  " }, "name"],
    [{ name: "x".repeat(65) }, "name"],
    [{ name: "a", model: "gpt" }, "model"],
    [{ name: "a", model: 1 }, "model"],
    [{ name: "a", config: [] }, "config"],
    [{ name: "a", config: "{}" }, "config"],
    [{ name: "a", config: { apiKey: "sk-x" } }, "apiKey"],
    [{ name: "a", tier: {} }, "tier"],
  ])("%j is 400 and names %s", async (given, path) => {
    const ada = await member("pro");
    const { status, body } = await ada.ask("POST", "/api/agents/provision", given);
    expect({ status, issues: body.issues }).toMatchObject({ status: 400, issues: [{ path }] });
    expect((await ada.ask("GET", "/api/agents")).body.count).toBe(0);
  });

  test("repeated with its Idempotency-Key creates no second agent", async () => {
    const ada = await member("pro");
    const send = (name: string) =>
      ada.ask("POST", "/api/agents/provision", { name }, { "idempotency-key": "once-please" });
    const [first, again] = await Promise.all([send("One"), send("One")]);
    expect([first.status, again.status]).toEqual([201, 201]);
    expect(again.body).toEqual(first.body);
    expect(await send("Two")).toMatchObject({ status: 409, body: { code: "IDEMPOTENCY_MISMATCH" } });
    expect((await ada.ask("GET", "/api/agents")).body.count).toBe(1);
  });

  test("50 concurrent requests never exceed the limit", async () => {
    const ada = await member("pro");
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, n) => ada.ask("POST", "/api/agents/provision", { name: `Agent ${n}` })),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(3);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(47);
  });
});

describe("reading", () => {
  test("lists the caller's agents, newest first; none without a session", async () => {
    const [ada, bob] = [await member("pro"), await member("pro")];
    const ids = [await ada.provision("One"), await ada.provision("Two")].reverse();
    await bob.provision("Bob's");
    const { body } = await ada.ask("GET", "/api/agents");
    expect(body).toMatchObject({ count: 2, status: "ok", agents: ids.map((id) => ({ id })) });
    expect(Object.keys((body.agents as object[])[0] ?? {}).sort()).toEqual(
      ["createdAt", "id", "model", "name", "status", "updatedAt", "websocketUrl"].sort(),
    );
    const provisioned = await ada.ask("GET", "/api/agents/provision");
    expect(provisioned.body).toEqual({ success: true, agents: body.agents, count: 2 });
    expect((await anonymous("GET", "/api/agents")).body).toEqual({ agents: [], count: 0, status: "ok" });
  });

  test("lists a page of agents, and says where the next one begins", async () => {
    const ada = await member("pro");
    const ids = [await ada.provision("One"), await ada.provision("Two"), await ada.provision("Three")].reverse();
    for (const path of ["/api/agents", "/api/agents/provision"]) {
      const first = (await ada.ask("GET", `${path}?limit=2`)).body;
      expect(first).toMatchObject({ count: 2, nextCursor: ids[1], agents: [{ id: ids[0] }, { id: ids[1] }] });
      const second = (await ada.ask("GET", `${path}?limit=2&cursor=${first.nextCursor}`)).body;
      expect(second).toMatchObject({ count: 1, agents: [{ id: ids[2] }] });
      expect(second).not.toHaveProperty("nextCursor");
      expect((await ada.ask("GET", `${path}?limit=0`)).status).toBe(400);
    }
  });

  test("shows the detail, wrapped on the web and bare on the backend", async () => {
    const ada = await member("pro");
    const id = await ada.provision();
    const { body } = await ada.ask("GET", `/api/agents/${id}`);
    const subdomain = (body.agent as { subdomain: string }).subdomain;
    const detail = {
      id,
      name: "Ada's agent",
      model: "model_a",
      status: "running",
      statusReason: null,
      frozen: null,
      startedAt: expect.stringMatching(ISO),
      plan: "pro",
      subdomain,
      url: `https://berth.example/a/${subdomain}`,
      runtimeVersion: "1.0.0",
      verified: false,
      verificationType: null,
      attestationUid: null,
      verifiedAt: null,
    };
    expect(body).toEqual({ agent: detail, status: "ok" });
    expect((await ada.backend("GET", `/api/agents/${id}`)).body).toEqual(detail);
  });
});

describe("ownership", () => {
  const routes = [
    ["GET", ""],
    ["GET", "/config"],
    ["PUT", "/config"],
    ["GET", "/logs"],
    ["DELETE", ""],
  ] as const;

  test.each(routes)(
    "%s /api/agents/:id%s: 401 without a session, the same 404 for a foreign agent and a missing one",
    async (method, rest) => {
      const [ada, bob] = [await member("pro"), await member("pro")];
      const id = await bob.provision("Bob's");
      const body = method === "PUT" ? "{broken" : undefined;
      expect((await anonymous(method, `/api/agents/${id}${rest}`, body)).status).toBe(401);
      const foreign = await ada.ask(method, `/api/agents/${id}${rest}`, body);
      const missing = await ada.ask(method, `/api/agents/${Bun.randomUUIDv7()}${rest}`, body);
      expect(foreign).toMatchObject({ status: 404, body: { code: "AGENT_NOT_FOUND" } });
      expect(foreign.text).toBe(missing.text);
      expect(await service.find(id)).toBeDefined();
      if (method === "GET" && rest !== "") return;
      expect((await ada.backend(method, `/api/agents/${id}${rest}`, body)).text).toBe(missing.text);
    },
  );

  test("malformed ids reach no agent", async () => {
    const [ada, bob] = [await member("pro"), await member("pro")];
    const own = await ada.provision();
    const foreign = await bob.provision("Bob's secret name");
    await service.saveConfig(foreign, '{"note":"canary-config"}');
    const odd = [
      `..%2F${foreign}`,
      `${own}%2F..%2F${foreign}`,
      `${own}%3Fid=${foreign}`,
      `${foreign}%00`,
      `${foreign}%2Fconfig`,
      `%2e%2e/${foreign}`,
      `${own}/../${foreign}`,
      foreign.toUpperCase(),
      `%20${foreign}`,
      "__proto__",
    ];
    for (const ask of [ada.ask, ada.backend]) {
      for (const id of odd) {
        for (const [method, rest] of routes) {
          const { status, text } = await ask(method, `/api/agents/${id}${rest}`, method === "PUT" ? "{}" : undefined);
          expect([400, 404]).toContain(status);
          expect(text).not.toMatch(/canary|Bob/);
        }
      }
    }
    expect(await service.find(foreign)).toBeDefined();
    expect(await service.configText(foreign)).toBe('{"note":"canary-config"}');
  });

  test("the backend accepts a service token only for its agent and action", async () => {
    const ada = await member("pro");
    const [one, two] = [await ada.provision("One"), await ada.provision("Two")];
    const grant = { userId: ada.id, isAdmin: false, address: "", action: "agent.read", agentId: one };
    const read = (id: string, given: object) => {
      const authorization = `Bearer ${opened.kernel.backend.tokens.sign({ ...grant, ...given })}`;
      return asker(() => backend)("GET", `/api/agents/${id}`, undefined, { authorization });
    };
    expect((await read(one, {})).status).toBe(200);
    expect((await read(two, {})).status).toBe(404);
    expect((await read(one, { action: "agent.delete" })).status).toBe(401);
    expect((await read(one, { userId: Bun.randomUUIDv7() })).status).toBe(404);
    expect((await asker(() => backend)("GET", `/api/agents/${one}`)).status).toBe(401);
  });
});

describe("the configuration", () => {
  const odd =
    ' { "2": 1,\t"1": 1.50, "__proto__": {"a": 1}, "é": "\\u00e9", "big": 12345678901234567890, "a":1,"a":2 }\n';

  test("is returned byte for byte after provisioning and after PUT", async () => {
    const ada = await member("pro");
    const id = await ada.provision();
    expect((await ada.ask("GET", `/api/agents/${id}/config`)).text).toBe('{"config":{},"status":"ok"}');
    const put = await ada.ask("PUT", `/api/agents/${id}/config`, odd);
    expect(put.status).toBe(200);
    expect(put.text).toStartWith(`{"config":${odd},"status":"updated","warnings":[`);
    const known = await ada.ask("PUT", `/api/agents/${id}/config`, '{"timezone":"UTC"}');
    expect(known.text).toBe('{"config":{"timezone":"UTC"},"status":"updated"}');
    await ada.ask("PUT", `/api/agents/${id}/config`, odd);
    expect((await ada.ask("GET", `/api/agents/${id}/config`)).text).toBe(`{"config":${odd},"status":"ok"}`);
    const { body } = await ada.ask("POST", "/api/agents", `{"name":"x","config":${odd.trim()}}`);
    const other = (body.agent as { id: string }).id;
    expect((await ada.ask("GET", `/api/agents/${other}/config`)).text).toBe(`{"config":${odd.trim()},"status":"ok"}`);
  });

  test.each([
    ["a list", "[]", "INVALID_CONFIG"],
    ["null", "null", "INVALID_CONFIG"],
    ["text", '"text"', "INVALID_CONFIG"],
    ["nothing", "", "INVALID_CONFIG"],
    ["broken JSON", "{broken", "INVALID_JSON"],
    ["a known key of the wrong type", '{"temperature":"hot"}', "INVALID_INPUT"],
    ["a secret", '{"token":"abc"}', "SECRET_IN_CONFIG"],
    ["more than 64 KiB", `{"a":"${"x".repeat(70_000)}"}`, "CONFIG_TOO_LARGE"],
  ])("%s is 400 and changes nothing", async (_, text, code) => {
    const ada = await member("pro");
    const id = await ada.provision();
    const { status, body } = await ada.ask("PUT", `/api/agents/${id}/config`, text);
    expect({ status, code: body.code }).toEqual({ status: 400, code });
    expect(await service.configText(id)).toBe("{}");
  });
});

describe("the log", () => {
  test("returns lines with id, time, level, message, source and agent", async () => {
    const ada = await member("pro");
    const id = await ada.provision();
    for (let n = 0; n < 120; n++) service.log(id, n === 7 ? "error" : "info", `line ${n}`, "test");
    const { body } = await ada.ask("GET", `/api/agents/${id}/logs`);
    expect(body).toMatchObject({ total: 121, limit: 50, status: "ok" });
    expect(body.logs).toHaveLength(50);
    const errors = await ada.ask("GET", `/api/agents/${id}/logs?level=error&limit=9999`);
    expect(errors.body).toMatchObject({ total: 1, limit: 100 });
    expect(errors.body.logs).toEqual([
      {
        id: expect.stringMatching(UUID),
        timestamp: expect.stringMatching(ISO),
        level: "error",
        message: "line 7",
        source: "test",
        agentId: id,
        links: {},
      },
    ]);
  });

  test.each(["limit=0", "limit=-1", "limit=1.5", "limit=abc", "limit=", "level=loud"])("?%s is 400", async (query) => {
    const ada = await member("pro");
    const id = await ada.provision();
    const { status, body } = await ada.ask("GET", `/api/agents/${id}/logs?${query}`);
    expect({ status, code: body.code }).toEqual({ status: 400, code: "INVALID_INPUT" });
  });
});

test("DELETE removes the agent, announces its deprecation, and is 404 the second time", async () => {
  const ada = await member("starter");
  const id = await ada.provision();
  const { status, body, headers } = await ada.ask("DELETE", `/api/agents/${id}`);
  expect({ status, body }).toEqual({ status: 200, body: { success: true, id, deleted: true } });
  expect(headers.get("deprecation")).toMatch(/^@\d+$/);
  expect(headers.get("link")).toBe(`</api/agents/${id}/stop>; rel="successor-version"`);
  expect((await ada.ask("DELETE", `/api/agents/${id}`)).status).toBe(404);
  expect((await ada.ask("GET", `/api/agents/${id}`)).status).toBe(404);
  await ada.provision("Another");
});
