// Limits: agents by plan, admin rights by address, the first admin's single-use link, and request rates.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { join, resolve } from "node:path";
import { type Berth, startBerth } from "./support/berth.ts";
import { type Client, createClient } from "./support/client.ts";
import { eventually } from "./support/eventually.ts";
import { type AgentItem, member } from "./support/members.ts";
import { run, temporaryDir } from "./support/process.ts";
import { expectRefusal } from "./support/refusal.ts";

const ADMIN = "root@example.com";

interface Settings {
  email: string;
  isAdmin: boolean;
  plan: string;
}

let berth: Berth;
beforeAll(async () => {
  berth = await startBerth({
    env: { ADMIN_EMAILS: `someone@example.com, ${ADMIN}`, RATE_LIMITS: '{"sign-up":"1000/m"}' },
  });
});
afterAll(() => berth?.[Symbol.asyncDispose]());

const provisionAtOnce = (client: Client, count: number, headers: Record<string, string> = {}) =>
  Promise.all(
    Array.from({ length: count }, (_, n) =>
      client.post<{ agent: AgentItem }>("/api/agents/provision", { name: `Agent ${n}` }, { headers }),
    ),
  );
const agentsOf = async (client: Client) => (await client.get<{ agents: AgentItem[] }>("/api/agents")).body.agents;

describe("agents", () => {
  for (const [plan, allowed] of [
    ["free", 1],
    ["starter", 1],
    ["pro", 3],
  ] as const) {
    test(`50 provisions at once on the plan ${plan}: ${allowed} succeed, the others get the limit`, async () => {
      const ada = await member(berth, plan);
      const answers = await provisionAtOnce(ada, 50);
      const made = answers.filter(({ status }) => status === 201);
      expect(made).toHaveLength(allowed);
      expect(new Set(made.map(({ body }) => body.agent.id)).size).toBe(allowed);
      for (const answer of answers.filter(({ status }) => status !== 201)) {
        const { current, limit } = expectRefusal(answer, 429, "AGENT_LIMIT_REACHED");
        expect({ current, limit }).toEqual({ current: allowed, limit: allowed });
      }
      expect(await agentsOf(ada)).toHaveLength(allowed);
    });
  }

  test("both routes share one quota, and a freed place can be used once", async () => {
    const ada = await member(berth, "starter");
    const both = await Promise.all([
      ...Array.from({ length: 10 }, () => ada.post("/api/agents", { name: "A" })),
      ...Array.from({ length: 10 }, () => ada.post("/api/agents/provision", { name: "B" })),
    ]);
    expect(both.filter(({ status }) => status === 201)).toHaveLength(1);
    const [agent] = await agentsOf(ada);
    expect((await ada.delete(`/api/agents/${agent?.id}`)).status).toBe(200);
    expect((await provisionAtOnce(ada, 10)).filter(({ status }) => status === 201)).toHaveLength(1);
  });

  test("without a subscription: 402, which no field of the body can change", async () => {
    const eve = createClient(berth);
    await eve.join();
    const wish = { name: "Mine", tier: "enterprise", plan: "enterprise", limit: 999, isAdmin: true };
    expectRefusal(await eve.post("/api/agents/provision", wish), 402, "SUBSCRIPTION_REQUIRED");
    expect(await agentsOf(eve)).toEqual([]);
  });
});

