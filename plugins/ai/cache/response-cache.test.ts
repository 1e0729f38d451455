// Tests the response cache: it is used on request only, for the same request of the same caller, and free of charge.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { createMetrics } from "../../../src/kernel/telemetry/metrics.ts";
import { createMember } from "../../../tests/support/account-setup.ts";
import type { Client } from "../../../tests/support/client.ts";
import { eventually } from "../../../tests/support/eventually.ts";
import { provision } from "../../../tests/support/members.ts";
import { insertAgent } from "../../../tests/support/records.ts";
import { expectRefusal } from "../../../tests/support/refusal.ts";
import { openServer, type TestServer } from "../../../tests/support/server.ts";
import { startUpstream, type Upstream } from "../../../tests/support/upstream.ts";
import { cacheKey, createResponseCache, parseCacheHeader } from "./response-cache.ts";

describe("a cached value", () => {
  const open = (maxBytes: number, now?: () => number) => {
    const metrics = createMetrics();
    return { metrics, ...createResponseCache({ metrics, maxBytes, ...(now && { now }) }) };
  };

  test("is found until it is older than the caller accepts", () => {
    let at = 1_000_000;
    const { get, set } = open(1e6, () => at);
    set("k", "answer", 10);
    at += 60_000;
    expect(get("k", 60)).toEqual({ value: "answer", ageS: 60 });
    expect(get("k", 59)).toBeUndefined();
    expect(get("k", 1e9)?.value).toBe("answer");
    at += 86_400_000;
    expect(get("k", 1e9)).toBeUndefined();
  });

  test("is evicted when the cache is full, least recently used first; a too large one is not cached", () => {
    const { get, set, metrics } = open(3_000);
    set("a", 1, 1_000);
    set("b", 2, 1_000);
    expect(get("a", 60)?.value).toBe(1);
    set("c", 3, 1_000);
    expect([get("a", 60)?.value, get("b", 60), get("c", 60)?.value]).toEqual([1, undefined, 3]);
    set("d", 4, 2 * 1024 * 1024);
    expect(get("d", 60)).toBeUndefined();
    set("a", 5, 10);
    const text = metrics.render();
    expect(text).toContain('berth_ai_cache_total{outcome="hit"} 3');
    expect(text).toContain('berth_ai_cache_total{outcome="miss"} 2');
    expect(text).toContain(`berth_ai_cache_bytes ${1_300 + 310}`);
    metrics.stop();
  });

  test("has a key that depends on the content of the request only", () => {
    expect(cacheKey({ a: 1, b: { c: [1, 2], d: null } })).toBe(cacheKey({ b: { d: null, c: [1, 2] }, a: 1 }));
    for (const other of [{ a: 1 }, { a: "1" }, { a: [1] }, { a: 1, b: undefined, c: null }, [{ a: 1 }]]) {
      expect(cacheKey({ a: 2 })).not.toBe(cacheKey(other));
    }
    expect(cacheKey([1, 2])).not.toBe(cacheKey([2, 1]));
    expect(cacheKey(JSON.parse('{"__proto__":1}'))).not.toBe(cacheKey({}));
  });

  test("is requested by a header", () => {
    expect([null, "off", "on", "ON", "max-age=5", "max-age=999999999"].map(parseCacheHeader)).toEqual([
      undefined,
      undefined,
      3_600,
      3_600,
      5,
      86_400,
    ]);
    for (const wrong of ["", "yes", "max-age=0", "max-age=-1", "max-age=1.5"]) {
      expect(() => parseCacheHeader(wrong)).toThrow("on, off, or max-age=SECONDS");
    }
  });
});

