// Tests the counting of bytes of model calls, for each agent separately.
import { expect, test } from "bun:test";
import type { LanguageModelV4, LanguageModelV4CallOptions } from "@ai-sdk/provider";
import type { Fetch } from "../providers/providers.ts";
import { createTrafficMeter } from "./traffic-meter.ts";

const about = { id: "1", created: 1, model: "fake" };
const content = "Grüße, ahoy.";
const message = { role: "assistant", content };
const whole = JSON.stringify({ ...about, choices: [{ index: 0, message, finish_reason: "stop" }] });
const chunk = (delta: object, finish_reason: string | null) =>
  `data: ${JSON.stringify({ ...about, choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
const pieces = [...content].map((text) => chunk({ content: text }, null)).concat(chunk({}, "stop"), "data: [DONE]\n\n");

interface Call {
  agentId: string;
  sent: number;
  received: number;
}

async function openFixture() {
  const counted: Call[] = [];
  const bodies: string[] = [];
  const metering = createTrafficMeter((agentId, sent, received) => void counted.push({ agentId, sent, received }));
  const send: Fetch = async (_, { body }) => {
    bodies.push(String(body));
    const streams = String(body).includes('"stream":true');
    if (!streams) return new Response(whole, { headers: { "content-length": `${Buffer.byteLength(whole)}` } });
    const stream = new ReadableStream({
      start(controller) {
        for (const piece of pieces) controller.enqueue(Buffer.from(piece));
        controller.close();
      },
    });
    return new Response(stream);
  };
  const { createOpenAI } = await import("@ai-sdk/openai");
  const metered = metering.meteredFetch(send);
  const fetcher = (url: string | URL | Request, init?: RequestInit) => metered(String(url), init ?? {});
  const provider = createOpenAI({ apiKey: "none", fetch: Object.assign(fetcher, { preconnect: fetch.preconnect }) });
  const of = (agentId: string) => {
    const calls = counted.filter((call) => call.agentId === agentId);
    const sum = (side: "sent" | "received") => calls.reduce((all, call) => all + call[side], 0);
    return { sent: sum("sent"), received: sum("received") };
  };
  return { model: provider.chat("fake"), metering, bodies, counted, of };
}

const asked = (abortSignal?: AbortSignal): LanguageModelV4CallOptions => ({
  prompt: [{ role: "user", content: [{ type: "text", text: "Hällo" }] }],
  ...(abortSignal && { abortSignal }),
});

async function streamed(model: LanguageModelV4): Promise<string> {
  let text = "";
  const { stream } = await model.doStream(asked(new AbortController().signal));
  for await (const part of stream) if (part.type === "text-delta") text += part.delta;
  return text;
}

const bytes = (texts: readonly string[]) => texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);

test("request and response are counted for their agent only", async () => {
  const { model, metering, bodies, of } = await openFixture();
  const [ada, bob] = [metering.attributeTo("ada", model), metering.attributeTo("bob", model)];
  await ada.doGenerate(asked(new AbortController().signal));
  await Promise.all([ada, bob].map((one) => one.doGenerate(asked(new AbortController().signal))));
  expect(of("ada")).toEqual({ sent: bytes(bodies.slice(0, 2)), received: 2 * Buffer.byteLength(whole) });
  expect(of("bob")).toEqual({ sent: bytes(bodies.slice(2)), received: Buffer.byteLength(whole) });
});

test("a stream is counted as it arrives, and passed on unchanged", async () => {
  const { model, metering, bodies, of } = await openFixture();
  expect(await streamed(metering.attributeTo("ada", model))).toBe(content);
  expect(of("ada")).toEqual({ sent: bytes(bodies), received: bytes(pieces) });
});

test("a call without an agent is not counted", async () => {
  const { model, metering, counted } = await openFixture();
  await model.doGenerate(asked(new AbortController().signal));
  await metering.attributeTo("ada", model).doGenerate(asked());
  expect(counted).toEqual([]);
});
