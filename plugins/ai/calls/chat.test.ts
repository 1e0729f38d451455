// Tests chat through the backend: responses are the provider's bytes, failures are Berth's errors.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { eventually } from "../../../tests/support/eventually.ts";
import { parseEvents } from "../../../tests/support/sse.ts";
import { startUpstream, type Upstream } from "../../../tests/support/upstream.ts";
import { avoidMidnight } from "../../../tests/support/utc-day.ts";
import { bodyOf, serveAi } from "../support.test.ts";

const KEY = "sk-canary-operator-key-1234567890";
const messages = [{ role: "user", content: "Hello" }];

let first: Upstream;
let second: Upstream;
let berth: Awaited<ReturnType<typeof serveAi>>;

beforeAll(async () => {
  first = await startUpstream({ key: KEY });
  second = await startUpstream();
  berth = await serveAi({
    PROVIDER_1_API_KEY: KEY,
    PROVIDER_1_BASE_URL: `${first.url}/`,
    PROVIDER_3_BASE_URL: second.url,
    AI_PUBLIC_BUDGET_USD_PER_DAY: "1000",
  });
  await (await berth.get("/api/ai/models")).text();
});
afterAll(async () => {
  await berth[Symbol.asyncDispose]();
  await first.stop();
  await second.stop();
});
beforeEach(() => {
  first.reset();
  second.reset();
});

const ask = (body: object, path = "/api/ai/chat", init?: RequestInit) =>
  berth.post(path, { model: "provider_1:fake-small", messages, ...body }, init);

/** The bytes of a server that answers every chat with this. */
async function answeredBy(answer: () => Response, body: object = {}, env: Record<string, string> = {}) {
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: answer });
  await using berth = await serveAi({ PROVIDER_3_BASE_URL: `http://127.0.0.1:${server.port}/v1`, ...env });
  const response = await berth.post("/v1/chat/completions", { model: "m", messages, ...body });
  const bytes = Buffer.from(await response.arrayBuffer());
  await server.stop(true);
  return { response, bytes };
}

describe("a response", () => {
  test("is passed on byte for byte, with unknown fields", async () => {
    const odd =
      '{ "usage" : null,"x":1e400, "n":12345678901234567890.10,\n\t"choices":[],"u":"\\ud83d\\ude00 \u2028 é"  }';
    const { response, bytes } = await answeredBy(
      () => new Response(odd, { headers: { "content-type": "application/json" } }),
    );
    expect(bytes.toString()).toBe(odd);
    expect(response.headers.get("content-type")).toBe("application/json");
    expect(response.headers.get("x-berth-model")).toBe("provider_3:m");
  });

  test("of unknown length is complete", async () => {
    const part = Buffer.alloc(300_000, "abc\u00e9");
    const { bytes } = await answeredBy(
      () =>
        new Response(
          (async function* () {
            for (let n = 0; n < 20; n++) yield part;
          })(),
        ),
    );
    expect(Bun.hash(bytes)).toBe(Bun.hash(Buffer.concat(Array(20).fill(part))));
  });

  test("names the model; Berth's own fields are not sent to the provider", async () => {
    const response = await ask({ taskType: "coding", temperature: 0.5 });
    expect(response.status).toBe(200);
    expect<unknown>(first.chats[0]?.body).toEqual({
      model: "fake-small",
      messages,
      temperature: 0.5,
      max_tokens: 4096,
    });
    expect(first.chats[0]?.headers.authorization).toBe(`Bearer ${KEY}`);
  });

  test("is limited to 4096 tokens", async () => {
    await ask({ max_tokens: 100_000 });
    await ask({ max_tokens: 12 });
    await ask({ max_completion_tokens: 5000 });
    expect(first.chats.map(({ body }) => [body.max_tokens, body.max_completion_tokens])).toEqual([
      [4096, undefined],
      [12, undefined],
      [undefined, 4096],
    ]);
  });

  test("without a named model comes from a selected one", async () => {
    const response = await berth.post("/api/ai/chat", { messages });
    expect(response.status).toBe(200);
    expect(response.headers.get("x-berth-model")).toMatch(/^provider_[13]:fake-/);
  });
});

