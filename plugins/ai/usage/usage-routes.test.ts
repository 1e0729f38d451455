// Tests usage reports, the payers of calls, and notices of spent budgets.
import { Database } from "bun:sqlite";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { createMember } from "../../../tests/support/account-setup.ts";
import { type Client, createClient } from "../../../tests/support/client.ts";
import { eventually } from "../../../tests/support/eventually.ts";
import { type Mailbox, openMailbox } from "../../../tests/support/mailbox.ts";
import { type AgentItem, provision } from "../../../tests/support/members.ts";
import { expectRefusal } from "../../../tests/support/refusal.ts";
import { openServer, type TestServer } from "../../../tests/support/server.ts";
import { startUpstream, type Upstream } from "../../../tests/support/upstream.ts";
import { avoidMidnight } from "../../../tests/support/utc-day.ts";

/** 0.15 and 0.60 USD a million: 1,000 in and 100 out are 210 micro-USD. */
const MODEL = "gpt-4o-mini";
const COST = 210;
const today = () => new Date().toISOString().slice(0, 10);

let upstream: Upstream;
let mailbox: Mailbox;
let server: TestServer;
beforeAll(async () => {
  await avoidMidnight(30_000);
  upstream = await startUpstream({ models: [MODEL, "text-embedding-3-small"] });
  mailbox = await openMailbox();
  server = await openServer({
    env: {
      SMTP_URL: mailbox.url,
      PROVIDER_5_BASE_URL: upstream.url,
      PROVIDER_5_API_KEY: "sk-operator",
      MODEL_A: `provider_5:${MODEL}`,
      AI_PLAN_BUDGETS_USD_PER_MONTH: "free:0,starter:0.005,pro:5",
      AI_PUBLIC_BUDGET_USD_PER_DAY: "0",
    },
  });
  await server.app.start();
  await server.kernel.jobs.start();
});
afterAll(async () => {
  await server.kernel.jobs.stop();
  await server[Symbol.asyncDispose]();
  await mailbox[Symbol.asyncDispose]();
  await upstream.stop();
});
beforeEach(async () => {
  await avoidMidnight(5_000);
  upstream.reset();
  upstream.script({ text: "fine", usage: { prompt: 1000, completion: 100 } });
});

const member = (plan: "starter" | "pro") => createMember(server, { plan });
const says = (client: Client, message = "Hello", agentId?: string) => client.post("/api/agent", { message, agentId });
type Body = Record<string, unknown>;
const usageOf = async (client: Client, path = "/api/usage") => (await client.get<Body>(path)).body;
const mailsAbout = ({ account }: Client) =>
  mailbox
    .of(account.email)
    .map(({ parsed }) => parsed.subject ?? "")
    .filter((subject) => subject.includes("budget"));
const eventsOf = (userId: string) => server.kernel.events.since(0, { userId, types: ["budget.exceeded"] });

const sums = (calls: number, costMicro: number, more: object = {}) => ({
  calls,
  cachedCalls: 0,
  estimatedCalls: 0,
  inputTokens: 1000 * calls,
  outputTokens: 100 * calls,
  costUsd: costMicro / 1e6,
  ownKeyUsd: 0,
  creditsUsd: 0,
  ...more,
});

