// Agents among assistants and other agents, on the compiled binary: as one process through a kill, and as two processes over a
// database server.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { call, connect } from "../plugins/mcp-server/support.test.ts";
import { toolNameOf } from "../plugins/mcp-server/tools/names.ts";
import { type Berth, startBerth } from "./support/berth.ts";
import type { Client } from "./support/client.ts";
import { eventually } from "./support/eventually.ts";
import { member, provision } from "./support/members.ts";
import { type Sqld, startSqld } from "./support/sqld.ts";
import { startUpstream, type Upstream } from "./support/upstream.ts";

const ROOT_KEY = "peers-test-root-key-0123456789abcdefgh";

let upstream: Upstream;
beforeAll(async () => {
  upstream = await startUpstream();
});
afterAll(() => upstream?.stop());

/** An owner with a key, and an agent that talks to visitors. */
async function setUp(web: Berth, name = "Harbour", config: object = {}) {
  const ada = await member(web);
  const { id } = await provision(ada, name, config);
  const { agent } = (await ada.get<{ agent: { subdomain: string } }>(`/api/agents/${id}`)).body;
  expect((await ada.put(`/api/agents/${id}/public`, { enabled: true })).status).toBe(200);
  const { key } = (await ada.post<{ key: string }>("/api/keys", { name: "Desk" })).body;
  return { ada, id, key, subdomain: agent.subdomain };
}

