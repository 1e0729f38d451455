// Text chats beside the SDK's own client: the same bytes go out, and the same answers come back.
import { describe, expect, test } from "bun:test";
import { createOpenAI } from "@ai-sdk/openai";
import type { LanguageModelV4CallOptions, LanguageModelV4FunctionTool, LanguageModelV4Prompt } from "@ai-sdk/provider";
import type { Fetch } from "../providers/providers.ts";
import { createTextChat } from "./text-chat.ts";

const MODELS = [
  "gpt-4o-mini",
  "gpt-5",
  "gpt-5.2",
  "gpt-6",
  "o1",
  "o3-mini",
  "gpt-4o-search-preview",
  "claude-sonnet-5",
  "llama3.2:3b",
];

const said: LanguageModelV4Prompt = [
  { role: "system", content: 'You are "Ada".\nBe brief. 😀' },
  { role: "user", content: [{ type: "text", text: "Hello \u2028 there" }] },
  {
    role: "assistant",
    content: [
      { type: "text", text: "Hi. " },
      { type: "text", text: "What now?" },
    ],
  },
  { role: "user", content: [{ type: "text", text: "the-messages-of-a-turn" }] },
];
const withTools: LanguageModelV4Prompt = [
  ...said,
  {
    role: "assistant",
    content: [
      { type: "tool-call", toolCallId: "a", toolName: "clock", input: { zone: "UTC", deep: { list: [1, null] } } },
      { type: "tool-call", toolCallId: "b", toolName: "clock", input: {} },
    ],
  },
  {
    role: "tool",
    content: [
      { type: "tool-result", toolCallId: "a", toolName: "clock", output: { type: "text", value: "noon" } },
      { type: "tool-result", toolCallId: "b", toolName: "clock", output: { type: "error-text", value: 'no "zone"' } },
    ],
  },
];
const withFile: LanguageModelV4Prompt = [
  {
    role: "user",
    content: [
      { type: "text", text: "What is it?" },
      { type: "file", mediaType: "image/png", data: { type: "data", data: "iVBORw0KGgo=" } },
    ],
  },
];
const clock: LanguageModelV4FunctionTool = {
  type: "function",
  name: "clock",
  description: "The time.",
  inputSchema: { type: "object", properties: { zone: { type: "string" } }, required: ["zone"] },
};

const completion = (message: object, more: object = {}) => ({
  id: "chatcmpl-1",
  created: 1_700_000_000,
  model: "gpt-4o-mini",
  choices: [{ index: 0, message: { role: "assistant", content: null, ...message }, finish_reason: "stop" }],
  usage: { prompt_tokens: 12, completion_tokens: 7 },
  ...more,
});

const opens = (modelId: string) => (send: Fetch) => {
  const call = (input: string | URL | Request, init?: RequestInit) => send(String(input), init ?? {});
  return createOpenAI({
    apiKey: "sk-test",
    baseURL: "http://provider.invalid/v1",
    fetch: Object.assign(call, { preconnect: fetch.preconnect }),
  }).chat(modelId);
};

/** What both clients send and return for a call that is answered in this way. */
async function both(options: LanguageModelV4CallOptions, answer: () => Promise<Response>, modelId = "gpt-4o-mini") {
  const open = opens(modelId);
  const sent: { url: string; init: RequestInit }[] = [];
  const send: Fetch = (url, init) => {
    sent.push({ url, init });
    return answer();
  };
  const settle = async (call: PromiseLike<object>) => {
    const [result] = await Promise.allSettled([call]);
    return result;
  };
  const own = await settle(createTextChat({ open, send }).doGenerate(options));
  const theirs = await settle(open(send).doGenerate(options));
  return { own, theirs, sent };
}

const sentBy = ({ url, init: { method, headers, body } }: { url: string; init: RequestInit }) => ({
  url,
  method,
  headers: Object.fromEntries(new Headers(headers)),
  body,
});

const answering = (body: unknown, init?: ResponseInit) => async () =>
  typeof body === "string" ? new Response(body, init) : Response.json(body, init);

