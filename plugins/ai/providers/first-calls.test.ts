// Tests what the first calls after a start cost, and who serves them: prices come from a list, never from a low guess.
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { LanguageModelV4CallOptions } from "@ai-sdk/provider";
import { eventually } from "../../../tests/support/eventually.ts";
import { temporaryDir } from "../../../tests/support/process.ts";
import { startUpstream, type Upstream } from "../../../tests/support/upstream.ts";
import { avoidMidnight } from "../../../tests/support/utc-day.ts";
import { bodyOf, serveAi } from "../support.test.ts";

type Served = Awaited<ReturnType<typeof serveAi>>;

const messages = [{ role: "user", content: "Hello" }];
/** 100 USD a million tokens in, 200 out: 0.82 USD for 4,096 tokens. */
const DEAR = { id: "maker/dear", pricing: { prompt: "0.0001", completion: "0.0002" }, context_length: 64_000 };

let dir: ReturnType<typeof temporaryDir>;
let open: AsyncDisposableStack;
beforeEach(async () => {
  await avoidMidnight(15_000);
  dir = temporaryDir();
  open = new AsyncDisposableStack();
});
afterEach(async () => {
  await open.disposeAsync();
  dir.remove();
});

async function upstream(models: NonNullable<Parameters<typeof startUpstream>[0]>["models"]): Promise<Upstream> {
  return open.use(await startUpstream(models ? { models } : {}));
}
/** Providers 1 and 5 with these addresses, over the same data folder each time. */
async function start(urls: { one?: string; five?: string }, more: Record<string, string> = {}): Promise<Served> {
  const env = {
    ...(urls.one && { PROVIDER_1_API_KEY: "k", PROVIDER_1_BASE_URL: urls.one }),
    ...(urls.five && { PROVIDER_5_API_KEY: "k", PROVIDER_5_BASE_URL: urls.five }),
    ...more,
  };
  return open.use(await serveAi(env, dir.path));
}
const stored = async (berth: Served) =>
  Number((await berth.kernel.database.read("SELECT 1 FROM model_lists")).rows.length);
const chat = (berth: Served, model: string, more: object = {}, init?: RequestInit) =>
  berth.post("/v1/chat/completions", { model, messages, ...more }, init);

/** A server whose list of models is `list()`, and which answers every chat. */
function provider(list: (request: Request) => Response | Promise<Response>) {
  let chats = 0;
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch(request) {
      if (request.url.endsWith("/models")) return list(request);
      chats++;
      return Response.json({ choices: [], usage: { prompt_tokens: 10, completion_tokens: 10 } });
    },
  });
  open.defer(() => server.stop(true));
  return { url: `http://127.0.0.1:${server.port}/v1`, chats: () => chats };
}

