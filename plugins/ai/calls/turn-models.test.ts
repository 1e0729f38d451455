// Tests the selection of the model and key of a turn, and the calls of its client.
import { describe, expect, test } from "bun:test";
import type { LanguageModelV4CallOptions } from "@ai-sdk/provider";
import { startUpstream } from "../../../tests/support/upstream.ts";
import { serveAi } from "../support.test.ts";
import type { ModelSelection } from "./turn-models.ts";

const prompt: LanguageModelV4CallOptions["prompt"] = [
  { role: "user", content: [{ type: "text", text: "What time is it?" }] },
];
const clock = { type: "function" as const, name: "clock", inputSchema: { type: "object" as const, properties: {} } };

describe("the model of a turn", () => {
  const KEYS = { PROVIDER_1_API_KEY: "operator-1", PROVIDER_5_API_KEY: "operator-5" };
  const resolve = async (env: Record<string, string>, wish: object) => {
    await using berth = await serveAi(env);
    return berth.service.resolveTurnModel({ choice: "model_a", keys: {}, ...wish });
  };

  test("is the operator's for the choice", async () => {
    expect(await resolve(KEYS, {})).toMatchObject({
      label: "provider_1:anthropic/claude-sonnet-4.5",
      apiKey: "operator-1",
      demo: false,
      ownKey: false,
      pricing: { input: 3_000_000, output: 15_000_000 },
      contextWindow: 1_000_000,
    });
    expect(await resolve({ ...KEYS, MODEL_B: "provider_5:gpt-4o-mini" }, { choice: "model_b" })).toMatchObject({
      label: "provider_5:gpt-4o-mini",
      apiKey: "operator-5",
    });
  });

  test("is of the provider of the agent's own key if the operator's is not usable", async () => {
    expect(await resolve(KEYS, { keys: { provider_1: "mine" } })).toMatchObject({ apiKey: "mine", ownKey: true });
    expect(await resolve({}, { keys: { provider_4: "mine" } })).toMatchObject({
      label: "provider_4:claude-sonnet-4-5",
      apiKey: "mine",
    });
  });

  test("is found by name for a custom choice, with any usable key", async () => {
    const custom = (configModel: string, keys = {}) => resolve(KEYS, { choice: "custom", configModel, keys });
    expect(await custom("provider_5:gpt-9")).toMatchObject({ label: "provider_5:gpt-9", contextWindow: undefined });
    expect(await custom("gpt-4o")).toMatchObject({ label: "provider_5:gpt-4o" });
    expect(await custom("claude-haiku-4-5")).toMatchObject({ label: "provider_1:anthropic/claude-haiku-4.5" });
    expect(await custom("claude-haiku-4-5", { provider_4: "mine" })).toMatchObject({
      label: "provider_4:claude-haiku-4-5",
      apiKey: "mine",
    });
    // There is no key for provider 2, so the usual model answers.
    expect(await custom("provider_2:gemini-2.5-pro")).toMatchObject({
      label: "provider_1:anthropic/claude-sonnet-4.5",
    });
  });

  test("is the demo if nothing else is usable, and labelled as such", async () => {
    for (const wish of [{}, { choice: "model_b" }, { choice: "custom", configModel: "gpt-4o" }]) {
      const { demo, modelId, label } = await resolve({}, wish);
      expect([demo, modelId, label]).toEqual([true, "demo", "demo (built-in demo model)"]);
    }
  });
});

