// Provisioning of agents with channels in one request on the whole service: claims, limits, kills, two processes, the claim page.

import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { type Berth, startBerth } from "./support/berth.ts";
import { openChromium } from "./support/chromium.ts";
import { type Client, createClient } from "./support/client.ts";
import { eventually } from "./support/eventually.ts";
import { openGateway } from "./support/gateway-client.ts";
import { member } from "./support/members.ts";
import { expectRefusal } from "./support/refusal.ts";
import { type Sqld, startSqld } from "./support/sqld.ts";
import { startTelegram } from "./support/telegram.ts";

interface Made {
  userId: string;
  agentId: string;
  channelAToken: string | null;
  streamKey: string | null;
  hls: string | null;
  rtmp: string | null;
  metadata: { claimUrl?: string; streaming: object };
}

let telegram: Awaited<ReturnType<typeof startTelegram>>;
let berth: Berth;
let next = 30_000;
const env = () => ({ CHANNEL_A_API_ROOT: telegram.url, CHANNEL_A_MODE: "polling", STREAM_DRIVER: "off" });

beforeAll(async () => {
  telegram = await startTelegram();
  berth = await startBerth({ env: { ...env(), RATE_LIMITS: "off" } });
});
afterAll(async () => {
  await berth?.[Symbol.asyncDispose]();
  await telegram?.stop();
});

function aBot() {
  const token = `${++next}:secret-part-of-the-token-${next}`;
  return { token, bot: telegram.addBot(token, { username: `bot_${next}` }) };
}
const make = (by: Client, token: string, headers: Record<string, string> = {}) =>
  by.post<Made>("/api/provision", { channelAToken: token, channelAUserId: "42" }, { headers });
const tokenOf = ({ metadata }: Made) => new URL(metadata.claimUrl ?? "").searchParams.get("token") ?? "";

test("provisioned without an account, then claimed: the bot answers throughout, and after a restart", async () => {
  const { token, bot } = aBot();
  const { status, body, text } = await make(createClient(berth), token);
  expect(status).toBe(201);
  expect(text).not.toContain(token.slice(6));
  expect(body).toMatchObject({ streamKey: null, hls: null, rtmp: null });
  expect(body.metadata.streaming).toEqual({ provider: null, latency: null });
  bot.userSays(42, "hello");
  await telegram.waitFor(() => bot.sent(42).length === 1);

  const ada = await member(berth, "starter");
  const claimed = await ada.post("/api/provision/claim", { token: tokenOf(body) });
  expect(claimed).toMatchObject({ status: 200, body: { success: true, agentId: body.agentId } });
  expect((await ada.get(`/api/agents/${body.agentId}`)).body).toMatchObject({ agent: { plan: "starter" } });
  await berth.restart();
  bot.userSays(42, "hello again");
  await telegram.waitFor(() => bot.sent(42).length === 2);
  expectRefusal(await ada.post("/api/provision/claim", { token: tokenOf(body) }), 404, "CLAIM_NOT_FOUND");
  const all = JSON.stringify(berth.output());
  for (const secret of [token.slice(6), tokenOf(body)]) expect(all).not.toContain(secret);
});