describe("the price of a model that is not built in", () => {
  test("is waited for: the first calls can't spend more than the budget", async () => {
    const one = await upstream([DEAR]);
    one.script({ text: "x", usage: { prompt: 10, completion: 4_096 } });
    const berth = await start({ one: one.url }, { AI_PUBLIC_BUDGET_USD_PER_DAY: "2.5" });
    const statuses = await Promise.all(Array.from({ length: 8 }, async () => (await chat(berth, DEAR.id)).status));
    // Each reserves 0.82 USD and a little for its prompt.
    expect(statuses.filter((status) => status === 200)).toHaveLength(3);
    expect(statuses.filter((status) => status === 402)).toHaveLength(5);
    await berth.stop();
    expect(await berth.ledger()).toMatchObject(Array(3).fill({ cost: 820_200 }));
  });

  test("is known at once after a restart, even if the provider can't be asked", async () => {
    const one = await upstream([DEAR]);
    const first = await start({ one: one.url });
    expect((await chat(first, DEAR.id, { max_tokens: 10 })).status).toBe(200);
    await eventually(async () => (await stored(first)) === 1);
    await first[Symbol.asyncDispose]();

    // The same address; its list hangs now.
    const port = Number(new URL(one.url).port);
    await one.stop();
    const hanging = Bun.serve({
      port,
      hostname: "127.0.0.1",
      fetch: (request) =>
        request.url.endsWith("/models")
          ? new Promise<Response>(() => undefined)
          : Response.json({ choices: [], usage: { prompt_tokens: 10, completion_tokens: 10 } }),
    });
    open.defer(() => hanging.stop(true));
    const second = await start({ one: one.url });
    expect((await chat(second, DEAR.id, { max_tokens: 10 })).status).toBe(200);
    const wish = { choice: "custom" as const, configModel: `provider_1:${DEAR.id}`, keys: {} };
    expect(await second.service.resolveTurnModel(wish)).toMatchObject({
      pricing: { input: 100_000_000, output: 200_000_000 },
      contextWindow: 64_000,
    });
    await second.stop();
    expect((await second.ledger()).map(({ cost }) => cost)).toEqual([expect.any(Number), 3_000]);
  });

  test("is not taken from the list of another address", async () => {
    const cheap = await upstream([{ ...DEAR, pricing: { prompt: "0", completion: "0" } }]);
    const first = await start({ one: cheap.url });
    await (await chat(first, DEAR.id)).text();
    await eventually(async () => (await stored(first)) === 1);
    await first[Symbol.asyncDispose]();
    const dear = await upstream([DEAR]);
    const second = await start({ one: dear.url });
    expect((await chat(second, DEAR.id, { max_tokens: 100_000, n: 2 })).status).toBe(402);
    expect(dear.chats).toHaveLength(0);
  });

  test("if the list can't be had, the call is refused with 503 and Retry-After, and no provider is called", async () => {
    let isUp = false;
    const one = provider(() => (isUp ? Response.json({ data: [DEAR] }) : new Response("Bad gateway", { status: 502 })));
    const berth = await start({ one: one.url });
    const refused = await chat(berth, DEAR.id);
    expect(refused.status).toBe(503);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    const body = await bodyOf(refused);
    expect(body).toMatchObject({ code: "PRICE_UNAVAILABLE", error: expect.stringContaining("price") });
    expect(JSON.stringify(body)).not.toContain("provider_1");
    expect(one.chats()).toBe(0);
    // A model of the built-in table needs no list.
    expect((await chat(berth, "openai/gpt-4o-mini")).status).toBe(200);
    isUp = true;
  });

  test("a caller who leaves does not wait for the list", async () => {
    const asked = Promise.withResolvers<void>();
    const one = provider(() => {
      asked.resolve();
      return new Promise<Response>(() => undefined);
    });
    const berth = await start({ one: one.url });
    const abort = new AbortController();
    const call = chat(berth, DEAR.id, {}, { signal: abort.signal });
    await asked.promise;
    abort.abort();
    await expect(call).rejects.toThrow();
    expect(one.chats()).toBe(0);
    await berth.stop();
    expect(await berth.ledger()).toEqual([]);
  });

  test("is waited for by turns, too", async () => {
    const one = await upstream([DEAR]);
    const berth = await start({ one: one.url });
    const wish = { choice: "custom" as const, configModel: `provider_1:${DEAR.id}`, keys: {} };
    const model = await berth.service.resolveTurnModel(wish);
    const prompt: LanguageModelV4CallOptions["prompt"] = [{ role: "user", content: [{ type: "text", text: "Hi" }] }];
    const turn = { agent: { id: "a", userId: "u" }, model, prompt, maxTokens: 1_000 };
    // 1,000 tokens cost 0.20 USD.
    const reserve = async (usdPerDay: number) => berth.service.reserve({ ...turn, budget: { usdPerDay } });
    await expect(reserve(0.19)).rejects.toMatchObject({ status: 402, code: "BUDGET_EXCEEDED" });
    const reservation = await reserve(0.25);
    await reservation.record({ inputTokens: 0, outputTokens: 1_000, estimated: false }, 1);
    await berth.stop();
    expect(await berth.ledger()).toMatchObject([{ kind: "turn", cost: 200_000 }]);
  });

  test("is waited for by estimates and embeddings, too", async () => {
    const one = await upstream([DEAR, { id: "maker/embed-it", pricing: { prompt: "0.00002", completion: "0" } }]);
    const berth = await start({ one: one.url });
    const estimate = await berth.post("/api/ai/estimate-cost", { model: DEAR.id, inputTokens: 1, outputTokens: 1 });
    expect(await bodyOf(estimate)).toMatchObject({ estimatedCost: 0.0003 });
    await berth[Symbol.asyncDispose]();
    const again = await start({ one: one.url });
    const embedded = await again.post("/v1/embeddings", { model: "maker/embed-it", input: "Hello there, world" });
    expect(embedded.status).toBe(200);
    const { usage } = (await embedded.json()) as { usage: { prompt_tokens: number } };
    await again.stop();
    expect(await again.ledger()).toMatchObject([{ model: "maker/embed-it", cost: usage.prompt_tokens * 20 }]);
  });
});