describe("a client", () => {
  test("of the demo calls tools, whole and streamed", async () => {
    await using berth = await serveAi();
    const model = await berth.service.languageModel(
      await berth.service.resolveTurnModel({ choice: "model_a", keys: {} }),
      "agent",
    );
    const { content, finishReason } = await model.doGenerate({ prompt, tools: [clock] });
    expect(finishReason.unified).toBe("tool-calls");
    expect(content).toEqual([expect.objectContaining({ type: "tool-call", toolName: "clock", input: "{}" })]);
    const { stream } = await model.doStream({ prompt });
    let text = "";
    let outputTokens: number | undefined;
    for await (const part of stream) {
      if (part.type === "text-delta") text += part.delta;
      if (part.type === "finish") outputTokens = part.usage.outputTokens.total;
    }
    expect(text).toContain("clock skill is off");
    expect(outputTokens).toBeGreaterThan(0);
  });

  test("sends a provider its own key only", async () => {
    await using upstream = await startUpstream({ key: "mine" });
    await using berth = await serveAi({ PROVIDER_5_BASE_URL: upstream.url });
    const chosen = await berth.service.resolveTurnModel({ choice: "model_a", keys: { provider_5: "mine" } });
    const model = await berth.service.languageModel(chosen, "agent");
    const { content } = await model.doGenerate({ prompt });
    expect(content).toMatchObject([{ type: "text", text: "echo: What time is it?" }]);
    expect(upstream.chats[0]?.headers.authorization).toBe("Bearer mine");
    const other = await berth.service.languageModel({ ...chosen, apiKey: "other" }, "agent");
    await expect(Promise.resolve(other.doGenerate({ prompt }))).rejects.toMatchObject({ statusCode: 401 });
    expect(upstream.requests.at(-1)?.headers.authorization).toBe("Bearer other");
  });

  test("reserves the budget before a call and settles it after", async () => {
    await using berth = await serveAi({ PROVIDER_5_API_KEY: "k" });
    const model = await berth.service.resolveTurnModel({ choice: "custom", configModel: "gpt-4o", keys: {} });
    const turn = { agent: { id: "a", userId: "u" }, model, prompt, maxTokens: 100 };
    const small = { ...turn, budget: { usdPerDay: 0.002 } };
    const spending = await berth.service.reserve(small);
    expect(() => berth.service.reserve(small)).toThrow("budget");
    const usage = { inputTokens: 10, outputTokens: 10, estimated: false };
    await berth.kernel.database.write([spending.settleStatement(usage, 3)]);
    expect(await berth.ledger()).toMatchObject([{ kind: "turn", model: "gpt-4o", cost: 125 }]);
    (await berth.service.reserve({ ...small, maxTokens: 10 })).release();
    (await berth.service.reserve({ ...turn, budget: undefined })).release();
  });
});

