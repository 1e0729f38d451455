// A provider that is added from outside, by one definition, is known everywhere: no list of providers is left elsewhere.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { agents } from "../plugins/agents/index.ts";
import type { ProviderDefinition } from "../plugins/ai/providers/provider.ts";
import { builtInProviders } from "../plugins/ai/providers/registry.ts";
import { createProviderSettings } from "../plugins/ai/settings.ts";
import { configurationPage } from "../src/kernel/config/configuration-page.ts";
import { plugin, type ServiceOf } from "../src/kernel/plugin.ts";
import { doctorReport } from "../src/server/doctor.ts";
import { settingsWith } from "../src/server/settings.ts";
import { subscribe } from "./support/account-setup.ts";
import { type Client, createClient } from "./support/client.ts";
import { openServer, type TestServer } from "./support/server.ts";
import { startTelegram, type Telegram } from "./support/telegram.ts";
import { startUpstream, type Upstream } from "./support/upstream.ts";

const KEY = "lighthouse_0123456789abcdef";
const lighthouse: ProviderDefinition = {
  id: "provider_99",
  label: "Lighthouse",
  env: "PROVIDER_99",
  baseUrl: "https://lighthouse.invalid/v1",
  credential: { required: true, prefix: "lighthouse_", shape: /lighthouse_[0-9a-f]{16}/ },
  capabilities: { modalities: ["image"], oggAudio: false, maxTokensField: "max_tokens", localServer: false },
  authHeaders: (apiKey) => ({ "x-lighthouse": apiKey }),
  defaultModels: { model_a: "fake-large", model_b: "fake-small" },
  priceListId: "lighthouse",
  models: [["fake-large", "Beacon", "Shines", 1, 2, 100_000, "general"]],
  embeddingModels: [["lamp-embed", 0.5]],
};
const section = createProviderSettings([...builtInProviders, lighthouse]);

let upstream: Upstream;
let telegram: Telegram;
let server: TestServer;
let ada: Client;
let agentId: string;
let env: Record<string, string>;
let credentialStore: ServiceOf<typeof agents>["credentials"];
const window = plugin("window", (host) => {
  credentialStore = host.use(agents).credentials;
  return { service: undefined };
});
beforeAll(async () => {
  upstream = await startUpstream({ key: KEY });
  telegram = await startTelegram();
  env = { PROVIDER_99_BASE_URL: upstream.url, PROVIDER_99_API_KEY: KEY, CHANNEL_A_API_ROOT: telegram.url };
  server = await openServer({ env: { ...env, BOT_DETECTION: "off" }, sections: [section], plugins: [window] });
  await server.app.start();
  ada = createClient(server.web);
  await ada.join();
  await subscribe(server, ada.account.email, "enterprise");
  const { body } = await ada.post<{ agent: { id: string } }>("/api/agents/provision", { name: "Harbour" });
  agentId = body.agent.id;
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await telegram.stop();
  await upstream.stop();
});

const backend = async (path: string) => (await fetch(server.backend + path)).json() as Promise<Record<string, unknown>>;
const credentials = async () =>
  (await ada.get<{ credentials: object }>("/api/agent?action=credentials")).body.credentials;

test("the API documents name it wherever they name the others", async () => {
  const count = (document: string, id: string) => document.split(`"${id}"`).length;
  for (const origin of [server.backend, server.web]) {
    // Examples are records of requests, which name some provider.
    const document = JSON.stringify(await (await fetch(`${origin}/swagger/json`)).json(), (key, value) =>
      key === "example" || key === "examples" ? undefined : value,
    );
    expect(count(document, "provider_99")).toBeGreaterThan(1);
    expect(count(document, "provider_99")).toBe(count(document, "provider_5"));
  }
});

