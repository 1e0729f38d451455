// An agent's data on the running binary: its log, its messages, and its statistics, each compared with an independent count.

import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import type { Server } from "bun";
import { type Berth, startBerth } from "./support/berth.ts";
import { type Client, createClient } from "./support/client.ts";
import { eventually } from "./support/eventually.ts";
import { type AgentItem, member, provision } from "./support/members.ts";
import { expectRefusal } from "./support/refusal.ts";
import { takeEvents } from "./support/sse.ts";
import { type FakeBot, startTelegram, type Telegram } from "./support/telegram.ts";

/** Starts a model provider that counts bytes by agent; the agents' instructions name them. */
function startProvider() {
  const bytes = new Map<string, { received: number; sent: number }>();
  const held: (() => void)[] = [];
  const server: Server<undefined> = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    async fetch(request) {
      if (request.method !== "POST") return Response.json({ object: "list", data: [{ id: "fake", object: "model" }] });
      const text = await request.text();
      const whose = /\[(\w+)\]/.exec(text)?.[1] ?? "";
      const count = bytes.get(whose) ?? { received: 0, sent: 0 };
      bytes.set(whose, count);
      count.received += Buffer.byteLength(text);
      const { messages, stream } = JSON.parse(text) as { messages: { content: unknown }[]; stream?: boolean };
      const lastMessage = JSON.stringify(messages.at(-1)?.content);
      if (lastMessage.includes("hold")) await new Promise<void>((resolve) => void held.push(resolve));
      if (lastMessage.includes("burn")) for (const until = performance.now() + 5; performance.now() < until; );
      if (lastMessage.includes("slow")) await Bun.sleep(100);
      const refused = lastMessage.includes("fail");
      const answer = refused ? JSON.stringify({ error: { message: "no", type: "x" } }) : reply(stream === true);
      count.sent += Buffer.byteLength(answer);
      const type = stream && !refused ? "text/event-stream" : "application/json";
      return new Response(answer, { status: refused ? 400 : 200, headers: { "content-type": type } });
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}/v1`,
    bytes: (whose: string) => bytes.get(whose) ?? { received: 0, sent: 0 },
    held,
    stop: () => server.stop(true),
  };
}

const about = { id: "1", created: 1, model: "fake" };
const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };
function reply(stream: boolean): string {
  const content = "Grüße, ahoy";
  if (!stream) {
    const choices = [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }];
    return JSON.stringify({ ...about, object: "chat.completion", choices, usage });
  }
  const chunk = (delta: object, finish_reason: string | null, more = {}) =>
    `data: ${JSON.stringify({ ...about, object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason }], ...more })}\n\n`;
  return `${chunk({ role: "assistant", content }, null)}${chunk({}, "stop", { usage })}data: [DONE]\n\n`;
}

let provider: ReturnType<typeof startProvider>;
let telegram: Telegram;
let berth: Berth;
let ada: Client;

beforeAll(async () => {
  provider = startProvider();
  telegram = await startTelegram();
  berth = await startBerth({
    env: {
      RATE_LIMITS: "off",
      PROVIDER_3_BASE_URL: provider.url,
      MODEL_A: "provider_3:fake",
      CHANNEL_A_API_ROOT: telegram.url,
      METRICS_TOKEN: "metrics",
    },
  });
  ada = await member(berth, "enterprise");
});
afterAll(async () => {
  await berth?.[Symbol.asyncDispose]();
  await telegram?.stop();
  await provider?.stop();
});

interface Stats {
  stats: Record<string, string> & { uptime: number };
  status: string;
}

let named = 0;
/** Creates an agent whose calls the provider can distinguish. */
async function agentOf(client = ada): Promise<AgentItem & { tag: string; path: string }> {
  const tag = `agent${++named}`;
  const agent = await provision(client, tag, { instructions: `[${tag}]`, memory: false });
  return { ...agent, tag, path: `/api/agents/${agent.id}` };
}

async function statsOf({ path }: { path: string }, client = ada) {
  const { status, body } = await client.get<Stats>(`${path}/stats`);
  expect({ status, state: body.status }).toEqual({ status: 200, state: "ok" });
  return body.stats;
}

const say = (agent: { id: string }, message: string, topic = "t", client = ada) =>
  client.post<{ status: string }>("/api/chat", { message, topic, agentId: agent.id });

/** Parses a text such as `1.5 KiB` into bytes, with its rounding error. */
function inBytes(text: string): { value: number; off: number } {
  const [, number = "", unit = ""] = /^([\d.]+) (B|KiB|MiB|GiB)$/.exec(text) ?? [];
  const factor = 1024 ** ["B", "KiB", "MiB", "GiB"].indexOf(unit);
  return { value: Number(number) * factor, off: factor === 1 ? 0 : 0.05 * factor + 1 };
}

function expectBytes(text: string, bytes: number): void {
  const { value, off } = inBytes(text);
  expect(Math.abs(value - bytes)).toBeLessThanOrEqual(off);
}

/** Reads an agent's turns from the database file. */
function turnsInDatabase(dir: string, agentId: string) {
  using database = new Database(join(dir, "data", "berth.db"), { readonly: true });
  return database
    .query<{ status: string; ms: number }, [string]>(
      "SELECT status, settled_at - received_at AS ms FROM inbox WHERE agent_id = ? AND kind = 'message' ORDER BY id",
    )
    .all(agentId);
}

describe("statistics", () => {
  test("are empty before the first turn, in the same format on both surfaces", async () => {
    const agent = await agentOf();
    const { body } = await ada.get<Stats>(`${agent.path}/stats`);
    const none = { messagesProcessed: "N/A", messagesPerHour: "N/A", averageResponseTime: "N/A" };
    const live = {
      cpu: "0.00%",
      memory: expect.stringMatching(/^[\d.]+ (?:B|KiB) \/ 1 GiB$/),
      memoryPercent: expect.stringMatching(/^\d+\.\d\d%$/),
      network: "0 B / 0 B",
      uptime: expect.any(Number),
      uptimeFormatted: expect.stringMatching(/^\d+s$/),
      status: "running",
      pids: "0",
      ...none,
      successRate: "N/A",
      errorRate: "N/A",
    };
    expect(body).toEqual({ stats: { agentId: agent.id, ...live }, status: "ok" } as never);
    const direct = await createClient(berth.backend).get(`${agent.path}/stats`, { headers: { cookie: ada.cookie } });
    expect(direct.body).toEqual({ id: agent.id, plan: "enterprise", runtimeVersion: "1.0.0", ...live });
    const instance = await ada.get<Stats>(`/api/instance/${agent.id}/stats`);
    expect(instance.body).toMatchObject({ stats: { agentId: agent.id, ...none }, status: "ok" });
  });

  test("are 404 for other users, byte for byte like a missing agent's, and 403 under /api/instance", async () => {
    const agent = await agentOf();
    const eve = await member(berth);
    const foreign = await eve.get(`${agent.path}/stats`);
    expectRefusal(foreign, 404, "AGENT_NOT_FOUND");
    expect((await eve.get(`/api/agents/${Bun.randomUUIDv7()}/stats`)).text).toBe(foreign.text);
    const instance = await eve.get(`/api/instance/${agent.id}/stats`);
    expect(expectRefusal(instance, 403, "NOT_YOUR_AGENT")).toMatchObject({ success: false, status: "error" });
    expect((await eve.get(`/api/instance/${Bun.randomUUIDv7()}/stats`)).text).toBe(instance.text);
    for (const path of [`${agent.path}/stats`, `/api/instance/${agent.id}/stats`]) {
      expectRefusal(await createClient(berth).get(path), 401);
    }
    expectRefusal(await createClient(berth.backend).get(`${agent.path}/stats`), 401);
  });

  test("agree with independent counts, under load beside another busy agent, and after a kill", async () => {
    const [agent, other] = [await agentOf(), await agentOf()];
    await statsOf(agent);
    const turns = 1_300;
    const fails = (n: number) => n % 10 === 3;
    const waits: number[] = [];
    let next = 0;
    const talk = async (topic: string) => {
      for (let n = next++; n < turns; n = next++) {
        const began = performance.now();
        // Short conversations: long ones are summarized in calls that don't name the agent to the provider.
        const { body } = await say(agent, fails(n) ? "fail" : `hello ${n}`, `${topic}, ${Math.floor(n / 50)}`);
        expect(body.status ?? "failed").toBe(fails(n) ? "failed" : "sent");
        waits[n] = performance.now() - began;
        if (n % 100 === 0) await say(other, "hello beside");
        if (n % 400 === 0) await statsOf(agent);
      }
    };
    await Promise.all(Array.from({ length: 4 }, (_, n) => talk(`topic ${n}`)));
    const streamed: string[] = [];
    for await (const { event, data } of ada.sse("/api/agent", { message: "streamed", agentId: agent.id })) {
      if (event === "reply") streamed.push(JSON.parse(data).reply);
    }
    expect(streamed).toEqual(["Grüße, ahoy"]);

    const check = async (agreed: Record<string, string> & { uptime: number }) => {
      const all = turnsInDatabase(berth.dir, agent.id);
      const ended = all.filter(({ status }) => status !== "cancelled");
      const last = ended.slice(-1_000).filter(({ status }) => status === "done").length;
      const times = ended.filter(({ status }) => status === "done").slice(-100);
      const mean = times.reduce((sum, { ms }) => sum + ms, 0) / times.length;
      expect(ended).toHaveLength(turns + 1);
      expect(agreed).toMatchObject({ messagesProcessed: String(turns + 1), messagesPerHour: String(turns + 1) });
      expect(Math.abs(Number(agreed.averageResponseTime) - mean)).toBeLessThanOrEqual(2);
      // The order of parallel turns can differ by one or two.
      expect(Math.abs(Number(agreed.successRate) - last / 10)).toBeLessThanOrEqual(0.4);
      expect(Number(agreed.successRate) + Number(agreed.errorRate)).toBeCloseTo(100, 5);
      expect(Number(agreed.errorRate)).toBeWithin(9, 11);
    };
    const agreed = await statsOf(agent);
    await check(agreed);
    // The caller's time includes the request itself, so it is at least the agent's.
    const tail = waits.slice(-100).reduce((sum, ms) => sum + ms, 0) / 100;
    expect(Number(agreed.averageResponseTime)).toBeLessThan(tail + 1);
    const { received, sent } = provider.bytes(agent.tag);
    const [into = "", out = ""] = (agreed.network ?? "").split(" / ");
    expectBytes(into, sent);
    expectBytes(out, received);
    const beside = await statsOf(other);
    const [otherIn = "", otherOut = ""] = (beside.network ?? "").split(" / ");
    expectBytes(otherIn, provider.bytes(other.tag).sent);
    expectBytes(otherOut, provider.bytes(other.tag).received);
    expect(beside.messagesProcessed).toBe("13");

    await berth.kill();
    await berth.restart();
    const after = await statsOf(agent);
    await check(after);
    expect(after.network).toBe("0 B / 0 B");
    await say(agent, "once more");
    expect((await statsOf(agent)).messagesProcessed).toBe(String(turns + 2));
  });

  test("memory: two bytes for each character of the conversation, freed by reset-memory", async () => {
    const agent = await agentOf();
    const before = inBytes(String((await statsOf(agent)).memory).split(" / ")[0] ?? "").value;
    const words = "x".repeat(4_000);
    for (let n = 0; n < 3; n++) expect((await say(agent, words)).status).toBe(200);
    const held = await statsOf(agent);
    const after = inBytes(String(held.memory).split(" / ")[0] ?? "").value;
    expect(after - before).toBeWithin(3 * 2 * words.length, 3 * 2 * words.length + 4_096);
    expect(Number.parseFloat(held.memoryPercent ?? "")).toBeCloseTo((100 * after) / 1024 ** 3, 1);
    expect((await ada.post(`${agent.path}/reset-memory`)).status).toBe(200);
    expect(inBytes(String((await statsOf(agent)).memory).split(" / ")[0] ?? "").value).toBeLessThan(before + 4_096);
  });

  test("pids: the number of running turns", async () => {
    const agent = await agentOf();
    const talks = Array.from({ length: 3 }, (_, n) => say(agent, "hold", `held ${n}`));
    await eventually(() => provider.held.length === 3);
    expect((await statsOf(agent)).pids).toBe("3");
    for (const release of provider.held.splice(0)) release();
    await Promise.all(talks);
    expect((await statsOf(agent)).pids).toBe("0");
  });

  test("cpu: the process's time, divided by the duration of each agent's turns", async () => {
    const [long, short, idle] = [await agentOf(), await agentOf(), await agentOf()];
    // A restart, so that no earlier work counts in the last minute.
    await berth.restart();
    const used = async () => {
      const headers = { authorization: "Bearer metrics" };
      const text = await (await fetch(`${berth.backend}/metrics`, { headers })).text();
      return Number(/^process_cpu_seconds_total (\S+)$/m.exec(text)?.[1]);
    };
    const talk = (agent: { id: string }, count: number, topic: string) =>
      (async () => {
        for (let n = 0; n < count; n++) await say(agent, "slow", topic);
      })();
    await Promise.all([talk(long, 30, "a"), talk(long, 30, "b"), talk(long, 30, "c"), talk(short, 30, "d")]);
    const cpu = async (agent: { path: string }) => Number.parseFloat((await statsOf(agent)).cpu ?? "");
    const [lots, less, none] = [await cpu(long), await cpu(short), await cpu(idle)];
    expect(none).toBe(0);
    expect(lots / less).toBeWithin(2, 4.5);
    // The process is younger than a minute, so its whole processor time is in its last minute.
    const { rate } = await eventually(async () => {
      const uptime = Number(/^process_uptime_seconds (\S+)$/m.exec(await metrics(berth))?.[1]);
      return { rate: (100 * (await used())) / uptime };
    });
    expect((await cpu(long)) + (await cpu(short))).toBeWithin(0.2 * rate, 1.3 * rate);
  });

  test("uptime: since the agent started, none while it is stopped", async () => {
    const agent = await agentOf();
    const detail = async () => (await ada.get<{ agent: { startedAt: string } }>(agent.path)).body.agent;
    const { uptime } = await statsOf(agent);
    expect(Math.abs(Date.now() - Date.parse((await detail()).startedAt) - uptime)).toBeLessThan(2_000);
    expect((await ada.post(`${agent.path}/stop`)).status).toBe(200);
    expect(await statsOf(agent)).toMatchObject({ uptime: 0, uptimeFormatted: "0s", status: "stopped" });
  });
});

const metrics = async (of: Berth) =>
  (await fetch(`${of.backend}/metrics`, { headers: { authorization: "Bearer metrics" } })).text();

describe("on a channel", () => {
  const token = `7000001:${"D".repeat(35)}`;
  let bot: FakeBot;
  let agent: Awaited<ReturnType<typeof agentOf>>;
  beforeAll(async () => {
    bot = telegram.addBot(token, { username: "data_bot" });
    agent = await agentOf();
    const settings = { channels: { channel_a: { access: "open" } }, instructions: `[${agent.tag}]`, memory: false };
    await ada.put(`${agent.path}/config`, settings);
    const { status, text } = await ada.put(`${agent.path}/channels/channel_a`, { token });
    if (status !== 200 && status !== 201) throw new Error(`connect: ${status} ${text}`);
  });

  interface Messages {
    messages: { id: string; agentId: string; sender: string; content: string; timestamp: string; platform: string }[];
    total: number;
    limit: number;
    offset: number;
    status: string;
  }
  const messages = async (query = "", client = ada) =>
    (await client.get<Messages>(`${agent.path}/messages${query}`)).body;

  test("messages are listed newest first, those of web and API on request", async () => {
    for (let n = 1; n <= 3; n++) {
      bot.userSays(77, `Question ${n}`);
      await eventually(() => bot.sent(77).length === n);
    }
    await say(agent, "From the API");
    await ada.post("/api/agent", { message: "From the web", agentId: agent.id });
    const all = await messages();
    expect(all).toMatchObject({ total: 6, limit: 50, offset: 0, status: "ok" });
    expect(all.messages.map(({ sender, content }) => `${sender}: ${content}`)).toEqual([
      ...["agent: Grüße, ahoy", "user: Question 3", "agent: Grüße, ahoy", "user: Question 2"],
      ...["agent: Grüße, ahoy", "user: Question 1"],
    ]);
    for (const one of all.messages) {
      expect(Object.keys(one).sort()).toEqual(["agentId", "content", "id", "platform", "sender", "timestamp"]);
      expect(one).toMatchObject({ agentId: agent.id, platform: "channel_a" });
      expect(new Date(one.timestamp).toISOString()).toBe(one.timestamp);
    }
    const page = await messages("?limit=2&offset=2");
    expect(page).toMatchObject({ total: 4, limit: 2, offset: 2, messages: all.messages.slice(2, 4) });
    expect(await messages("?limit=1000&offset=500")).toMatchObject({ total: 500, limit: 100, messages: [] });
    const included = await messages("?include=all");
    expect(included.messages.map(({ platform }) => platform)).toEqual([
      ...["web", "web", "api", "api"],
      ...Array.from({ length: 6 }, () => "channel_a"),
    ]);
    for (const bad of ["limit=0", "limit=x", "offset=-1", "offset=1.5", "include=web"]) {
      expectRefusal(await ada.get(`${agent.path}/messages?${bad}`), 400, "INVALID_INPUT");
    }
    const eve = await member(berth);
    const foreign = await eve.get(`${agent.path}/messages`);
    expectRefusal(foreign, 404, "AGENT_NOT_FOUND");
    expect((await eve.get(`/api/agents/${Bun.randomUUIDv7()}/messages`)).text).toBe(foreign.text);
    expectRefusal(await createClient(berth).get(`${agent.path}/messages`), 401);
  });

  test("the bot's connection counts in the agent's pids, and its calls in the agent's network", async () => {
    const stats = await statsOf(agent);
    expect(stats.pids).toBe("1");
    const [into = "", out = ""] = (stats.network ?? "").split(" / ");
    const { sent, received } = provider.bytes(agent.tag);
    expect(inBytes(into).value).toBeGreaterThan(sent);
    expect(inBytes(out).value).toBeGreaterThan(received + 3 * Buffer.byteLength("Grüße, ahoy"));
    expect(inBytes(out).value).toBeLessThan(received + 16_384);
  });

  test("forgotten messages are not listed, and a rollback brings them back", async () => {
    const before = await messages("?include=all");
    const { body } = await ada.post<{ backupPath: string }>(`${agent.path}/reset-memory`);
    expect(await messages("?include=all")).toMatchObject({ messages: [], total: 0 });
    bot.userSays(77, "After");
    await eventually(async () => (await messages()).total === 2);
    expect(JSON.stringify(await messages("?include=all"))).not.toContain("Question");
    expect((await ada.post(`${agent.path}/rollback`, { backupPath: body.backupPath })).status).toBe(200);
    const back = await messages("?include=all");
    expect(back.messages.map(({ content }) => content)).toEqual(before.messages.map(({ content }) => content));
    expect(JSON.stringify(back)).not.toContain("After");
  });
});

describe("the log", () => {
  test("can be followed, filtered, and resumed after a kill", async () => {
    const agent = await agentOf();
    const path = `${agent.path}/logs?follow=1`;
    const following = takeEvents(ada, `${path}&level=error&lastEventId=00000000-0000-0000-0000-000000000000`, 2);
    await say(agent, "fail");
    await say(agent, "fail");
    const lines = await following;
    expect(lines.map(({ event }) => event)).toEqual(["log", "log"]);
    const [first, second] = lines.map(({ data }) => JSON.parse(data));
    expect(first).toMatchObject({ level: "error", agentId: agent.id, source: "runtime" });
    await berth.kill();
    await berth.restart();
    const again = await takeEvents(ada, path, 1, { "last-event-id": first.id });
    expect(again.map(({ data }) => JSON.parse(data))).toEqual([second]);
  });

  test("a followed log ends at once when the service stops", async () => {
    const agent = await agentOf();
    const response = await ada.fetch("GET", `${agent.path}/logs?follow=1`, undefined, {
      headers: { accept: "text/event-stream" },
    });
    const text = response.text();
    const began = performance.now();
    await berth.stop();
    expect(await text).toStartWith("retry: ");
    expect(performance.now() - began).toBeLessThan(5_000);
    await berth.restart();
  });

  test("an unlisted model is accepted with a warning in the log", async () => {
    const agent = await agentOf();
    expect((await ada.put(`${agent.path}/config`, { model: "provider_3:fake" })).status).toBe(200);
    const unknown = { model: "provider_3:no-such-model", instructions: `[${agent.tag}]` };
    expect((await ada.put(`${agent.path}/config`, unknown)).status).toBe(200);
    expect((await ada.get<{ config: object }>(`${agent.path}/config`)).body.config).toEqual(unknown);
    const warnings = await eventually(async () => {
      const { body } = await ada.get<{ logs: { message: string }[]; total: number }>(
        `${agent.path}/logs?level=warning`,
      );
      return body.total > 0 ? body.logs : undefined;
    });
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toMatchObject({ source: "ai", message: expect.stringContaining("provider_3:no-such-model") });
    const made = await provision(ada, "Born with it", { model: "provider_3:nor-this" });
    await eventually(async () =>
      (await ada.get(`/api/agents/${made.id}/logs?level=warning`)).text.includes("provider_3:nor-this"),
    );
  });
});
