// Tests which provider reads a text aloud, how it is asked, and what that costs.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { sound } from "../../../tests/support/sounds.ts";
import { startUpstream, type Upstream } from "../../../tests/support/upstream.ts";
import { serveAi } from "../support.test.ts";

const TEXT = "The harbour is open.";
let upstream: Upstream;
let ogg: Buffer<ArrayBuffer>;
let mp3: Buffer<ArrayBuffer>;
beforeAll(async () => {
  upstream = await startUpstream();
  ogg = await sound("ogg", 30);
  mp3 = await sound("mp3", 3);
});
afterAll(() => upstream.stop());

/** Reads a text aloud with these settings; undefined if nobody can. */
async function spoken(env: Record<string, string>, answer: Uint8Array<ArrayBuffer> = new Uint8Array(ogg)) {
  upstream.reset();
  upstream.scriptAudio({ speaks: () => answer });
  const budgets = { AI_PLAN_BUDGETS_USD_PER_MONTH: "off", AI_UNPAID_BUDGET_USD_PER_DAY: "500" };
  await using berth = await serveAi({ ...budgets, ...env });
  const speaker = await berth.service.speakerFor({ id: "agent-1", userId: "user-1" });
  if (!speaker) return undefined;
  const signal = new AbortController().signal;
  const { result, model, payment } = await speaker.speak({ text: TEXT, turnId: "turn-1", signal });
  await payment.record();
  await berth.stop();
  return { ...result, model, ledger: await berth.ledger() };
}
const at = (provider: number) => ({
  [`PROVIDER_${provider}_API_KEY`]: "sk-test",
  [`PROVIDER_${provider}_BASE_URL`]: upstream.url,
});

describe("a text is read aloud", () => {
  test("by OpenAI as Ogg Opus, for its length in sound", async () => {
    const done = await spoken(at(5));
    expect(done).toMatchObject({ model: "provider_5:gpt-4o-mini-tts", mediaType: "audio/ogg" });
    expect(done?.bytes).toEqual(new Uint8Array(ogg));
    expect(upstream.spoken).toMatchObject([{ input: TEXT, voice: "alloy", responseFormat: "opus" }]);
    // Half a minute at 0.015 USD, and twenty characters.
    expect(Number(done?.ledger[0]?.cost)).toBeWithin(7_500, 7_520);
  });

  test("by OpenRouter as MP3", async () => {
    const done = await spoken(at(1), new Uint8Array(mp3));
    expect(done).toMatchObject({ model: "provider_1:openai/gpt-4o-mini-tts-2025-12-15", mediaType: "audio/mpeg" });
    expect(upstream.spoken).toMatchObject([{ responseFormat: "mp3" }]);
  });

  test("by a local server that the operator names, for nothing", async () => {
    const done = await spoken({ PROVIDER_3_BASE_URL: upstream.url, SPEECH_MODEL: "provider_3:kokoro" });
    expect(done).toMatchObject({ model: "provider_3:kokoro", ledger: [{ cost: 0 }] });
  });

  test("by nobody where no provider can", async () => {
    expect(await spoken({})).toBeUndefined();
    expect(await spoken({ ...at(3), ...at(4) })).toBeUndefined();
  });
});

test.each([
  ["a page", new TextEncoder().encode("<html>")],
  ["nothing", new Uint8Array()],
  ["more than ten megabytes", new Uint8Array(10_000_001)],
])("an answer that is %s fails as the provider's", async (_, answer) => {
  const failure = await spoken(at(5), answer).then(
    () => "",
    (error: Error) => error.message,
  );
  expect(failure).toBe("OpenAI did not read the text aloud.");
});
