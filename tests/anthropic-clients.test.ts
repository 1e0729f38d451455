// Anthropic's own client and the AI SDK's provider for it use /v1/messages of the web port: texts, streams, tools, pictures, errors.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createAnthropic as createAnthropic3 } from "@ai-sdk/anthropic-3";
import Anthropic from "@anthropic-ai/sdk";
import { APICallError, generateText, jsonSchema, stepCountIs, streamText, tool } from "ai";
import { generateText as generateText6, streamText as streamText6 } from "ai-6";
import { startApiUser } from "./support/api-user.ts";
import { type Berth, startBerth } from "./support/berth.ts";
import { startUpstream, type Upstream } from "./support/upstream.ts";

const MODEL = "fake-small";
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII=";

let upstream: Upstream;
let berth: Berth;
let key: string;
beforeAll(async () => {
  upstream = await startUpstream({ key: "operator", models: [MODEL] });
  const env = { PROVIDER_3_BASE_URL: upstream.url, PROVIDER_3_API_KEY: "operator", RATE_LIMITS: "off" };
  berth = await startBerth({ env });
  key = await startApiUser(berth);
});
afterAll(async () => {
  await berth?.[Symbol.asyncDispose]();
  await upstream?.stop();
});
beforeEach(() => upstream.reset());

const messages = [{ role: "user" as const, content: "Hello there" }];
const weather = {
  name: "weather",
  description: "The weather in a city",
  input_schema: { type: "object" as const, properties: { city: { type: "string" as const } }, required: ["city"] },
};
/** Scripts a model that calls the tool once, then repeats its result. */
const asksForWeather = () =>
  upstream.script(({ toolResults }) =>
    toolResults[0]
      ? `It is ${toolResults[0].content}.`
      : { text: "Let me see.", toolCalls: [{ id: "call_1", name: "weather", arguments: { city: "Graz" } }] },
  );
const errorOf = (pending: Promise<unknown>) =>
  pending.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );

