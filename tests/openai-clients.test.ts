// OpenAI's own client, the AI SDK and curl use /v1 as they would use OpenAI: completions, streams, tools, embeddings, errors.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { createOpenAI } from "@ai-sdk/openai";
import { APICallError, embedMany, generateText, jsonSchema, stepCountIs, streamText, tool } from "ai";
import OpenAI from "openai";
import { testedBlocks } from "../site/tested-blocks.ts";
import { type Berth, startBerth } from "./support/berth.ts";
import { member } from "./support/members.ts";
import { changed, withProgram } from "./support/program.ts";
import { startUpstream, type Upstream } from "./support/upstream.ts";

const MODEL = "fake-small";
/** Clients require a key; Berth ignores this one. */
const KEY = "sk-whatever";

let upstream: Upstream;
let berth: Berth;
beforeAll(async () => {
  upstream = await startUpstream({ key: "operator", models: [MODEL, "fake-embed"] });
  const env = { PROVIDER_3_BASE_URL: upstream.url, PROVIDER_3_API_KEY: "operator", RATE_LIMITS: "off" };
  berth = await startBerth({ env });
});
afterAll(async () => {
  await berth?.[Symbol.asyncDispose]();
  await upstream?.stop();
});
beforeEach(() => upstream.reset());

const address = () => `${berth.backend}/v1`;
const messages = [{ role: "user" as const, content: "Hello there" }];
const weather = {
  type: "function" as const,
  function: {
    name: "weather",
    description: "The weather in a city",
    parameters: {
      type: "object" as const,
      properties: { city: { type: "string" as const } },
      required: ["city"],
    },
  },
};
/** Scripts a model that calls the tool once, then repeats its result. */
const asksForWeather = () =>
  upstream.script(({ toolResults }) =>
    toolResults[0]
      ? `It is ${toolResults[0].content}.`
      : { toolCalls: [{ id: "call_1", name: "weather", arguments: { city: "Graz" } }] },
  );

describe("docs/openai-api.md", () => {
  const [program, error] = testedBlocks(import.meta.path, "docs/openai-api.md", 2);

  test("shows a program that gets an answer, with a key of an account at the web", async () => {
    const { body } = await (await member(berth)).post<{ key: string }>("/api/keys", { name: "sdk", scopes: ["chat"] });
    const own = changed(program.code, {
      "http://localhost:3000": berth.web,
      "process.env.BERTH_KEY": JSON.stringify(body.key),
      "gpt-5-mini": MODEL,
      "const response": "export const response",
    });
    await withProgram<{ response: OpenAI.Responses.Response }>(own, ({ response }) => {
      expect(response.output_text).toBe("echo: Hello");
    });
  });

  test("shows an error as it is", async () => {
    const headers = { "content-type": "application/json" };
    const response = await fetch(`${address()}/responses`, { method: "POST", headers, body: `{"model":"${MODEL}"}` });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject(JSON.parse(error.code));
  });
});

