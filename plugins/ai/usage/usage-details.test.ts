// Tests series, budgets, plans and CSV of an account's usage, and that its sums agree with the rows they are made of.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createMember } from "../../../tests/support/account-setup.ts";
import { type Client, createClient } from "../../../tests/support/client.ts";
import { provision } from "../../../tests/support/members.ts";
import { expectRefusal } from "../../../tests/support/refusal.ts";
import { openServer, type TestServer } from "../../../tests/support/server.ts";
import { avoidMidnight } from "../../../tests/support/utc-day.ts";
import { splitRange } from "./agent-sums.ts";
import { csvCell } from "./usage-csv.ts";

const DAY = 86_400_000;
const INSERT = `INSERT INTO usage (id, at, kind, user_id, agent_id, provider, model, input_tokens, output_tokens,
  cost_micro_usd, latency_ms, estimated, own_key, credit_micro_usd) VALUES (?, ?, 'turn', ?, ?, ?, ?, 100, 10, ?, 5, 0, ?, ?)`;

let server: TestServer;
let ada: Client;
let adaId: string;
let agentIds: string[];
beforeAll(async () => {
  server = await openServer({ env: { AI_PLAN_BUDGETS_USD_PER_MONTH: "free:1,starter:10,pro:50" } });
  ({ client: ada, id: adaId } = await createMember(server, { plan: "pro" }));
  const budget = { usdPerDay: 1, usdPerMonth: 20 };
  const first = await provision(ada, "=HYPERLINK()", { budget });
  agentIds = [first.id, (await provision(ada, 'Ann "the" O, Neill')).id];
});
afterAll(() => server[Symbol.asyncDispose]());

const day = (text: string) => Date.parse(text) / DAY;
let calls = 0;
/** Stores one call, as the ledger does. */
const spend = (at: string, micro: number, { agent = agentIds[0] ?? "", model = "m", own = 0, user = adaId } = {}) =>
  server.kernel.database.write([
    { sql: INSERT, args: [`call-${++calls}`, Date.parse(at), user, agent || null, "provider_1", model, micro, own, 0] },
  ]);
const get = async <T = Record<string, never>>(path: string) => (await ada.get<T>(path)).body;

test("a range is split into whole months and the days around them", () => {
  const now = Date.parse("2026-07-20");
  const split = (from: string, to: string) => splitRange({ from: day(from), to: day(to) }, now);
  const days = (from: string, to: string) => ({ from: day(from), to: day(to) });
  expect(split("2026-01-01", "2026-03-31")).toEqual({ months: { from: 202601, to: 202603 }, days: [] });
  expect(split("2025-12-30", "2026-02-02")).toEqual({
    months: { from: 202601, to: 202601 },
    days: [days("2025-12-30", "2025-12-31"), days("2026-02-01", "2026-02-02")],
  });
  expect(split("2026-07-01", "2026-07-20").months).toEqual({ from: 202607, to: 202607 });
  expect(split("2026-07-01", "2026-07-19")).toEqual({ months: undefined, days: [days("2026-07-01", "2026-07-19")] });
  expect(split("2026-06-02", "2026-06-29")).toEqual({ months: undefined, days: [days("2026-06-02", "2026-06-29")] });
});

