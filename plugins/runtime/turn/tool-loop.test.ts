// Tests the tool loop: replies, tool calls, time limits, costs, and failures of the model.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Content,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
} from "@ai-sdk/provider";
import { AppError } from "../../../src/kernel/errors.ts";
import { startUpstream, type Upstream } from "../../../tests/support/upstream.ts";
import type { Reservation } from "../../ai/index.ts";
import { type PreparedTool, TAINT, type ToolEffect } from "../../skills/index.ts";
import { ModelError, toFailure } from "./failure.ts";
import type { TokenUsage } from "./token-usage.ts";
import type { Observer } from "./tool-calls.ts";
import { MAX_REPLY, runToolLoop, type ToolLoopRequest, type ToolLoopResult } from "./tool-loop.ts";

/** The response of a scripted model at one step. */
type ScriptedResponse = {
  text?: string;
  calls?: { name: string; input: string }[];
  usage?: LanguageModelV4Usage | "none";
};

const usage = (input?: number, output?: number): LanguageModelV4Usage => ({
  inputTokens: { total: input, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: output, text: undefined, reasoning: undefined },
});
const counted = (response: ScriptedResponse) =>
  response.usage === "none" ? usage() : (response.usage ?? usage(10, 5));
const stop = { unified: "stop" as const, raw: "stop" };

function streamOf<Part>(parts: Iterable<Part> | AsyncIterable<Part>): ReadableStream<Part> {
  return new ReadableStream<Part>({
    async start(controller) {
      for await (const part of parts) controller.enqueue(part);
      controller.close();
    },
  });
}

/** A model that follows a script, streamed or not, and collects its prompts. */
function scripted(
  script: (step: number, options: LanguageModelV4CallOptions) => ScriptedResponse | Promise<ScriptedResponse>,
) {
  const requests: LanguageModelV4CallOptions[] = [];
  const next = (options: LanguageModelV4CallOptions) => {
    requests.push({ ...options, prompt: [...options.prompt] });
    return script(requests.length, options);
  };
  const callsOf = ({ calls = [] }: ScriptedResponse) =>
    calls.map(({ name, input }, n) => ({
      type: "tool-call" as const,
      toolCallId: `call-${requests.length}-${n}`,
      toolName: name,
      input,
    }));
  const model: LanguageModelV4 = {
    specificationVersion: "v4",
    provider: "scripted",
    modelId: "scripted",
    supportedUrls: {},
    async doGenerate(options) {
      const response = await next(options);
      const content: LanguageModelV4Content[] = [
        ...(response.text ? [{ type: "text" as const, text: response.text }] : []),
        ...callsOf(response),
      ];
      return { content, usage: counted(response), finishReason: stop, warnings: [] };
    },
    async doStream(options) {
      const response = await next(options);
      const parts: LanguageModelV4StreamPart[] = [
        { type: "stream-start", warnings: [] },
        ...(response.text ?? "").split(/(?<= )/).map((delta) => ({ type: "text-delta" as const, id: "t", delta })),
        ...callsOf(response),
        { type: "finish", usage: counted(response), finishReason: stop },
      ];
      return { stream: streamOf(parts) };
    },
  };
  return { model, requests };
}

/** A `reserve` that logs each reservation and its end. */
function createReserve() {
  const log: (["record" | "settle", TokenUsage] | "reserve" | "release")[] = [];
  const reserve = (): Reservation => {
    log.push("reserve");
    return {
      settleStatement(paid) {
        log.push(["settle", { ...paid }]);
        return { sql: "", args: [] };
      },
      record: (paid) => void log.push(["record", { ...paid }]),
      release: () => void log.push("release"),
    };
  };
  return { log, reserve };
}

const tool = (name: string, run: PreparedTool["run"], effect: ToolEffect = "read"): PreparedTool => ({
  name,
  description: name,
  inputSchema: { type: "object" },
  skillId: name,
  ownerOnly: false,
  followsUp: false,
  untrusted: false,
  quotes: false,
  hasForeignDescription: false,
  class: "read",
  effect,
  check: (input) => ({ input, asks: undefined, inWords: async () => "" }),
  run,
});
const clock = tool("clock", async () => ({ ok: true, text: "noon" }));

