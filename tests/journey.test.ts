// The path of a new operator: from the binary in an empty folder with an empty environment to an agent that answers by REST,
// WebSocket and Telegram; and the tour of the API.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from "node:fs";
import { join, resolve } from "node:path";
import { type Berth, runBerth, startBerth } from "./support/berth.ts";
import { type Client, createClient } from "./support/client.ts";
import { eventually } from "./support/eventually.ts";
import { openGateway } from "./support/gateway-client.ts";
import type { AgentItem } from "./support/members.ts";
import { run, temporaryDir } from "./support/process.ts";
import { expectRefusal } from "./support/refusal.ts";
import { type FakeBot, startTelegram, type Telegram } from "./support/telegram.ts";

const root = resolve(import.meta.dir, "..");
const iso = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

interface Session {
  id: string;
  status: string;
  messageCount: number;
  createdAt: number;
  lastActivity: number;
}
interface Chat {
  sessionId: string;
  reply: string;
  timestamp: number;
}

describe("in an empty folder with an empty environment", () => {
  let berth: Berth;
  let ada: Client;
  let agent: AgentItem;
  let sessionId: string;
  beforeAll(async () => {
    berth = await startBerth();
    ada = createClient(berth);
  });
  afterAll(() => berth?.[Symbol.asyncDispose]());
  const see = async <T>(action: string) => (await ada.get<T>(`/api/agent?action=${action}`)).body;

  test("it serves both surfaces, prints their addresses, and creates private files", async () => {
    for (const origin of [berth.web, berth.backend]) {
      expect(await (await fetch(`${origin}/healthz`)).json()).toEqual({ status: "ok" });
      expect(await (await fetch(`${origin}/readyz`)).json()).toMatchObject({ status: "ready" });
      const page = await fetch(`${origin}/swagger`);
      expect(page.headers.get("content-type")).toContain("text/html");
    }
    // The web has the name of its links, under which a browser keeps the session.
    for (const printed of [berth.web.replace("127.0.0.1", "localhost"), berth.backend]) {
      await eventually(() => berth.output().stdout.includes(printed));
    }
    const data = join(berth.dir, "data");
    expect(statSync(data).mode & 0o777).toBe(0o700);
    expect(readdirSync(berth.dir)).toEqual(["data"]);
    for (const name of ["berth.db", "secret.key"]) expect(statSync(join(data, name)).mode & 0o077).toBe(0);
    expect(await (await fetch(`${berth.backend}/api/ai/health`)).json()).toMatchObject({
      status: "healthy",
      demo: true,
    });
  });

  test("without a session: no user, no agents, and 401", async () => {
    expect((await ada.get("/api/auth/session")).body).toEqual({ user: null, expires: null });
    expect((await ada.get("/api/agents")).body).toEqual({ agents: [], count: 0, status: "ok" });
    expectRefusal(await ada.get("/api/agent"), 401, "UNAUTHORIZED");
  });

  test("sign-up without sign-in, a plan from the operator, then sign-in", async () => {
    const account = await ada.signUp({ email: "Ada@Example.com", name: "Ada" });
    expect(account).toEqual({ id: expect.stringMatching(uuid), email: "ada@example.com", name: "Ada" });
    expect(ada.cookie).toBe("");
    expectRefusal(await ada.post("/api/register", { ...ada.account, email: " ADA@example.com" }), 409, "USER_EXISTS");
    const wrong = { email: "ada@example.com", password: "not the password" };
    const unknown = { email: "nobody@example.com", password: "not the password" };
    const refusals = [wrong, unknown].map((body) => createClient(berth).post("/api/auth/callback/credentials", body));
    const [first, second] = await Promise.all(refusals);
    expect(first?.text).toBe(second?.text);
    expect(first?.status).toBe(401);

    const { stdout } = await berth.command("user", "grant", "ada@example.com", "pro", "--days", "7");
    expect(stdout).toMatch(/^ada@example\.com has the plan pro until \d{4}-/);
    await ada.signIn();
    expect(ada.cookie).toStartWith("berth_session=");
    expect((await ada.get("/api/settings")).body).toMatchObject({
      ...account,
      plan: "pro",
      credits: 0,
      twoFactorEnabled: false,
      emailVerified: false,
      isAdmin: false,
      subscription: { plan: "pro", status: "active", active: true, currentPeriodEnd: expect.stringMatching(iso) },
    });
    const session = (await ada.get("/api/auth/session")).body;
    expect(session).toMatchObject({ user: account, expires: expect.stringMatching(iso) });
  });

  test("without an agent: chat is 404, health is unknown", async () => {
    expectRefusal(await ada.post("/api/agent", { message: "Hello" }), 404, "NO_AGENT");
    expect(await see("health")).toMatchObject({ status: "unknown", apiVersion: "1.0.0" });
    expect(await see("sessions")).toEqual({ agentId: null, sessions: [] });
    expect((await ada.get("/api/agent")).body).toMatchObject({ apiVersion: "1.0.0", endpoints: {} });
  });

  test("provision: 201 once per Idempotency-Key, then list and detail", async () => {
    const request = { name: " Harbour ", config: { instructions: "You are a harbour master." } };
    const headers = { "idempotency-key": "first" };
    const [one, two] = [
      await ada.post<{ agent: AgentItem }>("/api/agents/provision", request, { headers }),
      await ada.post<{ agent: AgentItem }>("/api/agents/provision", request, { headers }),
    ];
    expect(one.status).toBe(201);
    expect(two.text).toBe(one.text);
    expectRefusal(await ada.post("/api/agents/provision", { name: "x" }, { headers }), 409, "IDEMPOTENCY_MISMATCH");
    agent = one.body.agent;
    expect<object>(one.body).toEqual({
      success: true,
      agent: {
        id: expect.stringMatching(uuid),
        name: "Harbour",
        status: "running",
        model: "model_a",
        websocketUrl: `ws://localhost:${new URL(berth.web).port}/agent/${agent.id}`,
        createdAt: expect.stringMatching(iso),
      },
    });
    const item = { ...agent, updatedAt: expect.stringMatching(iso) };
    expect((await ada.get("/api/agents")).body).toEqual({ agents: [item], count: 1, status: "ok" });
    expect((await ada.get("/api/agents/provision")).body).toEqual({ success: true, agents: [item], count: 1 });
    expect((await ada.get(`/api/agents/${agent.id}`)).body).toMatchObject({
      agent: { id: agent.id, status: "running", plan: "pro", verified: false, attestationUid: null },
      status: "ok",
    });
    const direct = createClient(berth.backend);
    const unwrapped = await direct.get(`/api/agents/${agent.id}`, { headers: { cookie: ada.cookie } });
    expect(unwrapped.body).toMatchObject({
      id: agent.id,
      runtimeVersion: expect.any(String),
      subdomain: expect.any(String),
    });
  });

  test("chat by REST: plain, streamed, in a session, by topic", async () => {
    const first = await ada.post<Chat>("/api/agent", { message: "My name is Ada. What time is it?" });
    expect(first.status).toBe(200);
    expect(Object.keys(first.body).sort()).toEqual(["agentId", "reply", "sessionId", "timestamp"]);
    expect(first.body.sessionId).toMatch(/^sess_[0-9a-f]{16}$/);
    expect(first.body.reply).toContain(new Date().getUTCFullYear().toString());
    ({ sessionId } = first.body);

    const events: { event: string; data: string }[] = [];
    const request = { message: "Remember that I love lighthouses.", sessionId };
    for await (const { event, data } of ada.sse("/api/agent", request)) events.push({ event, data });
    const deltas = events.filter(({ event }) => event === "delta").map(({ data }) => JSON.parse(data).text);
    const last: Chat = JSON.parse(events.at(-1)?.data ?? "{}");
    expect(events.at(-1)?.event).toBe("reply");
    expect(events.map(({ event }) => event)).toContain("tool");
    expect(deltas.length).toBeGreaterThan(1);
    expect(deltas.join("")).toBe(last.reply);
    expect(last.sessionId).toBe(sessionId);

    const other = await ada.post("/api/agent", { action: "create-session" });
    expect(other.body).toEqual({ agentId: agent.id, sessionId: expect.stringMatching(/^sess_/), status: "active" });
    expectRefusal(await ada.post("/api/agent", { message: "x", sessionId: "sess_0000000000000000" }), 404);

    const sent = await ada.post("/api/chat", { message: "What is 6 * 7?", topic: "sums" });
    expect(sent.body).toMatchObject({
      message: "What is 6 * 7?",
      topic: "sums",
      status: "sent",
      reply: expect.stringContaining("42"),
    });
    expect(sent.body).toMatchObject({ id: expect.any(String), timestamp: expect.stringMatching(iso) });
    await ada.post("/api/chat", { message: "Hello" });
    const listed = await ada.get<{ messages: { message: string }[]; count: number }>("/api/chat?topic=sums");
    expect(listed.body.count).toBe(1);
    expect(listed.body.messages[0]).toEqual(Object(sent.body));
    expect((await ada.get<{ messages: unknown[] }>("/api/chat?limit=1")).body.messages).toHaveLength(1);
  });

  test("chat by WebSocket at the address from provisioning", async () => {
    const socket = new WebSocket(agent.websocketUrl, {
      protocols: ["berth.v1"],
      headers: { cookie: ada.cookie, origin: new URL(agent.websocketUrl.replace("ws:", "http:")).origin },
    });
    const frames: { type: string; id?: string; text?: string; reply?: string }[] = [];
    const done = Promise.withResolvers<void>();
    socket.onopen = () => {
      expect(socket.protocol).toBe("berth.v1");
      socket.send(JSON.stringify({ type: "chat", id: "a", message: "What is my name?", sessionId }));
      socket.send(JSON.stringify({ type: "ping" }));
    };
    socket.onmessage = ({ data }) => {
      frames.push(JSON.parse(String(data)));
      if (frames.at(-1)?.type === "reply") done.resolve();
    };
    socket.onclose = ({ code }) => done.reject(new Error(`closed: ${code}`));
    await done.promise;
    expect(new Set(frames.map(({ type }) => type))).toEqual(new Set(["status", "pong", "delta", "reply"]));
    const deltas = frames.filter(({ type }) => type === "delta").map(({ text }) => text);
    expect(frames.at(-1)).toMatchObject({ type: "reply", id: "a", reply: deltas.join("") });
    expect(deltas.join("")).toContain("Ada");
    socket.onclose = null;
    socket.close();
    expect(await openGateway(berth, agent.id, {}).closed).toMatchObject({ code: 4401 });
  });

  test("sessions, memory, skills, credentials, health", async () => {
    const { sessions } = await see<{ sessions: Session[] }>("sessions");
    const found = sessions.find(({ id }) => id === sessionId);
    expect(found).toMatchObject({ status: "active", messageCount: 6 });
    expect(found?.lastActivity).toBeWithin(Date.now() - 60_000, Date.now() + 1);
    const full = await see<{ messages: { role: string; content: string; timestamp: number }[] }>(
      `session&sessionId=${sessionId}`,
    );
    expect(full.messages.map(({ role }) => role)).toEqual([
      "user",
      "assistant",
      "user",
      "assistant",
      "user",
      "assistant",
    ]);
    expect(full.messages[2]?.content).toBe("Remember that I love lighthouses.");

    await ada.post("/api/agent", { message: `${"long ".repeat(40)}é👍`.repeat(2) });
    const { memory } = await see<{ memory: { role: string; content: string }[] }>("memory");
    expect(memory.length).toBeWithin(1, 11);
    for (const entry of memory) {
      expect(Object.keys(entry).sort()).toEqual(["content", "role"]);
      expect([...entry.content].length).toBeLessThanOrEqual(100);
    }

    const { skills } = await see<{ skills: { id: string; enabled: boolean }[] }>("skills");
    expect(skills.map(({ id }) => id)).toEqual(expect.arrayContaining(["clock", "memory", "web-fetch", "reminder"]));
    const off = await ada.post("/api/agent", { action: "update-skill", skillId: "clock", enabled: false });
    expect(off.body).toEqual({ agentId: agent.id, success: true, skillId: "clock", enabled: false });
    const { reply } = (await ada.post<Chat>("/api/agent", { message: "What time is it?" })).body;
    expect(reply).toContain("clock skill is off");
    expect((await ada.post("/api/agent", { action: "update-skill", skillId: "clock", enabled: true })).status).toBe(
      200,
    );
    expectRefusal(await ada.post("/api/agent", { action: "update-skill", skillId: "dance", enabled: true }), 404);

    const none = Object.fromEntries(
      ["provider_1", "provider_2", "provider_4", "provider_5", "channel_a", "channel_b", "channel_c"].map((k) => [
        k,
        false,
      ]),
    );
    expect(await see("credentials")).toEqual({ agentId: agent.id, credentials: none });
    const set = (value: string) => ada.post("/api/agent", { action: "set-credential", key: "provider_2", value });
    expect((await set("a-key-of-mine")).body).toEqual({
      agentId: agent.id,
      success: true,
      key: "provider_2",
      configured: true,
    });
    expect(await see("credentials")).toEqual({ agentId: agent.id, credentials: { ...none, provider_2: true } });
    expect((await set("")).body).toEqual({ agentId: agent.id, success: true, key: "provider_2", configured: false });
    expect(await see("credentials")).toEqual({ agentId: agent.id, credentials: none });

    expect(await see("health")).toMatchObject({
      status: "running",
      version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
      apiVersion: "1.0.0",
      uptime: expect.any(Number),
      model: expect.stringContaining("demo"),
      channels: [],
      lastSeen: expect.any(Number),
    });
  });

  test("configuration is returned unchanged and replaced as a whole; logs", async () => {
    const text = '{"instructions":"Be brief.","big":12345678901234567890,"own":{"__proto__":1,"a":[1.0,1e3]}}';
    const headers = { "content-type": "application/json" };
    const put = await ada.raw({ method: "PUT", path: `/api/agents/${agent.id}/config`, headers, body: text });
    expect(put.status).toBe(200);
    expect(put.body).toContain(text);
    const got = await ada.get(`/api/agents/${agent.id}/config`);
    expect(got.text).toContain(text);
    expect(got.body).toMatchObject({ status: "ok" });
    const logs = await ada.get<{ total: number; logs: object[] }>(`/api/agents/${agent.id}/logs?limit=500`);
    expect(logs.body).toMatchObject({ limit: 100, status: "ok", total: logs.body.logs.length });
  });

  test("a restart keeps the session, the agent, its messages and its memory", async () => {
    const before = await ada.get("/api/agents");
    expect(await berth.stop()).toBe(0);
    await berth.restart({ keepPorts: true });
    expect((await ada.get("/api/agents")).text).toBe(before.text);
    expect((await ada.get("/api/agents/provision")).status).toBe(200);
    const { reply } = (await ada.post<Chat>("/api/agent", { message: "What is my name?", sessionId })).body;
    expect(reply).toContain("Ada");
    const recalled = await ada.post<Chat>("/api/agent", { message: "What do you remember about lighthouses?" });
    expect(recalled.body.reply).toContain("lighthouses");
    expect(berth.output().stderr).not.toContain('"level":"error"');
    expect(berth.output().stdout.match(/\/setup\?token=/g)).toHaveLength(1);
  });

  test("removing an agent closes its socket", async () => {
    const socket = openGateway(berth, agent.id, { cookie: ada.cookie });
    await socket.next("status");
    const gone = await ada.delete(`/api/agents/${agent.id}`);
    expect(gone.status).toBe(200);
    expect(gone.headers.get("deprecation")).toMatch(/^@\d+$/);
    expect(gone.headers.get("link")).toContain('rel="successor-version"');
    expect(await socket.closed).toMatchObject({ code: 4401 });
    expectRefusal(await ada.get(`/api/agents/${agent.id}`), 404, "AGENT_NOT_FOUND");
    expect((await ada.get("/api/agents")).body).toEqual({ agents: [], count: 0, status: "ok" });
  });
});

