// /v1/responses on the web port with an API key, as OpenAI's own client and the AI SDK use it: streams, tools, stored state, errors.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { createOpenAI } from "@ai-sdk/openai";
import { APICallError, generateText, jsonSchema, stepCountIs, streamText, tool } from "ai";
import OpenAI from "openai";
import { startApiUser } from "./support/api-user.ts";
import { type Berth, startBerth } from "./support/berth.ts";
import { startUpstream, type Upstream } from "./support/upstream.ts";

const MODEL = "fake-small";

let upstream: Upstream;
let berth: Berth;
let key: string;
let otherKey: string;
beforeAll(async () => {
  upstream = await startUpstream({ key: "operator", models: [MODEL] });
  const env = { PROVIDER_3_BASE_URL: upstream.url, PROVIDER_3_API_KEY: "operator", RATE_LIMITS: "off" };
  berth = await startBerth({ env });
  [key, otherKey] = await Promise.all([startApiUser(berth), startApiUser(berth)]);
});
afterAll(async () => {
  await berth?.[Symbol.asyncDispose]();
  await upstream?.stop();
});
beforeEach(() => upstream.reset());

const weather = {
  type: "function" as const,
  name: "weather",
  description: "The weather in a city",
  parameters: { type: "object" as const, properties: { city: { type: "string" as const } }, required: ["city"] },
  strict: false,
};
/** Scripts a model that calls the tool once, then repeats its result. */
const asksForWeather = () =>
  upstream.script(({ toolResults }) =>
    toolResults[0]
      ? `It is ${toolResults[0].content}.`
      : { toolCalls: [{ id: "call_1", name: "weather", arguments: { city: "Graz" } }] },
  );
const errorOf = (pending: Promise<unknown>) =>
  pending.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );

