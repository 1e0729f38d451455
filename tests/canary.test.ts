// Secrets are sent to every input that takes them; none may appear in plain text in the data folder, the logs or a response.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { type Berth, startBerth } from "./support/berth.ts";
import { type Client, createClient } from "./support/client.ts";
import { eventually } from "./support/eventually.ts";
import { openGateway } from "./support/gateway-client.ts";
import type { AgentItem } from "./support/members.ts";
import { type FakeBot, startTelegram, type Telegram } from "./support/telegram.ts";
import { startUpstream, type Upstream } from "./support/upstream.ts";

/** A secret without a recognisable format, so that redaction by pattern would not find it. */
const canary = (name: string) => `${name}Canary${crypto.randomUUID().replaceAll("-", "").slice(0, 20)}`;
const botToken = (id: number) => `${id}:AA${canary("Bot").padEnd(33, "x")}`;

/** The secrets, by purpose. */
const secrets = {
  operatorKey: canary("Operator"),
  metricsToken: canary("Metrics"),
  smtpPassword: canary("Smtp"),
  webhookSecret: canary("Hook"),
  rootKey: canary("Root").padEnd(40, "r"),
  password: canary("Password"),
  wrongPassword: canary("Wrong"),
  adminPassword: canary("Admin"),
  providerKey: canary("Provider"),
  malformedKey: canary("Malformed"),
  bearer: canary("Bearer"),
  botByCredential: botToken(2_000_000_001),
  botByChannel: botToken(2_000_000_002),
  botRefused: botToken(2_000_000_003),
  botUnreachable: botToken(2_000_000_004),
  botInConfig: botToken(2_000_000_005),
};
/** Secrets that Berth generates during the test. */
const made: Record<string, string> = {};

let upstream: Upstream;
let telegram: Telegram;
let berth: Berth;
let bots: FakeBot[];
/** All responses of the test. */
const answers: string[] = [];

const note = <T extends { text: string; headers: Headers }>(answer: T): T => {
  const headers = [...answer.headers].filter(([name]) => name !== "set-cookie");
  answers.push(JSON.stringify(headers), answer.text);
  return answer;
};

beforeAll(async () => {
  [upstream, telegram] = await Promise.all([startUpstream(), startTelegram()]);
  bots = [secrets.botByCredential, secrets.botByChannel].map((token) => telegram.addBot(token));
  berth = await startBerth({
    env: {
      LOG_LEVEL: "debug",
      RATE_LIMITS: "off",
      SECRET_KEY: secrets.rootKey,
      PROVIDER_3_BASE_URL: upstream.url,
      PROVIDER_3_API_KEY: secrets.operatorKey,
      PROVIDER_5_BASE_URL: upstream.url,
      // The prices of its models are not known, so that they count as dear ones.
      AI_PLAN_BUDGETS_USD_PER_MONTH: "free:500",
      AI_UNPAID_BUDGET_USD_PER_DAY: "500",
      MODEL_A: "provider_3:fake-small",
      MODEL_B: "provider_5:fake-small",
      CHANNEL_A_API_ROOT: telegram.url,
      METRICS_TOKEN: secrets.metricsToken,
      SMTP_URL: `smtp://berth:${secrets.smtpPassword}@127.0.0.1:1`,
      WEBHOOK_URL: "http://127.0.0.1:1/hook",
      WEBHOOK_SECRET: secrets.webhookSecret,
    },
  });
});
afterAll(async () => {
  await berth?.[Symbol.asyncDispose]();
  await Promise.all([upstream?.stop(), telegram?.stop()]);
});