describe("in Telegram", () => {
  let telegram: Telegram;
  beforeAll(async () => {
    telegram = await startTelegram();
  });
  afterAll(() => telegram?.stop());

  /** Starts a service with an agent that `connect` connects to a bot. */
  async function connected(
    bot: FakeBot,
    env: Record<string, string>,
    connect: (ada: Client, id: string) => Promise<unknown>,
  ) {
    const berth = await startBerth({ env: { CHANNEL_A_API_ROOT: telegram.url, ...env } });
    const ada = createClient(berth);
    await ada.signUp();
    await ada.grant("starter");
    await ada.signIn();
    const { body } = await ada.post<{ agent: AgentItem }>("/api/agents", { name: "Harbour" });
    await connect(ada, body.agent.id);
    const path = `/api/agents/${body.agent.id}/channels`;
    await eventually(async () => {
      const { channels } = (await ada.get<{ channels: { state: string }[] }>(path)).body;
      expect(channels).toMatchObject([{ channel: "channel_a", state: "connected", bot: { username: bot.username } }]);
      return true;
    });
    return { berth, ada, path };
  }
  const lastTo = (bot: FakeBot, chat: number) => bot.sent(chat).at(-1)?.text ?? "";

  test("by polling: an unknown user gets a code, the owner approves it, and they chat, also after a restart", async () => {
    const bot = telegram.addBot("7000000001:AAjourney-polling-0123456789abcdefgh", { username: "harbour_bot" });
    const { berth, ada, path } = await connected(bot, {}, async (ada) => {
      const { body } = await ada.post("/api/agent", { action: "set-credential", key: "channel_a", value: bot.token });
      expect(body).toMatchObject({ success: true, key: "channel_a", configured: true });
    });
    await using _ = berth;
    // Wait for a poll, since there is none between two of them.
    await telegram.waitFor(() => bot.polling);
    expect(bot.webhook).toBeUndefined();

    bot.userSays(42, "Hello?");
    await telegram.waitFor(() => bot.sent(42).length === 1);
    const code = /\b[A-Z2-9]{6}\b/.exec(lastTo(bot, 42))?.[0];
    const pairings = `${path}/channel_a/pairings`;
    expectRefusal(await ada.post(pairings, { code: "WRONG2" }), 404);
    expect((await ada.post(pairings, { code })).body).toMatchObject({ success: true, senderId: "42" });
    bot.userSays(42, "My name is Grace.");
    await telegram.waitFor(() => bot.sent(42).some(({ text }) => text.includes("Grace")));

    await berth.stop();
    const count = bot.sent(42).length;
    bot.userSays(42, "What is my name?");
    await berth.restart();
    await telegram.waitFor(() => bot.sent(42).length > count);
    expect(lastTo(bot, 42)).toContain("Grace");
    expect(bot.sent(42)).toHaveLength(count + 1);
    // The next poll confirms the updates of the last one.
    await telegram.waitFor(() => bot.pending() === 0);
    // A channel's messages have their own session.
    const { sessions } = (await ada.get<{ sessions: Session[] }>("/api/agent?action=sessions")).body;
    expect(sessions).toHaveLength(1);

    expect((await ada.delete(`${path}/channel_a`)).status).toBe(200);
    await telegram.waitFor(() => !bot.polling);
    expect((await ada.get(path)).body).toEqual({ channels: [], count: 0 });
  });

  test("by webhook with an https BASE_URL: registered with a secret, posts without it are rejected", async () => {
    // Telegram posts to the public address; a reverse proxy would forward that to the web listener.
    const posted: string[] = [];
    let web = "";
    await using cloud = await startTelegram({
      webhookAddress: (url) => {
        posted.push(url);
        return `${web}${new URL(url).pathname}`;
      },
    });
    const bot = cloud.addBot("7000000002:AAjourney-webhook-0123456789abcdefgh");
    const env = { CHANNEL_A_API_ROOT: cloud.url, BASE_URL: "https://berth.example" };
    const {
      berth,
      ada,
      path: channelsPath,
    } = await connected(bot, env, async (ada, id) => {
      const { body, status } = await ada.put(`/api/agents/${id}/channels/channel_a`, { token: bot.token, ownerId: 42 });
      expect({ status, body }).toMatchObject({ status: 200, body: { success: true, channel: "channel_a" } });
    });
    await using _ = berth;
    ({ web } = berth);
    expect(ada.cookie).toStartWith("__Host-berth_session=");
    const hook = await eventually(() => bot.webhook);
    expect(hook.url).toStartWith("https://berth.example/hooks/channel_a/");
    expect(hook.secret).toMatch(/^[\w-]{32,}$/);
    expect(bot.polling).toBe(false);

    bot.userSays(42, "What is 6 * 7?");
    await cloud.waitFor(() => bot.sent(42).length === 1);
    expect(lastTo(bot, 42)).toContain("42");
    expect(posted).toHaveLength(1);
    bot.userSays(43, "I am a stranger.");
    const forged = {
      update_id: 1,
      message: {
        message_id: 9,
        date: 1,
        chat: { id: 42, type: "private" },
        from: { id: 42, is_bot: false, first_name: "E" },
        text: "forged",
      },
    };
    const path = new URL(hook.url).pathname;
    for (const headers of [{}, { "x-telegram-bot-api-secret-token": "guess" }]) {
      expectRefusal(await createClient(berth).post(path, forged, { headers }), 401);
    }
    expectRefusal(await createClient(berth).post(`${path.slice(0, -4)}AAAA`, forged), 404);
    const { channels } = (await ada.get<{ channels: object[] }>(channelsPath)).body;
    expect(channels).toMatchObject([{ mode: "webhook" }]);
    await cloud.waitFor(() => bot.pending() === 0);
    expect(bot.sent(42)).toHaveLength(1);
    expect(bot.sent(43)).toHaveLength(0);
  });
});

