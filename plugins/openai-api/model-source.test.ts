// A model of another plugin's source, as all three protocols show it: texts, steps, functions, state, errors.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { AppError } from "../../src/kernel/errors.ts";
import { plugin } from "../../src/kernel/plugin.ts";
import { createClient } from "../../tests/support/client.ts";
import { eventually } from "../../tests/support/eventually.ts";
import { openServer, type TestServer } from "../../tests/support/server.ts";
import { type AnswerPart, type ModelSource, openaiApi, type SourceRequest } from "./index.ts";

const MODEL = "robot:seven";
const usage = { inputTokens: 12, outputTokens: 5, cachedInputTokens: 4 };

let asked: SourceRequest[] = [];
let answer: (request: SourceRequest) => AsyncIterable<AnswerPart> = () => says("Hello.");
async function* says(text: string): AsyncGenerator<AnswerPart> {
  yield { type: "text", text };
  yield { type: "finish", reason: "stop", usage };
}

const model = { id: MODEL, name: "Seven", createdAt: 1_700_000_000_000 };
const source: ModelSource = {
  prefix: "robot:",
  list: async ({ userId }) => (userId === owner ? [model] : []),
  find: async (name, { userId }) => (name === "seven" && userId === owner ? model : undefined),
  async open(request) {
    asked.push(request);
    if (request.caller.userId !== owner) throw new AppError(404, "NO_ROBOT", "There is no such robot.");
    return answer(request);
  },
};
const robots = plugin("robots", ({ use }) => {
  use(openaiApi).registerModelSource(source);
  return { service: {} };
});

let server: TestServer;
let owner: string;
let key: string;
let otherKey: string;
async function join() {
  const client = createClient(server.web);
  const id = await client.join();
  const { body } = await client.post<{ key: string }>("/api/keys", { name: "k", scopes: ["chat"] });
  return { id, key: body.key };
}
beforeAll(async () => {
  server = await openServer({ plugins: [robots] });
  ({ id: owner, key } = await join());
  ({ key: otherKey } = await join());
});
afterAll(() => server?.[Symbol.asyncDispose]());
beforeEach(() => {
  asked = [];
  answer = () => says("Hello.");
});

const openai = (apiKey = key) => new OpenAI({ apiKey, baseURL: `${server.web}/v1`, maxRetries: 0 });
const anthropic = () => new Anthropic({ apiKey: key, baseURL: server.web, maxRetries: 0 });
const messages = [{ role: "user" as const, content: "Hi" }];
const errorOf = (pending: Promise<unknown>) =>
  pending.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );

/** Thinks, runs a tool of its own, and answers. */
async function* works(): AsyncGenerator<AnswerPart> {
  yield { type: "reasoning", text: "Let me look." };
  yield { type: "step", id: "step_1", name: "clock", input: '{"zone":"UTC"}' };
  yield { type: "step-result", id: "step_1", name: "clock", output: "noon", isError: false };
  yield* says("It is noon.");
}

describe("the list of models", () => {
  test("has it for its owner alone", async () => {
    const idsFor = async (apiKey: string) => (await openai(apiKey).models.list()).data.map(({ id }) => id);
    expect(await idsFor(key)).toContain(MODEL);
    expect(await idsFor(otherKey)).not.toContain(MODEL);
    expect(await openai().models.retrieve(MODEL)).toEqual({
      id: MODEL,
      object: "model",
      created: 1_700_000_000,
      owned_by: "berth",
    });
    expect(await errorOf(openai(otherKey).models.retrieve(MODEL))).toMatchObject({
      status: 404,
      code: "UNKNOWN_MODEL",
    });
  });
});