describe("sums", () => {
  beforeAll(async () => {
    for (const [at, micro, more] of [
      ["2026-01-31T23:59:59Z", 100, {}],
      ["2026-02-01", 200, { model: "n" }],
      ["2026-02-03", 300, { agent: agentIds[1] }],
      ["2026-02-28", 400, { own: 1 }],
      ["2026-03-01", 500, { agent: "" }],
    ] as const) {
      await spend(at, micro, more);
    }
  });

  test.each([
    ["2026-01-31", "2026-03-01", 1500],
    ["2026-02-01", "2026-02-28", 900],
    ["2026-02-02", "2026-02-27", 300],
    ["2026-01-01", "2026-02-28", 1000],
    ["2026-03-01", "2026-03-31", 500],
  ])("from %s to %s agree by day, model and agent", async (from, to, micro) => {
    const report = await get<Record<"days" | "models" | "agents", { costUsd: number }[]> & { total: object }>(
      `/api/usage?from=${from}&to=${to}`,
    );
    expect(report.total).toMatchObject({ costUsd: micro / 1e6 });
    for (const list of [report.days, report.models, report.agents]) {
      expect(Math.round(list.reduce((sum, { costUsd }) => sum + costUsd * 1e6, 0))).toBe(micro);
    }
  });

  test("follow an agent to its new owner", async () => {
    const { id: bobId, client: bob } = await createMember(server);
    const [first = "", second = ""] = agentIds;
    const own = (await get<{ agents: object[] }>("/api/usage?from=2026-02-01&to=2026-02-28")).agents;
    expect(own).toMatchObject([
      { agentId: first, name: "=HYPERLINK()", costUsd: 0.0006, ownKeyUsd: 0.0004 },
      { agentId: second, costUsd: 0.0003 },
    ]);
    const move = (from: string, to: string) =>
      server.kernel.database.write([
        { sql: "UPDATE usage_days SET user_id = ? WHERE agent_id = ? AND user_id = ?", args: [to, second, from] },
      ]);
    await move(adaId, bobId);
    const { body } = await bob.get<{ total: object; agents: object[] }>("/api/usage?from=2026-02-01&to=2026-02-28");
    expect(body.total).toMatchObject({ calls: 1, costUsd: 0.0003 });
    expect(body.agents).toMatchObject([{ agentId: second, name: null, costUsd: 0.0003 }]);
    expect(await get("/api/usage?from=2026-02-01&to=2026-02-28")).toMatchObject({
      total: { calls: 2 },
      agents: [{ agentId: first, costUsd: 0.0006 }],
    });
    const { rows } = await server.kernel.database.read("SELECT 1 FROM usage_account_days WHERE calls = 0");
    expect(rows).toEqual([]);
    await move(bobId, adaId);
    expect(await get("/api/usage?from=2026-02-01&to=2026-02-28")).toMatchObject({ total: { calls: 3 } });
  });

  test("are those of now, though the ones of earlier days are remembered", async () => {
    await avoidMidnight(10_000);
    const { id: eveId, client: eve } = await createMember(server);
    const calls = { user: eveId, agent: "hers" };
    const ago = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString();
    const costs = async () => {
      const { body } = await eve.get<Record<"days" | "agents", { costUsd: number }[]>>("/api/usage");
      const sumOf = (list: { costUsd: number }[]) =>
        Math.round(list.reduce((sum, { costUsd }) => sum + costUsd * 1e6, 0));
      expect(sumOf(body.days)).toBe(sumOf(body.agents));
      return body.agents.map(({ costUsd }) => Math.round(costUsd * 1e6));
    };
    await spend(ago(0), 100, calls);
    expect(await costs()).toEqual([100]);
    await spend(ago(29), 7, calls);
    expect(await costs()).toEqual([107]);
    await spend(ago(0), 200, calls);
    await spend(ago(0), 50, { user: eveId, agent: "" });
    expect(await costs()).toEqual([307, 50]);
    expect(await costs()).toEqual([307, 50]);
    await spend(ago(1), 500, { user: eveId, agent: "" });
    expect(await costs()).toEqual([550, 307]);
    await spend(ago(30), 1_000, calls);
    expect(await costs()).toEqual([550, 307]);
  });

  test("make series with every day of the range", async () => {
    const byModel = await get<{ series: object[]; days: object[] }>("/api/usage/series?from=2026-01-31&to=2026-02-03");
    expect(byModel).toMatchObject({ by: "model", series: [{ id: "provider_1:m", name: "m" }, { name: "n" }] });
    expect(byModel.days).toMatchObject([
      { date: "2026-01-31", costUsd: [0.0001, 0], calls: 1, tokens: 110 },
      { date: "2026-02-01", costUsd: [0, 0.0002] },
      { date: "2026-02-02", costUsd: [0, 0], calls: 0 },
      { date: "2026-02-03", costUsd: [0.0003, 0] },
    ]);
    const byAgent = await get("/api/usage/series?from=2026-02-28&to=2026-03-01&by=agent");
    expect(byAgent).toMatchObject({
      series: [
        { id: agentIds[0], name: "=HYPERLINK()", costUsd: 0.0004 },
        { id: "", name: null, costUsd: 0.0005 },
      ],
      days: [{ costUsd: [0.0004, 0] }, { costUsd: [0, 0.0005] }],
    });
  });

  test("of many models are shown as six and the others", async () => {
    for (let n = 0; n < 9; n++) await spend("2025-05-05", 10 + n, { model: `m${n}` });
    const { series } = await get<{ series: { id: string; costUsd: number }[] }>(
      "/api/usage/series?from=2025-05-05&to=2025-05-05",
    );
    expect(series.map(({ id }) => id.slice(-2))).toEqual(["m8", "m7", "m6", "m5", "m4", "m3", ""]);
    expect(series.at(-1)?.costUsd).toBeCloseTo(33e-6, 9);
  });
});

