// Tests that a call is settled at what its provider charged, as far as that is known.
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { type Answer, startUpstream, type Upstream } from "../../../tests/support/upstream.ts";
import { serveAi } from "../support.test.ts";

const messages = [{ role: "user", content: "Hello" }];
/** 1 and 10 USD a million; the dear one 10 and 100. */
const MODELS = [
  { id: "a/plain", pricing: { prompt: "0.000001", completion: "0.00001" } },
  { id: "a/dear", pricing: { prompt: "0.00001", completion: "0.0001" } },
  { id: "a/searching", pricing: { prompt: "0.000001", completion: "0.00001", request: "0.005" } },
  {
    id: "a/special",
    pricing: {
      ...{ prompt: "0.000001", completion: "0.00001", input_cache_read: "0.0000001", input_cache_write: "0.0000015" },
      ...{ audio: "0.00002", image_output: "0.0001" },
    },
  },
  { id: "a/varies", pricing: { prompt: "-1", completion: "-1" } },
];
let upstream: Upstream;
beforeAll(async () => {
  upstream = await startUpstream({ models: MODELS });
});
afterAll(() => upstream.stop());
beforeEach(() => upstream.reset());

/** The row of the ledger for one call that is answered like this, whole and streamed. */
async function settled(model: string, answer: Answer, more: object = {}) {
  await using berth = await serveAi({
    PROVIDER_1_API_KEY: "k",
    PROVIDER_1_BASE_URL: upstream.url,
    AI_PUBLIC_BUDGET_USD_PER_DAY: "1000",
  });
  await (await berth.get("/api/ai/models")).text();
  upstream.script(answer);
  for (const stream of [false, true]) {
    const response = await berth.post("/v1/chat/completions", {
      model: `provider_1:${model}`,
      messages,
      stream,
      ...more,
    });
    await response.text();
    expect(response.status).toBe(200);
  }
  await berth.stop();
  const [whole, streamed] = await berth.ledger();
  expect(streamed).toEqual(whole);
  return whole;
}
const used = (more: object = {}) => ({ text: "fine", usage: { prompt: 1_000, completion: 100, more } });

test("by the price list, where the provider names no cost", async () => {
  expect(await settled("a/plain", used())).toMatchObject({ cost: 2_000, estimated: 0 });
});

test("at the cost that the provider names", async () => {
  expect(await settled("a/plain", used({ cost: 0.25 }))).toMatchObject({ cost: 250_000 });
  expect(await settled("a/plain", used({ cost: 0.0001 }))).toMatchObject({ cost: 100 });
  const byok = { cost: 0.01, is_byok: true, cost_details: { upstream_inference_cost: 0.2 } };
  expect(await settled("a/plain", used(byok))).toMatchObject({ cost: 210_000 });
});

test("by the price list, where the named cost is none, nothing or absurd", async () => {
  for (const cost of [0, -1, "1", null, 1e9]) {
    expect(await settled("a/plain", used({ cost }))).toMatchObject({ cost: 2_000 });
  }
});

test("at the dearer price, where another model answered", async () => {
  expect(await settled("a/plain", { ...used(), model: "a/dear" })).toMatchObject({ model: "a/dear", cost: 20_000 });
  expect(await settled("a/dear", { ...used(), model: "a/plain" })).toMatchObject({ model: "a/dear", cost: 20_000 });
  expect(await settled("a/plain", { ...used(), model: "unheard/of" })).toMatchObject({ model: "a/plain", cost: 2_000 });
  expect(await settled("a/plain", { ...used(), model: "plain-2026-01-01" })).toMatchObject({ model: "a/plain" });
});

test("at the price of the model that answered, where that of the called one is not known", async () => {
  expect(await settled("a/varies", { ...used(), model: "a/plain" })).toMatchObject({ model: "a/plain", cost: 2_000 });
});

test("with the price of the call itself", async () => {
  expect(await settled("a/searching", used())).toMatchObject({ cost: 7_000 });
});

test("with cache reads and writes, sound and pictures at their own prices", async () => {
  const details = {
    prompt_tokens_details: { cached_tokens: 500, cache_write_tokens: 200, audio_tokens: 100 },
    completion_tokens_details: { image_tokens: 50, reasoning_tokens: 10 },
  };
  // 200 text at 1, 500 at 0.1, 200 at 1.5, 100 at 20; 50 at 10, 50 at 100.
  expect(await settled("a/special", used(details))).toMatchObject({ cost: 200 + 50 + 300 + 2_000 + 500 + 5_000 });
});

test("with cache writes and sound at high prices, where the list has none", async () => {
  const details = { prompt_tokens_details: { cached_tokens: 500, cache_write_tokens: 200, audio_tokens: 100 } };
  // 200 text and 500 read at 1, 200 at 2, 100 at 17; 100 at 10.
  expect(await settled("a/plain", used(details))).toMatchObject({ cost: 200 + 500 + 400 + 1_700 + 1_000 });
});

test("with the time for which a model may have thought unseen, where the client went away", async () => {
  await using berth = await serveAi({
    PROVIDER_1_API_KEY: "k",
    PROVIDER_1_BASE_URL: upstream.url,
    AI_PUBLIC_BUDGET_USD_PER_DAY: "1000",
  });
  upstream.script({ pieces: ["one"], delayMs: 1_000, hangAfter: 2 });
  const client = new AbortController();
  const body = { model: "provider_1:a/plain", messages, stream: true };
  const response = await berth.post("/v1/chat/completions", body, { signal: client.signal });
  await response.body?.getReader().read();
  client.abort();
  await upstream.waitFor(({ open }) => open === 0);
  await berth.stop();
  const [row] = await berth.ledger();
  expect(row).toMatchObject({ estimated: 1 });
  expect(Number(row?.output)).toBeGreaterThanOrEqual(90);
});