/** Sends secrets to every input that takes them, in valid and invalid requests. */
async function exercise(ada: Client, agent: AgentItem): Promise<void> {
  const say = (body: object) => ada.post("/api/agent", body).then(note);
  const credential = (key: string, value: unknown) => say({ action: "set-credential", key, value });

  expect((await credential("provider_5", secrets.providerKey)).status).toBe(200);
  expect((await credential("channel_a", secrets.botByCredential)).status).toBe(200);
  note(await credential("provider_9", secrets.malformedKey));
  note(await credential("provider_5", { key: secrets.malformedKey }));
  note(await credential("provider_4", `${secrets.malformedKey} with spaces`));
  note(await credential(secrets.malformedKey, "x"));
  const broken = `{"action":"set-credential","key":"provider_4","value":"${secrets.malformedKey}"`;
  const headers = { "content-type": "application/json" };
  const raw = await ada.raw({ method: "POST", path: "/api/agent", headers, body: broken });
  answers.push(raw.body);

  const channel = (token: unknown) => ada.put(`/api/agents/${agent.id}/channels/channel_a`, { token }).then(note);
  expect((await channel(secrets.botRefused)).status).toBe(400);
  telegram.addBot(secrets.botUnreachable);
  for (const accident of ["cut", "garbage"] as const) {
    telegram.fail("getMe", accident);
    expect((await channel(secrets.botUnreachable)).status).toBe(502);
  }
  expect((await channel(secrets.botByChannel)).status).toBe(200);
  const config = { instructions: "Be kind.", note: secrets.botInConfig };
  expect(note(await ada.put(`/api/agents/${agent.id}/config`, config)).status).toBe(400);
  note(await ada.post("/api/agents", { name: "Second", config: { apiKey: secrets.providerKey } }));

  // The idempotency key is stored for a day; the body with the secret must not be.
  const idempotency = { headers: { "idempotency-key": "once" } };
  note(await ada.post("/api/agents", { name: "Third", config: { token: secrets.botInConfig } }, idempotency));

  // Secrets where they don't belong: in a query, in headers, in a path.
  note(await ada.get(`/api/settings?token=${secrets.bearer}&password=${secrets.password}`));
  for (const origin of [berth.web, berth.backend]) {
    const visitor = createClient(origin);
    const shown = { headers: { authorization: `Bearer ${secrets.bearer}`, cookie: `berth_session=${secrets.bearer}` } };
    note(await visitor.get(`/api/agents/${agent.id}`, shown));
    note(await visitor.get("/metrics", { headers: { authorization: `Bearer ${secrets.bearer}` } }));
    note(await visitor.post("/v1/chat/completions", { messages: "bad" }, shown));
  }
  note(
    await createClient(berth.backend).get("/metrics", { headers: { authorization: `Bearer ${secrets.metricsToken}` } }),
  );
}

/** Makes platforms and providers fail with error texts that repeat secrets. */
async function fail(ada: Client, agent: AgentItem): Promise<void> {
  const say = (message: string) => ada.post("/api/agent", { message }).then(note);
  await say("Hello");
  const [first, second] = bots;
  second?.userSays(42, "Hello bot");
  await telegram.waitFor(() => (second?.sent(42).length ?? 0) > 0, 10_000);
  expect(telegram.stats().calls.sendMessage).toBeGreaterThan(0);
  for (const accident of ["cut", "garbage", { status: 500 }, { status: 401 }] as const) {
    telegram.fail("sendMessage", accident);
    second?.userSays(43, "Hello again");
  }
  telegram.fail("getUpdates", { status: 500, description: `Bad token ${secrets.botByChannel}` });
  telegram.revoke(first?.token ?? "");

  // A provider that repeats the key of the request: the operator's, and the agent's own.
  const { body } = await ada.post<{ agent: AgentItem }>("/api/agents", { name: "Own key", model: "model_b" });
  const agentId = body.agent.id;
  const own = { action: "set-credential", agentId, key: "provider_5", value: secrets.providerKey };
  expect(note(await ada.post("/api/agent", own)).status).toBe(200);
  for (const status of [400, 401, 402, 404, 429, 500]) {
    upstream.script(({ headers }) => ({
      status,
      message: `Incorrect API key provided: ${headers.authorization?.slice(7)}.`,
    }));
    for (const id of [agent.id, agentId]) {
      const failure = note(await ada.post("/api/agent", { message: `Fail with ${status}`, agentId: id }));
      expect(failure.status).toBe(502);
    }
    const chatBody = { model: "fake-small", messages: [{ role: "user", content: "Hello" }] };
    note(await createClient(berth.backend).post("/api/ai/chat", chatBody));
  }
  expect(upstream.requests.some(({ headers }) => headers.authorization === `Bearer ${secrets.operatorKey}`)).toBe(true);
  expect(upstream.requests.some(({ headers }) => headers.authorization === `Bearer ${secrets.providerKey}`)).toBe(true);
  upstream.reset();
  note(await ada.get(`/api/agents/${agentId}/logs`));
}

