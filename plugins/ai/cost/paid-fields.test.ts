// Tests that no field of an API request buys more than the caller's budget holds.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { startUpstream, type Upstream } from "../../../tests/support/upstream.ts";
import { avoidMidnight } from "../../../tests/support/utc-day.ts";
import { bodyOf, serveAi } from "../support.test.ts";

const KEY = "sk-operator-key-1234567890";
const messages = [{ role: "user", content: "Hello" }];
const user = (...content: object[]) => ({ messages: [{ role: "user", content }] });
const listed = (id: string, prompt: string, completion: string) => ({ id, pricing: { prompt, completion } });
/** The models of the first provider, in OpenRouter's form. */
const MODELS = [
  listed("a/free", "0", "0"),
  listed("a/cheap", "0.0000001", "0.0000004"),
  listed("a/cheap:free", "0", "0"),
  listed("a/dear", "0.000150", "0.000600"),
];

/** What costs extra at OpenRouter, by the path of the field that is refused. */
const PAID: readonly (readonly [field: string, body: object])[] = [
  ["models", { model: "provider_1:a/free", models: ["a/dear"] }],
  ["model", { model: "provider_1:a/cheap:online" }],
  ["model", { model: "provider_1:a/cheap:nitro" }],
  ["model", { model: "provider_1:@preset/a/cheap" }],
  ["plugins", { plugins: [{ id: "web", max_results: 100 }] }],
  ["web_search_options", { web_search_options: { search_context_size: "high" } }],
  ["service_tier", { service_tier: "priority" }],
  ["provider", { provider: { order: ["dearest"], sort: "throughput" } }],
  ["route", { route: "fallback" }],
  ["transforms", { transforms: ["something-new"] }],
  ["modalities", { modalities: ["text", "audio"] }],
  ["audio", { audio: { voice: "alloy", format: "wav" } }],
  ["prediction", { prediction: { type: "content", content: "x".repeat(1000) } }],
  ["image_config", { image_config: { image_size: "4K" } }],
  ["preset", { preset: "dear" }],
  ["reasoning", { reasoning: { max_tokens: 100_000 } }],
  ["store", { store: true }],
  ["metadata", { metadata: { a: "b" } }],
  ["best_of", { best_of: 20 }],
  // Some readers of JSON don't tell upper from lower case.
  ["N", { N: 128 }],
  ["Models", { Models: ["a/dear"] }],
  ["MAX_TOKENS", { MAX_TOKENS: 1_000_000 }],
  ["maxTokens", { maxTokens: 1_000_000 }],
  ["tools.0.type", { tools: [{ type: "openrouter:web_search" }] }],
  [
    "tools.1.google_search",
    {
      tools: [
        { type: "function", function: { name: "f" } },
        { type: "function", google_search: {} },
      ],
    },
  ],
  ["messages.0.content.0.type", user({ type: "video_url", video_url: { url: "data:video/mp4;base64,AAAA" } })],
  ["messages.0.content.0.imageUrl", user({ type: "text", text: "x", imageUrl: { url: "data:image/png;base64,AAAA" } })],
  ["messages.0.content.0.file", user({ type: "file", file: { file_data: "https://files.invalid/large.pdf" } })],
  ["messages.0.Content", { messages: [{ role: "user", content: "x", Content: "y" }] }],
];

/** Requests in which a key occurs twice, of which providers read the first or the last. */
const DUPLICATES: readonly (readonly [key: string, text: string])[] = [
  ["model", `{"model":"a/dear","messages":[{"role":"user","content":"x"}],"model":"a/free"}`],
  ["model", String.raw`{"model":"a/free","messages":[{"role":"user","content":"x"}],"\u006dodel":"a/dear"}`],
  ["n", `{"model":"a/cheap","n":128,"messages":[{"role":"user","content":"x"}],"n":1}`],
  [
    "messages",
    `{"model":"a/cheap","messages":[{"role":"user","content":"long"}],"messages":[{"role":"user","content":"x"}]}`,
  ],
  ["content", `{"model":"a/cheap","messages":[{"role":"user","content":"long","content":"x"}]}`],
  [
    "type",
    `{"model":"a/cheap","messages":[{"role":"user","content":"x"}],"tools":[{"type":"web_search","type":"function"}]}`,
  ],
];