describe("the openai package", () => {
  const client = (apiKey = key) => new OpenAI({ apiKey, baseURL: `${berth.web}/v1`, maxRetries: 0 });

  test("gets a response with usage", async () => {
    const response = await client().responses.create({ model: MODEL, input: "Hello there", instructions: "Be brief." });
    expect(response.output_text).toBe("echo: Hello there");
    expect(response).toMatchObject({
      object: "response",
      status: "completed",
      model: MODEL,
      instructions: "Be brief.",
    });
    expect(response.usage).toMatchObject({ input_tokens: 5, output_tokens: 5, total_tokens: 10 });
    expect(upstream.chats[0]?.messages).toEqual([
      { role: "system", content: "Be brief." },
      { role: "user", content: "Hello there" },
    ]);
    expect(upstream.chats[0]?.headers.authorization).toBe("Bearer operator");
  });

  test("streams events in order, with numbers without a gap", async () => {
    const stream = await client().responses.create({ model: MODEL, input: "Hello there", stream: true });
    const types: string[] = [];
    let text = "";
    let expected = 0;
    for await (const event of stream) {
      expect(event.sequence_number).toBe(expected++);
      if (types.at(-1) !== event.type) types.push(event.type);
      if (event.type === "response.output_text.delta") text += event.delta;
      if (event.type === "response.completed") expect(event.response.output_text ?? text).toBe("echo: Hello there");
    }
    expect(text).toBe("echo: Hello there");
    expect(types).toEqual([
      "response.created",
      "response.in_progress",
      "response.output_item.added",
      "response.content_part.added",
      "response.output_text.delta",
      "response.output_text.done",
      "response.content_part.done",
      "response.output_item.done",
      "response.completed",
    ]);
  });

  test("accumulates a stream into the final response", async () => {
    const final = await client().responses.stream({ model: MODEL, input: "Hello there" }).finalResponse();
    expect(final.output_text).toBe("echo: Hello there");
    expect(final.usage?.output_tokens).toBeGreaterThan(0);
  });

  test("calls functions, and goes on by previous_response_id with their results", async () => {
    asksForWeather();
    const first = await client().responses.create({ model: MODEL, input: "Weather?", tools: [weather] });
    const call = first.output.find(({ type }) => type === "function_call");
    expect(call).toMatchObject({ call_id: "call_1", name: "weather", arguments: '{"city":"Graz"}' });
    const result = { type: "function_call_output" as const, call_id: "call_1", output: "sunny" };
    const second = await client().responses.create({
      model: MODEL,
      previous_response_id: first.id,
      input: [result],
      tools: [weather],
    });
    expect(second.output_text).toBe("It is sunny.");
    expect(second.previous_response_id).toBe(first.id);
    const streamed = client().responses.stream({ model: MODEL, input: "Weather?", tools: [weather] });
    const done: string[] = [];
    streamed.on("response.function_call_arguments.delta", ({ delta }) => void done.push(delta));
    const final = await streamed.finalResponse();
    expect(done.join("")).toBe('{"city":"Graz"}');
    expect(final.output).toMatchObject([{ type: "function_call", arguments: '{"city":"Graz"}' }]);
  });

  test("continues a conversation, whose earlier instructions don't count", async () => {
    const first = await client().responses.create({ model: MODEL, input: "One", instructions: "First." });
    const second = await client().responses.create({ model: MODEL, input: "Two", previous_response_id: first.id });
    await client().responses.create({ model: MODEL, input: "Three", previous_response_id: second.id });
    expect(upstream.chats.at(-1)?.messages).toEqual([
      { role: "user", content: "One" },
      { role: "assistant", content: "echo: One" },
      { role: "user", content: "Two" },
      { role: "assistant", content: "echo: Two" },
      { role: "user", content: "Three" },
    ]);
  });

  test("reads and deletes a stored response; nobody else can", async () => {
    const { id } = await client().responses.create({ model: MODEL, input: "Keep this" });
    const read = await client().responses.retrieve(id);
    expect(read.output_text ?? JSON.stringify(read.output)).toContain("echo: Keep this");
    const items = await client().responses.inputItems.list(id);
    expect(items.data).toMatchObject([{ type: "message", role: "user", content: "Keep this" }]);
    const other = client(otherKey);
    expect(await errorOf(other.responses.retrieve(id))).toBeInstanceOf(OpenAI.NotFoundError);
    expect(await errorOf(other.responses.delete(id))).toBeInstanceOf(OpenAI.NotFoundError);
    const continuing = other.responses.create({ model: MODEL, input: "x", previous_response_id: id });
    expect(await errorOf(continuing)).toMatchObject({
      status: 400,
      code: "PREVIOUS_RESPONSE_NOT_FOUND",
      param: "previous_response_id",
      type: "invalid_request_error",
    });
    await client().responses.delete(id);
    expect(await errorOf(client().responses.retrieve(id))).toMatchObject({ status: 404, code: "RESPONSE_NOT_FOUND" });
  });

  test("stores nothing with store: false", async () => {
    const { id } = await client().responses.create({ model: MODEL, input: "Forget this", store: false });
    expect(await errorOf(client().responses.retrieve(id))).toBeInstanceOf(OpenAI.NotFoundError);
  });

  test("gets a JSON answer by a schema", async () => {
    upstream.script('{"city":"Graz"}');
    const schema = {
      type: "object",
      properties: { city: { type: "string" } },
      required: ["city"],
      additionalProperties: false,
    };
    const format = { type: "json_schema" as const, name: "place", schema, strict: true };
    await client().responses.create({ model: MODEL, input: "Where?", text: { format } });
    expect(upstream.chats[0]?.body.response_format).toEqual({
      type: "json_schema",
      json_schema: { name: "place", schema, strict: true },
    });
  });

  test("learns that an answer was cut at its limit", async () => {
    upstream.script({ text: "One two", finish: "length" });
    const response = await client().responses.create({ model: MODEL, input: "Count", max_output_tokens: 16 });
    expect(response).toMatchObject({ status: "incomplete", incomplete_details: { reason: "max_output_tokens" } });
    expect(upstream.chats[0]?.body.max_completion_tokens).toBe(16);
  });

  test.each<[string, object, string]>([
    ["a tool of OpenAI's", { tools: [{ type: "web_search" }] }, "tools[0].type"],
    ["an unknown field", { colour: "red" }, "colour"],
    ["a conversation", { conversation: "conv_1" }, "conversation"],
    ["work in the background", { background: true }, "background"],
    ["an item of another kind", { input: [{ type: "computer_call_output" }] }, "input[0].type"],
    ["no input", { input: null }, "input"],
  ])("is refused %s, with the name of the field", async (_, fields, param) => {
    const pending = client().responses.create({ model: MODEL, input: "Hi", ...fields });
    const error = await errorOf(pending);
    expect(error).toBeInstanceOf(OpenAI.BadRequestError);
    expect(error).toMatchObject({ param, code: "INVALID_INPUT", type: "invalid_request_error" });
    expect(upstream.requests.filter(({ method }) => method === "POST")).toEqual([]);
  });

  test.each([
    [404, OpenAI.NotFoundError],
    [429, OpenAI.RateLimitError],
    [500, OpenAI.InternalServerError],
  ])("a provider's %i becomes its own kind of error, streamed or not", async (status, kind) => {
    for (const stream of [false, true]) {
      upstream.failNext(1, { status, message: "Nothing doing." });
      const error = await errorOf(client().responses.create({ model: MODEL, input: "Hi", stream }));
      expect(error).toBeInstanceOf(kind);
    }
  });

  test("gets an error in the stream when the provider breaks off", async () => {
    upstream.script({ text: "a b c d", cutAfter: 3 });
    const stream = await client().responses.create({ model: MODEL, input: "Hi", stream: true });
    const reading = (async () => {
      for await (const event of stream) expect(event.type).not.toBe("response.completed");
    })();
    expect(await errorOf(reading)).toBeInstanceOf(OpenAI.APIError);
  });

  test("cancels the provider's call when it stops reading", async () => {
    upstream.script({ text: "word ".repeat(200), paceMs: 20 });
    const stream = await client().responses.create({ model: MODEL, input: "Hi", stream: true });
    for await (const event of stream) if (event.type === "response.output_text.delta") break;
    await upstream.waitFor(({ requests }) => requests.some(({ outcome }) => outcome === "aborted"));
  });
});