describe("when a provider fails", () => {
  const model = "openai/gpt-4o-mini";
  async function openFixture(more: Record<string, string> = {}) {
    const first = await startUpstream({ key: "one", models: [model] });
    const second = await startUpstream({ key: "five", models: ["gpt-4o-mini"] });
    const berth = await serveAi({
      PROVIDER_1_API_KEY: "one",
      PROVIDER_1_BASE_URL: first.url,
      PROVIDER_5_API_KEY: "five",
      PROVIDER_5_BASE_URL: second.url,
      MODEL_A: `provider_1:${model}`,
      ...more,
    });
    const ask = async (wish: Partial<ModelSelection> = {}) => {
      const chosen = await berth.service.resolveTurnModel({ choice: "model_a", keys: {}, ...wish });
      const agent = { id: "a", userId: "u" };
      const spending = await berth.service.reserve({ agent, model: chosen, budget: undefined, prompt, maxTokens: 100 });
      const language = await berth.service.languageModel(chosen, agent.id);
      const { signal: abortSignal } = new AbortController();
      const asked = Promise.resolve(language.doGenerate({ prompt, abortSignal }));
      const text = await asked.then(
        ({ content }) => content,
        (error: unknown) => error,
      );
      await spending.record({ inputTokens: 1000, outputTokens: 0, estimated: false }, 1);
      return text;
    };
    return {
      first,
      second,
      berth,
      ask,
      [Symbol.asyncDispose]: async () => {
        await berth[Symbol.asyncDispose]();
        await first.stop();
        await second.stop();
      },
    };
  }
  const said = [{ type: "text", text: "echo: What time is it?" }];

  test("the next provider of the same model serves the call, with its own key and price", async () => {
    await using here = await openFixture();
    const answer = { text: "echo: What time is it?", usage: { prompt: 1000, completion: 0 } };
    for (const upstream of [here.first, here.second]) upstream.script(answer);
    here.first.failNext(1, 503);
    expect(await here.ask()).toMatchObject(said);
    expect(here.second.chats.map(({ body, headers }) => [body.model, headers.authorization])).toEqual([
      ["gpt-4o-mini", "Bearer five"],
    ]);
    expect(await here.ask()).toMatchObject(said);
    await here.berth.stop();
    expect(await here.berth.ledger()).toMatchObject([
      { provider: "provider_5", model: "gpt-4o-mini", cost: 150 },
      { provider: "provider_1", model, cost: 150 },
    ]);
  });

  test("each call is settled at what its provider charged, and at the dearer model's price", async () => {
    await using here = await openFixture();
    const usage = { prompt: 1000, completion: 100 };
    here.first.script({ text: "fine", usage: { ...usage, more: { cost: 0.07 } } });
    await here.ask();
    here.first.script({ text: "fine", usage, model: "openai/gpt-5.5" });
    await here.ask();
    here.first.failNext(1, 503);
    // The other provider is not one that names its costs.
    here.second.script({ text: "fine", usage: { ...usage, more: { cost: 0.07 } } });
    await here.ask();
    await here.berth.stop();
    expect(await here.berth.ledger()).toMatchObject([
      { provider: "provider_1", model, cost: 70_000, estimated: 0 },
      { provider: "provider_1", model: "openai/gpt-5.5", cost: 8_000 },
      { provider: "provider_5", model: "gpt-4o-mini", cost: 210 },
    ]);
  });

  test("a call that is cancelled costs what the model may have thought unseen", async () => {
    await using here = await openFixture();
    const chosen = await here.berth.service.resolveTurnModel({ choice: "model_a", keys: {} });
    const call = { agent: { id: "a", userId: "u" }, model: chosen, budget: undefined, prompt, maxTokens: 1000 };
    const spending = await here.berth.service.reserve(call);
    await spending.record({ inputTokens: 10, outputTokens: 0, estimated: true }, 3_000);
    await here.berth.stop();
    expect(await here.berth.ledger()).toMatchObject([{ output: 300, estimated: 1 }]);
  });

  test("its message is freed of the key of the call, whichever provider answered", async () => {
    // Without the form of a key, by which the log would find it.
    await using here = await openFixture({ PROVIDER_5_API_KEY: "canary of the fallback" });
    const { redactKeys, resolveTurnModel } = here.berth.service;
    const operators = await resolveTurnModel({ choice: "model_a", keys: {} });
    const own = await resolveTurnModel({ choice: "model_a", keys: { provider_1: "canary of the agent" } });
    const message = "Bad key: canary of the fallback, canary of the agent";
    expect(redactKeys(operators, message)).toBe("Bad key: …, canary of the agent");
    expect(redactKeys(own, message)).toBe("Bad key: …, …");
  });

  test("a refused request is not sent to another provider", async () => {
    await using here = await openFixture();
    here.first.failNext(1, { status: 429, retryAfter: 7 });
    expect(await here.ask()).toMatchObject({ statusCode: 429, responseHeaders: { "retry-after": "7" } });
    expect(here.second.chats).toHaveLength(0);
  });

  test("a named provider and an own key have no fallback", async () => {
    await using here = await openFixture();
    here.first.failNext(2, 503);
    expect(await here.ask({ choice: "custom", configModel: `provider_1:${model}` })).toMatchObject({ statusCode: 503 });
    expect(await here.ask({ keys: { provider_1: "one" } })).toMatchObject({ statusCode: 503 });
    expect(here.second.chats).toHaveLength(0);
  });

  test("streams that it ends early open its circuit; clients that leave do not", async () => {
    await using here = await openFixture({ PROVIDER_5_API_KEY: "" });
    const chosen = await here.berth.service.resolveTurnModel({ choice: "model_a", keys: {} });
    const language = await here.berth.service.languageModel(chosen, "a");
    const listen = async (abort = new AbortController(), parts = Number.POSITIVE_INFINITY) => {
      const { stream } = await language.doStream({ prompt, abortSignal: abort.signal });
      try {
        for await (const part of stream) {
          if (part.type === "error") return "broken off";
          if (part.type === "text-delta" && --parts === 0) abort.abort();
        }
        return "whole";
      } catch (error) {
        return abort.signal.aborted ? "left" : String(error);
      }
    };
    const ended = (how: string) =>
      here.berth.kernel.metrics.render().includes(`berth_ai_calls_total{provider="provider_1",end="${how}"}`);
    here.first.script({ text: "a b c d e f", paceMs: 20 });
    expect(await listen()).toBe("whole");
    for (let n = 0; n < 3; n++) expect(await listen(new AbortController(), 2)).not.toBe("whole");
    expect(ended("cut")).toBe(false);
    here.first.script({ text: "a b c d e f", cutAfter: 3 });
    // Each of them began well: half of the last thirty calls have to break.
    for (let n = 0; n < 15; n++) expect(await listen()).not.toBe("whole");
    expect(ended("cut")).toBe(true);
    const asked = here.first.chats.length;
    expect(await here.ask()).toMatchObject({ statusCode: 502, responseHeaders: { "retry-after": "5" } });
    expect(here.first.chats).toHaveLength(asked);
  });

  test("an open circuit is reported with the time until its end; each own key has its own circuit", async () => {
    await using here = await openFixture({ PROVIDER_5_API_KEY: "" });
    here.first.failNext(8, 500);
    for (let n = 0; n < 8; n++) expect(await here.ask()).toMatchObject({ statusCode: 500 });
    expect(await here.ask()).toMatchObject({ statusCode: 502, responseHeaders: { "retry-after": "5" } });
    expect(here.first.chats).toHaveLength(8);
    expect(await here.ask({ keys: { provider_1: "one" } })).toMatchObject(said);
  });
});
