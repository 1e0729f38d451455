// Tests the traces of turns against a collector that checks each payload against the protocol.
import { afterEach, describe, expect, test } from "bun:test";
import { Type as t } from "@sinclair/typebox";
import { eventually } from "../../tests/support/eventually.ts";
import { type Collector, type ReceivedSpan, startCollector } from "../../tests/support/otlp.ts";
import { defineTool, type Skill } from "../skills/index.ts";
import { openRuntimeFixture, type RuntimeFixture } from "./support.test.ts";

const lookUp = defineTool({
  name: "look_up",
  class: "read",
  description: "Looks the tide of a port up.",
  input: t.Object({ port: t.String() }),
  execute: () => "canary-result",
});
const tides: Skill = {
  ...{ id: "tides", name: "Tides", description: "", category: "test", version: "1" },
  enabledByDefault: true,
  tools: () => [lookUp],
};

let collector: Collector | undefined;
let fixture: RuntimeFixture | undefined;
afterEach(async () => {
  await fixture?.[Symbol.asyncDispose]();
  await collector?.stop();
  [fixture, collector] = [undefined, undefined];
});

async function open(env: Record<string, string> = {}) {
  collector = startCollector();
  fixture = await openRuntimeFixture(
    { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_EXPORTER_OTLP_HEADERS: "x-team=a%20b", ...env },
    {},
    [tides],
  );
  fixture.upstream.script(({ toolResults }) =>
    toolResults.length > 0 ? "canary-reply" : { toolCalls: [{ name: "look_up", arguments: { port: "canary-port" } }] },
  );
  return { collector, fixture };
}

const byName = (spans: readonly ReceivedSpan[], start: string) => spans.filter(({ name }) => name.startsWith(start));

/** Lets an agent answer a message of a channel; the spans are sent when the service has stopped. */
async function answerOnChannel(env: Record<string, string> = {}) {
  const opened = await open(env);
  const agent = await opened.fixture.agent();
  await opened.fixture.hear(agent, "canary-question");
  await eventually(() => opened.fixture.sent.length === 1);
  await opened.fixture.idle();
  const [entry] = await opened.fixture.rows("SELECT id, session_id FROM inbox WHERE agent_id = ?", agent.id);
  await opened.fixture.restart();
  return { ...opened, agent, turnId: String(entry?.id), sessionId: entry?.session_id };
}

