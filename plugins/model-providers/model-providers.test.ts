// Tests model providers that admins set up in the running service: in force at once, after restarts, and never shown.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { becomeFirstAdmin, createMember } from "../../tests/support/account-setup.ts";
import { type Client, createClient } from "../../tests/support/client.ts";
import { provision } from "../../tests/support/members.ts";
import { temporaryDir } from "../../tests/support/process.ts";
import { expectRefusal } from "../../tests/support/refusal.ts";
import { openServer, type TestServer } from "../../tests/support/server.ts";
import { startUpstream, type Upstream } from "../../tests/support/upstream.ts";

const PATH = "/api/admin/model-providers";
const KEY = "sk-proj-abcdefghijklmnop-7Q2z";
const MODEL = "gpt-4o-mini";

interface Item {
  id: string;
  source: string;
  keyEnd: string | null;
  hasKey: boolean;
  inUse: boolean;
  isOverridden: boolean;
  baseUrl: string;
}
interface List {
  providers: Item[];
  serving: string;
  models: { choice: string; model: string; source: string }[];
}

let upstream: Upstream;
let server: TestServer;
let root: Client;
const folder = temporaryDir();

const open = (env: Record<string, string> = {}) =>
  openServer({
    dir: folder.path,
    env: { PROVIDER_5_BASE_URL: upstream.url, SECRET_KEY: "a root key of this test, long enough", ...env },
  });

beforeAll(async () => {
  upstream = await startUpstream({ key: KEY, models: [MODEL] });
  server = await open();
  await server.app.start();
  root = createClient(server.web);
  await becomeFirstAdmin(server, root);
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await upstream.stop();
  folder.remove();
});
beforeEach(() => upstream.reset());

const listOf = async (client = root) => (await client.get<List>(PATH)).body;
const itemOf = async (id: string, client = root) => (await listOf(client)).providers.find((one) => one.id === id);
const audit = async () =>
  (await root.get<{ entries: { action: string; target: object; details: object }[] }>("/api/admin/audit")).body.entries;
const stored = { source: "stored", hasKey: true, keyEnd: "7Q2z", inUse: true };

describe("before anything is stored", () => {
  test("all providers are listed, and the demo serves", async () => {
    const { providers, serving, models } = await listOf();
    expect(providers.map(({ id }) => id)).toHaveLength(5);
    expect(providers.every(({ hasKey, inUse }) => !hasKey && !inUse)).toBe(true);
    expect(serving).toBe("demo");
    expect(models).toMatchObject([
      { choice: "model_a", source: "default" },
      { choice: "model_b", source: "default" },
    ]);
  });

  test("a key can be tried without being stored", async () => {
    upstream.script({ text: "Ahoy!", usage: { prompt: 1000, completion: 100 } });
    const { body } = await root.post(`${PATH}/provider_5/test`, { apiKey: ` ${KEY}\n`, model: MODEL });
    expect(body).toEqual({ ok: true, model: MODEL, reply: "Ahoy!", ms: expect.any(Number), costUsd: 0.00021 });
    expect(upstream.chats[0]?.headers.authorization).toBe(`Bearer ${KEY}`);
    expect(await itemOf("provider_5")).toMatchObject({ source: "environment", hasKey: false, inUse: false });
  });

  test.each([
    ["wrong_key", (): void => undefined, "sk-proj-another-one-wrong"],
    ["no_credit", (): void => upstream.failNext(1, { status: 429, message: "You exceeded your current quota" }), KEY],
    ["no_model", (): void => upstream.failNext(1, { status: 404, message: "The model does not exist" }), KEY],
    ["rate_limited", (): void => upstream.failNext(1, { status: 429, message: "Slow down" }), KEY],
    ["failed", (): void => upstream.failNext(1, { status: 500, message: "Oops" }), KEY],
  ] as const)("a test says in words: %s", async (reason, prepare, apiKey) => {
    prepare();
    const { status, body, text } = await root.post<object>(`${PATH}/provider_5/test`, { apiKey, model: MODEL });
    expect({ status, body }).toMatchObject({ status: 200, body: { ok: false, reason, message: expect.any(String) } });
    expect(text).not.toContain(apiKey);
  });

  test("a test tells a closed port from something that is no model server", async () => {
    await using page = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: (): Response => new Response("<h1>Router</h1>"),
    });
    const at = (port: number | undefined) =>
      root.post<object>(`${PATH}/provider_3/test`, { baseUrl: `http://127.0.0.1:${port}/v1` });
    expect((await at(page.port)).body).toMatchObject({ ok: false, reason: "not_a_model_server" });
    expect((await at(1)).body).toMatchObject({ ok: false, reason: "unreachable" });
  });
});