describe("admins", () => {
  const forwarded: Record<string, string>[] = [
    { "x-forwarded-for": "203.0.113.7" },
    { "x-forwarded-for": "127.0.0.1" },
    { forwarded: "for=127.0.0.1" },
    { "x-real-ip": "127.0.0.1" },
    { via: "1.1 proxy" },
  ];

  test("an unverified address of ADMIN_EMAILS is an admin directly from this machine, not through a proxy", async () => {
    const root = createClient(berth);
    await root.join({ email: ADMIN });
    expect((await root.get<Settings>("/api/settings")).body.isAdmin).toBe(true);
    for (const headers of forwarded) {
      expect((await root.get<Settings>("/api/settings", { headers })).body.isAdmin).toBe(false);
      expectRefusal(await root.post("/api/agents/provision", { name: "A" }, { headers }), 402);
    }
    const made = await provisionAtOnce(root, 5);
    expect(made.map(({ status }) => status)).toEqual([201, 201, 201, 201, 201]);
  });

  test("a session that started through a proxy never has admin rights", async () => {
    const remote = createClient(berth);
    await remote.signUp({ email: "someone@example.com" });
    const { email, password } = remote.account;
    const headers = { "x-forwarded-for": "127.0.0.1" };
    expect((await remote.post("/api/auth/callback/credentials", { email, password }, { headers })).status).toBe(200);
    expect((await remote.get<Settings>("/api/settings")).body.isAdmin).toBe(false);
    expectRefusal(await remote.post("/api/agents/provision", { name: "A" }), 402);
  });

  test("other spellings of the address are the same account; other addresses are no admin", async () => {
    const copy = createClient(berth);
    const account = { email: ` ${ADMIN.toUpperCase()} `, password: "another horse battery", name: "Eve" };
    expectRefusal(await copy.post("/api/register", account), 409, "USER_EXISTS");
    await copy.join({ email: `x${ADMIN}` });
    expect((await copy.get<Settings>("/api/settings")).body.isAdmin).toBe(false);
  });
});

test("the first admin's link is printed while there is no account, and works once", async () => {
  await using fresh = await startBerth();
  const match = await eventually(() => /\/setup\?token=([\w-]{20,})/.exec(fresh.output().stdout));
  const token = match[1] ?? "";
  const page = await fetch(`${fresh.web}/setup?token=${token}`);
  expect(page.status).toBe(200);
  expect(await page.text()).not.toContain(token);

  const claim = async (email: string, secret = token) => {
    const client = createClient(fresh);
    const answer = await client.post("/api/auth/first-admin", {
      token: secret,
      email,
      password: "correct horse battery",
    });
    return { client, answer };
  };
  const wrong = await claim("eve@example.com", "x".repeat(token.length));
  expectRefusal(wrong.answer, 400, "INVALID_LINK");
  const tries = await Promise.all(["a@example.com", "b@example.com", "c@example.com"].map((email) => claim(email)));
  const [winner, ...more] = tries.filter(({ answer }) => answer.status === 201);
  expect(more).toEqual([]);
  for (const { answer } of tries.filter(({ client }) => client !== winner?.client)) {
    expectRefusal(answer, 400, "INVALID_LINK");
  }
  const settings = await winner?.client.get<Settings>("/api/settings");
  expect(settings?.body.isAdmin).toBe(true);

  await fresh.restart();
  expect(fresh.output().stdout.match(/\/setup\?token=/g)).toHaveLength(1);
  expectRefusal((await claim("late@example.com")).answer, 400, "INVALID_LINK");
});

