// Who may use /v1 of the web port, and the form of every error there.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { embed, generateText, streamText } from "ai";
import OpenAI from "openai";
import { startApiUser } from "./support/api-user.ts";
import { type Berth, startBerth } from "./support/berth.ts";
import { createClient } from "./support/client.ts";
import { startUpstream, type Upstream } from "./support/upstream.ts";

const MODEL = "fake-small";

let upstream: Upstream;
let berth: Berth;
let key: string;
beforeAll(async () => {
  upstream = await startUpstream({ key: "operator", models: [MODEL, "org/fake-embed"] });
  const env = { PROVIDER_3_BASE_URL: upstream.url, PROVIDER_3_API_KEY: "operator", RATE_LIMITS: "off" };
  berth = await startBerth({ env });
  key = await startApiUser(berth);
});
afterAll(async () => {
  await berth?.[Symbol.asyncDispose]();
  await upstream?.stop();
});
beforeEach(() => upstream.reset());

const messages = [{ role: "user" as const, content: "Hello there" }];
const send = (path: string, init: RequestInit = {}, from = berth) => fetch(`${from.web}${path}`, init);
const json = (body: unknown, headers: Record<string, string> = {}) => ({
  method: "POST",
  headers: { "content-type": "application/json", ...headers },
  body: typeof body === "string" ? body : JSON.stringify(body),
});
const withKey = () => ({ authorization: `Bearer ${key}` });
const chat = (headers: Record<string, string>, from?: Berth) =>
  send("/v1/chat/completions", json({ model: MODEL, messages }, headers), from);

describe("on the web port", () => {
  test("a key, as bearer token or as x-api-key, and a session are served", async () => {
    const client = createClient(berth);
    await client.join();
    const session = { cookie: client.cookie, origin: berth.web };
    for (const headers of [withKey(), { "x-api-key": key }, session]) {
      const answer = await chat(headers);
      expect([answer.status, await answer.json()]).toMatchObject([
        200,
        { choices: [{ message: { content: "echo: Hello there" } }] },
      ]);
      expect(answer.headers.get("x-berth-model")).toBe(`provider_3:${MODEL}`);
    }
    expect(upstream.chats.map(({ headers }) => headers.authorization)).toEqual(Array(3).fill("Bearer operator"));
  });

  test("a session is not, from a page of another site", async () => {
    const client = createClient(berth);
    await client.join();
    const answer = await chat({ cookie: client.cookie, origin: "https://evil.example" });
    expect([answer.status, await answer.json()]).toMatchObject([403, { error: { code: "FOREIGN_ORIGIN" } }]);
  });

  test("nobody without an account is served, whatever key they send", async () => {
    const paths = [
      ["GET", "/v1/models"],
      ["GET", `/v1/models/${MODEL}`],
      ["GET", "/v1/responses/resp_1"],
      ["DELETE", "/v1/responses/resp_1"],
      ["POST", "/v1/chat/completions"],
      ["POST", "/v1/responses"],
      ["POST", "/v1/embeddings"],
      ["POST", "/v1/audio/speech"],
      ["POST", "/v1/audio/transcriptions"],
      ["POST", "/v1/images/generations"],
    ] as const;
    for (const [method, path] of paths) {
      for (const headers of [
        {},
        { authorization: "Bearer sk-whatever" },
        { authorization: `Bearer bk_${"A".repeat(43)}` },
      ]) {
        // The body is not looked at.
        const init = method === "POST" ? { ...json("{ not JSON", headers), method } : { method, headers };
        const answer = await send(path, init);
        expect([method, path, answer.status, await answer.json()]).toMatchObject([
          method,
          path,
          401,
          { error: { type: "authentication_error", code: "UNAUTHORIZED", param: null, message: expect.any(String) } },
        ]);
      }
    }
    expect(upstream.chats).toEqual([]);
  });

  test("is served to everybody with AI_PUBLIC_ON_WEB=on, until the public budget is 0", async () => {
    const env = { PROVIDER_3_BASE_URL: upstream.url, PROVIDER_3_API_KEY: "operator", AI_PUBLIC_ON_WEB: "on" };
    await using open = await startBerth({ env });
    expect((await chat({ authorization: "Bearer sk-whatever" }, open)).status).toBe(200);
    expect((await chat({}, open)).status).toBe(200);
    await open.restart({ env: { AI_PUBLIC_BUDGET_USD_PER_DAY: "0" } });
    const closed = await chat({}, open);
    expect([closed.status, await closed.json()]).toMatchObject([401, { error: { code: "UNAUTHORIZED" } }]);
  });

  test("a key without the scope chat is refused", async () => {
    const client = createClient(berth);
    await client.join();
    const { body } = await client.post<{ key: string }>("/api/keys", { name: "r", scopes: ["read"] });
    const answer = await chat({ authorization: `Bearer ${body.key}` });
    expect([answer.status, await answer.json()]).toMatchObject([
      403,
      { error: { code: "MISSING_SCOPE", type: "permission_error" } },
    ]);
  });

  test("a stream comes in pieces, byte for byte, and ends with the client", async () => {
    upstream.script({ text: "a b c", paceMs: 30 });
    const body = { model: MODEL, messages, stream: true, stream_options: { include_usage: true } };
    const answer = await send("/v1/chat/completions", json(body, withKey()));
    expect(answer.headers.get("content-type")).toStartWith("text/event-stream");
    let pieces = 0;
    let text = "";
    for await (const piece of answer.body ?? []) {
      pieces++;
      text += Buffer.from(piece).toString();
    }
    expect(pieces).toBeGreaterThan(2);
    expect(text.trimEnd()).toEndWith("data: [DONE]");
    upstream.script({ text: "word ".repeat(300), paceMs: 20 });
    const leaving = new AbortController();
    const left = await fetch(`${berth.web}/v1/chat/completions`, { ...json(body, withKey()), signal: leaving.signal });
    await left.body?.getReader().read();
    leaving.abort();
    await upstream.waitFor(({ requests }) => requests.some(({ outcome }) => outcome === "aborted"));
  });

  test("a stream that the provider breaks off breaks off for the client, too", async () => {
    upstream.script({ text: "a b c d", cutAfter: 3 });
    const answer = await send("/v1/chat/completions", json({ model: MODEL, messages, stream: true }, withKey()));
    expect(answer.status).toBe(200);
    await expect(answer.text()).rejects.toThrow();
  });
});

