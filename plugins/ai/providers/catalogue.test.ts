// Tests the list of models, the selection of the best one, and the providers that serve it.

import { describe, expect, test } from "bun:test";
import { loadConfig } from "../../../src/kernel/config/config.ts";
import { silent } from "../../../tests/support/database.ts";
import { startOllama } from "../../../tests/support/ollama.ts";
import { parseEvents } from "../../../tests/support/sse.ts";
import { startUpstream } from "../../../tests/support/upstream.ts";
import { LIST_DATE } from "../../openai-api/sources/listed-models.ts";
import { demoFetch } from "../demo/demo-provider.ts";
import { providerSettings } from "../settings.ts";
import { bodyOf, serveAi } from "../support.test.ts";
import { canonicalModelId } from "./catalogue-entry.ts";
import { createProviders } from "./providers.ts";
import { builtInProviders, createProviderRegistry } from "./registry.ts";

const registry = createProviderRegistry(builtInProviders);

const noon = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
type Listed = { id: string; provider: string; inputCost: number; available: boolean; name: string }[];
const listed = (body: Record<string, unknown>) => body.models as Listed;

describe("without a key anywhere", () => {
  test("the demo model serves for free; the other models are listed as not available", async () => {
    await using berth = await serveAi();
    const body = await bodyOf(await berth.get("/api/ai/models"));
    const available = listed(body).filter((model) => model.available);
    expect(available).toEqual([
      expect.objectContaining({ id: "demo", name: "Demo model", provider: "provider_1", inputCost: 0, outputCost: 0 }),
    ]);
    expect(body).toMatchObject({
      count: listed(body).length,
      provider_1: 1,
      provider_5: registry.get("provider_5").models.length,
    });
    expect(body.timestamp).toMatch(noon);
    expect(await bodyOf(await berth.get("/v1/models"))).toEqual({
      object: "list",
      data: [{ id: "demo", object: "model", created: LIST_DATE, owned_by: "provider_1" }],
    });
    const health = await bodyOf(await berth.get("/api/ai/health"));
    expect(health).toMatchObject({ status: "healthy", demo: true });
    expect(health.providers).toEqual(Object.fromEntries(registry.ids.map((id) => [id, id === "provider_1"])));
  });

  test("chat works and names the model", async () => {
    await using berth = await serveAi();
    const messages = [{ role: "user", content: "Who are you?" }];
    const whole = await berth.post("/api/ai/chat", { messages, model: "gpt-4o" });
    expect(whole.headers.get("x-berth-model")).toBe("provider_1:demo");
    const text = await whole.text();
    expect(JSON.parse(text)).toMatchObject({ model: "demo", object: "chat.completion" });
    expect(text).toContain("demo model");
    const stream = await (await berth.post("/v1/chat/completions", { messages, stream: true })).text();
    expect(parseEvents(stream).length).toBeGreaterThan(5);
    await berth.stop();
    expect(await berth.ledger()).toMatchObject([
      { model: "demo", cost: 0, estimated: 0 },
      { model: "demo", cost: 0, estimated: 0 },
    ]);
  });
});

describe("with providers", () => {
  test("the models are those of the live lists, with built-in prices and task types", async () => {
    const first = await startUpstream({
      models: [
        { id: "openai/gpt-4o-mini", pricing: { prompt: "0.0000002", completion: "0.0000007" }, context_length: 99_000 },
        {
          id: "new/thing",
          name: "Thing",
          pricing: { prompt: "0.0000000375", completion: "0" },
          context_length: 1_000_000,
        },
        { id: "auto", pricing: { prompt: "-1", completion: "-1" } },
        { id: "paint", architecture: { output_modalities: ["image"] } },
      ],
    });
    const second = await startUpstream({ models: ["claude-haiku-4-5-20251001", "text-embedding-3-small"] });
    await using berth = await serveAi({
      PROVIDER_1_API_KEY: "k",
      PROVIDER_1_BASE_URL: first.url,
      PROVIDER_4_API_KEY: "k",
      PROVIDER_4_BASE_URL: second.url,
    });
    const one = listed(await bodyOf(await berth.get("/api/ai/models/provider_1")));
    expect(one.map(({ id }) => id)).toEqual(["openai/gpt-4o-mini", "new/thing", "auto"]);
    expect(one[0]).toMatchObject({ inputCost: 0.2, outputCost: 0.7, contextWindow: 99_000, name: "GPT-4o mini" });
    expect(one[1]).toMatchObject({ inputCost: 0.0375, outputCost: 0, tags: ["general", "long"], name: "Thing" });
    expect(one[2]).toMatchObject({
      description: "Its price is not known and is counted as the dearest of its provider.",
    });
    const four = listed(await bodyOf(await berth.get("/api/ai/models/provider_4")));
    expect(four).toEqual([expect.objectContaining({ id: "claude-haiku-4-5-20251001", inputCost: 1, available: true })]);
    const anthropic = second.requests.find(({ path }) => path === "/v1/models");
    expect(anthropic?.headers).toMatchObject({ "x-api-key": "k", "anthropic-version": "2023-06-01" });
    // The list is cached: a second call sends no request.
    const asked = first.requests.length;
    await berth.get("/api/ai/models");
    expect(first.requests.length).toBe(asked);
    await first.stop();
    await second.stop();
  });

  test("built-in models replace a list that can't be read, and the provider is reported as down", async () => {
    const gone = await startUpstream();
    await gone.stop();
    const up = await startUpstream();
    const env = { PROVIDER_5_API_KEY: "k", PROVIDER_5_BASE_URL: gone.url };
    await using berth = await serveAi(env);
    const models = listed(await bodyOf(await berth.get("/api/ai/models/provider_5")));
    expect(models).toHaveLength(registry.get("provider_5").models.length);
    expect(models.every(({ available }) => available)).toBe(true);
    const down = await berth.get("/api/ai/health");
    expect(down.status).toBe(503);
    expect(await bodyOf(down)).toMatchObject({ status: "error", error: expect.any(String), code: "AI_UNAVAILABLE" });
    await using half = await serveAi({ ...env, PROVIDER_3_BASE_URL: up.url });
    const degraded = await half.get("/api/ai/health");
    expect(degraded.status).toBe(200);
    expect(await bodyOf(degraded)).toMatchObject({
      status: "degraded",
      providers: { provider_3: true, provider_5: false },
    });
    await up.stop();
  });

  test("the selection prefers suitable models, then cheap ones", async () => {
    await using berth = await serveAi({ PROVIDER_5_API_KEY: "k", PROVIDER_5_BASE_URL: "http://127.0.0.1:9/v1" });
    const best = async (taskType?: string) => {
      const body = await bodyOf(await berth.post("/api/ai/models/select", { taskType }));
      return [(body.model as { id: string }).id, body.taskType];
    };
    expect(await best()).toEqual(["gpt-4o-mini", "general"]);
    expect(await best("coding")).toEqual(["gpt-5-mini", "coding"]);
    expect(await best("long")).toEqual(["gpt-4.1-mini", "long"]);
    expect(await best("poetry")).toEqual(["gpt-4o-mini", "poetry"]);
    expect((await berth.post("/api/ai/models/select", { taskType: 7 })).status).toBe(400);
    expect((await berth.post("/api/ai/models/select", "")).status).toBe(200);
    expect((await berth.get("/api/ai/models/provider_98")).status).toBe(404);
  });

  test("the models of a local server are those of its list, and free", async () => {
    const local = await startUpstream({ models: ["qwen3:8b", "llama3.2"] });
    await using berth = await serveAi({ PROVIDER_3_BASE_URL: local.url });
    const models = listed(await bodyOf(await berth.get("/api/ai/models/provider_3")));
    expect(models.map(({ id, inputCost }) => [id, inputCost])).toEqual([
      ["qwen3:8b", 0],
      ["llama3.2", 0],
    ]);
    const chosen = await berth.service.resolveTurnModel({ choice: "model_b", keys: {} });
    expect(chosen).toMatchObject({ label: "provider_3:llama3.2", demo: false, apiKey: undefined });
    await local.stop();
  });
});