const context = {
  agentId: "a",
  userId: "u",
  sessionId: "s",
  inboxId: "i",
  platform: "web",
  peer: "",
  byOwner: true,
  timezone: "UTC",
};

function request(model: LanguageModelV4, more: Partial<ToolLoopRequest> = {}): ToolLoopRequest {
  return {
    model,
    prompt: [{ role: "user", content: [{ type: "text", text: "Hello" }] }],
    tools: [clock],
    toolContext: context,
    taint: TAINT.none,
    authorize: async () => ({ kind: "refused", text: "not approved" }),
    settings: {},
    reserve: createReserve().reserve,
    observer: undefined,
    signal: new AbortController().signal,
    ...more,
  };
}

/** Runs a loop that does not wait for an approval. */
async function answered(given: ToolLoopRequest): Promise<ToolLoopResult> {
  const result = await runToolLoop(given);
  if ("waiting" in result) throw new Error("The turn waits.");
  return result;
}

/** An observer that collects its events. */
function watcher() {
  const shown: string[] = [];
  const tools: string[] = [];
  const observer: Observer = {
    delta: (text) => void shown.push(text),
    tool: ({ name, state }) => void tools.push(`${name} ${state}`),
  };
  return { observer, shown, tools };
}

const thrownBy = async (promise: Promise<unknown>): Promise<unknown> => {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error("Nothing was thrown.");
};

describe("replies", () => {
  test("a reply without tools takes one call", async () => {
    const { model, requests } = scripted(() => ({ text: "Hello Ada" }));
    const { log, reserve } = createReserve();
    const { text, steps, lastCall } = await answered(request(model, { reserve, settings: { temperature: 0.5 } }));
    expect({ text, steps }).toEqual({ text: "Hello Ada", steps: [] });
    expect(lastCall?.usage).toEqual({ inputTokens: 10, outputTokens: 5, estimated: false });
    expect(requests).toHaveLength(1);
    expect(requests[0]).toMatchObject({ temperature: 0.5, toolChoice: { type: "auto" } });
    // The write that settles the turn pays the last call.
    expect(log).toEqual(["reserve"]);
  });

  test("offers no tools when there are none", async () => {
    const { model, requests } = scripted(() => ({ text: "Hi" }));
    await answered(request(model, { tools: [] }));
    expect(requests[0]).not.toHaveProperty("tools");
    expect(requests[0]).not.toHaveProperty("toolChoice");
  });

  test("the streamed text equals the reply, also between steps", async () => {
    const { model } = scripted((step) =>
      step < 3 ? { text: `Step ${step}. `, calls: [{ name: "clock", input: "{}" }] } : { text: "It is noon." },
    );
    const { observer, shown, tools } = watcher();
    const { text } = await answered(request(model, { observer }));
    expect(text).toBe("Step 1. \n\nStep 2. \n\nIt is noon.");
    expect(shown.join("")).toBe(text);
    expect(tools).toEqual(["clock called", "clock done", "clock called", "clock done"]);
  });

  test("has no trailing blank lines when the last step has no text", async () => {
    const { model } = scripted((step) =>
      step === 1 ? { text: "I look.", calls: [{ name: "clock", input: "" }] } : {},
    );
    const { observer, shown } = watcher();
    const { text } = await answered(request(model, { observer }));
    expect(text).toBe("I look.");
    expect(shown.join("")).toBe("I look.");
  });

  test("the reply has no characters that can't be stored", async () => {
    const { model } = scripted(() => ({ text: "be\u0000fore \ud83e after " }));
    expect((await answered(request(model))).text).toBe("before \ufffd after");
  });

  test.each([true, false])("an endless reply is cut, and says so (streamed: %p)", async (streamed) => {
    let sent = 0;
    const endless: LanguageModelV4 = {
      ...scripted(() => ({ text: "x".repeat(MAX_REPLY + 1) })).model,
      async doStream({ abortSignal }) {
        return {
          stream: new ReadableStream<LanguageModelV4StreamPart>({
            pull(controller) {
              if (abortSignal?.aborted) return controller.close();
              sent += 1_000;
              controller.enqueue({ type: "text-delta", id: "t", delta: "🦊".repeat(500) });
            },
          }),
        };
      },
    };
    const { observer, shown } = watcher();
    const { text, lastCall } = await answered(request(endless, streamed ? { observer } : {}));
    expect(text).toEndWith(`[The reply was longer than ${MAX_REPLY} characters and was cut here.]`);
    expect(text.length).toBeLessThan(MAX_REPLY + 100);
    expect(text.isWellFormed()).toBe(true);
    expect(shown.join("").length).toBeLessThanOrEqual(MAX_REPLY);
    if (streamed) {
      expect(sent).toBeLessThan(MAX_REPLY + 5_000);
      expect(lastCall?.usage.estimated).toBe(true);
    }
  });
});