describe("a stored key", () => {
  test("is in force at once, in turns, and shown by its end only", async () => {
    upstream.script("fine");
    const { status, body, text } = await root.put(`${PATH}/provider_5`, { apiKey: KEY });
    expect({ status, body }).toMatchObject({ status: 200, body: { ...stored, id: "provider_5", source: "stored" } });
    expect(text).not.toContain(KEY);
    expect(await listOf()).toMatchObject({ serving: "keys" });
    expect((await root.patch("/api/admin/default-models", { model_a: `provider_5:${MODEL}` })).status).toBe(200);
    await provision(root, "Harbour");
    expect((await root.post("/api/agent", { message: "Hello" })).body).toMatchObject({ reply: "fine" });
    expect(upstream.chats.at(-1)).toMatchObject({ body: { model: MODEL } });
  });

  test("is sealed, and in no file, log entry or audit entry in clear", async () => {
    const files = readdirSync(folder.path, { recursive: true, encoding: "utf8" }).filter((name) => /\.\w+$/.test(name));
    expect(files.some((name) => name.includes(".db"))).toBe(true);
    for (const name of files) expect(readFileSync(join(folder.path, name)).includes(KEY)).toBe(false);
    const entries = await audit();
    expect(entries.map(({ action }) => action)).toEqual(
      expect.arrayContaining(["model-provider.set", "default-models.set"]),
    );
    expect(entries.find(({ action }) => action === "model-provider.set")).toMatchObject({
      target: { kind: "model-provider", id: "provider_5" },
      details: { apiKey: "replaced" },
    });
    expect(JSON.stringify(entries)).not.toContain("7Q2z");
  });

  test("survives a restart and the rotation of the root key", async () => {
    await server[Symbol.asyncDispose]();
    const secret = "another root key, long enough as well";
    const rotation = { SECRET_KEY: secret, SECRET_KEY_PREVIOUS: "a root key of this test, long enough" };
    {
      await using rotating = await open(rotation);
      await rotating.app.start();
      expect(await rotating.kernel.keyRotation.run()).toMatchObject({ "model provider keys": { resealed: 1 } });
    }
    server = await open({ SECRET_KEY: secret });
    await server.app.start();
    root = createClient(server.web);
    const credentials = { email: "owner@example.com", password: "correct horse battery" };
    expect((await root.post("/api/auth/callback/credentials", credentials)).status).toBe(200);
    expect(await itemOf("provider_5")).toMatchObject(stored);
    expect((await listOf()).models[0]).toMatchObject({ model: `provider_5:${MODEL}`, source: "stored" });
    upstream.script("still here");
    expect((await root.post<object>(`${PATH}/provider_5/test`, {})).body).toMatchObject({ ok: true });
  });

  test("is never sent to another address", async () => {
    await using thief = await startUpstream();
    expect((await root.put(`${PATH}/provider_3`, { apiKey: KEY, baseUrl: upstream.url })).status).toBe(200);
    expectRefusal(await root.put(`${PATH}/provider_3`, { baseUrl: thief.url }), 400, "KEY_REQUIRED");
    await root.post(`${PATH}/provider_3/test`, { baseUrl: thief.url });
    expect(thief.total).toBeGreaterThan(0);
    expect(thief.requests.map(({ headers }) => headers.authorization)).not.toContain(`Bearer ${KEY}`);
    expect((await root.delete(`${PATH}/provider_3`)).body).toMatchObject({ source: "none", inUse: false });
  });

  test("loses to the environment, which the list says", async () => {
    await using fixed = await openServer({
      env: { PROVIDER_1_API_KEY: "sk-or-environment-123456", MODEL_A: "provider_1:a/b" },
    });
    const admin = createClient(fixed.web);
    await becomeFirstAdmin(fixed, admin);
    expect(await itemOf("provider_1", admin)).toMatchObject({ source: "environment", keyEnd: "3456" });
    expectRefusal(await admin.put(`${PATH}/provider_1`, { apiKey: KEY }), 409, "SET_BY_ENVIRONMENT");
    expectRefusal(await admin.patch("/api/admin/default-models", { model_a: null }), 409, "SET_BY_ENVIRONMENT");
    expectRefusal(await admin.delete(`${PATH}/provider_1`), 404, "NOTHING_STORED");
  });

  test("can be removed, and the demo serves again", async () => {
    expect((await root.delete(`${PATH}/provider_5`)).body).toMatchObject({ hasKey: false, inUse: false });
    expect(await listOf()).toMatchObject({ serving: "demo" });
    expectRefusal(await root.delete(`${PATH}/provider_5`), 404, "NOTHING_STORED");
  });
});