describe("the openai package", () => {
  const client = () => new OpenAI({ apiKey: KEY, baseURL: address(), maxRetries: 0 });

  test("gets a completion with usage", async () => {
    const answer = await client().chat.completions.create({ model: MODEL, messages });
    expect(answer.choices[0]?.message.content).toBe("echo: Hello there");
    expect(answer.usage).toEqual({ prompt_tokens: 3, completion_tokens: 5, total_tokens: 8 });
    expect(upstream.chats[0]?.headers.authorization).toBe("Bearer operator");
  });

  test("streams, with and without usage", async () => {
    for (const pending of [true, false]) {
      const stream = await client().chat.completions.create({
        model: MODEL,
        messages,
        stream: true,
        ...(pending && { stream_options: { include_usage: true } }),
      });
      let text = "";
      let usages = 0;
      for await (const { choices, usage } of stream) {
        text += choices[0]?.delta.content ?? "";
        if (usage) usages++;
      }
      expect([text, usages]).toEqual(["echo: Hello there", pending ? 1 : 0]);
    }
  });

  test("calls tools, in one piece and streamed", async () => {
    asksForWeather();
    const first = await client().chat.completions.create({ model: MODEL, messages, tools: [weather] });
    const toolMessage = first.choices[0]?.message;
    expect(first.choices[0]?.finish_reason).toBe("tool_calls");
    expect(toolMessage?.tool_calls).toMatchObject([
      { id: "call_1", function: { name: "weather", arguments: '{"city":"Graz"}' } },
    ]);
    if (!toolMessage) throw new Error("There is no message.");
    const result = { role: "tool" as const, tool_call_id: "call_1", content: "sunny" };
    const second = client().chat.completions.stream({
      model: MODEL,
      messages: [...messages, toolMessage, result],
      tools: [weather],
    });
    expect(await second.finalContent()).toBe("It is sunny.");
    upstream.script({ toolCalls: [{ name: "weather", arguments: { city: "Linz" } }] });
    const streamed = await client()
      .chat.completions.stream({ model: MODEL, messages, tools: [weather] })
      .finalMessage();
    expect(streamed.tool_calls).toMatchObject([{ function: { name: "weather", arguments: '{"city":"Linz"}' } }]);
  });

  test("lists models", async () => {
    const found: string[] = [];
    for await (const { id, object } of client().models.list()) found.push(`${object} ${id}`);
    expect(found).toContain(`model ${MODEL}`);
  });

  test("embeds", async () => {
    const { data, usage } = await client().embeddings.create({ model: "fake-embed", input: ["one", "two"] });
    expect(data.map(({ index, embedding }) => [index, embedding.length])).toEqual([
      [0, 8],
      [1, 8],
    ]);
    expect(usage.prompt_tokens).toBeGreaterThan(0);
    const [sent] = upstream.requests.filter(({ path }) => path === "/v1/embeddings");
    expect(sent?.headers.authorization).toBe("Bearer operator");
  });

  test.each([
    [400, OpenAI.BadRequestError],
    [404, OpenAI.NotFoundError],
    [422, OpenAI.UnprocessableEntityError],
    [429, OpenAI.RateLimitError],
    [500, OpenAI.InternalServerError],
  ])("%i becomes its own kind of error, streamed or not", async (status, kind) => {
    for (const stream of [false, true]) {
      upstream.failNext(1, { status, message: "Nothing doing.", ...(status === 429 && { retryAfter: 3 }) });
      const pending = client().chat.completions.create({ model: MODEL, messages, stream });
      const error = await pending.then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      expect(error).toBeInstanceOf(kind);
      if (!(error instanceof OpenAI.APIError)) return;
      expect(error.status).toBe(status === 500 ? 502 : status);
      expect(error.message).toContain(status === 500 ? "failed to answer" : "Nothing doing.");
      if (status === 429) expect(error.headers.get("retry-after")).toBe("3");
    }
  });

  test("retries after a 429 if configured", async () => {
    upstream.failNext(1, { status: 429, retryAfter: 1 });
    const patient = new OpenAI({ apiKey: KEY, baseURL: address(), maxRetries: 1 });
    const answer = await patient.chat.completions.create({ model: MODEL, messages });
    expect(answer.choices[0]?.message.content).toBe("echo: Hello there");
    expect(upstream.chats).toHaveLength(2);
  });

  test("gets an error when the stream breaks off", async () => {
    upstream.script({ text: "a b c d", cutAfter: 3 });
    const stream = await client().chat.completions.create({ model: MODEL, messages, stream: true });
    const reading = (async () => {
      for await (const part of stream) expect(part.object).toBe("chat.completion.chunk");
    })();
    await expect(reading).rejects.toThrow();
  });
});