describe("tools", () => {
  test("the model gets their results with its calls", async () => {
    const { model, requests } = scripted((step) =>
      step === 1 ? { text: "Let me see.", calls: [{ name: "clock", input: '{"zone":"UTC"}' }] } : { text: "Noon." },
    );
    const { steps } = await answered(request(model));
    const times = { at: expect.any(Number), ms: expect.any(Number) };
    expect(steps).toEqual([{ tool: "clock", input: '{"zone":"UTC"}', result: "noon", ok: true, ...times }]);
    expect(requests[1]?.prompt.slice(1)).toEqual([
      {
        role: "assistant",
        content: [
          { type: "text", text: "Let me see." },
          { type: "tool-call", toolCallId: "call-1-0", toolName: "clock", input: { zone: "UTC" } },
        ],
      },
      {
        role: "tool",
        content: [
          { type: "tool-result", toolCallId: "call-1-0", toolName: "clock", output: { type: "text", value: "noon" } },
        ],
      },
    ]);
  });

  test("the calls of one step run in parallel, and each has its own result", async () => {
    const gate = Promise.withResolvers<void>();
    let running = 0;
    const slow = tool("slow", async (input) => {
      if (++running === 3) gate.resolve();
      await gate.promise;
      return { ok: true, text: JSON.stringify(input) };
    });
    const calls = [1, 2, 3].map((n) => ({ name: "slow", input: `{"n":${n}}` }));
    const { model } = scripted((step) => (step === 1 ? { calls } : { text: "done" }));
    const { steps } = await answered(request(model, { tools: [slow] }));
    expect(steps.map(({ result }) => result)).toEqual(['{"n":1}', '{"n":2}', '{"n":3}']);
  });

  test.each([
    ["an unknown tool", { name: "sudo", input: "{}" }, "There is no tool called sudo."],
    ["broken JSON", { name: "clock", input: '{"zone":' }, "The input of clock is not valid JSON. Call it again."],
    ["a tool that fails", { name: "broken", input: "{}" }, "broken failed."],
  ])("%s: the model gets the error and goes on", async (_, call, expected) => {
    const broken = tool("broken", async () => ({ ok: false, text: "broken failed." }));
    const { model, requests } = scripted((step) => (step === 1 ? { calls: [call] } : { text: "Never mind." }));
    const { observer, tools } = watcher();
    const { text, steps } = await answered(request(model, { tools: [clock, broken], observer }));
    expect(text).toBe("Never mind.");
    expect(steps).toMatchObject([{ ok: false, result: expected }]);
    expect(tools).toEqual([`${call.name} called`, `${call.name} failed`]);
    const result = requests[1]?.prompt.at(-1)?.content[0];
    expect(result).toMatchObject({ type: "tool-result", output: { type: "error-text", value: expected } });
    // The input of the call goes back as an object, since providers reject anything else.
    expect(requests[1]?.prompt.at(-2)?.content).toMatchObject([{ type: "tool-call", input: {} }]);
  });

  test("the tool rejects input that is JSON but no object, which goes back to the model as an object", async () => {
    const inputs: unknown[] = [];
    const strict = tool("strict", async (input) => {
      inputs.push(input);
      return { ok: false, text: "no" };
    });
    const given = ["7", "null", "[1]", '"text"', "", "  "];
    const calls = given.map((input) => ({ name: "strict", input }));
    const { model, requests } = scripted((step) => (step === 1 ? { calls } : { text: "ok" }));
    await answered(request(model, { tools: [strict] }));
    expect(inputs).toEqual([7, null, [1], "text", {}, {}]);
    expect(requests[1]?.prompt.at(-2)?.content).toMatchObject(given.map(() => ({ input: {} })));
  });

  test("the eighth step allows no tools, so that the model answers", async () => {
    const { model, requests } = scripted(() => ({ text: "Again. ", calls: [{ name: "clock", input: "{}" }] }));
    const { steps, text } = await answered(request(model));
    expect(requests).toHaveLength(8);
    expect(requests.map(({ toolChoice }) => toolChoice?.type)).toEqual([...Array(7).fill("auto"), "none"]);
    expect(steps).toHaveLength(7);
    expect(text).toEndWith("Again.");
  });

  test("of a hundred calls in one step sixteen run, and the model gets errors for the others", async () => {
    let ran = 0;
    const counting = tool("count", async () => ({ ok: true, text: `${++ran}` }));
    const calls = Array.from({ length: 100 }, () => ({ name: "count", input: "{}" }));
    const { model } = scripted((step) => (step === 1 ? { calls } : { text: "ok" }));
    const { steps } = await answered(request(model, { tools: [counting] }));
    expect(ran).toBe(16);
    expect(steps).toHaveLength(100);
    expect(steps.at(-1)).toMatchObject({ ok: false, result: expect.stringContaining("At most 16") });
  });

  test("a huge result reaches the model", async () => {
    const big = tool("big", async () => ({ ok: true, text: "x".repeat(16_000) }));
    const { model, requests } = scripted((step) =>
      step === 1 ? { calls: [{ name: "big", input: "{}" }] } : { text: "ok" },
    );
    await answered(request(model, { tools: [big] }));
    expect(JSON.stringify(requests[1]?.prompt).length).toBeGreaterThan(16_000);
  });
});