describe("for callers of the API", () => {
  const MODEL = "gpt-4o-mini";
  let upstream: Upstream;
  let server: TestServer;
  let keys: string[];
  beforeAll(async () => {
    upstream = await startUpstream({ models: [MODEL] });
    server = await openServer({
      env: {
        PROVIDER_5_BASE_URL: upstream.url,
        PROVIDER_5_API_KEY: "sk-operator",
        MODEL_A: `provider_5:${MODEL}`,
        AI_PLAN_BUDGETS_USD_PER_MONTH: "off",
      },
    });
    await server.app.start();
    keys = await Promise.all([keyOf(await member()), keyOf(await member())]);
  });
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
    await upstream.stop();
  });
  let said = 0;
  beforeEach(() => {
    upstream.reset();
    upstream.script(() => ({ text: `answer ${++said}`, usage: { prompt: 1000, completion: 100 } }));
  });

  const member = async () => (await createMember(server, { plan: "pro" })).client;
  const keyOf = async (client: Client) => (await client.post<{ key: string }>("/api/keys", { name: "k" })).body.key;

  let asked = 0;
  /** A question that is not in the cache. */
  const question = () => ({ model: MODEL, messages: [{ role: "user", content: `Question ${++asked}?` }] });
  async function ask(body: object | string, { cache = "on", key }: { cache?: string; key?: string | undefined } = {}) {
    const response = await fetch(`${server.backend}/v1/chat/completions`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        "x-berth-cache": cache,
        ...(key !== undefined && { authorization: `Bearer ${key}` }),
      },
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
    const text = await response.text();
    return { status: response.status, text, headers: response.headers, cache: response.headers.get("x-berth-cache") };
  }

  test("the same request gets the same bytes, without a call", async () => {
    const body = question();
    const first = await ask(body);
    const again = await ask({ messages: body.messages, model: MODEL, stream: false });
    expect([first.cache, again.cache]).toEqual(["miss", "hit"]);
    expect(again.text).toBe(first.text);
    for (const name of ["x-berth-model", "content-type"]) expect(again.headers.get(name)).toBe(first.headers.get(name));
    expect(again.headers.get("age")).toMatch(/^\d+$/);
    expect(upstream.chats).toHaveLength(1);
  });

  test("nothing is left of it when somebody was erased, whom it may quote", async () => {
    const body = question();
    expect([(await ask(body)).cache, (await ask(body)).cache]).toEqual(["miss", "hit"]);
    const agentId = await insertAgent(server.kernel.database);
    const columns = "agent_id, platform, peer, body, status, created_at";
    const sql = `INSERT INTO outbox (id, inbox_id, ${columns}) VALUES ('o', 't', ?, 'channel_a', '4242', 'x', 'sent', 1)`;
    await server.kernel.database.write([{ sql, args: [agentId] }]);
    await server.app.commands["person.erase"]?.({ channel: "telegram", id: "4242", operator: "ada" });
    expect((await ask(body)).cache).toBe("miss");
    expect(await (await fetch(`${server.backend}/metrics`)).text()).not.toContain("berth_ai_cache_bytes -");
  });

  test("requests that differ only in digits beyond the precision of numbers have different responses", async () => {
    const { messages } = question();
    const seeded = (seed: string) => `{"model":"${MODEL}","messages":${JSON.stringify(messages)},"seed":${seed}}`;
    const answers = [
      await ask({ model: MODEL, messages }),
      await ask({ model: MODEL, messages, temperature: 0.5 }),
      await ask({ model: MODEL, messages: [...messages, ...messages] }),
      await ask(seeded("12345678901234567890")),
      await ask(seeded("12345678901234567891")),
    ];
    expect(answers.map(({ cache }) => cache)).toEqual(Array(5).fill("miss"));
    expect(upstream.chats).toHaveLength(5);
  });

  test("a caller does not get the response of another caller", async () => {
    const body = question();
    const callers = [undefined, ...keys];
    for (const wanted of ["miss", "hit"]) {
      for (const key of callers) expect((await ask(body, { key })).cache).toBe(wanted);
    }
    expect(upstream.chats).toHaveLength(3);
  });

  test("without the header the cache is neither read nor written", async () => {
    const body = question();
    expect((await ask(body, { cache: "off" })).cache).toBeNull();
    expect((await ask(body)).cache).toBe("miss");
    expect((await ask(body, { cache: "off" })).cache).toBeNull();
    expectRefusalOf(await ask(body, { cache: "perhaps" }));
    expect(upstream.chats).toHaveLength(3);
  });

  test("streams, failures and incomplete responses are not cached", async () => {
    const streamed = { ...question(), stream: true };
    expect([(await ask(streamed)).cache, (await ask(streamed)).cache]).toEqual([null, null]);
    const body = question();
    upstream.failNext(1, { status: 429 });
    expect((await ask(body)).status).toBe(429);
    upstream.failNext(1, { text: "a b c", cutAfter: 1 });
    expect(await ask(body).catch(() => "broken off")).toBe("broken off");
    expect((await ask(body)).cache).toBe("miss");
    expect((await ask(body)).cache).toBe("hit");
  });

  test("a cached response is free, and counted", async () => {
    const client = await member();
    const key = await keyOf(client);
    const body = question();
    for (let n = 0; n < 3; n++) await ask(body, { key });
    const usage = async () => (await client.get<{ total: { calls: number } }>("/api/usage")).body;
    await eventually(async () => (await usage()).total.calls === 3);
    expect(await usage()).toMatchObject({
      total: { calls: 3, cachedCalls: 2, inputTokens: 1000, outputTokens: 100, costUsd: 0.00021, estimatedCalls: 0 },
    });
  });

  describe("for agents with the cache enabled", () => {
    const reply = async (client: Client, message: string) => {
      const { sessionId } = (await client.post<{ sessionId: string }>("/api/agent", { action: "create-session" })).body;
      return (await client.post<{ reply: string }>("/api/agent", { message, sessionId })).body.reply;
    };

    test("the same conversation gets the same reply for free, whole and streamed", async () => {
      const client = await member();
      const { id } = await provision(client);
      const path = `/api/agents/${id}/cache`;
      expect((await client.get(path)).body).toEqual({ enabled: false, maxAgeSeconds: null });
      expect(await reply(client, "Hello")).not.toBe(await reply(client, "Hello"));

      const on = { enabled: true, maxAgeSeconds: 3_600 };
      expect((await client.put(path, { enabled: true })).body).toEqual(on);
      expect((await client.get(path)).body).toEqual(on);
      const first = await reply(client, "Hello");
      expect(await reply(client, "Hello")).toBe(first);
      expect(await reply(client, "Hello!")).not.toBe(first);
      const { sessionId } = (await client.post<{ sessionId: string }>("/api/agent", { action: "create-session" })).body;
      let streamed = "";
      for await (const { event, data } of client.sse("/api/agent", { message: "Hello", sessionId })) {
        if (event === "delta") streamed += JSON.parse(data).text;
      }
      expect(streamed).toBe(first);
      expect(upstream.chats).toHaveLength(4);
      expect((await client.get(`${path.replace("cache", "usage")}`)).body).toMatchObject({
        total: { calls: 6, cachedCalls: 2, inputTokens: 4_000 },
      });

      await client.put(path, { enabled: false });
      expect(await reply(client, "Hello")).not.toBe(first);
    });

    test("each agent has its own cache", async () => {
      const client = await member();
      const agents = [await provision(client, "Twin"), await provision(client, "Twin")];
      for (const { id } of agents) await client.put(`/api/agents/${id}/cache`, { enabled: true });
      const replies = [];
      for (const { id: agentId } of agents) {
        replies.push((await client.post<{ reply: string }>("/api/agent", { message: "Hello", agentId })).body.reply);
      }
      expect(replies[0]).not.toBe(replies[1]);
    });

    test("only the owner can enable it", async () => {
      const client = await member();
      const { id } = await provision(client);
      const eve = await member();
      expectRefusal(await eve.put(`/api/agents/${id}/cache`, { enabled: true }), 404, "AGENT_NOT_FOUND");
      expectRefusal(await client.put(`/api/agents/${id}/cache`, { enabled: true, maxAgeSeconds: 0 }), 400);
      expectRefusal(await client.put(`/api/agents/${id}/cache`, {}), 400, "INVALID_INPUT");
    });
  });
});

function expectRefusalOf({ status, text }: { status: number; text: string }): void {
  expect([status, JSON.parse(text)]).toMatchObject([400, { error: { code: "INVALID_INPUT", param: "x-berth-cache" } }]);
}
