// /v1 with split roles: the web passes streams, large bodies and forms on to the backend over HTTP.
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI, { toFile } from "openai";
import { startApiUser } from "./support/api-user.ts";
import { type Berth, startBerth } from "./support/berth.ts";
import { type Sqld, startSqld } from "./support/sqld.ts";
import { startUpstream, type Upstream } from "./support/upstream.ts";

const MODEL = "fake-small";

let sqld: Sqld;
let upstream: Upstream;
let backend: Berth;
let web: Berth;
let key: string;
beforeAll(async () => {
  [sqld, upstream] = await Promise.all([startSqld(), startUpstream({ key: "operator" })]);
  const shared = { DATABASE_URL: sqld.url, SECRET_KEY: "openai-test-root-key-0123456789abcdefgh", RATE_LIMITS: "off" };
  const provider = { PROVIDER_3_BASE_URL: upstream.url, PROVIDER_3_API_KEY: "operator" };
  backend = await startBerth({ env: { ...shared, ...provider, ROLE: "backend" } });
  web = await startBerth({ env: { ...shared, ROLE: "web", BACKEND_URL: backend.backend } });
  key = await startApiUser(web);
});
afterAll(async () => {
  await web?.[Symbol.asyncDispose]();
  await backend?.[Symbol.asyncDispose]();
  await upstream?.stop();
  await sqld?.stop();
});
beforeEach(() => upstream.reset());

const openai = () => new OpenAI({ apiKey: key, baseURL: `${web.web}/v1`, maxRetries: 0 });
const messages = [{ role: "user" as const, content: "Hello there" }];
const errorOf = (pending: Promise<unknown>) =>
  pending.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );

test("streams come in pieces, and end with the client", async () => {
  upstream.script({ text: "a b c", paceMs: 20 });
  const stream = await openai().chat.completions.create({ model: MODEL, messages, stream: true });
  const texts: string[] = [];
  for await (const { choices } of stream) if (choices[0]?.delta.content) texts.push(choices[0].delta.content);
  expect(texts).toEqual(["a", " b", " c"]);
  upstream.script({ text: "word ".repeat(300), paceMs: 20 });
  const left = await openai().responses.create({ model: MODEL, input: "Hi", stream: true });
  for await (const event of left) if (event.type === "response.output_text.delta") break;
  await upstream.waitFor(({ requests }) => requests.some(({ outcome }) => outcome === "aborted"));
});

test("stored state, large bodies, forms and Anthropic's messages pass", async () => {
  const first = await openai().responses.create({ model: MODEL, input: "One" });
  const second = await openai().responses.create({ model: MODEL, input: "Two", previous_response_id: first.id });
  expect(second.output_text).toBe("echo: Two");
  const url = `data:image/png;base64,${"A".repeat(2 * 1024 * 1024)}`;
  const content = [
    { type: "text" as const, text: "What?" },
    { type: "image_url" as const, image_url: { url } },
  ];
  const pictures = Array.from({ length: 6 }, () =>
    openai().chat.completions.create({ model: MODEL, messages: [{ role: "user", content }] }),
  );
  // From one address four large bodies are taken at once; the web's own is not one of them.
  const ends = await Promise.allSettled(pictures);
  expect(ends.filter(({ status }) => status === "fulfilled").length).toBeGreaterThanOrEqual(4);
  const file = await toFile(Buffer.from("fLaC no sound"), "voice.flac");
  const heard = await openai().audio.transcriptions.create({ file, model: "whisper-1" });
  expect(heard.text).toStartWith("I hear");
  const anthropic = new Anthropic({ apiKey: key, baseURL: web.web, maxRetries: 0 });
  const message = await anthropic.messages.stream({ model: MODEL, max_tokens: 50, messages }).finalMessage();
  expect(message.content).toMatchObject([{ type: "text", text: "echo: Hello there" }]);
});

test("errors keep their form, also of a backend that is down", async () => {
  upstream.failNext(1, { status: 429, message: "Slow down.", retryAfter: 3 });
  const busy = await errorOf(openai().chat.completions.create({ model: MODEL, messages }));
  expect(busy).toBeInstanceOf(OpenAI.RateLimitError);
  expect((busy as InstanceType<typeof OpenAI.APIError>).headers?.get("retry-after")).toBe("3");
  await backend.stop();
  expect(await errorOf(openai().models.list())).toMatchObject({ status: 502, code: "BACKEND_UNAVAILABLE" });
});