describe("every error under /v1 has OpenAI's form", () => {
  const errorOf = async (answer: Response) => {
    const body = (await answer.json()) as { error: Record<string, unknown> };
    expect(Object.keys(body)).toEqual(["error"]);
    expect(answer.headers.get("x-request-id")).toBeTruthy();
    for (const field of ["message", "type", "code", "param"]) expect(body.error).toHaveProperty(field);
    return { status: answer.status, ...body.error };
  };

  test.each(["web", "backend"] as const)("on the %s port", async (side) => {
    const at = (path: string, init: RequestInit = {}) =>
      fetch(`${berth[side]}${path}`, {
        ...init,
        headers: { ...withKey(), ...(init.headers as Record<string, string>) },
      });
    expect(await errorOf(await at("/v1/no-such-thing"))).toMatchObject({
      status: 404,
      type: "not_found_error",
      code: "NOT_FOUND",
    });
    expect(await errorOf(await at("/v1/assistants", json({})))).toMatchObject({ status: 404 });
    const page = await at("/v1/no-such-thing", { headers: { accept: "text/html" } });
    expect(await errorOf(page)).toMatchObject({ status: 404 });
    expect(await errorOf(await at("/v1/chat/completions", json("{ no")))).toMatchObject({
      status: 400,
      code: "INVALID_JSON",
      type: "invalid_request_error",
    });
    const invalid = json({
      model: MODEL,
      messages: [
        { role: "user", content: "a" },
        { role: "pirate", content: "b" },
      ],
    });
    expect(await errorOf(await at("/v1/chat/completions", invalid))).toMatchObject({
      status: 400,
      code: "INVALID_INPUT",
      param: "messages[1].role",
    });
    expect(await errorOf(await at("/v1/embeddings", { method: "POST", body: "x=1" }))).toMatchObject({ status: 415 });
    expect(await errorOf(await at("/v1/audio/transcriptions", json({})))).toMatchObject({ status: 400, param: "file" });
    const large = json({ model: MODEL, messages: [{ role: "user", content: "x".repeat(9 * 1024 * 1024) }] });
    expect(await errorOf(await at("/v1/chat/completions", large))).toMatchObject({
      status: 413,
      code: "BODY_TOO_LARGE",
    });
    expect(await errorOf(await at("/v1/models/no-such-model"))).toMatchObject({ status: 404, code: "UNKNOWN_MODEL" });
    upstream.failNext(1, { status: 503 });
    const failed = await at("/v1/responses", json({ model: MODEL, input: "Hi" }));
    expect(await errorOf(failed)).toMatchObject({ status: 502, type: "server_error", code: "PROVIDER_FAILED" });
  });

  test("also of a limit, and Anthropic's under /v1/messages", async () => {
    const env = { PROVIDER_3_BASE_URL: upstream.url, PROVIDER_3_API_KEY: "operator", RATE_LIMITS: '{"ai":"2/m"}' };
    await using strict = await startBerth({ env });
    const own = await startApiUser(strict);
    const answers = [];
    for (let n = 0; n < 3; n++) answers.push(await chat({ authorization: `Bearer ${own}` }, strict));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 429]);
    const last = answers[2] as Response;
    expect(last.headers.get("retry-after")).toMatch(/^\d+$/);
    expect(await errorOf(last)).toMatchObject({ type: "rate_limit_error", code: "RATE_LIMITED" });
    const asked = { model: MODEL, max_tokens: 5, messages };
    const anthropic = await send("/v1/messages", json(asked, { "x-api-key": own }), strict);
    expect([anthropic.status, await anthropic.json()]).toMatchObject([
      429,
      {
        type: "error",
        error: { type: "rate_limit_error", message: expect.any(String) },
        request_id: expect.any(String),
      },
    ]);
    // What costs nothing is not counted.
    expect((await send("/v1/models", { headers: { authorization: `Bearer ${own}` } }, strict)).status).toBe(200);
  });

  test("outside of /v1 they stay as they are", async () => {
    const answer = await send("/api/no-such-thing");
    expect(await answer.json()).toMatchObject({ code: "NOT_FOUND", error: expect.any(String) });
  });
});

