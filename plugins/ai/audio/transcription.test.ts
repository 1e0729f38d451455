// Tests which provider writes a recording down, in which form it is asked, and what that costs.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { sound } from "../../../tests/support/sounds.ts";
import { startUpstream, type Upstream } from "../../../tests/support/upstream.ts";
import { serveAi } from "../support.test.ts";

const AGENT = { id: "agent-1", userId: "user-1" };
let upstream: Upstream;
let ogg: Buffer;
beforeAll(async () => {
  upstream = await startUpstream();
  ogg = await sound("ogg", 6);
});
afterAll(() => upstream.stop());

/** Writes a recording down with these settings; undefined if nobody can. */
async function heard(env: Record<string, string>, own: Upstream = upstream) {
  own.reset();
  own.scriptAudio({ hears: () => "Ahoy" });
  const budgets = { AI_PLAN_BUDGETS_USD_PER_MONTH: "off", AI_UNPAID_BUDGET_USD_PER_DAY: "500" };
  await using berth = await serveAi({ ...budgets, ...env });
  const transcriber = await berth.service.transcriberFor(AGENT);
  const recording = transcriber?.recordingOf(ogg);
  if (!transcriber || !recording) return undefined;
  const signal = new AbortController().signal;
  const { result, model, payment } = await transcriber.transcribe({
    ...recording,
    bytes: ogg,
    turnId: "turn-1",
    signal,
  });
  await payment.record();
  await berth.stop();
  return { result, model, ledger: await berth.ledger() };
}
const at = (provider: number, url = upstream.url) => ({
  [`PROVIDER_${provider}_API_KEY`]: "sk-test",
  [`PROVIDER_${provider}_BASE_URL`]: url,
});

describe("a recording is written down", () => {
  test("by OpenRouter, in base64, for what it says it charges", async () => {
    const done = await heard(at(1));
    expect(done).toMatchObject({ result: "Ahoy", model: "provider_1:openai/gpt-4o-mini-transcribe" });
    expect(upstream.heard).toMatchObject([{ body: "json", format: "ogg" }]);
    expect(upstream.heard[0]?.bytes.equals(ogg)).toBe(true);
    expect(done?.ledger).toMatchObject([{ kind: "turn", provider: "provider_1", cost: 333, estimated: 0 }]);
  });

  test("by OpenAI, as a form, for the tokens that it counts", async () => {
    const done = await heard(at(5));
    expect(upstream.heard).toMatchObject([{ body: "form", responseFormat: "json" }]);
    expect(done?.ledger).toMatchObject([{ input: 300, output: 80, cost: 1_300 }]);
  });

  test("by the operator's model; a local server costs nothing", async () => {
    const done = await heard({ PROVIDER_3_BASE_URL: upstream.url, TRANSCRIPTION_MODEL: "provider_3:my-whisper" });
    expect(done).toMatchObject({ model: "provider_3:my-whisper" });
    expect(upstream.heard).toMatchObject([{ model: "my-whisper", responseFormat: "verbose_json" }]);
    expect(done?.ledger).toMatchObject([{ cost: 0 }]);
  });

  test("by the provider that has the model where only that is named, at its price", async () => {
    const done = await heard({ ...at(1), ...at(5), TRANSCRIPTION_MODEL: "whisper-1" });
    expect(done).toMatchObject({ model: "provider_5:whisper-1", ledger: [{ cost: 3_000 }] });
  });

  test("by a model of unknown price, at the dearest one, or not at all", async () => {
    const env = { ...at(5), TRANSCRIPTION_MODEL: "provider_5:whisper-9" };
    expect((await heard(env))?.ledger).toMatchObject([{ cost: 3_000 }]);
    expect(heard({ ...env, AI_UNKNOWN_PRICE: "refuse" })).rejects.toMatchObject({ code: "PRICE_UNKNOWN" });
  });

  test("by the next provider when the first one fails, at the price of that one", async () => {
    await using other = await startUpstream();
    other.scriptAudio({ hears: () => ({ status: 500 }) });
    const done = await heard({ ...at(1, other.url), ...at(5) });
    expect(other.heard.length).toBe(1);
    expect(done).toMatchObject({ model: "provider_5:gpt-4o-mini-transcribe", ledger: [{ provider: "provider_5" }] });
  });
});

test("nobody writes it down for the demo, for a provider without a model for it, or for a local server without a named one", async () => {
  expect(await heard({})).toBeUndefined();
  expect(await heard(at(4))).toBeUndefined();
  expect(await heard({ PROVIDER_3_BASE_URL: upstream.url })).toBeUndefined();
  expect(await heard({ ...at(5), TRANSCRIPTION_MODEL: "provider_3:whisper" })).toBeUndefined();
  expect(upstream.heard).toEqual([]);
});

describe("an answer without a transcript", () => {
  test.each([
    ["a page", () => new Response("<html>")],
    ["no text", () => Response.json({ words: 1 })],
  ] as const)("fails as the provider's: %s", async (_, answer) => {
    const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: answer });
    try {
      const { message } = await heard(at(5, `http://127.0.0.1:${server.port}/v1`)).then(
        () => ({ message: "" }),
        (error: Error) => error,
      );
      expect(message).toBe("OpenAI did not write the recording down.");
    } finally {
      await server.stop(true);
    }
  });
});
