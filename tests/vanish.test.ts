// Two hundred clients disconnect during streams: their upstream calls are cancelled, and new requests are served.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Berth, startBerth } from "./support/berth.ts";
import { type Client, createClient } from "./support/client.ts";
import { eventually } from "./support/eventually.ts";
import { openGateway } from "./support/gateway-client.ts";
import { type AgentItem, member, provision } from "./support/members.ts";
import { startUpstream, type Upstream } from "./support/upstream.ts";

let upstream: Upstream;
let berth: Berth;
let ada: Client;
let agents: AgentItem[];

beforeAll(async () => {
  upstream = await startUpstream();
  const env = { PROVIDER_3_BASE_URL: upstream.url, MODEL_A: "provider_3:fake-small", RATE_LIMITS: "off" };
  berth = await startBerth({ env });
  ada = await member(berth, "enterprise");
  agents = await Promise.all(Array.from({ length: 70 }, (_, n) => provision(ada, `Agent ${n}`)));
});
afterAll(async () => {
  await berth?.[Symbol.asyncDispose]();
  await upstream?.stop();
});

/** A reply that takes minutes. */
const endless = { pieces: Array.from({ length: 5_000 }, (_, n) => `word${n} `), paceMs: 50 };

/** References to open responses, since the garbage collector closes unreferenced ones. */
const held: Response[] = [];

/** Waits for the first bytes and stays connected. */
async function begin(answer: Response): Promise<void> {
  expect(answer.status).toBe(200);
  held.push(answer);
  const reader = answer.body?.getReader();
  expect((await reader?.read())?.done).toBe(false);
  reader?.releaseLock();
}

const settled = async () => {
  await eventually(() => upstream.open === 0, { timeoutMs: 15_000, what: "nothing is open upstream" });
  await eventually(async () => {
    const metrics = await (await fetch(`${berth.backend}/metrics`)).text();
    expect(/^berth_inbox_held .*$/m.exec(metrics)?.[0]).toBe("berth_inbox_held 0");
    return true;
  });
};

test("70 clients on REST, 70 on the gateway and 60 on /v1 disconnect: the upstream's open count returns to 0", async () => {
  upstream.script(endless);
  const leave = new AbortController();

  const rest = agents.map(async ({ id: agentId }) => {
    const headers = { accept: "text/event-stream" };
    const request = { message: "Tell me everything.", agentId };
    await begin(await ada.fetch("POST", "/api/agent", request, { headers, signal: leave.signal }));
  });
  const sockets = agents.map(({ id }) => openGateway(berth, id, { cookie: ada.cookie }));
  const spoken = sockets.map(async (socket, n) => {
    // Each has its own session, since one session runs one turn at a time.
    const path = { action: "create-session", agentId: agents[n]?.id };
    const { body } = await ada.post<{ sessionId: string }>("/api/agent", path);
    socket.send({ type: "chat", id: "1", message: "Tell me everything.", sessionId: body.sessionId });
    await socket.next("delta");
  });
  const backend = createClient(berth.backend);
  const open = Array.from({ length: 60 }, async () => {
    const body = { model: "fake-small", stream: true, messages: [{ role: "user", content: "Tell me everything." }] };
    await begin(await backend.fetch("POST", "/v1/chat/completions", body, { signal: leave.signal }));
  });

  await Promise.all([...rest, ...spoken, ...open]);
  await eventually(() => upstream.open === 200, { what: "200 calls are open upstream" });

  leave.abort();
  for (const socket of sockets) socket.close();
  await settled();
  expect(upstream.aborted).toBe(200);
});

test("clients that disconnect before the first byte cancel their calls and their waiting turns", async () => {
  upstream.reset();
  upstream.script({ hang: true });
  const leave = new AbortController();
  const agentId = agents[0]?.id;
  const calls = Array.from({ length: 20 }, (_, n) =>
    ada
      .post("/api/chat", { message: "Are you there?", topic: `topic ${n}`, agentId }, { signal: leave.signal })
      .catch((error: unknown) => error),
  );
  await upstream.waitFor(({ open }) => open >= 4);
  leave.abort();
  await Promise.all(calls);
  await settled();
});

test("the service still answers", async () => {
  upstream.reset();
  const { status, body } = await ada.post("/api/agent", { message: "Still there?" });
  expect(status).toBe(200);
  expect(body).toMatchObject({ reply: "echo: Still there?" });
  expect(berth.output().stderr).not.toContain('"level":"error"');
});