describe("the AI SDK's openai(…), which calls /responses", () => {
  const model = () => createOpenAI({ apiKey: key, baseURL: `${berth.web}/v1` })(MODEL);
  const tools = {
    weather: tool({
      description: "The weather in a city",
      inputSchema: jsonSchema<{ city: string }>(weather.parameters),
      execute: async ({ city }) => `rainy in ${city}`,
    }),
  };

  test("gets texts and streams", async () => {
    const { text, usage, response } = await generateText({ model: model(), prompt: "Hello" });
    expect(text).toBe("echo: Hello");
    expect(usage.outputTokens).toBeGreaterThan(0);
    expect(response.id).toStartWith("resp_");
    expect(await streamText({ model: model(), prompt: "Hello" }).text).toBe("echo: Hello");
  });

  test("calls tools in several steps, whose items it only refers to", async () => {
    asksForWeather();
    const settings = { model: model(), prompt: "Weather?", tools, stopWhen: stepCountIs(3) };
    expect((await generateText(settings)).text).toBe("It is rainy in Graz.");
    expect(await streamText(settings).text).toBe("It is rainy in Graz.");
  });

  test("also without storage", async () => {
    asksForWeather();
    const providerOptions = { openai: { store: false } };
    const settings = { model: model(), prompt: "Weather?", tools, stopWhen: stepCountIs(3), providerOptions };
    expect((await generateText(settings)).text).toBe("It is rainy in Graz.");
  });

  test("reads errors", async () => {
    upstream.failNext(1, { status: 429, message: "Slow down." });
    const error = await errorOf(generateText({ model: model(), prompt: "Hello", maxRetries: 0 }));
    if (!APICallError.isInstance(error)) throw new Error("This is no error of a call.");
    expect(error).toMatchObject({
      statusCode: 429,
      isRetryable: true,
      data: { error: { code: "PROVIDER_RATE_LIMITED" } },
    });
    expect(error.message).toContain("Slow down.");
  });

  test("works without an account on the backend, where state is kept for a while", async () => {
    asksForWeather();
    const open = createOpenAI({ apiKey: "sk-whatever", baseURL: `${berth.backend}/v1` })(MODEL);
    const { text } = await generateText({ model: open, prompt: "Weather?", tools, stopWhen: stepCountIs(3) });
    expect(text).toBe("It is rainy in Graz.");
  });
});
