// The public page in two processes: on Berth's own host and on the agent's host, over kills, and under a flood of visitors.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Berth, startBerth } from "./support/berth.ts";
import { type Client, createClient } from "./support/client.ts";
import { eventually } from "./support/eventually.ts";
import { type AgentItem, member, provision } from "./support/members.ts";
import { rawRequest } from "./support/raw.ts";
import { expectRefusal } from "./support/refusal.ts";
import { type Sqld, startSqld } from "./support/sqld.ts";
import { startUpstream, type Upstream } from "./support/upstream.ts";

let sqld: Sqld;
let upstream: Upstream;
let backend: Berth;
let web: Berth;
let ada: Client;
let agent: AgentItem;
let subdomain: string;

const DOMAIN = "agents.localhost";

beforeAll(async () => {
  [sqld, upstream] = await Promise.all([startSqld(), startUpstream()]);
  const shared = { DATABASE_URL: sqld.url, SECRET_KEY: "public-page-root-key-0123456789abcdef" };
  const models = { PROVIDER_3_BASE_URL: upstream.url, MODEL_A: "provider_3:fake-small" };
  backend = await startBerth({ env: { ...shared, ...models, ROLE: "backend" } });
  const asWeb = { ROLE: "web", BACKEND_URL: backend.backend, AGENTS_DOMAIN: DOMAIN };
  web = await startBerth({ env: { ...shared, ...asWeb } });
  ada = await member(web);
  agent = await provision(ada, "Harbour <Master>");
  const { body } = await ada.get<{ agent: { subdomain: string; url: string } }>(`/api/agents/${agent.id}`);
  ({ subdomain } = body.agent);
  expect(body.agent.url).toBe(`http://${subdomain}.${DOMAIN}`);
  const greeting = "Ahoy & welcome";
  expect((await ada.put(`/api/agents/${agent.id}/public`, { enabled: true, greeting })).status).toBe(200);
});
afterAll(async () => {
  await web?.[Symbol.asyncDispose]();
  await backend?.[Symbol.asyncDispose]();
  await upstream?.stop();
  await sqld?.stop();
});

const path = () => `/a/${subdomain}/messages`;

test("serves HTML and JSON on both hosts", async () => {
  const { port } = new URL(web.web);
  const onOwnHost = { host: `${subdomain}.${DOMAIN}:${port}` };
  for (const [place, headers] of [
    [`/a/${subdomain}`, {}],
    [`/a/${subdomain}/`, {}],
    ["/", onOwnHost],
  ] as const) {
    const page = await rawRequest(web.web, { path: place, headers: { accept: "text/html", ...headers } });
    expect([place, page.status]).toEqual([place, 200]);
    expect(page.body).toContain("<bdi>Harbour &lt;Master&gt;</bdi>");
    expect(page.body).toContain("Ahoy &amp; welcome");
    expect(page.headers.get("content-security-policy")).toContain("default-src 'none'");
    expect(page.headers.get("set-cookie")).toBeNull();
    const card = await rawRequest(web.web, { path: place, headers: { accept: "application/json", ...headers } });
    expect(JSON.parse(card.body)).toMatchObject({ name: "Harbour <Master>", status: "online", chat: true });
  }
  const unknownHost = await rawRequest(web.web, {
    path: "/",
    headers: { host: `unknownHost.${DOMAIN}`, accept: "text/html" },
  });
  expect([unknownHost.status, unknownHost.body.includes("Nobody is here")]).toEqual([404, true]);
  for (const hidden of ["/api/agents", "/swagger", "/login", "/healthz"]) {
    expect((await rawRequest(web.web, { path: hidden, headers: onOwnHost })).status).toBe(404);
  }
});

test("a visitor chats, plain and streamed, and keeps the conversation after both processes were killed", async () => {
  const [one, two] = [createClient(web), createClient(web)];
  const first = await one.post<{ reply: string }>(path(), { message: "My name is Bo." });
  expect({ status: first.status, body: first.body }).toMatchObject({
    status: 200,
    body: { reply: "echo: My name is Bo." },
  });
  expect(first.headers.get("set-cookie")).toContain(`Path=/a/${subdomain}; HttpOnly; SameSite=Strict`);
  let streamed = "";
  for await (const { event, data } of two.sse(path(), { message: "And who am I?" })) {
    if (event === "delta") streamed += JSON.parse(data).text;
  }
  expect(streamed).toBe("echo: And who am I?");
  expect(JSON.stringify(upstream.chats.at(-1)?.messages)).not.toContain("Bo.");

  await Promise.all([web.kill(), backend.kill()]);
  await backend.restart({ env: { BACKEND_PORT: new URL(web.env.BACKEND_URL ?? "").port } });
  await web.restart();
  await eventually(async () => (await one.post(path(), { message: "Who am I?" })).status === 200);
  expect(JSON.stringify(upstream.chats.at(-1)?.messages)).toContain("Bo.");
});

test("while the backend is down the card is served and chat is 502; switched off, chat is 403", async () => {
  await backend.stop();
  const guest = createClient(web);
  expect((await guest.get(`/a/${subdomain}`)).status).toBe(200);
  expectRefusal(await guest.post(path(), { message: "Anybody?" }), 502, "BACKEND_UNAVAILABLE");
  const streaming = { headers: { accept: "text/event-stream" } };
  expectRefusal(await guest.post(path(), { message: "Anybody?" }, streaming), 502, "BACKEND_UNAVAILABLE");
  expectRefusal(await ada.put(`/api/agents/${agent.id}/public`, { enabled: false }), 502, "BACKEND_UNAVAILABLE");
  await backend.restart({ env: { BACKEND_PORT: new URL(web.env.BACKEND_URL ?? "").port } });
  await eventually(async () => (await guest.post(path(), { message: "Back?" })).status === 200);
  const other = await provision(ada, "Shut");
  const { body } = await ada.get<{ agent: { subdomain: string } }>(`/api/agents/${other.id}`);
  expectRefusal(await guest.post(`/a/${body.agent.subdomain}/messages`, { message: "Hello" }), 403, "CHAT_OFF");
});

test("a flood of visitors is limited, without effect on the owner and other agents", async () => {
  const guests = Array.from({ length: 60 }, () => createClient(web));
  const statuses = await Promise.all(
    guests.map(async (guest) => (await guest.post(path(), { message: "Flood" })).status),
  );
  const counted = Object.groupBy(statuses, String);
  expect(Object.keys(counted).every((status) => ["200", "429"].includes(status))).toBe(true);
  expect(counted[200]?.length ?? 0).toBeLessThanOrEqual(20);
  const refused = await createClient(web).post(path(), { message: "One more" });
  expectRefusal(refused, 429);
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
  expect((await ada.post("/api/agent", { agentId: agent.id, message: "Hello" })).status).toBe(200);
});