describe("the tour of the API", () => {
  /** All shell blocks from a heading to the next heading of its level. */
  function scripts(heading: string): string[] {
    const guide = readFileSync(join(root, "docs/api-tour.md"), "utf8");
    const [, section = ""] = guide.split(`\n## ${heading}\n`);
    return [...(section.split("\n## ")[0] ?? "").matchAll(/```sh\n([\s\S]*?)```/g)].map(([, text = ""]) => text);
  }

  test("works as printed, from the first admin's link to a bot that obeys its owner", async () => {
    await using telegram = await startTelegram();
    await using berth = await startBerth({ env: { CHANNEL_A_API_ROOT: telegram.url } });
    mkdirSync(join(berth.dir, "dist"));
    symlinkSync(join(root, "dist/berth"), join(berth.dir, "dist/berth"));
    const [tour = "", key = "", page = "", token = "", approval = ""] = scripts("Five minutes with curl");

    // The page behind the link sends this.
    const link = await eventually(() => /\/setup\?token=([\w-]+)/.exec(berth.output().stdout)?.[1]);
    const admin = { token: link, email: "ada@example.com", password: "correct horse battery" };
    expect((await createClient(berth).post("/api/auth/first-admin", admin)).status).toBe(201);

    const bot = telegram.addBot("123456:your-token");
    bot.userSays(42, "Hello?");
    const connect = [tour, key, page, token].join("\n").replace("http://localhost:3000", berth.web);
    expect(connect).toContain(berth.web);
    const env = { PATH: "/usr/local/bin:/usr/bin:/bin" };
    const bash = (text: string) => run(["bash", "-euo", "pipefail", "-c", text], env, berth.dir);
    const { exitCode, stdout, stderr } = await bash(connect);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    const agentId = /agent ([0-9a-f-]{36})\n/.exec(stdout)?.[1];
    expect(stdout).toContain('"ok":true');
    expect(stdout).toMatch(/"reply":"[^"]*\d\d:\d\d/);
    expect(stdout).toContain("event: delta\n");
    expect(stdout).toContain("event: reply\n");
    for (const view of ['"memory":[{', '"skills":[{', '"status":"running"']) {
      expect(stdout).toContain(`{"agentId":"${agentId}",${view}`);
    }
    expect(stdout).toContain('"configured":true');
    expect(stdout).not.toContain('"error":');

    await telegram.waitFor(() => bot.sent(42).length === 1);
    const code = /\b[A-Z2-9]{6}\b/.exec(bot.sent(42)[0]?.text ?? "")?.[0] ?? "";
    const variables = `BASE=${berth.web}\nJSON='content-type: application/json'\nAGENT=${agentId}\n`;
    const approved = await bash(variables + approval.replace("THE-CODE", code));
    expect(approved.stdout).toContain('"owner":true');
    await telegram.waitFor(() => bot.sent(42).at(-1)?.text.includes("my owner") === true);
    bot.userSays(42, "/pair");
    await telegram.waitFor(() => bot.sent(42).at(-1)?.text === "No one is waiting for access.");
  });

  test("berth demo runs the tour, prints every step, and leaves no files", async () => {
    const dir = temporaryDir();
    mkdirSync(join(dir.path, "tmp"));
    const { exitCode, stdout, stderr } = await runBerth(["demo"], { TMPDIR: join(dir.path, "tmp") }, dir.path);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    for (let step = 1; step <= 8; step++) expect(stdout).toContain(`\n${step}. `);
    expect(stdout.match(/agent {2}\S/g)).toHaveLength(3);
    expect(existsSync(join(dir.path, "data"))).toBe(false);
    expect(readdirSync(join(dir.path, "tmp")).filter((name) => !name.endsWith(".node"))).toEqual([]);
    dir.remove();
  });
});
