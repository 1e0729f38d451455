// An agent's data with web and backend as two processes: statistics, log and messages, also while the backend is down.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Berth, startBerth } from "./support/berth.ts";
import { type Client, createClient } from "./support/client.ts";
import { eventually } from "./support/eventually.ts";
import { openGateway } from "./support/gateway-client.ts";
import { type AgentItem, member, provision } from "./support/members.ts";
import { expectRefusal } from "./support/refusal.ts";
import { type Sqld, startSqld } from "./support/sqld.ts";
import { followStream } from "./support/sse.ts";
import { startUpstream, type Upstream } from "./support/upstream.ts";

let sqld: Sqld;
let upstream: Upstream;
let backend: Berth;
let web: Berth;
let ada: Client;
let agent: AgentItem;
let path: string;

beforeAll(async () => {
  [sqld, upstream] = await Promise.all([startSqld(), startUpstream()]);
  const shared = { DATABASE_URL: sqld.url, SECRET_KEY: "split-data-root-key-0123456789abcdefghi", RATE_LIMITS: "off" };
  const models = { PROVIDER_3_BASE_URL: upstream.url, MODEL_A: "provider_3:fake-small" };
  backend = await startBerth({ env: { ...shared, ...models, ROLE: "backend" } });
  web = await startBerth({ env: { ...shared, ROLE: "web", BACKEND_URL: backend.backend } });
  ada = await member(web);
  agent = await provision(ada);
  path = `/api/agents/${agent.id}`;
});
afterAll(async () => {
  await web?.[Symbol.asyncDispose]();
  await backend?.[Symbol.asyncDispose]();
  await upstream?.stop();
  await sqld?.stop();
});

interface Stats {
  stats: Record<string, unknown>;
  status: string;
}
const stats = async (at = path) => (await ada.get<Stats>(`${at}/stats`)).body;
const say = (message: string) => ada.post("/api/chat", { message, agentId: agent.id });

test("statistics come from the backend, and count sockets of the web process", async () => {
  expect(await stats()).toMatchObject({
    status: "ok",
    stats: { agentId: agent.id, messagesProcessed: "N/A", pids: "0" },
  });
  for (let n = 0; n < 5; n++) await say("hello");
  upstream.failNext(1, { status: 400, message: "no" });
  await say("fails");
  const socket = openGateway(web, agent.id, { cookie: ada.cookie });
  await socket.next("status");
  expect(await stats()).toMatchObject({
    status: "ok",
    stats: { messagesProcessed: "6", messagesPerHour: "6", successRate: "83.33", errorRate: "16.67", pids: "1" },
  });
  expect(await stats(`/api/instance/${agent.id}`)).toMatchObject({ status: "ok", stats: { messagesProcessed: "6" } });
  socket.close();
  await eventually(async () => (await stats()).stats.pids === "0");
});

test("messages are read from the shared database", async () => {
  const { body } = await ada.get<{ messages: { platform: string }[]; total: number }>(`${path}/messages?include=all`);
  expect(body.total).toBe(11);
  expect((await ada.get(`${path}/messages`)).body).toMatchObject({ messages: [], total: 0, status: "ok" });
});

test("log lines of an operation can be read as soon as it has returned", async () => {
  const other = await provision(ada, "Watched");
  for (const operation of ["stop", "start", "restart", "repair", "stop"]) {
    await ada.post(`/api/agents/${other.id}/${operation}`, {});
    const { body } = await ada.get<{ logs: { message: string }[] }>(`/api/agents/${other.id}/logs?limit=1&level=info`);
    expect(body.logs[0]?.message).toStartWith(`${operation}: the agent is `);
  }
  expectRefusal(await ada.get(`/api/agents/${other.id}/logs?limit=x`), 400, "INVALID_INPUT");
});

test("the web follows the log that the backend writes; the stream ends with the agent", async () => {
  const other = await provision(ada, "Other");
  const stream = await followStream(ada, `/api/agents/${other.id}/logs?follow=1`);
  upstream.failNext(1, { status: 401, message: "no" });
  await ada.post("/api/chat", { message: "fails", agentId: other.id });
  await eventually(() => stream.text.includes("event: log"));
  expect(stream.text).toContain(`"agentId":"${other.id}"`);
  await ada.delete(`/api/agents/${other.id}`);
  await eventually(() => stream.hasEnded, { timeoutMs: 20_000 });
});

test("while the backend is down, statistics are mock values and other users still get an error", async () => {
  await backend.stop();
  for (const at of [path, `/api/instance/${agent.id}`]) {
    expect(await stats(at)).toEqual({
      stats: {
        agentId: agent.id,
        messagesProcessed: 0,
        messagesPerHour: 0,
        averageResponseTime: 0,
        uptime: 0,
        successRate: "0.00",
        errorRate: "0.00",
        timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      },
      status: "mock",
    });
  }
  const eve = await member(web);
  expectRefusal(await eve.get(`${path}/stats`), 404, "AGENT_NOT_FOUND");
  expectRefusal(await eve.get(`/api/instance/${agent.id}/stats`), 403, "NOT_YOUR_AGENT");
  expectRefusal(await createClient(web).get(`${path}/stats`), 401);
  // The log is read from the database, up to the backend's stop.
  expect(await ada.get(`${path}/logs`)).toMatchObject({ status: 200, body: { status: "ok", total: 2 } });

  await backend.restart({ env: { BACKEND_PORT: new URL(web.env.BACKEND_URL ?? "").port } });
  const back = await eventually(async () => {
    const answer = await stats();
    return answer.status === "ok" ? answer : undefined;
  });
  expect(back.stats).toMatchObject({ messagesProcessed: "6", successRate: "83.33" });
});

test("a backend that does not respond counts as down", async () => {
  const silent = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    fetch: () => Promise.withResolvers<Response>().promise,
  });
  await using deaf = await startBerth({ env: { ...web.env, BACKEND_URL: `http://127.0.0.1:${silent.port}` } });
  const answer = await createClient(deaf).get<Stats>(`${path}/stats`, { headers: { cookie: ada.cookie } });
  expect(answer).toMatchObject({ status: 200, body: { status: "mock" } });
  await silent.stop(true);
});
