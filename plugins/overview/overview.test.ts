// Tests the overview of an account's agents: what an item shows, filters and order, and its cost with 10,000 agents.
import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Surface } from "../../src/kernel/http/surface.ts";
import { DAY } from "../../src/kernel/util/time.ts";
import { serverDatabase } from "../../tests/support/database.ts";
import { fastestRun } from "../../tests/support/eventually.ts";
import { openPluginHost, type PluginHost } from "../../tests/support/plugin-host.ts";
import { agentStatement, insertAgent, insertUser } from "../../tests/support/records.ts";
import { agentPageSql, containsPattern, createAgentList } from "../agents/agent-list.ts";
import { createAgentCosts } from "../ai/usage/agent-costs.ts";
import { auth } from "../auth/index.ts";
import { createLastActivities, LAST_OF_AGENTS, LAST_OF_USER } from "../runtime/sessions/last-activities.ts";
import { overview } from "./index.ts";
import type { OverviewItem } from "./model.ts";

let opened: PluginHost;
let web: Surface;
let accounts: ReturnType<typeof auth.setup>["service"];
beforeAll(async () => {
  opened = await openPluginHost({ env: { BASE_URL: "https://berth.example" } });
  opened.host.use(overview);
  accounts = opened.host.use(auth);
  web = opened.surface("web");
  opened.kernel.backend.attach(opened.surface("backend").handle);
});
afterAll(() => opened?.[Symbol.asyncDispose]());

interface Answer {
  agents: OverviewItem[];
  count: number;
  total: number;
  counts: Record<string, number>;
  costTodayUsd: number;
  code?: string;
}

let made = 0;
async function member() {
  const email = `user-${++made}@example.com`;
  const passwordHash = await Bun.password.hash("12345678", { algorithm: "argon2id", memoryCost: 8, timeCost: 1 });
  const { id } = await accounts.users.create({ email, name: "Ada", passwordHash });
  const signIn = await web.handle(
    new Request("http://localhost/api/auth/callback/credentials", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ email, password: "12345678" }),
    }),
  );
  const cookie = signIn.headers.get("set-cookie")?.split(";")[0] ?? "";
  const ask = async (query = "", headers: Record<string, string> = { cookie }) => {
    const response = await web.handle(new Request(`http://localhost/api/agents/overview${query}`, { headers }));
    return { status: response.status, body: (await response.json()) as Answer };
  };
  const add = (over: Parameters<typeof insertAgent>[1] = {}) =>
    insertAgent(opened.kernel.database, { userId: id, ...over });
  return { id, ask, add };
}

const write = (sql: string, args: (string | number | null)[]) => opened.kernel.database.write([{ sql, args }]);
const names = ({ body }: { body: Answer }) => body.agents.map(({ name }) => name);
const today = () => Math.floor(Date.now() / DAY);

/** A paid call, which the sums take up. */
const addCost = (userId: string, agentId: string, microUsd: number, day = today()) =>
  write(
    `INSERT INTO usage (id, at, kind, user_id, agent_id, provider, model, input_tokens, output_tokens, cost_micro_usd, latency_ms, estimated)
     VALUES (?, ?, 'turn', ?, ?, 'provider_1', 'm', 10, 10, ?, 5, 0)`,
    [Bun.randomUUIDv7(), day * DAY, userId, agentId || null, microUsd],
  );
const addSession = (agentId: string, platform: string, at: number) =>
  write(
    "INSERT INTO sessions (id, agent_id, platform, message_count, created_at, last_activity_at) VALUES (?, ?, ?, 1, ?, ?)",
    [Bun.randomUUIDv7(), agentId, platform, at, at],
  );
const addApproval = (agentId: string, expiresAt: number) =>
  write(
    `INSERT INTO approvals (id, agent_id, session_id, turn_id, platform, by_owner, tool, class, summary, input, code, status,
      requested_at, expires_at) VALUES (?, ?, 's', 't', 'web', 1, 'send', 'outside', 'x', '{}', ?, 'pending', 0, ?)`,
    [Bun.randomUUIDv7(), agentId, Bun.randomUUIDv7(), expiresAt],
  );