async function look(ada: Client, agent: AgentItem): Promise<void> {
  for (const action of ["health", "sessions", "memory", "skills", "credentials"]) {
    note(await ada.get(`/api/agent?action=${action}`));
  }
  for (const path of ["", "/config", "/logs", "/channels", "/channels/channel_a/pairings"]) {
    note(await ada.get(`/api/agents/${agent.id}${path}`));
  }
  for (const path of ["/api/settings", "/api/auth/session", "/api/agents", "/api/chat"]) note(await ada.get(path));
  const backend = createClient(berth.backend);
  for (const path of ["/api/ai/health", "/api/ai/models", "/v1/models", "/readyz", "/swagger/json"]) {
    note(await backend.get(path));
  }
  const socket = openGateway(berth, agent.id, { cookie: ada.cookie });
  socket.send({ type: "chat", id: "1", message: "Hello" });
  await socket.next("reply").catch(() => undefined);
  answers.push(JSON.stringify(socket.frames));
  socket.close();
}

test("every input gets a secret", async () => {
  const [, link = ""] = await eventually(() => /\/setup\?token=([\w-]{20,})\s/.exec(berth.output().stdout));
  const admin = createClient(berth);
  const first = { token: link, email: "root@example.com", password: secrets.adminPassword };
  expect(note(await admin.post("/api/auth/first-admin", first)).status).toBe(201);
  expect(
    note(await createClient(berth).post("/api/auth/first-admin", { ...first, email: "x@example.com" })).status,
  ).toBe(400);

  const ada = createClient(berth);
  await ada.signUp({ email: "ada@example.com", password: secrets.password });
  await ada.grant("pro");
  note(await ada.post("/api/register", ada.account));
  const { email } = ada.account;
  for (const password of [secrets.wrongPassword, { secret: secrets.wrongPassword }, "x".repeat(10)]) {
    note(await ada.post("/api/auth/callback/credentials", { email, password }));
  }
  await ada.signIn();
  made.cookie = ada.cookie.slice(ada.cookie.indexOf("=") + 1);
  made.adminCookie = admin.cookie.slice(admin.cookie.indexOf("=") + 1);
  made.link = link;

  const answer = note(await ada.post<{ agent: AgentItem }>("/api/agents/provision", { name: "Harbour" }));
  await exercise(ada, answer.body.agent);
  await fail(ada, answer.body.agent);
  await look(ada, answer.body.agent);
  for (const args of [["doctor"], ["user", "grant", "ada@example.com", "enterprise"], ["backup", "copy.db"]]) {
    const { stdout, stderr } = await berth.command(...args);
    answers.push(stdout, stderr);
  }
  const gone = ada.cookie;
  await ada.signOut();
  note(await createClient(berth).get("/api/settings", { headers: { cookie: gone } }));
});

test("no secret is in a response or in a command's output", () => {
  expect(answers.length).toBeGreaterThan(100);
  for (const [name, secret] of Object.entries({ ...secrets, ...made })) {
    expect({ name, found: answers.filter((answer) => answer.includes(secret)) }).toEqual({ name, found: [] });
  }
});

test("no secret is in the debug logs; only the first admin's link is printed, once", () => {
  const { stdout, stderr } = berth.output();
  expect(stderr).toContain('"level":"debug"');
  for (const [name, secret] of Object.entries({ ...secrets, ...made })) {
    const lines = `${name === "link" ? "" : stdout}\n${stderr}`.split("\n");
    expect({ name, found: lines.filter((line) => line.includes(secret)) }).toEqual({ name, found: [] });
  }
});

test("no secret is in the data folder, including the database's log and a backup", async () => {
  const looked: string[] = [];
  const search = () => {
    for (const file of readdirSync(berth.dir, { recursive: true, encoding: "utf8" })) {
      const path = join(berth.dir, file);
      if (!statSync(path).isFile()) continue;
      looked.push(file);
      const bytes = readFileSync(path);
      for (const [name, secret] of Object.entries({ ...secrets, ...made })) {
        const spelled = [
          secret,
          Buffer.from(secret).toString("base64").replace(/=+$/, ""),
          Buffer.from(secret).toString("hex"),
        ];
        const found = spelled.filter((text) => bytes.includes(text));
        expect({ file, name, found }).toEqual({ file, name, found: [] });
      }
    }
  };
  search();
  // A kill, so that the files are searched before any cleanup.
  await berth.kill();
  search();
  await berth.restart();
  expect(await berth.stop()).toBe(0);
  search();
  expect(looked).toContain(join("data", "berth.db"));
  expect(looked).toContain(join("data", "berth.db-wal"));
  expect(looked).toContain("copy.db");
});