describe("a price that nobody knows", () => {
  const unpriced = [DEAR, "maker/mystery"];

  test("is reserved as the dearest of the provider", async () => {
    const one = await upstream(unpriced);
    const berth = await start({ one: one.url }, { AI_PUBLIC_BUDGET_USD_PER_DAY: "0.8" });
    const refused = await chat(berth, "maker/mystery");
    expect(refused.status).toBe(402);
    expect(await bodyOf(refused)).toMatchObject({ code: "BUDGET_EXCEEDED" });
    expect((await chat(berth, "maker/mystery", { max_tokens: 3_000 })).status).toBe(200);
    expect((await chat(berth, "maker/not-listed")).status).toBe(402);
  });

  test("is refused with AI_UNKNOWN_PRICE=refuse, for API calls and turns; other models are served", async () => {
    const one = await upstream(unpriced);
    const berth = await start({ one: one.url }, { AI_UNKNOWN_PRICE: "refuse" });
    const refused = await chat(berth, "maker/mystery", { max_tokens: 1 });
    expect(refused.status).toBe(402);
    expect(await bodyOf(refused)).toMatchObject({ code: "PRICE_UNKNOWN", error: expect.stringContaining("price") });
    expect((await chat(berth, DEAR.id, { max_tokens: 10 })).status).toBe(200);
    const select = await bodyOf(await berth.post("/api/ai/models/select", {}));
    expect(select.model).toMatchObject({ id: DEAR.id });
    const model = await berth.service.resolveTurnModel({
      choice: "custom",
      configModel: "provider_1:maker/mystery",
      keys: {},
    });
    const turn = { agent: { id: "a", userId: "u" }, model, prompt: [], maxTokens: 1, budget: undefined };
    await expect((async () => berth.service.reserve(turn))()).rejects.toMatchObject({ code: "PRICE_UNKNOWN" });
    // The owner of an own key pays the provider, who knows the price.
    (await berth.service.reserve({ ...turn, model: { ...model, ownKey: true } })).release();
    expect(one.chats.map(({ body }) => body.model)).toEqual([DEAR.id]);
  });

  test("is not that of a namesake: dear versions and other makers' models are told apart", async () => {
    const names = [
      "gpt-4",
      "gpt-4o",
      "gpt-4o-2024-05-13",
      "gpt-4o-2024-11-20",
      "o1-2024-12-17",
      "gpt-4-32k-0613",
      "gpt-4-0314",
      "finetuner/gpt-4o-mini",
    ];
    const five = await upstream(names);
    const berth = await start({ five: five.url });
    const { models } = (await bodyOf(await berth.get("/api/ai/models/provider_5"))) as {
      models: { id: string; inputCost: number; outputCost: number }[];
    };
    expect(models.map(({ id, inputCost, outputCost }) => [id, inputCost, outputCost])).toEqual([
      ["gpt-4", 30, 60],
      ["gpt-4o", 2.5, 10],
      ["gpt-4o-2024-05-13", 5, 15],
      ["gpt-4o-2024-11-20", 2.5, 10],
      ["o1-2024-12-17", 15, 60],
      ["gpt-4-32k-0613", 60, 120],
      ["gpt-4-0314", 30, 60],
      ["finetuner/gpt-4o-mini", 150, 600],
    ]);
  });

  test("a provider without a list of models is called at its dearest built-in price", async () => {
    const one = provider(() => new Response("Not found", { status: 404 }));
    const berth = await start({ one: one.url });
    expect((await chat(berth, "own/model", { max_tokens: 10 })).status).toBe(200);
    await berth.stop();
    // 10 tokens in at 5 USD a million, 10 out at 30: the dearest of the table.
    expect(await berth.ledger()).toMatchObject([{ cost: 350 }]);
  });

  test("also counts at what is known of models that are not offered, such as o1-pro", async () => {
    const five = provider(() => new Response("Not found", { status: 404 }));
    const berth = await start({ five: five.url });
    expect((await chat(berth, "own-model", { max_tokens: 10 })).status).toBe(200);
    await berth.stop();
    // 10 tokens in at 150 USD a million, 10 out at 600.
    expect(await berth.ledger()).toMatchObject([{ cost: 7_500 }]);
  });

  test("includes the dearest fees per call and picture of the provider's list", async () => {
    const fees = { id: "maker/fees", pricing: { prompt: "0.000001", completion: "0.000001", request: "0.3" } };
    const one = await upstream([DEAR, fees, "maker/mystery"]);
    const berth = await start({ one: one.url }, { AI_PUBLIC_BUDGET_USD_PER_DAY: "0.3" });
    expect((await chat(berth, "maker/mystery", { max_tokens: 1 })).status).toBe(402);
    expect((await chat(berth, DEAR.id, { max_tokens: 1 })).status).toBe(200);
  });

  test("local servers and the demo model are free, and wait for no list of prices", async () => {
    const local = provider(() => new Response("Bad gateway", { status: 502 }));
    const berth = await start({}, { PROVIDER_3_BASE_URL: local.url, AI_UNKNOWN_PRICE: "refuse" });
    expect((await chat(berth, "anything")).status).toBe(200);
    await berth[Symbol.asyncDispose]();
    const demo = await start({}, { AI_UNKNOWN_PRICE: "refuse" });
    expect((await chat(demo, "anything")).status).toBe(200);
  });
});