describe("aborts and time limits", () => {
  test("aborted before the call of the model, it makes no call and no reservation", async () => {
    const { model, requests } = scripted(() => ({ text: "Hi" }));
    const { log, reserve } = createReserve();
    const reason = new Error("stop");
    expect(await thrownBy(runToolLoop(request(model, { reserve, signal: AbortSignal.abort(reason) })))).toBe(reason);
    expect(requests).toEqual([]);
    expect(log).toEqual([]);
  });

  test("aborted during the reservation, it releases the reservation", async () => {
    const { model, requests } = scripted(() => ({ text: "Hi" }));
    const { log, reserve } = createReserve();
    const turn = new AbortController();
    const slowly = async () => {
      const spending = reserve();
      turn.abort(new Error("stop"));
      return spending;
    };
    await thrownBy(runToolLoop(request(model, { reserve: slowly, signal: turn.signal })));
    expect(requests).toEqual([]);
    expect(log).toEqual(["reserve", "release"]);
  });

  test("without a budget the model is not called", async () => {
    const { model, requests } = scripted(() => ({ text: "Hi" }));
    const refused = new AppError(402, "BUDGET_EXCEEDED", "Used up.");
    const reserve = () => Promise.reject(refused);
    expect(await thrownBy(runToolLoop(request(model, { reserve })))).toBe(refused);
    expect(requests).toEqual([]);
  });

  test.each([true, false])("a call without a response times out (streamed: %p)", async (streamed) => {
    let ended = false;
    const hang = (signal: AbortSignal | undefined) =>
      new Promise<never>((_, reject) =>
        signal?.addEventListener("abort", () => {
          ended = true;
          reject(signal.reason);
        }),
      );
    const model: LanguageModelV4 = {
      ...scripted(() => ({})).model,
      doGenerate: ({ abortSignal }) => hang(abortSignal),
      doStream: ({ abortSignal }) => hang(abortSignal),
    };
    const { observer } = watcher();
    const thrown = await thrownBy(
      runToolLoop(request(model, { timeouts: { idle: 10, total: 10 }, ...(streamed && { observer }) })),
    );
    expect(thrown).toBeInstanceOf(ModelError);
    expect(ended).toBe(true);
    expect(toFailure(thrown, "m")).toMatchObject({
      retryable: true,
      error: { status: 502, code: "MODEL_UNAVAILABLE" },
      reason: expect.stringContaining("went silent"),
    });
  });

  test("a stream goes on as long as parts arrive in time", async () => {
    const model: LanguageModelV4 = {
      ...scripted(() => ({})).model,
      async doStream() {
        async function* parts(): AsyncGenerator<LanguageModelV4StreamPart> {
          for (let n = 0; n < 20; n++) {
            await Bun.sleep(5);
            yield { type: "text-delta", id: "t", delta: `${n} ` };
          }
          yield { type: "finish", usage: usage(1, 1), finishReason: stop };
        }
        return { stream: streamOf(parts()) };
      },
    };
    const { observer } = watcher();
    const { text } = await answered(request(model, { observer, timeouts: { idle: 60, total: 60 } }));
    expect(text).toEndWith("19");
  });
});

