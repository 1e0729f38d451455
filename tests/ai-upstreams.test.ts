// Failing providers: refusals, hangs, limits, errors, broken streams and huge responses lead to the right status, bounded
// memory, and a circuit breaker that opens and closes.

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { type Berth, startBerth } from "./support/berth.ts";
import { type Client, createClient } from "./support/client.ts";
import { eventually } from "./support/eventually.ts";
import { expectRefusal } from "./support/refusal.ts";
import { startUpstream, type Upstream } from "./support/upstream.ts";

const MIB = 1024 * 1024;
const HUGE = 100 * MIB;
const KEY = "sk-canary-operator-0123456789";

/** Two providers with the model `shared`, and one address where no server listens. */
let first: Upstream;
let second: Upstream;
let berth: Berth;
let backend: Client;

beforeAll(async () => {
  first = await startUpstream({ key: KEY, models: ["shared", "alone"] });
  second = await startUpstream({ models: ["shared"] });
  const gone = await startUpstream();
  await gone.stop();
  berth = await startBerth({
    env: {
      PROVIDER_1_API_KEY: KEY,
      PROVIDER_1_BASE_URL: first.url,
      PROVIDER_3_BASE_URL: second.url,
      PROVIDER_4_API_KEY: KEY,
      PROVIDER_4_BASE_URL: gone.url,
      AI_PUBLIC_BUDGET_USD_PER_DAY: "1000000",
      RATE_LIMITS: "off",
    },
  });
  backend = createClient(berth.backend);
  // Loads the providers' model lists.
  await backend.get("/api/ai/models");
});
afterAll(async () => {
  await berth?.[Symbol.asyncDispose]();
  await first?.stop();
  await second?.stop();
});
beforeEach(async () => {
  first.reset();
  second.reset();
  // A successful call, so that each test starts with a closed breaker.
  for (let n = 0; n < 2; n++) expect((await ask({ model: "provider_1:alone" })).status).toBe(200);
  first.reset();
});
afterEach(() => {
  expect(berth.running).toBe(true);
  const written = berth.output();
  expect(written.stderr).not.toContain("unhandled promise rejection");
  expect(written.stderr + written.stdout).not.toContain(KEY);
});

const messages = [{ role: "user", content: "Hello" }];
const ask = (body: object, path = "/v1/chat/completions") => backend.post(path, { messages, ...body });
const alone = (more: object = {}) => ask({ model: "provider_1:alone", ...more });

describe("a provider that", () => {
  test("refuses the connection: 502", async () => {
    expectRefusal(await ask({ model: "provider_4:claude-haiku-4-5" }), 502, "PROVIDER_UNREACHABLE");
  });

  test("hangs: other requests are not delayed, and a disconnect of the client ends the call", async () => {
    first.script({ hang: true });
    const leave = new AbortController();
    const stuck = Array.from({ length: 50 }, () =>
      backend.post("/v1/chat/completions", { model: "provider_1:alone", messages }, { signal: leave.signal }),
    );
    const all = Promise.allSettled(stuck);
    await first.waitFor(({ open }) => open === 50);
    expect((await ask({ model: "provider_3:shared" })).status).toBe(200);
    leave.abort();
    await all;
    await first.waitFor(({ open }) => open === 0);
  });

  test("limits: 429 with its Retry-After, although another provider has the model", async () => {
    for (const retryAfter of [17, "Wed, 21 Oct 2026 07:28:00 GMT"]) {
      first.failNext(1, { status: 429, retryAfter, message: `Limit reached for ${KEY}.` });
      const answer = await ask({ model: "provider_1:shared" });
      const { message } = expectRefusal(answer, 429, "PROVIDER_RATE_LIMITED");
      expect([answer.headers.get("retry-after"), message]).toEqual([
        String(retryAfter),
        expect.stringContaining("***"),
      ]);
    }
    expect(second.chats).toHaveLength(0);
  });

  test.each([400, 404, 413, 422])("refuses the request with %i: Berth returns the same status", async (status) => {
    first.failNext(1, { status, message: "Not like that." });
    const { message } = expectRefusal(await alone(), status, "PROVIDER_REFUSED");
    expect(message).toEndWith("refused the request: Not like that.");
  });

  test.each([301, 401, 402, 403, 307])("answers %i: 502, without the provider's text", async (status) => {
    const headers = { location: `${second.url}/chat/completions` };
    first.failNext(1, { status, message: "Secret words.", headers });
    expectRefusal(await alone(), 502, "PROVIDER_MISCONFIGURED");
    expect(second.requests).toHaveLength(0);
  });

  test.each([500, 502, 503, 529])("fails with %i: 502, or the next provider with the model", async (status) => {
    first.failNext(2, { status, message: "Secret words.", body: `<html>Secret words.</html>` });
    const { message } = expectRefusal(await alone(), 502, "PROVIDER_FAILED");
    expect(message).not.toContain("Secret");
    const answer = await ask({ model: "shared" });
    expect([answer.status, answer.headers.get("x-berth-model")]).toEqual([200, "provider_3:shared"]);
  });

  test("closes the connection without a response: 502, or the next provider", async () => {
    first.failNext(2, { cutAfter: 0 });
    expectRefusal(await alone({ stream: true }), 502, "PROVIDER_UNREACHABLE");
    expect((await ask({ model: "shared", stream: true })).headers.get("x-berth-model")).toBe("provider_3:shared");
  });

  test("cuts the stream: its beginning is passed on, and the response does not look complete", async () => {
    first.failNext(1, { text: "one two three four", cutAfter: 3 });
    const answer = await backend.fetch("POST", "/v1/chat/completions", { model: "shared", stream: true, messages });
    let text = "";
    const reading = (async () => {
      for await (const part of answer.body ?? []) text += Buffer.from(part).toString();
    })();
    expect(await reading.catch(() => "broken off")).toBe("broken off");
    expect(text).toContain("one");
    expect(text).not.toContain("[DONE]");
    expect(second.chats).toHaveLength(0);
  });

  test("sends broken JSON or broken frames: they are passed on unchanged", async () => {
    first.script({ broken: "json" });
    const whole = await backend.fetch("POST", "/v1/chat/completions", { model: "provider_1:alone", messages });
    expect([whole.status, await whole.text()]).toEqual([200, '{"id":"chatcmpl-1","choices":[{"mess']);
    first.script({ broken: "frame" });
    const { status, text } = await alone({ stream: true });
    expect([status, text]).toEqual([200, 'data: {"id":"chatcmpl-1","choi\n\ndata: [DONE]\n\n']);
  });
});