describe("pictures in a request", () => {
  test("may make it larger than a mebibyte", async () => {
    const url = `data:image/png;base64,${"A".repeat(3 * 1024 * 1024)}`;
    const client = new OpenAI({ apiKey: key, baseURL: `${berth.web}/v1`, maxRetries: 0 });
    const content = [
      { type: "text" as const, text: "What is it?" },
      { type: "image_url" as const, image_url: { url } },
    ];
    const answer = await client.chat.completions.create({ model: MODEL, messages: [{ role: "user", content }] });
    expect(answer.choices[0]?.message.content).toBe("echo: What is it?");
  });
});

test("without files a request may not be larger than a mebibyte, since it takes long to check", async () => {
  const many = Array.from({ length: 60_000 }, () => ({ role: "user", content: "a" }));
  // More of them than are taken at once: those that were refused are no longer in work.
  for (const side of ["web", "backend"] as const) {
    for (let n = 0; n < 10; n++) {
      const init = json({ model: MODEL, messages: many }, withKey());
      const answer = await fetch(`${berth[side]}/v1/chat/completions`, init);
      expect([answer.status, await answer.json()]).toMatchObject([413, { error: { code: "BODY_TOO_LARGE" } }]);
    }
  }
});

describe("the AI SDK's OpenAI-compatible provider", () => {
  const provider = () => createOpenAICompatible({ name: "berth", apiKey: key, baseURL: `${berth.web}/v1` });

  test("gets texts, streams and embeddings", async () => {
    expect((await generateText({ model: provider()(MODEL), prompt: "Hello" })).text).toBe("echo: Hello");
    expect(await streamText({ model: provider()(MODEL), prompt: "Hello" }).text).toBe("echo: Hello");
    const { embedding } = await embed({ model: provider().embeddingModel("org/fake-embed"), value: "one" });
    expect(embedding).toHaveLength(8);
  });

  test("an id with a slash is found, encoded or not", async () => {
    upstream.script("ok");
    for (const id of [MODEL, encodeURIComponent(`provider_3:${MODEL}`)]) {
      const answer = await send(`/v1/models/${id}`, { headers: withKey() });
      expect([answer.status, await answer.json()]).toMatchObject([
        200,
        { id: decodeURIComponent(id), object: "model" },
      ]);
    }
  });
});