describe("costs", () => {
  test("every call is reserved before and paid after; the caller pays the last one", async () => {
    const { log, reserve } = createReserve();
    const { model } = scripted((step) => {
      expect(log.filter((line) => line === "reserve")).toHaveLength(step);
      return step === 1 ? { calls: [{ name: "clock", input: "{}" }], usage: usage(7, 3) } : { text: "Hi" };
    });
    const { lastCall } = await answered(request(model, { reserve }));
    expect(log).toEqual(["reserve", ["record", { inputTokens: 7, outputTokens: 3, estimated: false }], "reserve"]);
    lastCall?.spending.settleStatement(lastCall?.usage, lastCall?.latencyMs);
    expect(log.at(-1)).toEqual(["settle", { inputTokens: 10, outputTokens: 5, estimated: false }]);
  });

  test("are estimated where the provider reports none, with the calls of tools", async () => {
    const { log, reserve } = createReserve();
    const { model } = scripted((step) =>
      step === 1
        ? { calls: [{ name: "clock", input: `{"pad":"${"x".repeat(390)}"}` }], usage: "none" }
        : { text: "x".repeat(40), usage: "none" },
    );
    const { lastCall } = await answered(request(model, { reserve }));
    expect(lastCall?.usage).toMatchObject({ outputTokens: 10, estimated: true });
    expect(lastCall?.usage.inputTokens).toBeGreaterThan(100);
    expect(log[1]).toEqual(["record", { inputTokens: expect.any(Number), outputTokens: 100, estimated: true }]);
  });

  test("a rejected call costs nothing; the calls before it stay paid", async () => {
    const { log, reserve } = createReserve();
    const { model } = scripted((step) => {
      if (step === 2) throw Object.assign(new Error("no"), { statusCode: 400 });
      return { calls: [{ name: "clock", input: "{}" }] };
    });
    expect(await thrownBy(runToolLoop(request(model, { reserve })))).toBeInstanceOf(ModelError);
    expect(log).toEqual(["reserve", ["record", expect.anything()], "reserve", "release"]);
  });
});

describe("failures", () => {
  test.each([undefined, null, "text", 7, {}])("a model that throws %p is unavailable", (thrown) => {
    expect(toFailure(new ModelError(thrown), "m")).toMatchObject({ retryable: true, error: { status: 502 } });
  });

  test("the prompt, which the SDK's error contains, is not in the cause of the failure", () => {
    const thrown = Object.assign(new Error("no"), { statusCode: 500, requestBodyValues: { messages: ["secret"] } });
    const { error } = toFailure(new ModelError(thrown), "m");
    expect(Bun.inspect(error.cause)).not.toContain("secret");
    expect(error.cause).toEqual({ name: "Error", statusCode: 500, message: "no" });
  });

  test("a key that the provider repeats is in neither the owner's log nor ours", () => {
    const thrown = Object.assign(new Error("Incorrect API key: canary-key."), { statusCode: 400 });
    const { error, reason } = toFailure(new ModelError(thrown), "m", (text) => text.replaceAll("canary-key", "…"));
    expect(reason).toContain("Incorrect API key: ….");
    expect(Bun.inspect(error.cause)).not.toContain("canary-key");
  });

  test("an error of our own is not reported as one of the model", () => {
    expect(toFailure(new TypeError("secret"), "m")).toMatchObject({
      retryable: true,
      error: { status: 500, code: "INTERNAL" },
      reason: expect.not.stringContaining("secret"),
    });
  });

  test("unavailable storage is retried, a used-up budget is not", () => {
    expect(toFailure(new AppError(503, "STORAGE_UNAVAILABLE", "Full."), "m").retryable).toBe(true);
    expect(toFailure(new AppError(402, "BUDGET_EXCEEDED", "Used up."), "m").retryable).toBe(false);
  });

  test.each([
    ["7", 7_000],
    ["0", 0],
    ["99999", 600_000],
    ["soon", undefined],
    [new Date(Date.now() - 5_000).toUTCString(), 0],
  ])("Retry-After %p", (header, after) => {
    const thrown = { statusCode: 429, responseHeaders: { "retry-after": header }, message: "slow down" };
    expect(toFailure(new ModelError(thrown), "m").retryAfterMs).toBe(after);
  });
});