describe("the @anthropic-ai/sdk package", () => {
  const client = (more: { apiKey?: string | null; authToken?: string; baseURL?: string } = {}) =>
    new Anthropic({ apiKey: key, baseURL: berth.web, maxRetries: 0, ...more });
  const ask = (fields: object = {}) => client().messages.create({ model: MODEL, max_tokens: 64, messages, ...fields });

  test("gets a message with usage, by x-api-key and by bearer token", async () => {
    for (const auth of [{}, { apiKey: null, authToken: key }]) {
      const message = await client(auth).messages.create({
        model: MODEL,
        max_tokens: 64,
        messages,
        system: "Be brief.",
      });
      expect(message).toMatchObject({
        type: "message",
        role: "assistant",
        model: MODEL,
        content: [{ type: "text", text: "echo: Hello there" }],
        stop_reason: "end_turn",
        usage: { input_tokens: 5, output_tokens: 5 },
      });
      expect(message._request_id).toBeTruthy();
    }
    expect(upstream.chats[0]?.messages).toEqual([
      { role: "system", content: "Be brief." },
      { role: "user", content: "Hello there" },
    ]);
    expect(upstream.chats[0]?.body.max_completion_tokens).toBe(64);
  });

  test("streams", async () => {
    const stream = client().messages.stream({ model: MODEL, max_tokens: 64, messages });
    const types: string[] = [];
    stream.on("streamEvent", ({ type }) => void (types.at(-1) === type || types.push(type)));
    const final = await stream.finalMessage();
    expect(final.content).toMatchObject([{ type: "text", text: "echo: Hello there" }]);
    expect(final).toMatchObject({ stop_reason: "end_turn", usage: { input_tokens: 3, output_tokens: 5 } });
    expect(types).toEqual([
      "message_start",
      "content_block_start",
      "content_block_delta",
      "content_block_stop",
      "message_delta",
      "message_stop",
    ]);
  });

  test("uses tools, in one piece and streamed, and gives back their results", async () => {
    asksForWeather();
    const tools = [weather];
    const whole = await ask({ tools });
    const streamed = await client().messages.stream({ model: MODEL, max_tokens: 64, messages, tools }).finalMessage();
    for (const first of [whole, streamed]) {
      expect(first.stop_reason).toBe("tool_use");
      expect(first.content).toMatchObject([
        { type: "text", text: "Let me see." },
        { type: "tool_use", id: "call_1", name: "weather", input: { city: "Graz" } },
      ]);
      const result = { type: "tool_result" as const, tool_use_id: "call_1", content: "sunny" };
      const second = await ask({
        tools,
        messages: [...messages, { role: "assistant", content: first.content }, { role: "user", content: [result] }],
      });
      expect(second.content).toMatchObject([{ type: "text", text: "It is sunny." }]);
    }
    expect(upstream.chats.at(-1)?.messages.slice(1)).toEqual([
      {
        role: "assistant",
        content: "Let me see.",
        tool_calls: [{ id: "call_1", type: "function", function: { name: "weather", arguments: '{"city":"Graz"}' } }],
      },
      { role: "tool", tool_call_id: "call_1", content: "sunny" },
    ]);
  });

  test("chooses tools in OpenAI's words", async () => {
    const tools = [weather];
    for (const [choice, expected] of [
      [
        { type: "any", disable_parallel_tool_use: true },
        { tool_choice: "required", parallel_tool_calls: false },
      ],
      [{ type: "tool", name: "weather" }, { tool_choice: { type: "function", function: { name: "weather" } } }],
      [{ type: "none" }, { tool_choice: "none" }],
    ] as const) {
      await ask({ tools, tool_choice: choice });
      expect(upstream.chats.at(-1)?.body).toMatchObject(expected);
    }
  });

  test("sends pictures and stop sequences", async () => {
    const source = { type: "base64", media_type: "image/png", data: PNG };
    const content = [
      { type: "image", source },
      { type: "text", text: "What is it?", cache_control: { type: "ephemeral" } },
    ];
    await ask({ messages: [{ role: "user", content }], stop_sequences: ["END"], metadata: { user_id: "user-7" } });
    expect(upstream.chats[0]?.body).toMatchObject({
      messages: [
        {
          role: "user",
          content: [
            { type: "image_url", image_url: { url: `data:image/png;base64,${PNG}` } },
            { type: "text", text: "What is it?" },
          ],
        },
      ],
      stop: ["END"],
      user: "user-7",
    });
  });

  test("shows what a model thinks as thinking", async () => {
    upstream.script({ text: "Done.", finish: "length" });
    expect((await ask()).stop_reason).toBe("max_tokens");
  });

  test("lists models", async () => {
    const found: string[] = [];
    for await (const { id, type } of client().models.list()) found.push(`${type} ${id}`);
    expect(found).toContain(`model ${MODEL}`);
    expect(await client().models.retrieve(MODEL)).toMatchObject({ id: MODEL, type: "model", display_name: MODEL });
  });

  test.each<[string, object, RegExp]>([
    ["max_tokens is missing", { max_tokens: undefined }, /max_tokens/],
    [
      "a tool would run at Anthropic",
      { tools: [{ type: "web_search_20250305", name: "web_search" }] },
      /tools\.0\.type/,
    ],
    ["a field can't be kept", { top_k: 5 }, /top_k/],
    [
      "a block is of another kind",
      { messages: [{ role: "user", content: [{ type: "search_result" }] }] },
      /content\.0/,
    ],
  ])("is refused if %s", async (_, fields, message) => {
    const error = await errorOf(ask(fields));
    expect(error).toBeInstanceOf(Anthropic.BadRequestError);
    expect(error).toMatchObject({ status: 400, type: "invalid_request_error" });
    expect((error as Error).message).toMatch(message);
  });

  test.each([
    [404, Anthropic.NotFoundError, "not_found_error"],
    [429, Anthropic.RateLimitError, "rate_limit_error"],
    [500, Anthropic.InternalServerError, "api_error"],
  ])("a provider's %i becomes its own kind of error, streamed or not", async (status, kind, type) => {
    for (const stream of [false, true]) {
      upstream.failNext(1, { status, message: "Nothing doing." });
      const error = await errorOf(ask({ stream }));
      expect(error).toBeInstanceOf(kind);
      expect(error).toMatchObject({ error: { type: "error", error: { type, message: expect.any(String) } } });
    }
  });

  test("is told to send a key, and that a wrong one is refused", async () => {
    for (const apiKey of ["sk-ant-whatever", `bk_${"A".repeat(43)}`]) {
      const error = await errorOf(client({ apiKey }).messages.create({ model: MODEL, max_tokens: 8, messages }));
      expect(error).toBeInstanceOf(Anthropic.AuthenticationError);
      expect(error).toMatchObject({ error: { type: "error", error: { type: "authentication_error" } } });
    }
    const onBackend = client({ apiKey: "sk-ant-whatever", baseURL: berth.backend });
    expect(await onBackend.messages.create({ model: MODEL, max_tokens: 8, messages })).toMatchObject({
      type: "message",
    });
  });

  test("gets an error when the stream breaks off", async () => {
    upstream.script({ text: "a b c d", cutAfter: 3 });
    const reading = client().messages.stream({ model: MODEL, max_tokens: 64, messages }).finalMessage();
    expect(await errorOf(reading)).toBeInstanceOf(Anthropic.APIError);
  });

  test("cancels the provider's call when it stops reading", async () => {
    upstream.script({ text: "word ".repeat(200), paceMs: 20 });
    const stream = await client().messages.create({ model: MODEL, max_tokens: 64, messages, stream: true });
    for await (const event of stream) if (event.type === "content_block_delta") break;
    await upstream.waitFor(({ requests }) => requests.some(({ outcome }) => outcome === "aborted"));
  });
});