describe("a report", () => {
  let ada: Client;
  let agent: AgentItem;
  beforeAll(async () => {
    upstream.script({ text: "fine", usage: { prompt: 1000, completion: 100 } });
    ({ client: ada } = await member("pro"));
    agent = await provision(ada, "Harbour", { budget: { usdPerDay: 1 } });
    for (let n = 0; n < 3; n++) expect((await says(ada)).status).toBe(200);
    const { key } = (await ada.post<{ key: string }>("/api/keys", { name: "api" })).body;
    const call = { model: MODEL, messages: [{ role: "user", content: "Hello" }] };
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    const answer = await fetch(`${server.backend}/v1/chat/completions`, {
      method: "POST",
      headers,
      body: JSON.stringify(call),
    });
    expect(answer.status).toBe(200);
    await eventually(async () => totalCalls(await usageOf(ada)) === 4);
  });

  test("of an account has totals by day, model and agent", async () => {
    const { name } = agent;
    expect(await usageOf(ada)).toEqual({
      from: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
      to: today(),
      total: sums(4, 4 * COST),
      days: [{ date: today(), ...sums(4, 4 * COST) }],
      models: [{ provider: "provider_5", providerName: "OpenAI", model: MODEL, ...sums(4, 4 * COST) }],
      agents: [
        { agentId: agent.id, name, ...sums(3, 3 * COST) },
        { agentId: null, name: null, ...sums(1, COST) },
      ],
      plan: {
        plan: "pro",
        limitUsd: 5,
        spentUsd: (4 * COST) / 1e6,
        resetsAt: expect.stringMatching(/-01T00:00:00.000Z$/),
      },
      credits: { left: 0, usdEach: 0.01 },
    });
  });

  test("of an agent has its budget", async () => {
    const spentUsd = (3 * COST) / 1e6;
    expect(await usageOf(ada, `/api/agents/${agent.id}/usage`)).toEqual({
      agentId: agent.id,
      from: expect.any(String),
      to: today(),
      total: sums(3, 3 * COST),
      days: [{ date: today(), ...sums(3, 3 * COST) }],
      models: [{ provider: "provider_5", providerName: "OpenAI", model: MODEL, ...sums(3, 3 * COST) }],
      budget: {
        day: { limitUsd: 1, spentUsd, resetsAt: expect.any(String) },
        month: { limitUsd: null, spentUsd, resetsAt: expect.any(String) },
      },
    });
  });

  test("covers the requested days, both inclusive", async () => {
    const yesterday = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
    for (const [query, calls] of [
      [`from=${today()}&to=${today()}`, 4],
      [`from=${yesterday}`, 4],
      [`from=${new Date().toISOString()}`, 4],
      [`from=2026-01-01&to=${yesterday}`, 0],
      ["from=2024-02-29&to=2024-02-29", 0],
    ] as const) {
      const { total, from } = await usageOf(ada, `/api/usage?${query}`);
      expect([query, total]).toEqual([query, sums(calls, calls * COST)]);
      expect(String(from)).toMatch(/^\d{4}-\d\d-\d\d$/);
    }
  });

  test.each(["from=yesterday", "from=2026-02-30", "to=2026-13-01", "from=2026-02-02&to=2026-02-01", "from=2020-01-01"])(
    "for %s is 400",
    async (query) => {
      expectRefusal(await ada.get(`/api/usage?${query}`), 400, "INVALID_INPUT");
      expectRefusal(await ada.get(`/api/agents/${agent.id}/usage?${query}`), 400, "INVALID_INPUT");
    },
  );

  test("is visible to its owner only", async () => {
    const { client: eve } = await member("pro");
    expectRefusal(await eve.get(`/api/agents/${agent.id}/usage`), 404, "AGENT_NOT_FOUND");
    expectRefusal(await createClient(server).get("/api/usage"), 401);
    expect(totalCalls(await usageOf(eve))).toBe(0);
  });

  test("reads only its own days from the database", () => {
    const file = new Database(server.kernel.database.file, { readonly: true });
    const plan = (sql: string) => {
      const steps = file.query<{ detail: string }, []>(`EXPLAIN QUERY PLAN ${sql}`).all();
      return steps.map(({ detail }) => detail).join("; ");
    };
    const where = "FROM usage_days WHERE user_id = ? AND day BETWEEN ? AND ? GROUP BY day";
    expect(plan(`SELECT day, sum(calls) ${where}`)).toMatch(
      /^SEARCH usage_days USING PRIMARY KEY \(user_id=\? AND day>\? AND day<\?\)$/,
    );
    const agents = "FROM usage_days WHERE agent_id = ? AND agent_id <> '' AND day >= ?";
    expect(plan(`SELECT sum(cost_micro_usd) ${agents}`)).toMatch(
      /^SEARCH usage_days USING INDEX usage_days_by_agent \(agent_id=\? AND day>\?\)$/,
    );
    file.close();
  });
});