describe("a turn", () => {
  test("is one trace: its calls of the model and of tools, and the delivery of its reply", async () => {
    const { collector, agent, turnId, sessionId } = await answerOnChannel();
    expect(collector.violations).toEqual([]);
    const { spans } = collector;
    const [turn] = byName(spans, "invoke_agent");
    expect(turn).toMatchObject({
      name: "invoke_agent Harbour",
      kind: 1,
      traceId: turnId.replaceAll("-", ""),
      parentSpanId: undefined,
      status: 0,
      service: "berth",
      attributes: {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.id": agent.id,
        "gen_ai.agent.name": "Harbour",
        "gen_ai.conversation.id": sessionId,
        "berth.turn.id": turnId,
        "berth.turn.attempt": 1,
        "berth.platform": "channel_a",
      },
    });
    const calls = byName(spans, "chat fake-small");
    expect(calls.map(({ attributes }) => attributes["gen_ai.response.finish_reasons"])).toEqual([
      ["tool_calls"],
      ["stop"],
    ]);
    expect(calls[0]).toMatchObject({
      kind: 3,
      attributes: {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "fake-small",
        "gen_ai.usage.input_tokens": expect.any(Number),
        "gen_ai.usage.output_tokens": expect.any(Number),
      },
    });
    expect(String(calls[0]?.attributes["gen_ai.provider.name"])).toContain("provider_5");
    const [tool] = byName(spans, "execute_tool");
    expect(tool).toMatchObject({
      name: "execute_tool look_up",
      kind: 1,
      attributes: {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "look_up",
        "gen_ai.tool.type": "function",
      },
    });
    const [delivery] = byName(spans, "deliver");
    expect(delivery).toMatchObject({ name: "deliver channel_a", kind: 4, attributes: { "berth.delivery.attempt": 1 } });
    expect(spans).toHaveLength(5);
    for (const child of [...calls, tool, delivery]) {
      expect([child?.traceId, child?.parentSpanId]).toEqual([turn?.traceId, turn?.spanId]);
    }
    expect(collector.headers[0]?.get("x-team")).toBe("a b");
  });

  test("has the parts that it delegates as spans in the call, with their own calls in them", async () => {
    const { collector, fixture } = await open();
    fixture.upstream.script(({ messages, toolResults }) => {
      const isPart = String(messages[0]?.content).includes("one part of a larger task");
      if (toolResults.length > 0) return isPart ? "canary-part" : "canary-reply";
      const name = isPart ? "look_up" : "delegate";
      return { toolCalls: [{ name, arguments: isPart ? { port: "Kiel" } : { tasks: ["canary-a", "canary-b"] } }] };
    });
    const agent = await fixture.agent({ skills: { delegate: true } });
    expect((await fixture.chat(agent, "Compare them")).reply).toBe("canary-reply");
    await fixture.idle();
    await fixture.restart();
    const { spans } = collector;
    const call = spans.find(({ name }) => name === "execute_tool delegate");
    const parts = byName(spans, "invoke_agent").filter(({ attributes }) => "berth.delegate.part" in attributes);
    expect(parts.map(({ attributes }) => attributes["berth.delegate.part"]).sort()).toEqual([1, 2]);
    for (const part of parts) {
      expect([part.parentSpanId, part.traceId, part.status]).toEqual([call?.spanId, call?.traceId, 0]);
      const inside = spans.filter(({ parentSpanId }) => parentSpanId === part.spanId).map(({ name }) => name);
      expect(inside.sort()).toEqual(["chat fake-small", "chat fake-small", "execute_tool look_up"]);
    }
    expect(collector.payloads.join()).not.toContain("canary");
    expect(collector.payloads.join()).toContain('"service.version"');
    expect(collector.violations).toEqual([]);
  });

  test("leaves out what people, agents and tools say, unless a setting wants it", async () => {
    const silent = await answerOnChannel();
    expect(silent.collector.payloads.join()).not.toContain("canary");
    await fixture?.[Symbol.asyncDispose]();
    await silent.collector.stop();
    const { collector } = await answerOnChannel({ OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: "true" });
    const [first, second] = byName(collector.spans, "chat");
    expect(String(first?.attributes["gen_ai.input.messages"])).toContain("canary-question");
    expect(String(second?.attributes["gen_ai.output.messages"])).toContain("canary-reply");
    const [tool] = byName(collector.spans, "execute_tool");
    expect(tool?.attributes).toMatchObject({
      "gen_ai.tool.call.arguments": expect.stringContaining("canary-port"),
      "gen_ai.tool.call.result": expect.stringContaining("canary-result"),
    });
    expect(collector.violations).toEqual([]);
  });

  test("that fails says so with a class of error, and without a message", async () => {
    const { collector, fixture } = await open();
    fixture.upstream.script(() => ({ status: 400, message: "canary-refusal" }));
    const agent = await fixture.agent();
    await fixture.chat(agent, "Hello").catch(() => undefined);
    await fixture.idle();
    await fixture.restart();
    for (const start of ["invoke_agent", "chat"]) {
      const [span] = byName(collector.spans, start);
      expect([start, span?.status]).toEqual([start, 2]);
      expect(String(span?.attributes["error.type"])).toMatch(/^\w+$/);
    }
    expect(collector.payloads.join()).not.toContain("canary");
  });
});

test("a collector that is away loses spans, but holds up neither turns nor the stop", async () => {
  const { collector, fixture } = await open();
  collector.answer(400);
  const agent = await fixture.agent();
  expect((await fixture.chat(agent, "Hello")).reply).toBe("canary-reply");
  const startedAt = performance.now();
  await fixture.restart();
  expect(performance.now() - startedAt).toBeLessThan(8_000);
  expect(collector.spans).toEqual([]);
});

test("without an endpoint there are no traces", async () => {
  fixture = await openRuntimeFixture();
  expect(fixture.kernel.traces).toBeUndefined();
});