test("a kill leaves either a complete agent or none; a repeated request with the same key shows which", async () => {
  const bots = Array.from({ length: 8 }, aBot);
  for (const [n, { token, bot }] of bots.entries()) {
    const headers = { "idempotency-key": `kill-${n}` };
    const pending = make(createClient(berth), token, headers).catch(() => undefined);
    // Kill at a different point each time: before the work, during the platform call, around the write, after it.
    const until = performance.now() + n * 3;
    await eventually(() => performance.now() >= until, { everyMs: 1 });
    await berth.kill();
    const answered = await pending;
    await berth.restart();
    const again = await make(createClient(berth), token, headers);
    expect({ n, status: again.status }).toEqual({ n, status: 201 });
    if (answered?.status === 201) expect(again.body.agentId).toBe(answered.body.agentId);
    await telegram.waitFor(() => bot.polling);
  }
  await berth.stop();
  const database = new Database(join(berth.dir, "data", "berth.db"), { readonly: true });
  const ids = bots.map(({ bot }) => String(bot.id));
  const list = ids.map(() => "?").join(", ");
  const whole = `SELECT count(*) AS n FROM channel_connections JOIN agents ON agents.id = agent_id
    JOIN claims USING (agent_id) JOIN users ON users.id = user_id AND users.id = holder_id
    JOIN credentials ON credentials.owner_id = agent_id AND kind = 'channel_a' WHERE bot_id IN (${list})`;
  expect(database.query<{ n: number }, string[]>(whole).get(...ids)?.n).toBe(bots.length);
  const holders = `SELECT count(*) AS n FROM users WHERE email LIKE '%@unclaimed.invalid'
    AND NOT EXISTS (SELECT 1 FROM agents WHERE user_id = users.id)`;
  expect(database.query<{ n: number }, []>(holders).get()?.n).toBe(0);
  database.close();
  await berth.restart();
});

test("one address has 5 requests a minute, valid or not, with rate headers in each response", async () => {
  await using limited = await startBerth({ env: env() });
  const client = createClient(limited);
  const { token } = aBot();
  const first = await make(client, token);
  expect(first.status).toBe(201);
  expect(first.headers.get("ratelimit-policy")).toContain('"provision-60s";q=5;w=60');
  expect(first.headers.get("ratelimit")).toMatch(/^"provision-60s";r=4;t=\d+$/);
  for (let pending = 1; pending < 5; pending++) {
    expectRefusal(await client.post("/api/provision", {}), 400, "CHANNEL_TOKEN_REQUIRED");
  }
  const refused = await make(client, aBot().token);
  expectRefusal(refused, 429, "RATE_LIMITED");
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
  // The limit counts before the body is read, and survives a kill.
  await limited.kill();
  await limited.restart();
  expectRefusal(await createClient(limited).post("/api/provision", {}), 429, "RATE_LIMITED");
  // A session does not avoid the limit.
  expectRefusal(await make(await member(limited, "pro"), aBot().token), 429, "RATE_LIMITED");
});

test("the first admin can still be created after an agent was provisioned without an account", async () => {
  await using fresh = await startBerth({ env: { ...env(), RATE_LIMITS: "off" } });
  expect((await make(createClient(fresh), aBot().token)).status).toBe(201);
  await fresh.restart();
  // Each start prints a new link.
  const links = () => `${fresh.output().stdout}${fresh.output().stderr}`.match(/setup\?token=[\w-]{43}/g) ?? [];
  const link = await eventually(() => [...new Set(links())][1]);
  const token = link.slice("setup?token=".length);
  const body = { token, email: "owner@example.com", name: "Ada", password: "correct horse battery" };
  expect((await createClient(fresh).post("/api/auth/first-admin", body)).status).toBe(201);
});

test("a claim closes the agent's open sockets", async () => {
  const made = await make(createClient(berth), aBot().token);
  const { agentId, userId } = made.body;
  // The placeholder account can't sign in, so its gateway token is inserted directly, as a restored backup would.
  await berth.stop();
  const secret = "ab".repeat(32);
  const hash = new Bun.CryptoHasher("sha256").update(secret).digest("hex");
  const database = new Database(join(berth.dir, "data", "berth.db"));
  database.run("INSERT INTO gateway_tokens (agent_id, hash, sealed, created_at) VALUES (?, ?, 'x', 0)", [
    agentId,
    hash,
  ]);
  expect(database.query("SELECT user_id FROM agents WHERE id = ?").get(agentId)).toEqual({ user_id: userId });
  database.close();
  await berth.restart();
  const socket = openGateway(berth, agentId, { authorization: `Bearer ${secret}` });
  await socket.next("status");
  const ada = await member(berth, "starter");
  expect((await ada.post("/api/provision/claim", { token: tokenOf(made.body) })).status).toBe(200);
  expect((await socket.closed).code).toBe(4401);
  expect((await openGateway(berth, agentId, { authorization: `Bearer ${secret}` }).closed).code).toBe(4401);
});

