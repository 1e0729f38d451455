// The two surfaces as two processes over one database server: they act as one service, and the web survives the backend.

import { afterAll, beforeAll, describe, expect, setSystemTime, test } from "bun:test";
import { createServiceTokens, type Grant } from "../src/kernel/http/backend/service-tokens.ts";
import { createVault } from "../src/kernel/security/vault.ts";
import { type Berth, startBerth } from "./support/berth.ts";
import { type Client, createClient } from "./support/client.ts";
import { eventually } from "./support/eventually.ts";
import { openGateway } from "./support/gateway-client.ts";
import { type AgentItem, member, provision } from "./support/members.ts";
import { expectRefusal } from "./support/refusal.ts";
import { type Sqld, startSqld } from "./support/sqld.ts";
import { startUpstream, type Upstream } from "./support/upstream.ts";

const ROOT_KEY = "split-test-root-key-0123456789abcdefgh";

let sqld: Sqld;
let upstream: Upstream;
let backend: Berth;
let web: Berth;
let ada: Client;
let agent: AgentItem;

beforeAll(async () => {
  [sqld, upstream] = await Promise.all([startSqld({ isEmpty: true }), startUpstream()]);
  const shared = { DATABASE_URL: sqld.url, SECRET_KEY: ROOT_KEY };
  const models = { PROVIDER_3_BASE_URL: upstream.url, MODEL_A: "provider_3:fake-small" };
  backend = await startBerth({ env: { ...shared, ...models, ROLE: "backend" } });
  web = await startBerth({ env: { ...shared, ROLE: "web", BACKEND_URL: backend.backend } });
});
afterAll(async () => {
  await web?.[Symbol.asyncDispose]();
  await backend?.[Symbol.asyncDispose]();
  await upstream?.stop();
  await sqld?.stop();
});

test("each process serves only its own surface", async () => {
  expect(web.web).not.toBe("");
  expect(web.backend).toBe("");
  expect(backend.backend).not.toBe("");
  expect(backend.web).toBe("");
  expect((await fetch(`${web.web}/readyz`)).status).toBe(200);
  expect((await fetch(`${backend.backend}/readyz`)).status).toBe(200);
});

test("a second backend is refused, and says which one to stop", async () => {
  const env = { DATABASE_URL: sqld.url, SECRET_KEY: ROOT_KEY, ROLE: "backend" };
  const refusal: unknown = await startBerth({ env }).catch((error: unknown) => error);
  expect(String(refusal)).toMatch(
    /Another backend uses the database of DATABASE_URL: process \d+ on .+ stop that one first/,
  );
});

test("sign-up, a plan, an agent, a chat: plain, streamed and over the gateway", async () => {
  ada = await member(web);
  agent = await provision(ada, "Harbour", { instructions: "Be brief." });
  const { status, body } = await ada.post("/api/agent", { message: "Hello" });
  expect({ status, body }).toMatchObject({ status: 200, body: { reply: "echo: Hello" } });
  let streamed = "";
  for await (const { event, data } of ada.sse("/api/agent", { message: "One by one" })) {
    if (event === "delta") streamed += JSON.parse(data).text;
  }
  expect(streamed).toBe("echo: One by one");
  const socket = openGateway(web, agent.id, { cookie: ada.cookie });
  socket.send({ type: "chat", id: "1", message: "And here" });
  expect((await socket.next("reply")).reply).toBe("echo: And here");
  socket.close();
  expect((await ada.get(`/api/agents/${agent.id}/config`)).body).toMatchObject({
    config: { instructions: "Be brief." },
  });
});

test("clients with protocols of their own: useChat with a resumed stream, and the agent as a model", async () => {
  const parts = [{ type: "text", text: "Over two processes" }];
  const sent = await ada.post(`/api/agents/${agent.id}/chat`, {
    id: "c1",
    messages: [{ id: "m1", role: "user", parts }],
  });
  expect(sent.text).toContain('"delta":" processes"');
  expect((await ada.get(`/api/agents/${agent.id}/chat/c1/stream`)).text).toContain("echo: Over two processes");
  const body = { model: `agent:${agent.id}`, messages: [{ role: "user", content: "As a model" }] };
  const headers = { "idempotency-key": "split-1" };
  for (const _ of [1, 2]) {
    const { text } = await ada.post("/v1/chat/completions", body, { headers });
    expect(text).toContain("echo: As a model");
  }
  expect(upstream.chats.filter(({ lastUser }) => lastUser === "As a model")).toHaveLength(1);
});

