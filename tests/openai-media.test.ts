// Recordings, speech and pictures under /v1, as OpenAI's own client and the AI SDK use them; priced and within budgets.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { createOpenAI } from "@ai-sdk/openai";
import { generateImage, generateSpeech, transcribe } from "ai";
import OpenAI, { toFile } from "openai";
import { startApiUser } from "./support/api-user.ts";
import { type Berth, startBerth } from "./support/berth.ts";
import { createClient } from "./support/client.ts";
import { eventually } from "./support/eventually.ts";
import { sound } from "./support/sounds.ts";
import { startUpstream, type Upstream } from "./support/upstream.ts";
import { ONE_POINT_PNG } from "./support/upstream-pictures.ts";

const PUBLIC_BUDGET = 0.1;

let upstream: Upstream;
let berth: Berth;
let key: string;
let ogg: Buffer<ArrayBuffer>;
let mp3: Buffer<ArrayBuffer>;
beforeAll(async () => {
  upstream = await startUpstream({ key: "operator" });
  // The real prices of OpenAI, at a fake of it.
  const env = { PROVIDER_5_BASE_URL: upstream.url, PROVIDER_5_API_KEY: "operator", RATE_LIMITS: "off" };
  berth = await startBerth({ env: { ...env, AI_PUBLIC_BUDGET_USD_PER_DAY: String(PUBLIC_BUDGET) } });
  [key, ogg, mp3] = await Promise.all([startApiUser(berth), sound("ogg"), sound("mp3")]);
});
afterAll(async () => {
  await berth?.[Symbol.asyncDispose]();
  await upstream?.stop();
});
beforeEach(() => {
  upstream.reset();
  upstream.scriptAudio({ hears: () => "Good morning.", speaks: () => mp3 });
});

const errorOf = (pending: Promise<unknown>) =>
  pending.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
describe.each(["web", "backend"] as const)("the openai package on the %s port", (side) => {
  const client = (apiKey = key) => new OpenAI({ apiKey, baseURL: `${berth[side]}/v1`, maxRetries: 0 });

  test("has recordings written down, in the format that it names", async () => {
    const file = await toFile(ogg, "voice.ogg", { type: "audio/ogg" });
    const { text } = await client().audio.transcriptions.create({ file, model: "whisper-1", language: "en" });
    expect(text).toBe("Good morning.");
    expect(upstream.heard[0]).toMatchObject({
      model: "whisper-1",
      language: "en",
      format: "ogg",
      responseFormat: "json",
    });
    expect(upstream.heard[0]?.bytes).toEqual(ogg);
    const verbose = await client().audio.transcriptions.create({
      file: await toFile(mp3, "voice.mp3"),
      model: "whisper-1",
      response_format: "verbose_json",
      timestamp_granularities: ["segment"],
    });
    expect(verbose).toMatchObject({ text: "Good morning.", language: "english" });
  });

  test("has texts read aloud", async () => {
    const answer = await client().audio.speech.create({ model: "tts-1", voice: "nova", input: "Good morning." });
    expect(answer.headers.get("content-type")).toBe("audio/mpeg");
    expect(Buffer.from(await answer.arrayBuffer())).toEqual(mp3);
    expect(upstream.spoken).toMatchObject([{ model: "tts-1", voice: "nova", responseFormat: "mp3" }]);
  });

  test("has pictures made, at medium quality", async () => {
    const { data, usage } = await client().images.generate({
      model: "gpt-image-1",
      prompt: "A ship",
      size: "1024x1024",
    });
    expect(data?.[0]?.b64_json).toBe(Buffer.from(ONE_POINT_PNG).toString("base64"));
    expect(usage?.output_tokens).toBeGreaterThan(0);
    expect(upstream.painted).toMatchObject([{ prompt: "A ship", size: "1024x1024", quality: "medium" }]);
  });

  test("reads errors in their typed form", async () => {
    const broken = await toFile(Buffer.from("no sound at all"), "voice.ogg");
    const refused = await errorOf(client().audio.transcriptions.create({ file: broken, model: "whisper-1" }));
    expect(refused).toBeInstanceOf(OpenAI.BadRequestError);
    expect(refused).toMatchObject({ param: "file", code: "INVALID_INPUT" });
    const dear = await errorOf(client().images.generate({ model: "gpt-image-1", prompt: "A ship", quality: "high" }));
    expect(dear).toMatchObject({ status: 400, param: "quality" });
    const format = "ogg" as "mp3";
    const odd = client().audio.speech.create({ model: "tts-1", voice: "nova", input: "Hi", response_format: format });
    expect(await errorOf(odd)).toMatchObject({ status: 400, param: "response_format" });
    upstream.scriptAudio({ speaks: () => ({ status: 429, message: "Slow down." }) });
    const busy = await errorOf(client().audio.speech.create({ model: "tts-1", voice: "nova", input: "Hi" }));
    expect(busy).toBeInstanceOf(OpenAI.RateLimitError);
    expect(upstream.heard).toEqual([]);
  });

  test("cancels the provider's call when it gives up", async () => {
    upstream.scriptAudio({ speaks: () => ({ hang: true }) });
    const leaving = new AbortController();
    const pending = client().audio.speech.create(
      { model: "tts-1", voice: "nova", input: "Hi" },
      { signal: leaving.signal },
    );
    await upstream.waitFor(({ spoken }) => spoken.length > 0);
    leaving.abort();
    expect(await errorOf(pending)).toBeInstanceOf(OpenAI.APIUserAbortError);
    await upstream.waitFor(({ requests }) => requests.some(({ outcome }) => outcome === "aborted"));
  });
});