describe("the AI SDK's anthropic(…)", () => {
  const model = () => createAnthropic({ apiKey: key, baseURL: `${berth.web}/v1` })(MODEL);

  test("gets texts and streams", async () => {
    const { text, usage } = await generateText({ model: model(), prompt: "Hello" });
    expect([text, usage.outputTokens]).toEqual(["echo: Hello", 3]);
    expect(await streamText({ model: model(), prompt: "Hello" }).text).toBe("echo: Hello");
  });

  test("calls tools in several steps", async () => {
    asksForWeather();
    const tools = {
      weather: tool({
        description: "The weather in a city",
        inputSchema: jsonSchema<{ city: string }>(weather.input_schema),
        execute: async ({ city }) => `rainy in ${city}`,
      }),
    };
    const settings = { model: model(), prompt: "Weather?", tools, stopWhen: stepCountIs(3) };
    expect((await generateText(settings)).text).toBe("It is rainy in Graz.");
    expect(await streamText(settings).text).toBe("It is rainy in Graz.");
  });

  test("gets texts and streams with version 6 of the AI SDK, which reads answers more strictly", async () => {
    const older = createAnthropic3({ apiKey: key, baseURL: `${berth.web}/v1` })(MODEL);
    expect((await generateText6({ model: older, prompt: "Hello" })).text).toBe("echo: Hello");
    expect(await streamText6({ model: older, prompt: "Hello" }).text).toBe("echo: Hello");
  });

  test("reads errors", async () => {
    upstream.failNext(1, { status: 429, message: "Slow down." });
    const error = await errorOf(generateText({ model: model(), prompt: "Hello", maxRetries: 0 }));
    expect(APICallError.isInstance(error)).toBe(true);
    expect(error).toMatchObject({ statusCode: 429, isRetryable: true });
    expect((error as Error).message).toContain("Slow down.");
  });
});