describe("chat completions", () => {
  test("answer whole and streamed, with steps as reasoning", async () => {
    answer = works;
    const whole = await openai().chat.completions.create({ model: MODEL, messages, user: "u1" });
    const reasoning = 'Let me look.clock({"zone":"UTC"})\n→ noon\n';
    expect(whole).toMatchObject({
      model: MODEL,
      choices: [{ message: { content: "It is noon.", reasoning_content: reasoning }, finish_reason: "stop" }],
      usage: { prompt_tokens: 12, completion_tokens: 5, total_tokens: 17, prompt_tokens_details: { cached_tokens: 4 } },
    });
    const stream = openai().chat.completions.stream({
      model: MODEL,
      messages,
      stream_options: { include_usage: true },
    });
    expect(await stream.finalContent()).toBe("It is noon.");
    expect((await stream.totalUsage()).total_tokens).toBe(17);
    expect(asked[0]).toMatchObject({
      model: MODEL,
      name: "seven",
      api: "chat",
      user: "u1",
      caller: { userId: owner, isAdmin: false },
      messages: [{ role: "user", content: [{ type: "text", text: "Hi" }] }],
      previous: undefined,
    });
  });

  test("pass on the client's functions, files and metadata", async () => {
    const parameters = { type: "object", properties: {} };
    answer = async function* () {
      yield { type: "call", id: "call_1", name: "open" };
      yield { type: "call-arguments", id: "call_1", text: '{"door"' };
      yield { type: "call-arguments", id: "call_1", text: ":1}" };
      yield { type: "finish", reason: "calls", usage };
    };
    const content = [
      { type: "text" as const, text: "What?" },
      { type: "image_url" as const, image_url: { url: "data:image/png;base64,AAAA" } },
    ];
    const request = {
      model: MODEL,
      messages: [
        { role: "system" as const, content: "Be brief." },
        { role: "user" as const, content },
      ],
      tools: [{ type: "function" as const, function: { name: "open", parameters } }],
      metadata: { chat: "7" },
    };
    const toolCalls = [{ id: "call_1", type: "function", function: { name: "open", arguments: '{"door":1}' } }];
    const whole = await openai().chat.completions.create(request);
    expect(whole.choices[0]).toMatchObject({
      finish_reason: "tool_calls",
      message: { content: null, tool_calls: toolCalls },
    });
    const streamed = await openai().chat.completions.stream(request).finalMessage();
    expect(streamed.tool_calls).toMatchObject(toolCalls);
    expect(asked[0]?.messages[1]?.content).toEqual([
      { type: "text", text: "What?" },
      { type: "file", mediaType: "image/png", data: "AAAA" },
    ]);
    expect(asked[0]).toMatchObject({ tools: [{ name: "open", parameters }], metadata: { chat: "7" } });
  });

  test("refuse files at addresses, and callers without an account", async () => {
    const content = [{ type: "image_url" as const, image_url: { url: "https://example.com/a.png" } }];
    const pending = openai().chat.completions.create({ model: MODEL, messages: [{ role: "user", content }] });
    expect(await errorOf(pending)).toMatchObject({ status: 400, param: "messages[0].content[0]" });
    const foreign = new OpenAI({ apiKey: "sk-x", baseURL: `${server.backend}/v1`, maxRetries: 0 });
    expect(await errorOf(foreign.chat.completions.create({ model: MODEL, messages }))).toMatchObject({ status: 401 });
    expect(asked).toEqual([]);
  });

  test("are not asked for vectors, pictures or speech, and their names reach no provider", async () => {
    const client = openai();
    const refused = { status: 400, param: "model", message: expect.stringContaining("answers in text") };
    expect(await errorOf(client.embeddings.create({ model: MODEL, input: "Hi" }))).toMatchObject(refused);
    expect(await errorOf(client.images.generate({ model: MODEL, prompt: "A boat" }))).toMatchObject(refused);
    expect(await errorOf(client.audio.speech.create({ model: MODEL, input: "Hi", voice: "alloy" }))).toMatchObject(
      refused,
    );
    const file = new File(["RIFF"], "voice.wav", { type: "audio/wav" });
    expect(await errorOf(client.audio.transcriptions.create({ model: MODEL, file }))).toMatchObject(refused);
  });

  test("refuse what they can't do, instead of leaving it out", async () => {
    const ask = (more: object) => openai().chat.completions.create({ model: MODEL, messages, ...more });
    expect(await errorOf(ask({ n: 2 }))).toMatchObject({ status: 400, param: "n" });
    const format = { response_format: { type: "json_object" } };
    expect(await errorOf(ask(format))).toMatchObject({ status: 400, param: "response_format.type" });
    expect(await errorOf(ask({ n: 1, response_format: { type: "text" } }))).toBeUndefined();
  });

  test("tell errors by their status before the first part, and in the stream after it", async () => {
    const refused = openai(otherKey).chat.completions.create({ model: MODEL, messages, stream: true });
    expect(await errorOf(refused)).toMatchObject({ status: 404, code: "NO_ROBOT", type: "not_found_error" });
    answer = async function* () {
      yield { type: "text", text: "Half" };
      throw new AppError(402, "BUDGET_EXCEEDED", "The budget is spent.");
    };
    const stream = await openai().chat.completions.create({ model: MODEL, messages, stream: true });
    let text = "";
    const reading = (async () => {
      for await (const { choices } of stream) text += choices[0]?.delta.content ?? "";
    })();
    expect(await errorOf(reading)).toMatchObject({ message: "The budget is spent.", code: "BUDGET_EXCEEDED" });
    expect(text).toBe("Half");
    const whole = openai().chat.completions.create({ model: MODEL, messages });
    expect(await errorOf(whole)).toMatchObject({ status: 402, type: "insufficient_quota" });
  });

  test("end the source's work when the client goes", async () => {
    let hasEnded = false;
    answer = async function* ({ signal }) {
      try {
        yield { type: "text", text: "Half" };
        await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
        yield { type: "text", text: "too late" };
      } finally {
        hasEnded = true;
      }
    };
    const stream = await openai().chat.completions.create({ model: MODEL, messages, stream: true });
    for await (const { choices } of stream) if (choices[0]?.delta.content) break;
    await eventually(() => hasEnded);
  });
});