test("an Ollama on this machine is used while it responds and has a model", async () => {
  const models: string[] = [];
  const ollama = await startOllama({ models });
  const providers = createProviders({
    settings: loadConfig({}, { cwd: "/" }).of(providerSettings),
    demo: demoFetch,
    log: silent,
    ollamaUrl: ollama.url,
  });
  expect(providers.isDemo()).toBe(true);
  await providers.ready();
  expect(providers.isDemo()).toBe(true);
  expect(await providers.findOllama()).toEqual({ baseUrl: `${ollama.url}/v1`, hasModels: false });
  models.push("llama3.2:3b");
  await providers.detect();
  expect(providers.configuredUpstreams()).toMatchObject([
    { provider: "provider_3", label: "Ollama", demo: false, local: true },
  ]);
  await ollama.stop();
  expect(await providers.findOllama()).toBeUndefined();
  await providers.detect();
  expect(providers.isDemo()).toBe(true);
});

describe("estimates", () => {
  const estimate = async (body: unknown) => {
    await using berth = await serveAi();
    const response = await berth.post("/api/ai/estimate-cost", body);
    return { status: response.status, body: await bodyOf(response) };
  };

  test("are exact for the models of every provider, with or without a key", async () => {
    const { body } = await estimate({ model: "openai/gpt-4o-mini", inputTokens: 1_234_567, outputTokens: 89 });
    expect(body).toEqual({
      model: "openai/gpt-4o-mini",
      inputTokens: 1_234_567,
      outputTokens: 89,
      estimatedCost: 0.18523845,
      currency: "USD",
      timestamp: expect.stringMatching(noon),
    });
    const haiku = await estimate({ model: "provider_4:claude-haiku-4-5", inputTokens: 1, outputTokens: 1 });
    expect(haiku.body.estimatedCost).toBe(0.000006);
    expect((await estimate({ model: "demo", inputTokens: 5, outputTokens: 5 })).body.estimatedCost).toBe(0);
  });

  test.each([
    [{ inputTokens: 1, outputTokens: 1 }],
    [{ model: "gpt-4o", outputTokens: 1 }],
    [{ model: "gpt-4o", inputTokens: 1 }],
    [{ model: "no-such-model", inputTokens: 1, outputTokens: 1 }],
    [{ model: "gpt-4o", inputTokens: -1, outputTokens: 1 }],
    [{ model: "gpt-4o", inputTokens: 1.5, outputTokens: 1 }],
    [{ model: "gpt-4o", inputTokens: 1e300, outputTokens: 1 }],
    [{ model: "gpt-4o", inputTokens: "many", outputTokens: 1 }],
  ])("%o is 400", async (body) => {
    const answer = await estimate(body);
    expect(answer.status).toBe(400);
    expect(answer.body).not.toHaveProperty("estimatedCost");
  });
});

test("all spellings of a model have one canonical id", () => {
  for (const id of ["anthropic/claude-sonnet-4.5", "claude-sonnet-4-5", "claude-sonnet-4-5-20250929"]) {
    expect(canonicalModelId(id)).toBe("claude-sonnet-4-5");
  }
  expect(canonicalModelId("openai/gpt-4o-2024-08-06")).toBe("gpt-4o");
  expect(canonicalModelId("google/gemma-4-31b-it:free")).not.toBe(canonicalModelId("google/gemma-4-31b-it"));
});