test("the first call after a start falls back to the second provider of its model", async () => {
  const [one, five] = [await upstream(["shared"]), await upstream(["shared"])];
  // The call could cost 2.5 USD at the dearest price of OpenAI's.
  const berth = await start({ one: one.url, five: five.url }, { AI_PUBLIC_BUDGET_USD_PER_DAY: "3" });
  one.failNext(1, 503);
  const answer = await chat(berth, "shared");
  expect([answer.status, answer.headers.get("x-berth-model")]).toEqual([200, "provider_5:shared"]);
  expect([one.chats.length, five.chats.length]).toEqual([1, 1]);
});

test("a second provider whose list hangs holds up the first call for a moment only", async () => {
  const five = provider(() => new Promise<Response>(() => undefined));
  const one = await upstream(["openai/gpt-4o-mini"]);
  const berth = await start({ one: one.url, five: five.url });
  const begun = performance.now();
  expect((await chat(berth, "openai/gpt-4o-mini")).status).toBe(200);
  // The request for a list may take 5 s.
  expect(performance.now() - begun).toBeLessThan(4_000);
  expect(one.chats).toHaveLength(1);
});

test("the first turn after a start falls back to the second provider of its model", async () => {
  const [one, five] = [await upstream(["shared"]), await upstream(["shared"])];
  const berth = await start({ one: one.url, five: five.url });
  one.failNext(2, 503);
  const model = await berth.service.resolveTurnModel({ choice: "custom", configModel: "shared", keys: {} });
  const prompt: LanguageModelV4CallOptions["prompt"] = [{ role: "user", content: [{ type: "text", text: "Hi" }] }];
  const agent = { id: "a", userId: "u" };
  const reservation = await berth.service.reserve({ agent, model, prompt, maxTokens: 10, budget: undefined });
  const language = await berth.service.languageModel(model, "a");
  const { content } = await language.doGenerate({ prompt });
  reservation.release();
  expect(content).toMatchObject([{ type: "text", text: "echo: Hi" }]);
  expect(five.chats).toHaveLength(1);
});