describe("over @ai-sdk/openai", () => {
  let upstream: Upstream;
  let model: LanguageModelV4;
  beforeAll(async () => {
    const { createOpenAI } = await import("@ai-sdk/openai");
    upstream = await startUpstream();
    model = createOpenAI({ apiKey: "sk-test", baseURL: upstream.url }).chat("fake-small");
  });
  beforeEach(() => upstream.reset());
  afterAll(() => upstream.stop());

  test.each([true, false])("a tool loop runs to its reply (streamed: %p)", async (streamed) => {
    upstream.script(({ toolResults }) =>
      toolResults.length > 0
        ? { text: `It is ${toolResults[0]?.content}.`, usage: { prompt: 30, completion: 4 } }
        : { text: "Let me see.", toolCalls: [{ name: "clock", arguments: { zone: "UTC" } }] },
    );
    const { observer, shown } = watcher();
    const { text, steps, lastCall } = await answered(request(model, streamed ? { observer } : {}));
    expect(text).toBe("Let me see.\n\nIt is noon.");
    const times = { at: expect.any(Number), ms: expect.any(Number) };
    expect(steps).toEqual([{ tool: "clock", input: '{"zone":"UTC"}', result: "noon", ok: true, ...times }]);
    expect(lastCall?.usage).toEqual({ inputTokens: 30, outputTokens: 4, estimated: false });
    if (streamed) expect(shown.join("")).toBe(text);
    expect(upstream.chats.map(({ body }) => body.stream ?? false)).toEqual([streamed, streamed]);
  });

  test("a tool call with invalid JSON doesn't break the next request", async () => {
    upstream.script(({ toolResults }) =>
      toolResults.length > 0 ? "Sorry." : { toolCalls: [{ name: "clock", arguments: '{"zone": UTC' }] },
    );
    const { observer } = watcher();
    expect((await answered(request(model, { observer }))).text).toBe("Sorry.");
  });

  test("aborted in mid-stream, it ends the upstream's call and pays the tokens so far", async () => {
    upstream.script({ text: "one two three four", hangAfter: 3 });
    const turn = new AbortController();
    const { log, reserve } = createReserve();
    const { observer } = watcher();
    const running = thrownBy(runToolLoop(request(model, { observer, reserve, signal: turn.signal })));
    await upstream.waitFor(({ open }) => open === 1);
    const reason = new Error("stop");
    turn.abort(reason);
    expect(await running).toBe(reason);
    await upstream.waitFor(({ open }) => open === 0);
    expect(log).toEqual(["reserve", ["record", expect.objectContaining({ estimated: true })]]);
  });

  test("a reply of 10 MB is cut, and the upstream's call ends", async () => {
    upstream.script({ bytes: 10 * 1024 * 1024 });
    const { observer } = watcher();
    const { text } = await answered(request(model, { observer }));
    expect(text.length).toBeLessThan(MAX_REPLY + 100);
    await upstream.waitFor(({ open }) => open === 0);
  });

  test("missing usage is estimated", async () => {
    upstream.script({ text: "one two three four", usage: "none" });
    const { observer } = watcher();
    const { lastCall } = await answered(request(model, { observer }));
    expect(lastCall?.usage).toEqual({ inputTokens: expect.any(Number), outputTokens: 5, estimated: true });
  });

  test.each([{ status: 429, retryAfter: 3 }, { cutAfter: 2, text: "one two three" }, { broken: "frame" as const }])(
    "%p is the model's failure, worth another try",
    async (reply) => {
      upstream.script(reply);
      const { observer } = watcher();
      const failure = toFailure(await thrownBy(runToolLoop(request(model, { observer }))), "m");
      expect(failure).toMatchObject({ retryable: true, error: { code: "MODEL_UNAVAILABLE" } });
      if ("retryAfter" in reply) expect(failure.retryAfterMs).toBe(3_000);
      await upstream.waitFor(({ open }) => open === 0);
    },
  );
});