test("an export has the bytes of a message's files, which the backend keeps", async () => {
  const form = new FormData();
  form.set("file", new File(["Ahoy from a file"], "note.txt", { type: "text/plain" }));
  const headers = { cookie: ada.cookie, origin: web.web };
  const sent = await fetch(`${web.web}/api/agents/${agent.id}/uploads`, { method: "POST", body: form, headers });
  const { id } = (await sent.json()) as { id: string };
  const { status } = await ada.post(`/api/agents/${agent.id}/conversations`, { message: "Read it", attachments: [id] });
  expect(status).toBe(202);
  const bytes = Buffer.from("Ahoy from a file").toString("base64");
  await eventually(async () => (await ada.get(`/api/agents/${agent.id}/export`)).text.includes(bytes));
});

test("the backend accepts the owner's session, not another user's", async () => {
  const direct = createClient(backend.backend);
  const path = `/api/agents/${agent.id}`;
  expect((await direct.get(path, { headers: { cookie: ada.cookie } })).body).toMatchObject({ id: agent.id });
  const eve = await member(web);
  expectRefusal(await direct.get(path, { headers: { cookie: eve.cookie } }), 404, "AGENT_NOT_FOUND");
  expectRefusal(await direct.get(path), 401, "UNAUTHORIZED");
});

describe("a service token", () => {
  const tokens = createServiceTokens(createVault({ key: ROOT_KEY }));
  const send = (token: string, method: "get" | "put" | "delete" = "put", base = backend.backend) => {
    const path = `/api/agents/${agent.id}${method === "put" ? "/config" : ""}`;
    const options = { headers: { authorization: `Bearer ${token}` } };
    const client = createClient(base);
    if (method === "get") return client.get(path, options);
    return client[method](path, method === "put" ? { instructions: "Obey." } : undefined, options);
  };
  const idOf = async (client: Client) => (await client.get<{ id: string }>("/api/settings")).body.id;
  let ownerId = "";
  beforeAll(async () => {
    ownerId = await idOf(ada);
  });
  const grantOf = (more: Partial<Grant> = {}): Grant => ({
    userId: ownerId,
    isAdmin: false,
    agentId: agent.id,
    action: "agent.configure",
    address: "127.0.0.1",
    ...more,
  });
  const unchanged = async () =>
    expect((await ada.get(`/api/agents/${agent.id}/config`)).body).toMatchObject({
      config: { instructions: "Be brief." },
    });

  test("that was forged, changed or has expired is refused", async () => {
    const [header = "", payload = "", mac = ""] = tokens.sign(grantOf()).split(".");
    const [, eves = ""] = tokens.sign(grantOf({ userId: "eve" })).split(".");
    setSystemTime(Date.now() - 31_000);
    const expired = tokens.sign(grantOf());
    setSystemTime();
    const forged = createServiceTokens(createVault({ key: "another-root-key-0123456789abcdefghijk" })).sign(grantOf());
    for (const bad of [
      forged,
      expired,
      `${header}.${eves}.${mac}`,
      `${header}.${payload}.${mac.slice(0, -1)}`,
      "st..",
    ]) {
      const answer = await send(bad);
      expectRefusal(answer, 401, "UNAUTHORIZED");
      expect(answer.headers.get("www-authenticate")).toContain("invalid_token");
    }
    await unchanged();
  });

  test("for another action, agent or user is refused, an admin's too", async () => {
    const eve = await member(web);
    const other = await provision(eve);
    expectRefusal(await send(tokens.sign(grantOf({ action: "agent.read" }))), 401, "UNAUTHORIZED");
    expectRefusal(
      await send(tokens.sign(grantOf({ action: "agent.visit", userId: "visitor:1" }))),
      401,
      "UNAUTHORIZED",
    );
    expectRefusal(await send(tokens.sign(grantOf()), "delete"), 401, "UNAUTHORIZED");
    expectRefusal(await send(tokens.sign(grantOf({ agentId: other.id }))), 404, "AGENT_NOT_FOUND");
    const userId = await idOf(eve);
    for (const isAdmin of [false, true]) {
      expectRefusal(await send(tokens.sign(grantOf({ userId, isAdmin }))), 404, "AGENT_NOT_FOUND");
      expectRefusal(await send(tokens.sign(grantOf({ userId, isAdmin, agentId: other.id }))), 404, "AGENT_NOT_FOUND");
    }
    await unchanged();
  });

  test("opens nothing on the web surface", async () => {
    for (const action of ["agent.configure", "agent.read"]) {
      expectRefusal(await send(tokens.sign(grantOf({ action })), "put", web.web), 401, "UNAUTHORIZED");
    }
    await unchanged();
  });

  test("replayed within its 30 seconds allows its one action again, and nothing else", async () => {
    const token = tokens.sign(grantOf({ action: "agent.read" }));
    expect((await send(token, "get")).status).toBe(200);
    expect((await send(token, "get")).status).toBe(200);
    expectRefusal(await send(token), 401, "UNAUTHORIZED");
    await unchanged();
  });
});

