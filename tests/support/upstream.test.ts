import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { createOpenAI } from "@ai-sdk/openai";
import { APICallError, generateText, isStepCount, jsonSchema, streamText, tool } from "ai";
import { bun, launch } from "./process.ts";
import { readEvents } from "./sse.ts";
import { startUpstream, type Upstream } from "./upstream.ts";

let upstream: Upstream;
beforeEach(async () => {
  upstream = await startUpstream({ key: "sk-test" });
});
afterEach(() => upstream.stop());

const user = (content: unknown) => ({ role: "user", content });
const call = (id: string) => ({ id, type: "function", function: { name: "clock", arguments: "{}" } });
const clock = { type: "function", function: { name: "clock", parameters: { type: "object", properties: {} } } };

function ask(body: unknown, init: RequestInit = {}) {
  return fetch(`${upstream.url}/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: "Bearer sk-test" },
    body: typeof body === "string" ? body : JSON.stringify(body),
    ...init,
  });
}
const hello = { model: "fake-small", messages: [user("hello")] };

describe("rejected requests", () => {
  const refused: [string, unknown, RegExp][] = [
    ["broken JSON", '{"model":', /could not parse/],
    ["a list", [], /expected an object/],
    ["no model", { messages: [user("x")] }, /Missing required parameter: 'model'/],
    ["no messages", { model: "m", messages: [] }, /'messages'/],
    ["an unknown role", { model: "m", messages: [{ role: "robot", content: "x" }] }, /Invalid value: 'robot'/],
    ["an unknown parameter", { ...hello, taskType: "coding" }, /Unrecognized request argument supplied: taskType/],
    ["a bad temperature", { ...hello, temperature: 3 }, /'temperature'/],
    ["stream options without a stream", { ...hello, stream_options: { include_usage: true } }, /'stream_options'/],
    ["content of a wrong type", { model: "m", messages: [user(7)] }, /content/],
    ["an unknown content part", { model: "m", messages: [user([{ type: "smell" }])] }, /content/],
    [
      "an empty assistant",
      { model: "m", messages: [{ role: "assistant", content: null }] },
      /'content' or 'tool_calls'/,
    ],
    ["no tools at all", { ...hello, tools: [] }, /'tools'/],
    ["a tool choice without tools", { ...hello, tool_choice: "auto" }, /'tool_choice'/],
    ["two tools of one name", { ...hello, tools: [clock, clock] }, /unique/],
    ["a bad tool name", { ...hello, tools: [{ type: "function", function: { name: "a b" } }] }, /function.name/],
    [
      "a result without its call",
      { model: "m", messages: [user("x"), { role: "tool", tool_call_id: "call_1", content: "1" }] },
      /must be a response to a preceeding message/,
    ],
    [
      "a result of another call",
      {
        model: "m",
        messages: [
          { role: "assistant", tool_calls: [call("call_1")] },
          { role: "tool", tool_call_id: "call_2", content: "" },
        ],
      },
      /must be a response/,
    ],
    [
      "a call without its result",
      { model: "m", messages: [{ role: "assistant", content: null, tool_calls: [call("call_1")] }, user("x")] },
      /did not have responses: call_1/,
    ],
    [
      "a call at the end",
      { model: "m", messages: [{ role: "assistant", content: null, tool_calls: [call("call_9")] }] },
      /did not have responses: call_9/,
    ],
  ];
  test.each(refused)("%s", async (_, body, why) => {
    const response = await ask(body);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      error: { message: expect.stringMatching(why), type: "invalid_request_error" },
    });
    expect(upstream.chats).toBeEmpty();
    expect(upstream).toMatchObject({ open: 0, total: 1 });
  });

  test("another key, no key, another path, method or content type", async () => {
    const json = { "content-type": "application/json" };
    expect((await ask(hello, { headers: { ...json, authorization: "Bearer sk-other" } })).status).toBe(401);
    expect((await ask(hello, { headers: json })).status).toBe(401);
    expect((await ask(hello, { headers: { authorization: "Bearer sk-test" } })).status).toBe(400);
    expect((await fetch(`${upstream.url}/chat/completions`)).status).toBe(405);
    expect((await fetch(`${upstream.origin}/chat/completions`)).status).toBe(404);
    expect(upstream.requests.map(({ status }) => status)).toEqual([401, 401, 400, 405, 404]);
  });

  test("a model outside the configured list", async () => {
    await using strict = await startUpstream({ models: ["only", { id: "big", context_length: 9 }] });
    const post = (model: string) =>
      fetch(`${strict.url}/chat/completions`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ ...hello, model }),
      });
    expect((await post("other")).status).toBe(404);
    expect((await post("only")).status).toBe(200);
    expect(await (await fetch(`${strict.url}/models`)).json()).toMatchObject({
      data: [
        { id: "only", object: "model" },
        { id: "big", context_length: 9 },
      ],
    });
  });
});

describe("responses", () => {
  test("an echo, with usage", async () => {
    expect(await (await ask(hello)).json()).toMatchObject({
      object: "chat.completion",
      model: "fake-small",
      choices: [{ index: 0, message: { role: "assistant", content: "echo: hello" }, finish_reason: "stop" }],
      usage: { prompt_tokens: 2, completion_tokens: 3, total_tokens: 5 },
    });
    expect(upstream.chats[0]).toMatchObject({ lastUser: "hello", status: 200, outcome: "done" });
  });

  test("a stream that ends in [DONE], with usage only on request", async () => {
    for (const include of [false, true]) {
      const body = { ...hello, stream: true, ...(include ? { stream_options: { include_usage: true } } : {}) };
      const text = await (await ask(body)).text();
      expect(text).toEndWith("data: [DONE]\n\n");
      expect(text.includes('"usage":{"prompt_tokens":2')).toBe(include);
    }
    expect(upstream.open).toBe(0);
  });

  test("the same vector for the same text", async () => {
    const embed = async (input: unknown) => {
      const headers = { "content-type": "application/json", authorization: "Bearer sk-test" };
      const body = JSON.stringify({ model: "fake-small", input });
      const response = await fetch(`${upstream.url}/embeddings`, { method: "POST", headers, body });
      const { data = [] } = (await response.json()) as { data?: { embedding: number[] }[] };
      return { status: response.status, vectors: data.map(({ embedding }) => embedding) };
    };
    const [a, b, again] = (await embed(["a", "b", "a"])).vectors;
    expect(a).toHaveLength(8);
    expect(a).toEqual(again ?? []);
    expect(a).not.toEqual(b ?? []);
    expect((await embed([])).status).toBe(400);
  });
});

describe("on demand, the fake", () => {
  test("fails the next requests, then recovers", async () => {
    upstream.failNext(2, { status: 429, retryAfter: 7 });
    upstream.failNext(1, 503);
    const answers = [await ask(hello), await ask(hello), await ask(hello), await ask(hello)];
    expect(answers.map(({ status }) => status)).toEqual([429, 429, 503, 200]);
    expect(answers.map(({ headers }) => headers.get("retry-after"))).toEqual(["7", "7", null, null]);
    expect(await answers[2]?.json()).toMatchObject({ error: { type: "server_error" } });
  });

  test("hangs until the client disconnects, and counts it", async () => {
    upstream.script({ hang: true });
    const abort = new AbortController();
    const answer = ask({ ...hello, stream: true }, { signal: abort.signal });
    await upstream.waitFor(({ open }) => open === 1);
    abort.abort();
    await expect(answer).rejects.toThrow();
    await upstream.waitFor(({ open }) => open === 0);
    expect(upstream).toMatchObject({ aborted: 1, total: 1 });
    expect(upstream.requests[0]?.outcome).toBe("aborted");
  });

  test("hangs in mid-stream until the client disconnects", async () => {
    upstream.script({ pieces: ["one", "two", "three"], hangAfter: 2 });
    const abort = new AbortController();
    const { body } = await ask({ ...hello, stream: true }, { signal: abort.signal });
    if (!body) throw new Error("no body");
    const seen: string[] = [];
    for await (const { data } of readEvents(body)) {
      seen.push(JSON.parse(data).choices[0].delta.content);
      if (seen.length === 2) break;
    }
    abort.abort();
    await upstream.waitFor(({ open }) => open === 0);
    expect(seen).toEqual(["", "one"]);
    expect(upstream.aborted).toBe(1);
  });

  test.each([0, 2])("cuts the connection after %d chunks", async (cutAfter) => {
    upstream.script({ pieces: ["one", "two", "three"], cutAfter });
    let got = "";
    const read = async () => {
      const { body } = await ask({ ...hello, stream: true });
      const decoder = new TextDecoder();
      for await (const chunk of body ?? []) got += decoder.decode(chunk);
    };
    await expect(read()).rejects.toThrow();
    expect(got.includes("one")).toBe(cutAfter === 2);
    expect(got).not.toContain("two");
    await upstream.waitFor(({ open }) => open === 0);
    expect(upstream.requests[0]?.outcome).toBe("cut");
  });

  test("cuts a completion that is not streamed", async () => {
    upstream.script({ text: "x", cutAfter: 1 });
    await expect(ask(hello).then((response) => response.text())).rejects.toThrow();
  });

  test("streams 10 MB", async () => {
    upstream.script({ bytes: 10 * 1024 * 1024 });
    const { body } = await ask({ ...hello, stream: true });
    if (!body) throw new Error("no body");
    let length = 0;
    for await (const { data } of readEvents(body)) {
      if (data !== "[DONE]") length += JSON.parse(data).choices[0].delta.content?.length ?? 0;
    }
    expect(length).toBe(10 * 1024 * 1024);
    expect(upstream.open).toBe(0);
  });

  test("sends broken JSON and frames", async () => {
    upstream.script({ broken: "json" });
    await expect(ask(hello).then((response) => response.json())).rejects.toThrow();
    upstream.script({ broken: "frame" });
    expect(await (await ask({ ...hello, stream: true })).text()).toContain('"choi\n\n');
  });

  test("paces its chunks", async () => {
    upstream.script({ pieces: ["a", "b", "c"], paceMs: 20 });
    const started = performance.now();
    await (await ask({ ...hello, stream: true })).text();
    expect(performance.now() - started).toBeGreaterThan(80);
  });

  test("answers 500 when a script throws, and keeps running", async () => {
    upstream.script(() => {
      throw new Error("oops");
    });
    expect((await ask(hello)).status).toBe(500);
    upstream.reset();
    expect((await ask(hello)).status).toBe(200);
  });
});

describe("with the AI SDK", () => {
  const model = (apiKey = "sk-test") => createOpenAI({ baseURL: upstream.url, apiKey }).chat("fake-small");

  test("streams, with usage", async () => {
    const result = streamText({ model: model(), prompt: "good day" });
    expect(await Array.fromAsync(result.textStream)).toEqual(["echo:", " good", " day"]);
    expect(await result.usage).toMatchObject({ inputTokens: 2, outputTokens: 4 });
  });

  test.each([true, false])("calls tools and continues with their results (stream: %p)", async (stream) => {
    upstream.script(({ toolResults: [result] }) =>
      result
        ? `It is ${JSON.parse(result.content).time} in ${JSON.parse(result.content).zone}.`
        : { toolCalls: [{ name: "clock", arguments: { zone: "Asia/Tokyo" } }] },
    );
    const clock = tool({
      inputSchema: jsonSchema<{ zone: string }>({ type: "object", properties: { zone: { type: "string" } } }),
      execute: ({ zone }) => ({ zone, time: "noon" }),
    });
    const options = { model: model(), prompt: "What time is it?", tools: { clock }, stopWhen: isStepCount(3) };
    const text = stream ? await streamText(options).text : (await generateText(options)).text;
    expect(text).toBe("It is noon in Asia/Tokyo.");
    expect(upstream.chats).toHaveLength(2);
  });

  test("errors of the fake are errors of the SDK", async () => {
    const failure = await generateText({ model: model("sk-wrong"), prompt: "x", maxRetries: 0 }).catch(
      (error) => error,
    );
    expect(APICallError.isInstance(failure) && failure.statusCode).toBe(401);
    upstream.failNext(1, 500);
    await expect(generateText({ model: model(), prompt: "x", maxRetries: 0 })).rejects.toThrow("Fake failure 500.");
  });
});

test("the fake runs as a program with precomputed bytes", async () => {
  const command = [bun, `${import.meta.dir}/upstream.ts`, "--port", "0", "--pace", "1", "--chunks", "30"];
  const child = launch({ command, env: {}, dir: import.meta.dir });
  try {
    const { url } = JSON.parse(await child.ready());
    const post = (stream: boolean) =>
      fetch(`${url}/chat/completions`, { method: "POST", body: JSON.stringify({ ...hello, stream }) });
    expect(await (await post(false)).json()).toMatchObject({ object: "chat.completion" });
    const text = await (await post(true)).text();
    expect(text.match(/w\d+ /g)).toHaveLength(30);
    expect(text).toEndWith("data: [DONE]\n\n");
    const stats = await fetch(url.replace("/v1", "/_control/stats"));
    expect(await stats.json()).toEqual({ open: 0, total: 2, aborted: 0 });
  } finally {
    child.signal("SIGKILL");
    expect(await child.exited).toBe(137);
  }
});