test("works in two processes, with 502 while the backend is down", async () => {
  const sqld: Sqld = await startSqld();
  try {
    const shared = {
      DATABASE_URL: sqld.url,
      SECRET_KEY: "provision-test-root-key-0123456789abcdef",
      RATE_LIMITS: "off",
    };
    await using backend = await startBerth({ env: { ...env(), ...shared, ROLE: "backend" } });
    await using web = await startBerth({ env: { ...shared, ROLE: "web", BACKEND_URL: backend.backend } });
    const { token, bot } = aBot();
    const headers = { "idempotency-key": "split" };
    const made = await make(createClient(web), token, headers);
    expect(made.status).toBe(201);
    const again = await make(createClient(web), token, headers);
    expect(again.headers.get("idempotency-replayed")).toBe("true");
    expect(again.body).toMatchObject({ agentId: made.body.agentId, metadata: { claimUrl: null } });
    bot.userSays(42, "hello");
    await telegram.waitFor(() => bot.sent(42).length === 1);
    const ada = await member(web, "starter");
    expect((await ada.post("/api/provision/claim", { token: tokenOf(made.body) })).status).toBe(200);
    expect((await ada.get(`/api/agents/${made.body.agentId}/channels/channel_a`)).body).toMatchObject({
      state: "connected",
    });
    expectRefusal(await createClient(backend.backend).post("/api/provision", {}), 401, "UNAUTHORIZED");
    await backend.stop();
    expectRefusal(await make(createClient(web), aBot().token), 502, "BACKEND_UNAVAILABLE");
    expectRefusal(await ada.post("/api/provision/claim", { token: "nobodys" }), 502, "BACKEND_UNAVAILABLE");
  } finally {
    await sqld.stop();
  }
});

test("the claim link in a browser: sign in, return, accept", async () => {
  const { token, bot } = aBot();
  const { body } = await make(createClient(berth), token);
  const ada = await member(berth, "starter");
  await using page = await openChromium();
  const shown = (id: string) =>
    eventually(() => page.evaluate(`document.getElementById(${JSON.stringify(id)})?.hidden === false`), {
      timeoutMs: 20_000,
      what: `${id} is shown`,
    });
  await page.goto(body.metadata.claimUrl ?? "");
  await shown("sign-in-first");
  await page.evaluate(`document.getElementById("sign-in").click()`);
  const { email, password } = ada.account;
  const isThere = `document.getElementById("credentials") !== null && document.readyState === "complete"`;
  await eventually(() => page.evaluate(isThere), { timeoutMs: 20_000, what: "the page to sign in is there" });
  await page.evaluate(`for (const [name, value] of Object.entries(${JSON.stringify({ email, password })})) {
    document.querySelector("#credentials [name=" + name + "]").value = value;
  }
  document.querySelector("#credentials [type=submit]").click()`);
  await shown("offer");
  await page.evaluate(`document.querySelector("#form [type=submit]").click()`);
  await shown("claimed");
  expect(await page.evaluate<string>(`document.getElementById("name").textContent`)).toBe(bot.username);
  expect(await page.evaluate<string>("location.search")).toBe("");
  expect((await ada.get(`/api/agents/${body.agentId}`)).status).toBe(200);
  // The page's own Content Security Policy has blocked nothing.
  expect(page.consoleEntries().filter((text) => text.includes("Content Security Policy"))).toEqual([]);
  await page.goto(body.metadata.claimUrl ?? "");
  await shown("offer");
  await page.evaluate(`document.querySelector("#form [type=submit]").click()`);
  const pageStatus = `document.getElementById("status").textContent`;
  await eventually(async () => (await page.evaluate<string>(pageStatus)).includes("used already"));
});