describe("a stream", () => {
  const dataOf = (text: string) => parseEvents(text).map(({ data }) => data);

  test("passes every frame except the usage that only Berth requested", async () => {
    const response = await ask({ stream: true });
    expect(response.headers.get("content-type")).toContain("text/event-stream");
    const text = await response.text();
    expect(first.chats[0]?.body.stream_options).toEqual({ include_usage: true });
    expect(dataOf(text).at(-1)).toBe("[DONE]");
    expect(text).not.toContain("prompt_tokens");
    const chunks = dataOf(text).flatMap((data) => (data === "[DONE]" ? [] : [JSON.parse(data)]));
    expect(chunks.map(({ choices }) => choices[0].delta.content ?? "").join("")).toBe("echo: Hello");
  });

  test("keeps the usage that the client requested", async () => {
    const text = await (await ask({ stream: true, stream_options: { include_usage: true } })).text();
    expect(text).toContain('"prompt_tokens"');
  });

  test("reaches the client frame by frame", async () => {
    first.script({ pieces: ["one", "two"], hangAfter: 2 });
    const abort = new AbortController();
    const response = await ask({ stream: true }, "/api/ai/chat", { signal: abort.signal });
    const reader = response.body?.getReader();
    let seen = "";
    while (!seen.includes("one")) seen += Buffer.from((await reader?.read())?.value ?? []).toString();
    expect(first.open).toBe(1);
    abort.abort();
    await eventually(() => first.open === 0);
  });

  test("that the provider breaks off does not look complete", async () => {
    first.script({ text: "a b c d e f", cutAfter: 3 });
    const response = await ask({ stream: true });
    expect(response.status).toBe(200);
    let text = "";
    const reading = (async () => {
      for await (const part of response.body ?? []) text += Buffer.from(part).toString();
    })();
    expect(await reading.catch(() => "broken off")).toBe("broken off");
    expect(text).not.toContain("[DONE]");
  });

  test("fifty clients that disconnect leave no calls running", async () => {
    first.script({ text: "x ".repeat(1000), paceMs: 5 });
    const before = first.aborted;
    const clients = Array.from({ length: 50 }, async () => {
      const abort = new AbortController();
      const response = await ask({ stream: true }, "/v1/chat/completions", { signal: abort.signal });
      await response.body?.getReader().read();
      abort.abort();
    });
    await Promise.all(clients);
    await eventually(() => first.open === 0);
    expect(first.aborted - before).toBe(50);
  });
});

describe("a failure", () => {
  // Answers in between: a provider that does nothing but fail would be left alone.
  beforeEach(async () => {
    await (await ask({})).text();
    first.reset();
  });

  const failed = async (status: number, more: object = {}) => {
    first.failNext(1, { status, message: `No: ${KEY} sk-proj-abcdefgh123`, ...more });
    const response = await ask({});
    return { status: response.status, headers: response.headers, body: await bodyOf(response) };
  };

  test.each([400, 404, 413, 422, 429])("%i is passed to the caller in Berth's error body", async (status) => {
    const { status: seen, body } = await failed(status);
    expect(seen).toBe(status);
    expect(body).toEqual({ error: expect.any(String), message: body.error, code: expect.stringMatching(/^PROVIDER_/) });
    expect(body.error).toStartWith("OpenRouter refused the request: No: ***");
    expect(JSON.stringify(body)).not.toContain(KEY);
    expect(JSON.stringify(body)).not.toContain("sk-proj");
  });

  test("429 keeps Retry-After", async () => {
    expect((await failed(429, { retryAfter: 7 })).headers.get("retry-after")).toBe("7");
  });

  test.each([401, 402, 403])("%i is a 502 without details", async (status) => {
    const { status: seen, body } = await failed(status);
    expect([seen, body.code]).toEqual([502, "PROVIDER_MISCONFIGURED"]);
    expect(body.error).toStartWith("The model can't be used right now. The operator has been told;");
    expect(JSON.stringify(body)).not.toMatch(/No:|OpenRouter|provider_/);
  });

  test("500 is a 502 if no other provider serves the model", async () => {
    const { status, body } = await failed(500);
    expect([status, body.code]).toEqual([502, "PROVIDER_FAILED"]);
    expect(second.chats).toHaveLength(0);
  });

  test.each([{ status: 503 }, { cutAfter: 0 }])("%o: the next provider of the same model answers", async (failure) => {
    for (const stream of [false, true]) {
      first.failNext(1, failure);
      const response = await ask({ model: "fake-large", stream });
      expect([response.status, response.headers.get("x-berth-model")]).toEqual([200, "provider_3:fake-large"]);
      expect(await response.text()).toContain("echo");
    }
    expect(second.chats).toHaveLength(2);
  });

  test("of the request itself is not retried at another provider", async () => {
    first.failNext(1, { status: 400 });
    expect((await ask({ model: "fake-large" })).status).toBe(400);
    expect(second.chats).toHaveLength(0);
  });

  test("after the first byte is final", async () => {
    first.failNext(1, { text: "a b c", cutAfter: 2 });
    const response = await ask({ model: "fake-large", stream: true });
    expect(await response.text().catch(() => "broken off")).toBe("broken off");
    expect(second.chats).toHaveLength(0);
  });

  test("of the client while it waits aborts the call", async () => {
    first.script({ hang: true });
    const abort = new AbortController();
    const waiting = ask({}, "/api/ai/chat", { signal: abort.signal }).catch(() => "gone");
    await first.waitFor(({ open }) => open === 1);
    abort.abort();
    expect(await waiting).toBe("gone");
    await eventually(() => first.open === 0);
  });
});