describe("the payer of a call", () => {
  test("is the plan, then credits; without either the call is a 402 with advice", async () => {
    const { client, id } = await member("starter");
    await provision(client, "Harbour", { maxTokens: 5_000 });
    const credits = async () => (await client.get<{ credits: number }>("/api/settings")).body.credits;
    upstream.script({ text: "fine", usage: { prompt: 0, completion: 5_000 } });
    // 3,000 micro-USD each; a bit more is set aside, for the prompt.
    expect((await says(client)).status).toBe(200);
    const { message } = expectRefusal(await says(client), 402, "BUDGET_EXCEEDED");
    expect(message).toContain("Take a larger plan, get credits, set a provider key of your own, or wait until");
    await server.kernel.database.write([{ sql: "UPDATE users SET credits = 1 WHERE id = ?", args: [id] }]);
    server.app.accounts.users.invalidate(id);
    const statuses: number[] = [];
    for (let n = 0; n < 5; n++) statuses.push((await says(client)).status);
    // 2,000 are left of the plan, and 10,000 of the credit: three more, and not quite a fourth.
    expect(statuses).toEqual([200, 200, 200, 402, 402]);
    expect(await credits()).toBe(1);
    expect(await usageOf(client)).toMatchObject({
      total: { calls: 4, costUsd: 0.012 },
      plan: { plan: "starter", limitUsd: 0.005 },
    });
    const {
      total,
      plan,
      credits: left,
    } = (await usageOf(client)) as {
      total: { creditsUsd: number };
      plan: { spentUsd: number };
      credits: { left: number };
    };
    expect(total.creditsUsd + plan.spentUsd).toBeCloseTo(0.012, 9);
    expect(left.left).toBeCloseTo(1 - total.creditsUsd / 0.01, 9);
    await eventually(async () => (await eventsOf(id)).length > 0);
    expect(await eventsOf(id)).toMatchObject([
      { type: "budget.exceeded", userId: id, agentId: null, data: { of: "account", period: "month", limitUsd: 0.005 } },
    ]);
  });

  test("is the owner of the key", async () => {
    const { client } = await member("starter");
    await provision(client);
    await client.post("/api/agent", {
      action: "set-credential",
      key: "provider_5",
      value: "sk-my-own-key-000000000000000000",
    });
    upstream.script({ text: "fine", usage: { prompt: 0, completion: 100_000 } });
    for (let n = 0; n < 3; n++) expect((await says(client)).status).toBe(200);
    expect(
      upstream.chats.every(({ headers }) => headers.authorization === "Bearer sk-my-own-key-000000000000000000"),
    ).toBe(true);
    expect(await usageOf(client)).toMatchObject({
      total: { calls: 3, costUsd: 0.18, ownKeyUsd: 0.18 },
      plan: { spentUsd: 0 },
    });
  });

  test("is never the public budget for a caller with an account", async () => {
    const { client } = await member("pro");
    const { key } = (await client.post<{ key: string }>("/api/keys", { name: "api" })).body;
    const ask = (headers: Record<string, string>) =>
      fetch(`${server.backend}/api/ai/chat`, {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body: JSON.stringify({ model: MODEL, messages: [{ role: "user", content: "Hello" }] }),
      });
    expect((await ask({})).status).toBe(401);
    expect((await ask({ authorization: `Bearer ${key}` })).status).toBe(200);
  });

  /** A call of the API with a field that costs extra. */
  async function asksWithPaidField(client: Client): Promise<Response> {
    const { key } = (await client.post<{ key: string }>("/api/keys", { name: "api" })).body;
    return fetch(`${server.backend}/api/ai/chat`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${key}` },
      body: JSON.stringify({
        model: MODEL,
        messages: [{ role: "user", content: "Hello" }],
        service_tier: "priority",
      }),
    });
  }

  test("must have a budget without limit for fields that cost extra", async () => {
    const { client } = await member("pro");
    const response = await asksWithPaidField(client);
    expect([response.status, await response.json()]).toMatchObject([
      400,
      { code: "UNSUPPORTED_FIELD", field: "service_tier" },
    ]);
    expect(upstream.chats).toHaveLength(0);
  });

  test("is the operator for an admin", async () => {
    const { client, id } = await member("starter");
    await server.kernel.database.write([{ sql: "UPDATE users SET is_admin = 1 WHERE id = ?", args: [id] }]);
    server.app.accounts.users.invalidate(id);
    await provision(client);
    upstream.script({ text: "fine", usage: { prompt: 0, completion: 100_000 } });
    for (let n = 0; n < 2; n++) expect((await says(client)).status).toBe(200);
    expect(await usageOf(client)).toMatchObject({ plan: { limitUsd: null, spentUsd: 0.12 } });
    expect((await asksWithPaidField(client)).status).toBe(200);
  });
});

describe("an agent's budget that is spent", () => {
  test("causes one event per period, however many calls are refused", async () => {
    const { client, id } = await member("pro");
    const agent = await provision(client, "Spender", { budget: { usdPerDay: 0.001, usdPerMonth: 0.001 } });
    for (let n = 0; n < 5; n++) expectRefusal(await says(client), 402, "BUDGET_EXCEEDED");
    expect(upstream.chats).toHaveLength(0);
    await eventually(async () => (await eventsOf(id)).length > 0);
    expect(await eventsOf(id)).toMatchObject([
      {
        agentId: agent.id,
        data: {
          of: "agent",
          agentId: agent.id,
          period: "day",
          limitUsd: 0.001,
          spentUsd: 0,
          resetsAt: expect.any(String),
        },
      },
    ]);
    await client.put(`/api/agents/${agent.id}/config`, { budget: { usdPerMonth: 0.001 } });
    for (let n = 0; n < 3; n++) expectRefusal(await says(client), 402, "BUDGET_EXCEEDED");
    await eventually(async () => (await eventsOf(id)).length > 1);
    expect((await eventsOf(id)).map(({ data }) => (data as Body).period)).toEqual(["day", "month"]);
    // The address is not verified.
    expect(mailsAbout(client)).toEqual([]);
  });

  test("causes one mail per period, if its owner accepts mails about billing", async () => {
    for (const billing of [true, false]) {
      const { client, id } = await member("pro");
      await server.kernel.database.write([{ sql: "UPDATE users SET email_verified = 1 WHERE id = ?", args: [id] }]);
      server.app.accounts.users.invalidate(id);
      expect((await client.patch("/api/settings", { notifications: { billing } })).status).toBe(200);
      await provision(client, "Spender", { budget: { usdPerDay: 0.001 } });
      for (let n = 0; n < 3; n++) expectRefusal(await says(client), 402, "BUDGET_EXCEEDED");
      await eventually(async () => (await eventsOf(id)).length > 0);
      if (billing) await eventually(() => mailsAbout(client).length > 0);
      expect(mailsAbout(client)).toEqual(billing ? ["The budget of your agent Spender is spent"] : []);
    }
  });
});

const totalCalls = ({ total }: Body) => (total as { calls: number }).calls;