describe("CSV", () => {
  test("guards against formulas and quotes what needs it", () => {
    expect(["=1+1", "+1", "-1", "@a", "\tx", 'a"b', "a,b", "plain"].map(csvCell)).toEqual([
      `"'=1+1"`,
      `"'+1"`,
      `"'-1"`,
      `"'@a"`,
      `"'\tx"`,
      '"a""b"',
      '"a,b"',
      "plain",
    ]);
    expect(csvCell(-3)).toBe("-3");
  });

  test("has a row for each day, agent and model of this account", async () => {
    const { status, headers, text } = await ada.get("/api/usage.csv?from=2026-02-01&to=2026-03-01");
    expect(status).toBe(200);
    expect(headers.get("content-type")).toStartWith("text/csv");
    expect(headers.get("content-disposition")).toContain("usage-2026-02-01-2026-03-01.csv");
    expect(text.split("\r\n")).toEqual([
      expect.stringMatching(/^date,agent_id,agent,provider,model,/),
      `2026-02-01,${agentIds[0]},"'=HYPERLINK()",provider_1,n,0,1,0,0,100,10,0.0002,0`,
      `2026-02-03,${agentIds[1]},"Ann ""the"" O, Neill",provider_1,m,0,1,0,0,100,10,0.0003,0`,
      `2026-02-28,${agentIds[0]},"'=HYPERLINK()",provider_1,m,1,1,0,0,100,10,0.0004,0`,
      "2026-03-01,,,provider_1,m,0,1,0,0,100,10,0.0005,0",
      "",
    ]);
  });

  test("is complete over several pages", async () => {
    const { client, id } = await createMember(server);
    const values = Array.from({ length: 4_001 }, (_, n) => ({
      sql: INSERT,
      args: [`page-${n}`, Date.parse("2026-04-04"), id, null, "provider_1", `model-${n}`, 1, 0, 0],
    }));
    await server.kernel.database.write(values);
    const { text } = await client.get("/api/usage.csv?from=2026-04-04&to=2026-04-04");
    expect(new Set(text.trimEnd().split("\r\n").slice(1)).size).toBe(4_001);
  });
});

test("budgets name each agent that has one, with what is spent", async () => {
  await spend(new Date().toISOString(), 250_000);
  expect(await get("/api/usage/budgets")).toMatchObject({
    budgets: [
      {
        agentId: agentIds[0],
        day: { limitUsd: 1, spentUsd: 0.25 },
        month: { limitUsd: 20, spentUsd: 0.25, resetsAt: expect.any(String) },
      },
    ],
    count: 1,
    hasMore: false,
  });
  expect(await get("/api/usage/budgets?offset=1")).toMatchObject({ budgets: [], count: 0 });
});

test("plans say what they include, and which one is in force", async () => {
  expect(await get("/api/plans")).toMatchObject({
    plans: [
      { id: "free", agents: 0, skills: 20, fileBytes: 104_857_600, includedUsd: 1, isCurrent: false },
      { id: "starter", agents: 1, includedUsd: 10 },
      { id: "pro", agents: 3, schedules: 100, streams: 3, skillBytes: 524_288_000, includedUsd: 50, isCurrent: true },
      { id: "enterprise", agents: 100 },
    ],
    creditUsd: 0.01,
  });
});

test("strangers see nothing, and wrong queries are refused", async () => {
  const stranger = createClient(server.web);
  for (const path of ["/api/usage/series", "/api/usage/budgets", "/api/usage.csv", "/api/plans"]) {
    expectRefusal(await stranger.get(path), 401, "UNAUTHORIZED");
  }
  for (const path of ["/api/usage/series?by=planet", "/api/usage.csv?from=2026-13-01", "/api/usage/budgets?limit=0"]) {
    expectRefusal(await ada.get(path), 400, "INVALID_INPUT");
  }
});