describe("input", () => {
  test.each([
    [{}, "messages"],
    [{ messages: [] }, "messages"],
    [{ messages: 7 }, "messages"],
    [{ messages: { role: "user", content: "x" } }, "messages"],
    [{ messages: [{ role: "user" }] }, "messages.0.content"],
    [{ messages: [{ role: "wizard", content: "x" }] }, "messages.0.role"],
    [{ messages: [{ role: "user", content: 7 }] }, "messages.0.content"],
    [{ messages, model: "" }, "model"],
    [{ messages, max_tokens: -1 }, "max_tokens"],
    [{ messages, temperature: "hot" }, "temperature"],
  ])("%o is 400 and names %s", async (body, path) => {
    const response = await berth.post("/api/ai/chat", body);
    const { code, issues } = await bodyOf(response);
    expect([response.status, code]).toEqual([400, "INVALID_INPUT"]);
    expect(issues).toContainEqual({ path, message: expect.any(String) });
    expect(first.requests).toHaveLength(0);
  });

  test("a conversation with tools and parts passes", async () => {
    const call = { id: "c", type: "function", function: { name: "f", arguments: "{}" } };
    const conversation = [
      { role: "system", content: "s" },
      { role: "user", content: [{ type: "text", text: "u" }] },
      { role: "assistant", content: null, tool_calls: [call] },
      { role: "tool", tool_call_id: "c", content: "r" },
    ];
    const tools = [{ type: "function", function: { name: "f", parameters: { type: "object", properties: {} } } }];
    expect((await ask({ messages: conversation, tools })).status).toBe(200);
    expect<unknown>(first.chats[0]?.body.messages).toEqual(conversation);
  });
});

describe("the ledger", () => {
  test("has every call with its cost, also streamed and aborted ones", async () => {
    await using one = await serveAi({
      PROVIDER_1_API_KEY: KEY,
      PROVIDER_1_BASE_URL: first.url,
      MODEL_A: "provider_1:x",
    });
    first.script({ text: "fine", usage: { prompt: 1000, completion: 100 } });
    const model = "openai/gpt-4o-mini";
    await (await one.post("/v1/chat/completions", { model, messages })).text();
    await (await one.post("/v1/chat/completions", { model, messages, stream: true })).text();
    first.script({ text: "fine", usage: "none" });
    await (await one.post("/v1/chat/completions", { model, messages, stream: true })).text();
    first.failNext(1, { status: 500 });
    await (await one.post("/v1/chat/completions", { model, messages })).text();
    await one.stop();
    const call = { kind: "public", provider: "provider_1", model };
    expect(await one.ledger()).toEqual([
      { ...call, input: 1000, output: 100, cost: 210, estimated: 0 },
      { ...call, input: 1000, output: 100, cost: 210, estimated: 0 },
      { ...call, input: expect.any(Number), output: 1, cost: expect.any(Number), estimated: 1 },
    ]);
  });

  test("stops public use when the budget of the day is spent, also under concurrent calls", async () => {
    // 4,096 tokens of output at 0.60 USD a million, and some input: about 2,460 micro-USD set aside for each call.
    await avoidMidnight(5_000);
    const env = { PROVIDER_1_API_KEY: KEY, PROVIDER_1_BASE_URL: first.url, AI_PUBLIC_BUDGET_USD_PER_DAY: "0.025" };
    await using one = await serveAi(env);
    first.script({ text: "fine", usage: { prompt: 0, completion: 4096 } });
    const body = { model: "openai/gpt-4o-mini", messages };
    const answers = await Promise.all(Array.from({ length: 40 }, () => one.post("/api/ai/chat", body)));
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(10);
    expect(statuses.filter((status) => status === 402)).toHaveLength(30);
    const refused = await one.post("/api/ai/chat", body);
    expect(await refused.json()).toMatchObject({ code: "BUDGET_EXCEEDED", period: "day" });
    await one.stop();
    expect((await one.ledger()).reduce((sum, { cost }) => sum + Number(cost), 0)).toBeLessThanOrEqual(25_000);
  });

  test("a budget of 0 means an account is needed", async () => {
    await using one = await serveAi({ PROVIDER_3_BASE_URL: second.url, AI_PUBLIC_BUDGET_USD_PER_DAY: "0" });
    const response = await one.post("/api/ai/chat", { messages });
    expect([response.status, (await bodyOf(response)).code]).toEqual([401, "UNAUTHORIZED"]);
    expect(second.chats).toHaveLength(0);
  });
});