test("models, health and embeddings have it", async () => {
  const models = await backend("/api/ai/models");
  expect(models).toMatchObject({ provider_99: 2 });
  expect(Object.keys(models).indexOf("provider_99")).toBe(Object.keys(models).indexOf("provider_5") + 1);
  expect(await backend("/api/ai/models/provider_99")).toMatchObject({ provider: "provider_99", count: 2 });
  expect(await backend("/api/ai/health")).toMatchObject({ providers: { provider_1: false, provider_99: true } });
  const named = { method: "POST", headers: { "content-type": "application/json" } };
  const body = JSON.stringify({ model: "provider_99:lamp-embed", input: "light" });
  const embedded = await fetch(`${server.backend}/v1/embeddings`, { ...named, body });
  expect([embedded.status, embedded.headers.get("x-berth-model")]).toEqual([200, "provider_99:lamp-embed"]);
});

test("a turn of an agent that names no model goes to its default model, with its own headers", async () => {
  const { status, text } = await ada.post("/api/agent", { action: "chat", message: "Hello" });
  expect({ status, text }).toEqual({ status: 200, text: expect.stringContaining("Hello") });
  const [chat] = upstream.chats;
  expect(chat?.body.model).toBe("fake-large");
  expect(chat?.headers["x-lighthouse"]).toBe(KEY);
});

test("an agent may have its own key, which the summary shows, and which no configuration may hold", async () => {
  expect(await credentials()).toMatchObject({ provider_99: false });
  const set = await ada.post("/api/agent", { action: "set-credential", key: "provider_99", value: KEY });
  expect(set.status).toBe(200);
  expect(await credentials()).toMatchObject({ provider_99: true });
  const { status, body } = await ada.put(`/api/agents/${agentId}/config`, { note: `my key is ${KEY}` });
  expect({ status, body }).toMatchObject({ status: 400, body: { code: "SECRET_IN_CONFIG" } });
});

test("its models survive an export and an import", async () => {
  await ada.put(`/api/agents/${agentId}/config`, { model: "provider_99:fake-small" });
  const { body } = await ada.get<object>(`/api/agents/${agentId}/export`);
  const imported = await ada.post<{ agent: { id: string } }>("/api/agents/import", body);
  expect(imported.status).toBe(201);
  const { text } = await ada.get(`/api/agents/${imported.body.agent.id}/config`);
  expect(text).toContain('"model":"provider_99:fake-small"');
});

test("provisioning takes it", async () => {
  const token = "600000001:AAlighthouse-lighthouse-lighthouse1";
  telegram.addBot(token, { username: "lighthouse_bot" });
  const asked = { channelAToken: token, aiProvider: "provider_99", apiKey: KEY };
  const { status, body } = await ada.post("/api/provision", asked);
  expect({ status, body }).toMatchObject({
    status: 201,
    body: { aiProvider: "provider_99", aiProviderConfig: { model: "fake-large", requiresKey: true } },
  });
});

test("a reclaimed account loses the keys of its agents for it", async () => {
  const owner = "SELECT user_id FROM agents WHERE id = ?";
  const userId = String((await server.kernel.database.read(owner, [agentId])).rows[0]?.user_id);
  const kept = async () =>
    (await server.kernel.database.read("SELECT kind FROM credentials WHERE owner_id = ?", [agentId])).rows.length;
  expect(await kept()).toBe(1);
  await server.kernel.database.write([credentialStore.forgetStatement(userId)]);
  expect(await kept()).toBe(0);
});

test("doctor, the configuration page and the log's redaction know its variables", async () => {
  const options = { dotenv: false, terminal: false, providers: section } as const;
  const { text, exitCode } = doctorReport({ ...env, MODEL_A: "provider_99:fake-small" }, "/", options);
  expect(text).toContain("PROVIDER_99_API_KEY");
  expect(text).not.toContain(KEY);
  expect(text).not.toContain("No AI provider is set up");
  expect(exitCode).toBe(0);
  expect(configurationPage(settingsWith(section))).toContain(
    "| `PROVIDER_99_LABEL` | `Lighthouse` | Name of provider 99, for people. | any text |",
  );
  expect(server.kernel.config.secrets).toContain(KEY);
  expect(server.kernel.log.redactForms("lighthouse_fedcba9876543210 was refused")).toBe("[redacted] was refused");
});