test("changes by one process are visible in the other at once: configuration, sign-out", async () => {
  expect((await ada.put(`/api/agents/${agent.id}/config`, { instructions: "Shout." })).status).toBe(200);
  await ada.post("/api/agent", { message: "Hello" });
  expect(JSON.stringify(upstream.chats.at(-1)?.messages)).toContain("Shout.");
  const guest = await member(web);
  const { cookie } = guest;
  const other = await provision(guest);
  await guest.signOut();
  expectRefusal(await createClient(backend.backend).get(`/api/agents/${other.id}`, { headers: { cookie } }), 401);
});

test("while the backend is down, reads work, and chat and writes are 502; afterwards all work", async () => {
  await backend.stop();
  expectRefusal(await ada.post("/api/agent", { message: "Anybody?" }), 502, "BACKEND_UNAVAILABLE");
  const events = { headers: { accept: "text/event-stream" } };
  expectRefusal(await ada.post("/api/agent", { message: "Anybody?" }, events), 502, "BACKEND_UNAVAILABLE");
  expectRefusal(await ada.put(`/api/agents/${agent.id}/config`, {}), 502, "BACKEND_UNAVAILABLE");
  expectRefusal(await ada.post("/api/agents/provision", { name: "Late" }), 502, "BACKEND_UNAVAILABLE");
  expectRefusal(await ada.delete(`/api/agents/${agent.id}`), 502, "BACKEND_UNAVAILABLE");
  const socket = openGateway(web, agent.id, { cookie: ada.cookie });
  socket.send({ type: "chat", id: "1", message: "Anybody?" });
  expect((await socket.next("error")).code).toBe("BACKEND_UNAVAILABLE");
  expect((await ada.get(`/api/agents/${agent.id}`)).status).toBe(200);
  expect((await ada.get("/api/agent?action=health")).status).toBe(200);
  expect((await ada.get("/api/settings")).status).toBe(200);
  expect((await fetch(`${web.web}/readyz`)).status).toBe(200);

  const port = new URL(web.env.BACKEND_URL ?? "").port;
  await backend.restart({ env: { BACKEND_PORT: port } });
  const answer = await eventually(async () => {
    const answer = await ada.post<{ reply: string }>("/api/agent", { message: "Back?" });
    return answer.status === 200 ? answer.body : undefined;
  });
  expect(answer.reply).toBe("echo: Back?");
  socket.send({ type: "chat", id: "2", message: "Here too?" });
  expect((await socket.next("reply")).reply).toBe("echo: Here too?");
  socket.close();
});

test("a web process with another SECRET_KEY does not start", async () => {
  const env = { ...web.env, SECRET_KEY: "another-root-key-0123456789abcdefghijk" };
  await expect(startBerth({ env })).rejects.toThrow("SECRET_KEY is not the one");
});

test("two web surfaces over one backend: a sign-out or a disabled account takes effect in both at once", async () => {
  const env = { DATABASE_URL: sqld.url, SECRET_KEY: ROOT_KEY, ROLE: "web", BACKEND_URL: backend.backend };
  await using two = await startBerth({ env });
  const bob = await member(web);
  const { cookie } = bob;
  const remote = createClient(two);
  const status = async () => (await remote.get("/api/settings", { headers: { cookie } })).status;
  expect(await status()).toBe(200);
  await bob.signOut();
  expect(await status()).toBe(401);
  await bob.signIn();
  const key = (await bob.post<{ key: string }>("/api/keys", { name: "both" })).body.key;
  const keyed = () => remote.get("/api/settings", { headers: { authorization: `Bearer ${key}` } });
  expect((await keyed()).status).toBe(200);
  await web.command("user", "disable", bob.account.email);
  expect((await keyed()).status).toBe(401);
});