describe("GET /api/agents/overview", () => {
  test("needs a session", async () => {
    const ada = await member();
    expect((await ada.ask("", {})).status).toBe(401);
  });

  test("shows what an agent is, does, costs and needs", async () => {
    const ada = await member();
    const id = await ada.add({ name: "Harbour", status: "error", model: "custom", subdomain: "harbour-1" });
    await write("UPDATE agents SET status_reason = 'Broken', verified = 1 WHERE id = ?", [id]);
    await write("INSERT INTO agent_configs (agent_id, version, body, updated_at) VALUES (?, 1, ?, 0), (?, 2, ?, 0)", [
      ...[id, '{"model":"provider_1:old"}'],
      ...[id, '{"model":"provider_1:new/one","instructions":"secret"}'],
    ]);
    await write("INSERT INTO public_pages (agent_id, enabled, greeting, updated_at) VALUES (?, 1, '', 0)", [id]);
    await addSession(id, "web", 1_000);
    await addSession(id, "public", 5_000);
    await addCost(ada.id, id, 1_500_000);
    await addCost(ada.id, id, 9_000_000, today() - 1);
    await addCost(ada.id, "", 2_000_000);
    await addApproval(id, Date.now() + DAY);
    await addApproval(id, Date.now() - 1);
    await write(
      `INSERT INTO channel_connections (agent_id, channel, bot_id, bot_username, token_digest, callback_id, callback_secret,
        created_at) VALUES (?, 'channel_a', '1', 'harbour_bot', 'd', ?, 's', 0)`,
      [id, Bun.randomUUIDv7()],
    );
    const { status, body } = await ada.ask();
    expect(status).toBe(200);
    expect(body).toEqual({
      agents: [
        {
          id,
          name: "Harbour",
          status: "error",
          statusReason: "Broken",
          model: "custom",
          ownModel: "provider_1:new/one",
          url: "https://berth.example/a/harbour-1",
          verified: true,
          publicPage: true,
          channels: [
            { channel: "channel_a", name: "Telegram", username: "harbour_bot", state: "connecting", lastError: null },
          ],
          pendingApprovals: 1,
          costTodayUsd: 1.5,
          lastActivityAt: "1970-01-01T00:00:05.000Z",
          startedAt: null,
          createdAt: "1970-01-01T00:00:00.000Z",
          updatedAt: "1970-01-01T00:00:00.000Z",
        },
      ],
      count: 1,
      total: 1,
      counts: { total: 1, up: 0, stopped: 0, error: 1, attention: 1, failedChannels: 0, pendingApprovals: 1 },
      costTodayUsd: 1.5,
    });
  });

  test("searches in any case and language, filters, sorts and pages", async () => {
    const ada = await member();
    const öl = await ada.add({ name: "ÖL Lampe", status: "stopped" });
    await ada.add({ name: "a*b [x]^" });
    const broken = await ada.add({ name: "zebra", status: "error" });
    const waiting = await ada.add({ name: "Yak", status: "running" });
    await addApproval(waiting, Date.now() + DAY);
    await addCost(ada.id, öl, 5);
    await addCost(ada.id, broken, 7);
    await addSession(waiting, "web", 9);
    await addSession(öl, "web", 8);

    expect(names(await ada.ask("?query=%C3%B6l%20lam"))).toEqual(["ÖL Lampe"]);
    expect(names(await ada.ask("?query=*B%20[X]^"))).toEqual(["a*b [x]^"]);
    expect(names(await ada.ask("?query=*"))).toEqual(["a*b [x]^"]);
    expect(names(await ada.ask(`?query=${broken.toUpperCase()}`))).toEqual(["zebra"]);
    expect(names(await ada.ask())).toEqual(["Yak", "zebra", "a*b [x]^", "ÖL Lampe"]);
    expect(names(await ada.ask("?sort=name"))).toEqual(["a*b [x]^", "Yak", "zebra", "ÖL Lampe"]);
    expect(names(await ada.ask("?sort=cost&limit=2"))).toEqual(["zebra", "ÖL Lampe"]);
    expect(names(await ada.ask("?sort=activity"))).toEqual(["Yak", "ÖL Lampe", "zebra", "a*b [x]^"]);
    expect(names(await ada.ask("?state=up"))).toEqual(["Yak", "a*b [x]^"]);
    expect(names(await ada.ask("?state=stopped"))).toEqual(["ÖL Lampe"]);
    expect(names(await ada.ask("?state=attention&sort=name"))).toEqual(["Yak", "zebra"]);
    const page = await ada.ask("?limit=1&offset=1&sort=name&state=attention");
    expect(names(page)).toEqual(["zebra"]);
    expect(page.body).toMatchObject({
      count: 1,
      total: 2,
      counts: { total: 4, up: 2, stopped: 1, error: 1, attention: 2 },
    });
  });

  test.each(["state=odd", "sort=odd", "limit=0", "offset=-1"])("%s is 400", async (query) => {
    expect((await (await member()).ask(`?${query}`)).status).toBe(400);
  });

  test("shows and counts nothing of other accounts", async () => {
    const [ada, bob] = [await member(), await member()];
    const id = await bob.add({ name: "Bob's", status: "error" });
    await addApproval(id, Date.now() + DAY);
    for (const query of ["", `?query=${id}`, "?state=attention", "?sort=cost", "?sort=activity"]) {
      const { body } = await ada.ask(query);
      expect(body).toMatchObject({ agents: [], total: 0, costTodayUsd: 0 });
      expect(Object.values(body.counts)).toEqual([0, 0, 0, 0, 0, 0, 0]);
    }
  });
});