describe("a hundred megabytes", () => {
  /** The largest growth of the service's memory during `work`, in bytes (Linux). */
  async function growth(work: () => Promise<unknown>): Promise<number> {
    const memory = () => {
      const { stdout } = Bun.spawnSync(["grep", "VmRSS", `/proc/${berth.pid}/status`]);
      return Number(/\d+/.exec(stdout.toString())?.[0]) * 1024;
    };
    const before = memory();
    let most = before;
    const timer = setInterval(() => {
      most = Math.max(most, memory());
    }, 20);
    await work().finally(() => clearInterval(timer));
    return Math.max(most, memory()) - before;
  }

  async function received(response: Response): Promise<number> {
    let size = 0;
    for await (const part of response.body ?? []) size += part.byteLength;
    return size;
  }

  /** Calls a provider that answers every chat with this response. */
  async function from(answer: () => Response, more: object = {}) {
    const flood = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      idleTimeout: 0,
      fetch: ({ method }) => (method === "GET" ? Response.json({ data: [{ id: "m" }] }) : answer()),
    });
    const own = await startBerth({ env: { PROVIDER_3_BASE_URL: `http://127.0.0.1:${flood.port}/v1` } });
    const before = { berth, backend };
    berth = own;
    backend = createClient(own.backend);
    try {
      const response = await backend.fetch("POST", "/v1/chat/completions", { model: "m", messages, ...more });
      let size = 0;
      const grown = await growth(async () => {
        size = await received(response);
      });
      return { status: response.status, size, grown };
    } finally {
      ({ berth, backend } = before);
      await own[Symbol.asyncDispose]();
      await flood.stop(true);
    }
  }
  const part = Buffer.alloc(MIB, "abcdefg ");
  async function* parts() {
    for (let n = 0; n < 100; n++) yield part;
  }

  test.each([
    ["of a known length", () => new Response(Buffer.alloc(HUGE, 97)), {}],
    ["of an unknown length", () => new Response(parts()), {}],
    ["of a stream without a single line", () => new Response(parts()), { stream: true }],
    ["unpacked from a few kilobytes", () => new Response(packed, { headers: { "content-encoding": "gzip" } }), {}],
  ])("%s are passed on, and not held", async (_, answer, more) => {
    const { status, size, grown } = await from(answer, more);
    expect([status, size]).toEqual([200, HUGE]);
    expect(grown).toBeLessThan(64 * MIB);
  });

  test("of an error response are not read", async () => {
    for (const status of [400, 500]) {
      const { size, grown, ...seen } = await from(() => new Response(Buffer.alloc(HUGE, 97), { status }));
      expect(seen.status).toBe(status === 400 ? 400 : 502);
      expect(size).toBeLessThan(1000);
      expect(grown).toBeLessThan(64 * MIB);
    }
  });
});

