// A model of a provider is asked once for an Idempotency-Key, by each of the protocols; and what clients see that are set up wrongly.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { createClient } from "../../../tests/support/client.ts";
import { openServer, type TestServer } from "../../../tests/support/server.ts";
import { startUpstream, type Upstream } from "../../../tests/support/upstream.ts";

let upstream: Upstream;
let server: TestServer;
let key: string;
beforeAll(async () => {
  upstream = await startUpstream();
  server = await openServer({
    env: { PROVIDER_3_BASE_URL: upstream.url, MODEL_A: "provider_3:fake-small", OUTBOUND_ALLOW: "127.0.0.0/8" },
  });
  const owner = createClient(server.web);
  await owner.join();
  key = (await owner.post<{ key: string }>("/api/keys", { name: "k", scopes: ["chat"] })).body.key;
});
afterAll(async () => {
  await server?.[Symbol.asyncDispose]();
  await upstream?.stop();
});

const MODEL = "provider_3:fake-small";
const openai = (baseURL = `${server.web}/v1`, apiKey = key) => new OpenAI({ apiKey, baseURL, maxRetries: 0 });
const anthropic = (baseURL = server.web) => new Anthropic({ apiKey: key, baseURL, maxRetries: 0 });
const say = (content: string) => ({ model: MODEL, messages: [{ role: "user" as const, content }] });
const errorOf = (pending: Promise<unknown>) =>
  pending.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );

describe.each(["web", "backend"] as const)("a repeated request with a key, on the %s", (side) => {
  const base = () => `${server[side]}/v1`;

  test("gets the first answer, and the provider is asked once", async () => {
    const before = upstream.chats.length;
    const headers = { "Idempotency-Key": `chat-${side}` };
    const [first, second] = await Promise.all(
      [1, 2].map(() => openai(base()).chat.completions.create(say("Hello"), { headers })),
    );
    const third = await openai(base()).chat.completions.create(say("Hello"), { headers });
    expect(new Set([first?.id, second?.id, third.id]).size).toBe(1);
    expect(upstream.chats.length).toBe(before + 1);
  });

  test("is refused if the body is another", async () => {
    const headers = { "Idempotency-Key": `other-${side}` };
    await openai(base()).chat.completions.create(say("One"), { headers });
    const refused = await errorOf(openai(base()).chat.completions.create(say("Two"), { headers }));
    expect(refused).toMatchObject({ status: 409, code: "IDEMPOTENCY_MISMATCH" });
  });

  test("has one response and one message as well", async () => {
    const before = upstream.chats.length;
    const headers = { "Idempotency-Key": `more-${side}` };
    const respond = () => openai(base()).responses.create({ model: MODEL, input: "Hello" }, { headers });
    expect((await respond()).id).toBe((await respond()).id);
    const message = () =>
      anthropic(server[side]).messages.create({ ...say("Hello"), max_tokens: 50 }, { headers: { ...headers } });
    expect((await message()).id).toBe((await message()).id);
    expect(upstream.chats.length).toBe(before + 2);
  });

  test("streams anew, since streams are not kept", async () => {
    const before = upstream.chats.length;
    const headers = { "Idempotency-Key": `stream-${side}` };
    for (let n = 0; n < 2; n++) {
      const stream = await openai(base()).chat.completions.create({ ...say("Hello"), stream: true }, { headers });
      for await (const chunk of stream) expect(chunk.object).toBe("chat.completion.chunk");
    }
    expect(upstream.chats.length).toBe(before + 2);
  });
});

describe("a client with a wrong base URL", () => {
  test("is told that /v1 is missing", async () => {
    const refused = await errorOf(openai(server.web).chat.completions.create(say("Hello")));
    expect(refused).toMatchObject({
      status: 404,
      code: "NOT_FOUND",
      message: expect.stringContaining("Is /v1 missing"),
    });
  });

  test.each(["web", "backend"] as const)("gets the answer of /v1 itself in OpenAI's form on the %s", async (side) => {
    for (const method of ["GET", "POST"]) {
      const headers = { authorization: `Bearer ${key}`, accept: "text/html", "user-agent": "Mozilla/5.0" };
      const answer = await fetch(`${server[side]}/v1`, { method, headers });
      expect(answer.status).toBe(404);
      expect(await answer.json()).toMatchObject({
        error: { message: expect.any(String), type: "not_found_error", code: "NOT_FOUND", param: null },
      });
    }
  });

  test("is told that /v1 is there twice, in its own form and with the request's id", async () => {
    const ask = anthropic(`${server.web}/v1`).messages.create({ ...say("Hello"), max_tokens: 50 });
    expect(await errorOf(ask)).toMatchObject({
      status: 404,
      requestID: expect.any(String),
      error: { type: "error", error: { message: expect.stringContaining("/v1 is in it twice") } },
    });
  });
});

test("a key that was revoked, and one of somebody else's, are told apart from none", async () => {
  const ask = (authorization?: string) =>
    createClient(server.web).get("/api/settings", { headers: authorization ? { authorization } : {} });
  expect((await ask(`Bearer bk_${"x".repeat(43)}`)).text).toContain("This API key is not valid");
  expect((await ask("Bearer sk-of-another-service")).text).toContain("no API key of Berth");
  expect((await ask()).text).toContain("Sign in first");
});

test("a provider that is not registered is not a part of a model's name", async () => {
  const before = upstream.chats.length;
  const ask = openai().chat.completions.create({ ...say("Hello"), model: "provider_99:fake-small" });
  expect(await errorOf(ask)).toMatchObject({ status: 404, code: "NO_MODELS" });
  expect(upstream.chats.length).toBe(before);
});