describe("the AI SDK", () => {
  const model = () => createOpenAI({ apiKey: KEY, baseURL: address() }).chat(MODEL);
  const embedder = () => createOpenAI({ apiKey: KEY, baseURL: address() }).textEmbeddingModel("fake-embed");
  const tools = {
    weather: tool({
      description: "The weather in a city",
      inputSchema: jsonSchema<{ city: string }>(weather.function.parameters),
      execute: async ({ city }) => `rainy in ${city}`,
    }),
  };

  test("gets completions and streams", async () => {
    expect((await generateText({ model: model(), prompt: "Hello" })).text).toBe("echo: Hello");
    const { textStream, usage } = streamText({ model: model(), prompt: "Hello" });
    let text = "";
    for await (const part of textStream) text += part;
    expect(text).toBe("echo: Hello");
    expect((await usage).outputTokens).toBeGreaterThan(0);
  });

  test("calls tools, in one piece and streamed", async () => {
    asksForWeather();
    const settings = { model: model(), prompt: "Weather?", tools, stopWhen: stepCountIs(3) };
    expect((await generateText(settings)).text).toBe("It is rainy in Graz.");
    expect(await streamText(settings).text).toBe("It is rainy in Graz.");
  });

  test("embeds", async () => {
    const { embeddings } = await embedMany({ model: embedder(), values: ["one", "two"] });
    expect(embeddings.map(({ length }) => length)).toEqual([8, 8]);
  });

  test("recognises which errors can be retried", async () => {
    for (const [status, retryable] of [
      [400, false],
      [429, true],
      [503, true],
    ] as const) {
      upstream.failNext(1, status);
      const pending = generateText({ model: model(), prompt: "Hello", maxRetries: 0 });
      const error = await pending.then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      expect(APICallError.isInstance(error)).toBe(true);
      expect(error).toMatchObject({ statusCode: status === 503 ? 502 : status, isRetryable: retryable });
    }
  });
});

describe.skipIf(Bun.which("curl") === null)("curl", () => {
  async function curl(...args: string[]) {
    const child = Bun.spawn(["curl", "-sS", "--max-time", "10", ...args], { stdout: "pipe", stderr: "pipe" });
    const text = await child.stdout.text();
    return { text, code: await child.exited };
  }
  const post = (path: string, body: unknown, ...args: string[]) =>
    curl(...args, "-H", "Content-Type: application/json", "-d", JSON.stringify(body), address() + path);

  test("gets a completion", async () => {
    const { text } = await post("/chat/completions", { model: MODEL, messages });
    expect(JSON.parse(text)).toMatchObject({ choices: [{ message: { content: "echo: Hello there" } }] });
  });

  test("streams", async () => {
    const { text } = await post("/chat/completions", { model: MODEL, messages, stream: true }, "-N", "-i");
    expect(text).toMatch(/^HTTP\/1.1 200/);
    expect(text).toMatch(/content-type: text\/event-stream/i);
    expect(text).toContain('"content":"echo:"');
    expect(text.trimEnd()).toEndWith("data: [DONE]");
  });

  test("gets errors with status and headers", async () => {
    upstream.failNext(1, { status: 429, message: "Slow down.", retryAfter: 9 });
    const { text, code } = await post("/chat/completions", { model: MODEL, messages }, "-i");
    expect([code, text]).toEqual([0, expect.stringMatching(/^HTTP\/1.1 429/)]);
    expect(text).toMatch(/retry-after: 9/i);
    expect(text).toContain('"code":"PROVIDER_RATE_LIMITED"');
    const bad = await post("/embeddings", { model: MODEL });
    expect(JSON.parse(bad.text)).toEqual({
      error: {
        message: "input: Give the input: text, a list of texts, or tokens.",
        type: "invalid_request_error",
        code: "INVALID_INPUT",
        param: "input",
        issues: [{ path: "input", message: "Give the input: text, a list of texts, or tokens." }],
      },
    });
  });

  test("notices a stream that breaks off", async () => {
    upstream.script({ text: "a b c d", cutAfter: 3 });
    const { text, code } = await post("/chat/completions", { model: MODEL, messages, stream: true }, "-N");
    expect(text).toContain('"content"');
    expect(code).not.toBe(0);
  });

  test("lists models", async () => {
    const { text } = await curl(`${address()}/models`);
    expect(JSON.parse(text).data).toContainEqual({
      id: MODEL,
      object: "model",
      created: 1_700_000_000,
      owned_by: "provider_3",
    });
  });
});