describe("responses", () => {
  test("show steps as calls of a server, and go on by the source's state", async () => {
    answer = async function* (request) {
      yield { type: "state", state: "session-1" };
      yield* request.previous ? says("Again.") : works();
    };
    const first = await openai().responses.create({ model: MODEL, input: "Time?", user: "u1", metadata: { a: "b" } });
    expect(first.output).toMatchObject([
      { type: "reasoning", summary: [{ type: "summary_text", text: "Let me look." }] },
      {
        type: "mcp_call",
        name: "clock",
        arguments: '{"zone":"UTC"}',
        output: "noon",
        server_label: "berth",
        error: null,
      },
      { type: "message", content: [{ type: "output_text", text: "It is noon." }] },
    ]);
    expect(first.metadata).toEqual({ a: "b" });
    const second = await openai().responses.create({ model: MODEL, input: "And now?", previous_response_id: first.id });
    expect(second.output_text).toBe("Again.");
    expect(asked).toMatchObject([
      { previous: undefined, user: "u1", metadata: { a: "b" }, api: "responses" },
      {
        previous: { responseId: first.id, state: "session-1" },
        messages: [{ role: "user", content: [{ type: "text", text: "And now?" }] }],
      },
    ]);
  });

  test("stream steps, and numbers them", async () => {
    answer = works;
    const stream = openai().responses.stream({ model: MODEL, input: "Time?" });
    const types = new Set<string>();
    stream.on("event", ({ type }) => void types.add(type));
    const final = await stream.finalResponse();
    expect(final.output_text).toBe("It is noon.");
    expect([...types]).toEqual(
      expect.arrayContaining([
        "response.reasoning_summary_text.delta",
        "response.mcp_call.in_progress",
        "response.mcp_call.completed",
        "response.completed",
      ]),
    );
  });

  test("of a source can be continued by a provider's model, with what was said", async () => {
    answer = works;
    const first = await openai().responses.create({ model: MODEL, input: "Time?" });
    const second = await openai().responses.create({ model: "demo", input: "Thanks.", previous_response_id: first.id });
    expect(second.status).toBe("completed");
  });

  test("tell an error after the first part as a failed response", async () => {
    answer = async function* () {
      yield { type: "text", text: "Half" };
      throw new Error("a secret cause");
    };
    const stream = await openai().responses.create({ model: MODEL, input: "Hi", stream: true });
    const reading = (async () => {
      for await (const event of stream) expect(JSON.stringify(event)).not.toContain("secret");
    })();
    expect(await errorOf(reading)).toBeInstanceOf(OpenAI.APIError);
    const whole = openai().responses.create({ model: MODEL, input: "Hi" });
    expect(await errorOf(whole)).toMatchObject({ status: 500, code: "INTERNAL", type: "server_error" });
  });
});

describe("messages", () => {
  test("show steps as tools of a server, whole and streamed", async () => {
    answer = works;
    const expected = [
      { type: "thinking", thinking: "Let me look." },
      { type: "mcp_tool_use", id: "step_1", name: "clock", server_name: "berth", input: { zone: "UTC" } },
      { type: "mcp_tool_result", tool_use_id: "step_1", is_error: false, content: [{ type: "text", text: "noon" }] },
      { type: "text", text: "It is noon." },
    ];
    const request = { model: MODEL, max_tokens: 100, messages, metadata: { user_id: "u2" } };
    const whole = await anthropic().messages.create(request);
    expect(whole.content as unknown[]).toMatchObject(expected);
    expect(whole).toMatchObject({
      stop_reason: "end_turn",
      usage: { input_tokens: 8, cache_read_input_tokens: 4, output_tokens: 5 },
    });
    const streamed = await anthropic().messages.stream(request).finalMessage();
    expect(streamed.content as unknown[]).toMatchObject(expected);
    expect(asked[0]).toMatchObject({ api: "messages", user: "u2" });
    // What it thought and did is not sent back to it.
    const next = { role: "user" as const, content: "Thanks." };
    await anthropic().messages.create({
      ...request,
      messages: [...messages, { role: "assistant", content: whole.content }, next],
    });
    expect(asked.at(-1)?.messages.map(({ content }) => content)).toEqual([
      [{ type: "text", text: "Hi" }],
      [{ type: "text", text: "It is noon." }],
      [{ type: "text", text: "Thanks." }],
    ]);
  });

  test("tell an error after the first part in the stream", async () => {
    answer = async function* () {
      yield { type: "text", text: "Half" };
      throw new AppError(402, "BUDGET_EXCEEDED", "The budget is spent.");
    };
    const reading = anthropic().messages.stream({ model: MODEL, max_tokens: 100, messages }).finalMessage();
    expect(String(await errorOf(reading))).toContain("The budget is spent.");
  });
});