describe("with 10,000 agents", () => {
  let ada: Awaited<ReturnType<typeof member>>;
  beforeAll(async () => {
    ada = await member();
    const agents = Array.from({ length: 10_000 }, (_, n) => agentStatement({ userId: ada.id, name: `Agent ${n}` }));
    await opened.kernel.database.write(agents.map(({ sql, args }) => ({ sql, args })));
  });

  test.each([
    "",
    "?sort=name",
    "?state=attention",
    "?query=agent%2099",
    "?query=nothing",
    "?offset=9900",
    "?sort=cost",
    "?sort=activity",
  ])("a page of 100 takes a few milliseconds: %s", async (query) => {
    expect((await ada.ask(query)).body.counts.total).toBe(10_000);
    const ms = await fastestRun(() => ada.ask(query));
    expect(ms).toBeLessThan(300);
  });

  test("rows of the table are read for the page alone", () => {
    const planner = new Database(opened.kernel.database.file ?? "");
    const plan = (sql: string) =>
      planner
        .query<{ detail: string }, []>(`EXPLAIN QUERY PLAN ${sql}`)
        .all()
        .map(({ detail }) => detail)
        .join("\n");
    for (const state of [undefined, "up", "attention"] as const) {
      for (const order of ["newest", "name", "value"] as const) {
        expect(plan(agentPageSql(order, state))).toContain(
          "SEARCH agents USING COVERING INDEX agents_listed (user_id=?)",
        );
      }
    }
    for (const sql of [LAST_OF_USER, LAST_OF_AGENTS]) {
      expect(plan(sql)).toContain("SEARCH sessions USING COVERING INDEX");
      expect(plan(sql)).not.toContain("SCAN sessions");
    }
    planner.close();
  });
});

test("the statements run on a libSQL server, too", async () => {
  await using server = await openedServer();
  const { database } = server;
  const userId = await insertUser(database);
  const id = await insertAgent(database, { userId, name: "Harbour" });
  const list = createAgentList({ database });
  for (const order of ["newest", "name", new Map([[id, 1]])] as const) {
    const page = { userId, query: "HARB", state: "up", needing: [id], order, limit: 1, offset: 0 } as const;
    expect(await list.listPage(page)).toMatchObject({ total: 1, agents: [{ id, verified: false }] });
  }
  expect(await list.countAgents(userId, { needing: [id], among: [id] })).toMatchObject({ attention: 1, owned: 1 });
  const lastActivities = createLastActivities({ database });
  expect(await lastActivities.ofUser(userId)).toEqual(new Map());
  expect(await lastActivities.ofAgents([id])).toEqual(new Map());
  expect(await createAgentCosts({ database, addUp: async () => undefined }).todayUsdByAgent(userId, [id])).toEqual(
    new Map(),
  );
});

async function openedServer() {
  const server = await serverDatabase();
  return { database: server.database, [Symbol.asyncDispose]: () => server.remove() };
}

test("a pattern matches a text as it is, in any case", () => {
  expect(containsPattern("a*]^ß")).toBe("*[aA][*]]^[ß]*");
});