describe("the request is the SDK's, byte for byte", () => {
  const settings = [{}, { temperature: 0.3, topP: 0.5 }, { maxOutputTokens: 200 }];
  const tools = [{}, { tools: [clock], toolChoice: { type: "auto" as const } }];
  const prompts = { text: said, tools: withTools, file: withFile };
  const cases = MODELS.flatMap((model) =>
    Object.keys(prompts).map((name) => [model, name as keyof typeof prompts] as const),
  );
  test.each(cases)("%s, a prompt of %s", async (model, name) => {
    for (const chosen of settings) {
      for (const offered of tools) {
        const options = { prompt: prompts[name], ...chosen, ...offered };
        const { sent } = await both(options, answering(completion({ content: "Hi" })), model);
        const [own, theirs] = sent.map(sentBy);
        expect(sent).toHaveLength(2);
        expect(own).toEqual(theirs as ReturnType<typeof sentBy>);
      }
    }
  });

  test("also after other tools of the same names, other settings, and for options that only the SDK knows", async () => {
    const open = opens("gpt-4o-mini");
    const bodies: string[] = [];
    const send: Fetch = async (_, init) => {
      bodies.push(String(init.body));
      return Response.json(completion({ content: "Hi" }));
    };
    const [own, sdk] = [createTextChat({ open, send }), open(send)];
    const other = { ...clock, description: "Another clock." };
    for (const options of [
      { prompt: said, tools: [clock] },
      { prompt: said, tools: [other] },
      { prompt: said, tools: [clock, other] },
      { prompt: said, tools: [clock], toolChoice: { type: "none" as const } },
      { prompt: said, temperature: 1 },
      { prompt: said, stopSequences: ["."], seed: 3 },
    ]) {
      await own.doGenerate(options);
      await sdk.doGenerate(options);
      expect(bodies.at(-2)).toBe(bodies.at(-1) as string);
    }
    expect(bodies).toHaveLength(12);
  });

  test("and carries the caller's signal", async () => {
    const signal = new AbortController().signal;
    const { sent } = await both({ prompt: said, abortSignal: signal }, answering(completion({ content: "Hi" })));
    expect(sent.map(({ init }) => init.signal)).toEqual([signal, signal]);
  });
});

describe("the answer is the SDK's", () => {
  const call = (more: object = {}) => ({
    id: "call_1",
    type: "function",
    function: { name: "clock", arguments: '{"zone":' },
    ...more,
  });
  test.each<[string, unknown]>([
    ["a text", completion({ content: "Hi 😀" })],
    ["an empty text", completion({ content: "" })],
    ["calls of tools", completion({ content: "Let me see.", tool_calls: [call(), call({ id: "call_2" })] })],
    [
      "all counts",
      completion(
        { content: "Hi" },
        {
          usage: {
            prompt_tokens: 100,
            completion_tokens: 50,
            prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 10 },
            completion_tokens_details: { reasoning_tokens: 20 },
          },
        },
      ),
    ],
    ["no counts", completion({ content: "Hi" }, { usage: undefined })],
    ["null counts", completion({ content: "Hi" }, { usage: null })],
    ["a refusal", completion({ refusal: "I can't." })],
    [
      "annotations",
      completion({
        content: "Hi",
        annotations: [
          { type: "url_citation", url_citation: { start_index: 0, end_index: 1, url: "http://a.invalid", title: "A" } },
        ],
      }),
    ],
    ["a spoken text", completion({ audio: { transcript: "Hello" } })],
  ])("%s", async (_, body) => {
    const { own, theirs } = await both({ prompt: said }, answering(body));
    const parts = (result: typeof own) => {
      if (result?.status !== "fulfilled") throw new Error("The call failed.");
      const { content, usage, finishReason } = result.value as Awaited<
        ReturnType<ReturnType<ReturnType<typeof opens>>["doGenerate"]>
      >;
      const { raw: _, ...counts } = usage;
      return {
        content: content.map((part) => (part.type === "source" ? { ...part, id: "" } : part)),
        counts,
        finishReason,
      };
    };
    expect(parts(own)).toEqual(parts(theirs));
  });

  test.each(["stop", "length", "content_filter", "tool_calls", "function_call", "eos", null])(
    "ended by %p",
    async (reason) => {
      const body = completion({ content: "Hi" });
      const choices = body.choices.map((choice) => ({ ...choice, finish_reason: reason }));
      const { own, theirs } = await both({ prompt: said }, answering({ ...body, choices }));
      const reasonOf = (result: typeof own) =>
        result?.status === "fulfilled" ? (result.value as { finishReason: unknown }).finishReason : result;
      expect(reasonOf(own)).toEqual(reasonOf(theirs));
    },
  );

  test.each<[string, () => Promise<Response>]>([
    [
      "an error with a status",
      answering(
        { error: { message: "Slow down", code: "rate_limit" } },
        { status: 429, headers: { "retry-after": "3" } },
      ),
    ],
    ["an error without one", answering({ error: { message: "No such model" } })],
    ["no choice", answering({ ...completion({}), choices: [] })],
    ["a broken answer", answering('{"choices": [')],
    ["a text that is none", answering(completion({ content: 7 }))],
    ["a call without arguments", answering(completion({ tool_calls: [call({ function: { name: "clock" } })] }))],
    ["no connection", () => Promise.reject(new TypeError("fetch failed"))],
    ["an abort", () => Promise.reject(new DOMException("stop", "AbortError"))],
  ])("%s fails as it does there", async (_, answer) => {
    const { own, theirs } = await both({ prompt: said }, answer);
    if (own?.status !== "rejected" || theirs?.status !== "rejected") throw new Error("A call did not fail.");
    const told = ({ name, message, statusCode, responseHeaders }: Record<string, unknown>) => ({
      name,
      message,
      statusCode,
      responseHeaders,
    });
    expect(told(own.reason)).toEqual(told(theirs.reason));
  });

  test("a call without an id gets one", async () => {
    const { own } = await both({ prompt: said }, answering(completion({ tool_calls: [call({ id: undefined })] })));
    expect(own).toMatchObject({
      status: "fulfilled",
      value: { content: [{ toolCallId: expect.stringMatching(/./) }] },
    });
  });
});