const packed = Bun.gzipSync(Buffer.alloc(HUGE, 97));

describe("the breaker", () => {
  const breakerOf = async (provider: string) => {
    const { text } = await backend.get("/metrics");
    return Number(new RegExp(`^berth_ai_breaker_open\\{provider="${provider}"\\} (\\S+)$`, "m").exec(text)?.[1]);
  };
  const health = () => backend.get<{ status: string; providers: Record<string, boolean> }>("/api/ai/health");

  test("opens after repeated failures, lets one test call through, and closes", async () => {
    expect((await health()).body).toMatchObject({
      status: "degraded",
      providers: { provider_1: true, provider_4: false },
    });
    first.failNext(100, 500);
    for (let n = 0; n < 8; n++) expectRefusal(await alone(), 502, "PROVIDER_FAILED");
    // Open: the provider gets no call, the caller gets Retry-After, and a model with a second provider still works.
    const refused = await alone();
    expectRefusal(refused, 502, "PROVIDER_RESTING");
    expect(Number(refused.headers.get("retry-after"))).toBeWithin(1, 6);
    expect(first.chats).toHaveLength(8);
    expect(await breakerOf("provider_1")).toBe(1);
    expect((await health()).body).toMatchObject({
      status: "degraded",
      providers: { provider_1: false, provider_3: true },
    });
    expect((await ask({ model: "shared" })).headers.get("x-berth-model")).toBe("provider_3:shared");
    expect(first.chats).toHaveLength(8);
    // Half-open: one call goes through and fails, so the breaker stays open for longer.
    await eventually(async () => (await breakerOf("provider_1")) === 0.5, { timeoutMs: 8_000, everyMs: 100 });
    const crowd = await Promise.all(Array.from({ length: 10 }, () => alone()));
    expect(crowd.map(({ status }) => status)).toEqual(Array(10).fill(502));
    expect(first.chats).toHaveLength(9);
    // Then a call succeeds.
    first.reset();
    const back = await eventually(async () => (await alone()).status === 200, { timeoutMs: 15_000, everyMs: 200 });
    expect(back).toBe(true);
    expect(await breakerOf("provider_1")).toBe(0);
    expect((await health()).body.providers).toMatchObject({ provider_1: true });
    const { text } = await backend.get("/metrics");
    expect(text).toMatch(/^berth_ai_calls_total\{provider="provider_1",end="resting"\} \d+$/m);
  });

  test("ignores refusals, limits, and disconnecting clients", async () => {
    for (const status of [400, 401, 404, 422, 429]) {
      first.failNext(8, status);
      for (let n = 0; n < 8; n++) await alone();
    }
    first.script({ hang: true });
    for (let n = 0; n < 10; n++) {
      const leave = new AbortController();
      const callsBefore = backend
        .post("/v1/chat/completions", { model: "provider_1:alone", messages }, { signal: leave.signal })
        .catch(() => undefined);
      await first.waitFor(({ open }) => open === 1);
      leave.abort();
      await callsBefore;
      await first.waitFor(({ open }) => open === 0);
    }
    expect(await breakerOf("provider_1")).toBe(0);
  });
});

test("if no provider can be reached, health is 503 with the health body", async () => {
  await using own = await startBerth({
    env: { PROVIDER_1_API_KEY: KEY, PROVIDER_1_BASE_URL: "http://127.0.0.1:9/v1", RATE_LIMITS: "off" },
  });
  const client = createClient(own.backend);
  const down = await client.get<{ status: string; error: string }>("/api/ai/health");
  expectRefusal(down, 503, "AI_UNAVAILABLE");
  expect(down.body).toMatchObject({ status: "error", providers: { provider_1: false } });
  expectRefusal(await client.post("/api/ai/models/select", {}), 404, "NO_MODELS");
  expectRefusal(await client.post("/api/ai/chat", { messages }), 502, "PROVIDER_UNREACHABLE");
  const { body } = await client.get<{ models: { available: boolean }[] }>("/api/ai/models");
  expect(body.models.some(({ available }) => available)).toBe(false);
  expect(own.output().stderr).not.toContain(KEY);
});

test("health requests are answered from memory, without a call to a provider", async () => {
  await using upstream = await startUpstream();
  await using own = await startBerth({ env: { PROVIDER_3_BASE_URL: upstream.url, RATE_LIMITS: "off" } });
  const client = createClient(own.backend);
  await client.get("/api/ai/health");
  const callsBefore = upstream.total;
  for (let n = 0; n < 50; n++) expect((await client.get("/api/ai/health")).status).toBe(200);
  expect(upstream.total).toBe(callsBefore);
});