interface Rpc {
  result?: {
    id?: string;
    task?: { id: string };
    status?: { state: string };
    artifacts?: { parts: { text: string }[] }[];
  };
}
async function a2a(web: Berth, subdomain: string, method: string, params: object): Promise<Rpc> {
  const answer = await fetch(`${web.web}/a/${subdomain}`, {
    method: "POST",
    headers: { "content-type": "application/json", "a2a-version": "1.0" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
  });
  return (await answer.json()) as Rpc;
}
const messageOf = (text: string) => ({ message: { messageId: "m", role: "ROLE_USER", parts: [{ text }] } });

describe("one process", () => {
  let berth: Berth;
  let ada: Client;
  let id: string;
  let key: string;
  let subdomain: string;
  beforeAll(async () => {
    const env = { PROVIDER_3_BASE_URL: upstream.url, MODEL_A: "provider_3:fake-small" };
    berth = await startBerth({ env });
    ({ ada, id, key, subdomain } = await setUp(berth, "Harbour", { skills: { agents: true } }));
  });
  afterAll(() => berth?.[Symbol.asyncDispose]());

  test("answers an assistant over MCP, and an agent of another host over A2A", async () => {
    upstream.reset();
    const client = await connect(berth.web, key);
    expect((await call(client, toolNameOf(subdomain), { message: "Ahoy" })).text).toBe("echo: Ahoy");
    await client.close();
    const { result } = await a2a(berth, subdomain, "SendMessage", messageOf("Ahoy"));
    expect(result?.task).toMatchObject({ artifacts: [{ parts: [{ text: "echo: Ahoy" }] }] });
    const card = await fetch(`${berth.web}/a/${subdomain}/.well-known/agent-card.json`);
    expect(await card.json()).toMatchObject({ name: "Harbour", protocolVersion: "0.3.0" });
  });

  test("finds both again after a kill, and answers each once", async () => {
    upstream.reset();
    const { promise: asked, resolve } = Promise.withResolvers<void>();
    upstream.script(async ({ signal }) => {
      resolve();
      await new Promise((done) => signal.addEventListener("abort", done, { once: true }));
      return "Too late.";
    });
    const started = await a2a(berth, subdomain, "SendMessage", {
      ...messageOf("Take your time"),
      configuration: { returnImmediately: true },
    });
    const taskId = started.result?.task?.id ?? "";
    const { turnId } = (await ada.post<{ turnId: string }>(`/api/agents/${id}/conversations`, { message: "Slow" }))
      .body;
    await asked;
    await berth.kill();
    upstream.reset();
    await berth.restart({ keepPorts: true });
    await eventually(async () => {
      const { result } = await a2a(berth, subdomain, "GetTask", { id: taskId });
      return result?.status?.state === "TASK_STATE_COMPLETED";
    });
    const { result } = await a2a(berth, subdomain, "GetTask", { id: taskId });
    expect(result?.artifacts?.[0]?.parts[0]?.text).toBe("echo: Take your time");
    const client = await connect(berth.web, key);
    expect((await call(client, "get_reply", { agent: subdomain, turn: turnId })).text).toBe("echo: Slow");
    await client.close();
  });

  test("asks another agent once, though it is killed while that one answers", async () => {
    const other = await provision(ada, "Tides", { instructions: "I am Tides." });
    const { agent } = (await ada.get<{ agent: { subdomain: string } }>(`/api/agents/${other.id}`)).body;
    const isTides = (messages: readonly { content?: unknown }[]) =>
      String(messages[0]?.content).includes("I am Tides.");
    const askTides = {
      toolCalls: [{ name: "message_agent", arguments: { agent: agent.subdomain, message: "When?" } }],
    };
    const { promise: asked, resolve } = Promise.withResolvers<void>();
    upstream.reset();
    upstream.script(async ({ messages, signal }) => {
      if (!isTides(messages)) return askTides;
      resolve();
      await new Promise((done) => signal.addEventListener("abort", done, { once: true }));
      return "Too late.";
    });
    const sent = await ada.post<{ turnId: string }>(`/api/agents/${id}/conversations`, { message: "Ask Tides." });
    await asked;
    await berth.kill();
    upstream.reset();
    upstream.script(({ messages, toolResults }) => {
      if (isTides(messages)) return "At noon.";
      return toolResults.length > 0 ? `Heard: ${toolResults[0]?.content}` : askTides;
    });
    await berth.restart({ keepPorts: true });
    const path = `/api/agents/${id}/turns/${sent.body.turnId}`;
    await eventually(async () => (await ada.get<{ turn: { status: string } }>(path)).body.turn.status === "done", {
      timeoutMs: 40_000,
    });
    const { conversations } = (
      await ada.get<{ conversations: { platform: string; messageCount: number; preview: string }[] }>(
        `/api/agents/${other.id}/conversations`,
      )
    ).body;
    expect(conversations).toMatchObject([{ platform: "agent", messageCount: 2, preview: "At noon." }]);
  });
});

describe("two processes over a database server", () => {
  let sqld: Sqld;
  let backend: Berth;
  let web: Berth;
  beforeAll(async () => {
    sqld = await startSqld();
    const shared = { DATABASE_URL: sqld.url, SECRET_KEY: ROOT_KEY };
    const models = { PROVIDER_3_BASE_URL: upstream.url, MODEL_A: "provider_3:fake-small" };
    backend = await startBerth({ env: { ...shared, ...models, ROLE: "backend" } });
    web = await startBerth({ env: { ...shared, ROLE: "web", BACKEND_URL: backend.backend } });
  });
  afterAll(async () => {
    await web?.[Symbol.asyncDispose]();
    await backend?.[Symbol.asyncDispose]();
    await sqld?.stop();
  });

  test("serve MCP and A2A as one does", async () => {
    upstream.reset();
    const { key, subdomain } = await setUp(web);
    const client = await connect(web.web, key);
    expect((await call(client, toolNameOf(subdomain), { message: "Ahoy" })).text).toBe("echo: Ahoy");
    expect((await call(client, "remember", { agent: subdomain, text: "The crane is red." })).text).toContain(
      "remembered",
    );
    const listed = JSON.parse((await call(client, "list_conversations", { agent: subdomain })).text);
    expect(listed.conversations).toHaveLength(1);
    await client.close();
    const { result } = await a2a(web, subdomain, "SendMessage", messageOf("Ahoy"));
    expect(result?.task).toMatchObject({ artifacts: [{ parts: [{ text: "echo: Ahoy" }] }] });
  });
});