let first: Upstream;
let fifth: Upstream;
let local: Upstream;
let berth: Awaited<ReturnType<typeof serveAi>>;
const env = () => ({
  PROVIDER_1_API_KEY: KEY,
  PROVIDER_1_BASE_URL: first.url,
  PROVIDER_5_API_KEY: KEY,
  PROVIDER_5_BASE_URL: fifth.url,
  PROVIDER_3_BASE_URL: local.url,
});

/** A backend whose catalogue has the providers' lists. */
async function serveListed(more: Record<string, string> = {}) {
  const served = await serveAi({ ...env(), ...more });
  await (await served.get("/api/ai/models")).text();
  return served;
}

beforeAll(async () => {
  const extraParameters = ["n", "reasoning", "transforms", "top_k", "usage", "keep_alive", "plugins", "modalities"];
  first = await startUpstream({ models: MODELS, extraParameters });
  fifth = await startUpstream({ models: ["gpt-4o-mini"], extraParameters });
  local = await startUpstream({ models: ["llama3.2"], extraParameters });
  berth = await serveListed({ AI_PUBLIC_BUDGET_USD_PER_DAY: "1000" });
});
afterAll(async () => {
  await berth[Symbol.asyncDispose]();
  for (const upstream of [first, fifth, local]) await upstream.stop();
});
beforeEach(() => {
  for (const upstream of [first, fifth, local]) upstream.reset();
});

const ask = (body: object | string, path = "/v1/chat/completions") =>
  berth.post(path, typeof body === "string" ? body : { model: "provider_1:a/cheap", messages, ...body });

describe("a field that may cost extra", () => {
  test.each(PAID)("%s is refused by its name, and nothing is sent", async (field, body) => {
    const response = await ask(body);
    const answer = await bodyOf(response);
    expect([response.status, answer.code, answer.field]).toEqual([400, "UNSUPPORTED_FIELD", field]);
    expect(answer.error).toContain(`"${field}"`);
    expect(first.chats).toHaveLength(0);
  });

  test.each(DUPLICATES)("can't hide behind a second %s", async (key, text) => {
    const response = await ask(text);
    const answer = await bodyOf(response);
    expect([response.status, answer.code]).toEqual([400, "INVALID_INPUT"]);
    expect(answer.issues).toMatchObject([{ path: key }]);
    expect(first.chats).toHaveLength(0);
  });

  test("is refused by the provider that it is for", async () => {
    const model = "provider_5:gpt-4o-mini";
    for (const [field, value] of [
      ["service_tier", "priority"],
      ["store", true],
      ["reasoning", { effort: "low" }],
    ]) {
      const answer = await bodyOf(await ask({ model, [String(field)]: value }));
      expect([answer.code, answer.field]).toEqual(["UNSUPPORTED_FIELD", field]);
    }
    expect((await ask({ model, service_tier: "default" })).status).toBe(200);
    expect(fifth.chats).toHaveLength(1);
  });

  test("is refused for embeddings", async () => {
    const embed = (more: object) =>
      berth.post("/v1/embeddings", { model: "provider_5:text-embedding-3-small", input: "x", ...more });
    const picture = [{ content: [{ type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } }] }];
    for (const [field, value] of [
      ["provider", {}],
      ["models", ["dear"]],
      ["input", picture],
    ] as const) {
      const answer = await bodyOf(await embed({ [field]: value }));
      expect([answer.code, answer.field]).toEqual(["UNSUPPORTED_FIELD", field]);
    }
    expect((await embed({ input: ["x", "y"], dimensions: 8, encoding_format: "float" })).status).toBe(200);
  });

  test("passes to a local server, whose calls cost nothing", async () => {
    const response = await ask({
      model: "provider_3:llama3.2",
      keep_alive: 5,
      plugins: [],
      modalities: ["text", "audio"],
    });
    expect(response.status).toBe(200);
    expect(local.chats[0]?.body).toMatchObject({ keep_alive: 5, plugins: [] });
  });
});