describe("addresses", () => {
  test("of this machine are allowed for a local server, without a key", async () => {
    await using local = await startUpstream({ models: ["llama3.2"] });
    const { body } = await root.put(`${PATH}/provider_3`, { baseUrl: `${local.url}/` });
    expect(body).toMatchObject({ source: "stored", baseUrl: local.url, inUse: true, hasKey: false });
    local.script("Hi from here");
    expect((await root.post<object>(`${PATH}/provider_3/test`, {})).body).toMatchObject({
      ok: true,
      model: "llama3.2",
      costUsd: 0,
    });
    expect((await root.delete(`${PATH}/provider_3`)).status).toBe(200);
  });

  test.each([
    ["http://169.254.169.254/v1", "ADDRESS_NOT_ALLOWED"],
    ["http://10.1.2.3/v1", "ADDRESS_NOT_ALLOWED"],
    ["http://127.0.0.1:3000/v1", "ADDRESS_NOT_ALLOWED"],
    ["ftp://127.0.0.1/v1", "ADDRESS_NOT_ALLOWED"],
    ["http://ada:pw@127.0.0.1/v1", "INVALID_INPUT"],
    ["http://127.0.0.1/v1?x=1", "INVALID_INPUT"],
    ["nonsense", "INVALID_INPUT"],
  ])("%s is refused", async (baseUrl, code) => {
    for (const send of [
      root.put(`${PATH}/provider_3`, { baseUrl }),
      root.post(`${PATH}/provider_3/test`, { baseUrl }),
    ]) {
      expectRefusal(await send, 400, code);
    }
    expect(await itemOf("provider_3")).toMatchObject({ source: "none" });
  });

  test("of other providers stay", async () => {
    const body = { apiKey: KEY, baseUrl: upstream.url };
    expectRefusal(await root.put(`${PATH}/provider_1`, body), 400, "INVALID_INPUT");
  });
});

test("nobody but a signed-in admin can read, try or change anything", async () => {
  const { client } = await createMember(server);
  const { key } = (await root.post<{ key: string }>("/api/keys", { name: "all", scopes: ["read", "write"] })).body;
  const byKey = { headers: { authorization: `Bearer ${key}` } };
  const stranger = createClient(server.web);
  const requests = (one: Client, options = {}) => [
    one.put(`${PATH}/provider_1`, { apiKey: KEY }, options),
    one.delete(`${PATH}/provider_1`, undefined, options),
    one.post(`${PATH}/provider_1/test`, { apiKey: KEY }, options),
    one.patch("/api/admin/default-models", { model_a: null }, options),
  ];
  for (const answer of [...requests(client), client.get(PATH)]) expectRefusal(await answer, 403, "ADMIN_REQUIRED");
  for (const answer of requests(stranger)) expectRefusal(await answer, 401, "UNAUTHORIZED");
  for (const answer of requests(stranger, byKey)) expectRefusal(await answer, 403, "SESSION_REQUIRED");
  expect((await stranger.get(PATH, byKey)).status).toBe(200);
  const direct = await fetch(`${server.backend}${PATH}/provider_1`, {
    method: "PUT",
    body: JSON.stringify({ apiKey: KEY }),
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
  });
  expect(direct.status).toBe(403);
});

test("wrong input is refused in words", async () => {
  expectRefusal(await root.put(`${PATH}/provider_9`, { apiKey: KEY }), 404, "UNKNOWN_PROVIDER");
  expectRefusal(await root.put(`${PATH}/provider_1`, {}), 400, "KEY_REQUIRED");
  expectRefusal(await root.put(`${PATH}/provider_1`, { apiKey: "two words" }), 400, "INVALID_INPUT");
  expectRefusal(await root.post(`${PATH}/provider_1/test`, {}), 400, "KEY_REQUIRED");
  expectRefusal(await root.patch("/api/admin/default-models", { model_a: "gpt" }), 400, "INVALID_INPUT");
});