describe("the AI SDK", () => {
  const provider = () => createOpenAI({ apiKey: key, baseURL: `${berth.web}/v1` });

  test("writes down, speaks and paints", async () => {
    expect((await transcribe({ model: provider().transcription("whisper-1"), audio: ogg })).text).toBe("Good morning.");
    const { audio } = await generateSpeech({ model: provider().speech("tts-1"), text: "Good morning." });
    expect(Buffer.from(audio.uint8Array)).toEqual(mp3);
    const { image } = await generateImage({ model: provider().image("gpt-image-1"), prompt: "A ship" });
    expect(image.base64).toBe(Buffer.from(ONE_POINT_PNG).toString("base64"));
  });
});

describe("budgets", () => {
  test("pay the price of each call", async () => {
    const client = createClient(berth);
    await client.join();
    const { body } = await client.post<{ key: string }>("/api/keys", { name: "clients" });
    const openai = new OpenAI({ apiKey: body.key, baseURL: `${berth.web}/v1`, maxRetries: 0 });
    await openai.audio.speech.create({ model: "tts-1", voice: "nova", input: "x".repeat(1_000) });
    await openai.images.generate({ model: "gpt-image-1", prompt: "A ship" });
    await openai.audio.transcriptions.create({ file: await toFile(ogg, "voice.ogg"), model: "whisper-1" });
    // 1,000 characters at 15 USD a million, the picture's tokens at 5 and 40, two seconds at 0.006 a minute.
    const expected = 0.015 + (50 * 5 + 1_056 * 40) / 1e6 + (2 / 60) * 0.006;
    await eventually(async () => {
      const { body: usage } = await client.get<{ total: { costUsd: number; calls: number } }>("/api/usage");
      return usage.total.calls === 3 && Math.abs(usage.total.costUsd - expected) < 0.0005;
    });
  });

  test("can't be overrun by pictures of callers without an account, sent at once", async () => {
    const client = new OpenAI({ apiKey: "sk-whatever", baseURL: `${berth.backend}/v1`, maxRetries: 0 });
    const paint = () => client.images.generate({ model: "gpt-image-1", prompt: "A ship" });
    const ends = await Promise.allSettled(Array.from({ length: 12 }, paint));
    const refused = ends.flatMap((end) => (end.status === "rejected" ? [end.reason] : []));
    expect(refused.length).toBeGreaterThan(0);
    for (const error of refused)
      expect(error).toMatchObject({ status: 402, code: "BUDGET_EXCEEDED", type: "insufficient_quota" });
    const estimated = (ends.length - refused.length) * 0.042;
    expect(estimated).toBeLessThanOrEqual(PUBLIC_BUDGET);
  });

  test("can't be overrun by responses and messages, streamed or not, sent at once", async () => {
    const env = { PROVIDER_5_BASE_URL: upstream.url, PROVIDER_5_API_KEY: "operator", RATE_LIMITS: "off" };
    await using poor = await startBerth({ env: { ...env, AI_PUBLIC_BUDGET_USD_PER_DAY: "0.1" } });
    // Each may write 4,096 tokens at 10 USD a million: two fit.
    upstream.script({ text: "word ".repeat(20), delayMs: 300 });
    const send = (path: string, body: object) =>
      fetch(`${poor.backend}/v1/${path}`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ model: "gpt-4o", ...body }),
      });
    const messages = [{ role: "user", content: "Hi" }];
    const answers = await Promise.all(
      [false, true, false, true].flatMap((stream) => [
        send("responses", { input: "Hi", stream }),
        send("messages", { messages, max_tokens: 1_000_000, stream }),
      ]),
    );
    const served = answers.filter(({ status }) => status === 200);
    expect(served).toHaveLength(2);
    expect(upstream.chats).toHaveLength(2);
    expect(upstream.chats.map(({ body }) => body.max_completion_tokens)).toEqual([4_096, 4_096]);
    for (const answer of answers) {
      const text = await answer.text();
      if (answer.status !== 200)
        expect([answer.status, text]).toEqual([402, expect.stringContaining("BUDGET_EXCEEDED")]);
    }
  });
});