describe("a field that costs what is reserved", () => {
  test("passes as it is", async () => {
    const fields = {
      ...{ temperature: 0.5, top_p: 0.9, top_k: 4, seed: 7, stop: ["x"], user: "u", n: 1, logprobs: false },
      ...{ reasoning: { effort: "low", exclude: true }, transforms: ["middle-out"], modalities: ["text"] },
      ...{ usage: { include: true }, tool_choice: "auto", tools: [{ type: "function", function: { name: "f" } }] },
    };
    expect((await ask({ model: "a/cheap:free", ...fields, max_tokens: 9 })).status).toBe(200);
    expect<unknown>(first.chats[0]?.body).toEqual({ model: "a/cheap:free", messages, ...fields, max_tokens: 9 });
  });

  test("both limits of tokens are clamped", async () => {
    await ask({ max_tokens: 100_000, max_completion_tokens: 200_000 });
    expect(first.chats[0]?.body).toMatchObject({ max_tokens: 4096, max_completion_tokens: 4096 });
  });

  test.each([
    ["several choices", { n: 100 }],
    ["a picture by its address", user({ type: "image_url", image_url: { url: "https://a.invalid/b.png" } })],
    [
      "a picture under an escaped name",
      `{"model":"provider_1:a/dear","max_tokens":1,"messages":[{"role":"user","content":[{"type":"image_url","image\\u005furl" : {"url":"x"}}]}]}`,
    ],
    ["sound", user({ type: "input_audio", input_audio: { data: "A".repeat(4_000), format: "mp3" } })],
    ["a PDF", user({ type: "file", file: { file_data: "data:application/pdf;base64,AAAA" } })],
    ["text without words", { messages: [{ role: "user", content: "1!".repeat(800) }] }],
    [
      "a cache write",
      {
        messages: [
          {
            role: "user",
            content: [{ type: "text", text: "word ".repeat(900), cache_control: { type: "ephemeral" } }],
          },
        ],
      },
    ],
  ])("%s is reserved", async (_, body) => {
    // One token of output and a few words of input are 0.02 USD at most: each of these needs more than the budget.
    await avoidMidnight(5_000);
    await using poor = await serveListed({ AI_PUBLIC_BUDGET_USD_PER_DAY: "0.05" });
    const plain = { model: "provider_1:a/dear", messages, max_tokens: 1 };
    expect((await poor.post("/v1/chat/completions", plain)).status).toBe(200);
    const response = await poor.post("/v1/chat/completions", typeof body === "string" ? body : { ...plain, ...body });
    expect([response.status, (await bodyOf(response)).code]).toEqual([402, "BUDGET_EXCEEDED"]);
    expect(first.chats).toHaveLength(1);
  });
});

test("a public budget of 1 USD is not overrun by anything above, sent at once", async () => {
  await avoidMidnight(10_000);
  /** USD that the provider would charge, however it reads the request. */
  let billed = 0;
  const provider = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      if (request.method === "GET") return Response.json({ data: MODELS });
      const text = await request.text();
      const isPaid = /plugins|web_search|priority|a\/dear|:online|:nitro|preset|audio|image|file|provider/i.test(text);
      const choices = Number(/"n":\s*(\d+)/i.exec(text)?.[1] ?? 1);
      const cost = (isPaid ? 5 : 0.002) * choices;
      billed += cost;
      const usage = { prompt_tokens: 10, completion_tokens: 10, cost };
      return Response.json({
        model: "a/cheap",
        choices: [{ index: 0, message: { role: "assistant", content: "x" } }],
        usage,
      });
    },
  });
  await using attacked = await serveAi({
    PROVIDER_1_API_KEY: KEY,
    PROVIDER_1_BASE_URL: `http://127.0.0.1:${provider.port}/v1`,
    AI_PUBLIC_BUDGET_USD_PER_DAY: "1",
  });
  await (await attacked.get("/api/ai/models")).text();
  const bodies = [
    ...PAID.map(([, body]) => ({ model: "provider_1:a/free", messages, ...body })),
    ...DUPLICATES.map(([, text]) => text),
  ];
  const paths = ["/api/ai/chat", "/v1/chat/completions"];
  const asked = bodies.flatMap((body) => paths.map((path) => attacked.post(path, body)));
  const statuses = await Promise.all(asked.map(async (response) => (await response).status));
  expect(new Set(statuses)).toEqual(new Set([400]));
  for (let n = 0; n < 700 && (await attacked.post(paths[0] ?? "", { model: "a/cheap", messages })).status === 200; n++);
  await attacked.stop();
  const ledger = (await attacked.ledger()).reduce((sum, { cost }) => sum + Number(cost), 0);
  expect(billed).toBeGreaterThan(0.9);
  expect(billed).toBeLessThanOrEqual(1.002);
  expect(ledger).toBe(Math.round(billed * 1e6));
  await provider.stop(true);
});