describe("rates", () => {
  test("sign-up: ten a minute from one address, then 429 with all three headers, also after a kill", async () => {
    await using strict = await startBerth();
    const register = (n: number) =>
      createClient(strict).post("/api/register", { email: `u${n}@example.com`, password: "correct horse battery" });
    const answers = [];
    for (let n = 0; n < 11; n++) answers.push(await register(n));
    expect(answers.slice(0, 10).map(({ status }) => status)).toEqual(Array(10).fill(201));
    const last = answers[10];
    if (!last) throw new Error("There were eleven.");
    expectRefusal(last, 429, "RATE_LIMITED");
    expect(Number(last.headers.get("retry-after"))).toBeWithin(1, 61);
    expect(last.headers.get("ratelimit-policy")).toContain("q=10;w=60");
    expect(last.headers.get("ratelimit")).toMatch(/r=0;t=\d+/);

    await strict.kill();
    await strict.restart();
    expectRefusal(await register(11), 429, "RATE_LIMITED");
    // A forwarded address without a trusted proxy is ignored.
    const body = { email: "u12@example.com", password: "correct horse battery" };
    const headers = { "x-forwarded-for": "203.0.113.9" };
    expectRefusal(await createClient(strict).post("/api/register", body, { headers }), 429, "RATE_LIMITED");
  });

  test("password guesses are limited after ten tries at once; the owner's session goes on", async () => {
    const ada = await member(berth);
    const { email, password } = ada.account;
    const guess = (secret: string) =>
      createClient(berth).post("/api/auth/callback/credentials", { email, password: secret });
    const guesses = await Promise.all(Array.from({ length: 20 }, (_, n) => guess(`guess number ${n}`)));
    expect(guesses.filter(({ status }) => status === 401)).toHaveLength(10);
    for (const answer of guesses.filter(({ status }) => status !== 401)) expectRefusal(answer, 429, "RATE_LIMITED");
    expectRefusal(await guess(password), 429, "RATE_LIMITED");
    expect((await ada.get("/api/settings")).status).toBe(200);
  });

  test("all other routes are limited by RATE_LIMITS, on both surfaces", async () => {
    await using tight = await startBerth({ env: { RATE_LIMITS: '{"default":"20/m"}' } });
    for (const origin of [tight.web, tight.backend]) {
      const client = createClient(origin);
      const statuses = [];
      for (let n = 0; n < 25; n++) statuses.push((await client.get("/api/nothing")).status);
      expect(statuses).toContain(429);
      const refused = await client.get("/api/nothing");
      expectRefusal(refused, 429, "RATE_LIMITED");
      expect(refused.headers.get("ratelimit-policy")).toBe('"default";q=20;w=60');
    }
  });
});

describe("connections", () => {
  const flooded = [
    ["silent", ""],
    ["with half a head", "GET /healthz HTTP/1.1\r\nHost: local"],
    ["after one request", "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"],
    [
      "with half a body",
      "POST /api/register HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{",
    ],
  ] as const;

  test("a flood of one address leaves a process with 256 descriptors reachable, and doctor warns of the limit", async () => {
    const dir = temporaryDir();
    const limited = join(dir.path, "berth-256");
    const binary = resolve(import.meta.dir, "../dist/berth");
    writeFileSync(limited, `#!/bin/sh\nulimit -n 256\nexec ${binary} "$@"\n`, { mode: 0o755 });
    const sockets: Socket[] = [];
    try {
      await using small = await startBerth({ binary: limited });
      await eventually(() => small.output().stderr.includes("only 256 open files and connections"));
      const { hostname, port } = new URL(small.web);
      for (const [kind, text] of flooded) {
        const flood = Array.from({ length: 400 }, () => {
          const socket = connect({ host: hostname, port: Number(port), localAddress: "127.0.0.2" });
          sockets.push(socket);
          socket.on("connect", () => socket.write(text)).on("error", () => undefined);
          return socket.resume();
        });
        await Promise.all(
          flood.map((socket) => new Promise((done) => socket.once("connect", done).once("close", done))),
        );
        const alive = await fetch(`${small.web}/healthz`, { keepalive: false, signal: AbortSignal.timeout(5_000) });
        expect({ kind, status: alive.status }).toEqual({ kind, status: 200 });
        await eventually(() => flood.filter(({ destroyed }) => !destroyed).length <= 64);
        const ada = createClient(small);
        await ada.join();
        for (const socket of flood) socket.destroy();
      }
      expect(small.output().stderr.split("connections closed").length - 1).toBe(1);
      const doctor = await run([limited, "doctor"], {}, dir.path);
      expect([doctor.exitCode, doctor.stdout]).toEqual([0, expect.stringContaining("At most 256 open files")]);
      expect(doctor.stdout).toContain("! This process may have only 256");
    } finally {
      for (const socket of sockets) socket.destroy();
      dir.remove();
    }
  });
});
