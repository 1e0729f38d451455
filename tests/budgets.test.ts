// Budgets and the ledger on the whole binary: parallel calls can't exceed a budget, and the ledger adds up after kill -9.

import { Database } from "bun:sqlite";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { type Berth, startBerth } from "./support/berth.ts";
import { type Client, createClient } from "./support/client.ts";
import { eventually, seeded } from "./support/eventually.ts";
import { member, provision } from "./support/members.ts";
import { startSqld } from "./support/sqld.ts";
import { startUpstream, type Upstream } from "./support/upstream.ts";
import { avoidMidnight } from "./support/utc-day.ts";

/** 0.15 USD a million tokens in, 0.60 out: in units of 1e-12 USD a token. */
const MODEL = "gpt-4o-mini";
const IN = 150_000;
const OUT = 600_000;
/** Whole micro-USD, rounded half up. */
const costOf = (prompt: number, completion: number) => Math.floor((prompt * IN + completion * OUT + 500_000) / 1e6);

interface Row {
  id: string;
  kind: string;
  input: number;
  output: number;
  cost: number;
  estimated: number;
}

/** The ledger's rows in the database file. */
function rowsOf({ dir }: { dir: string }): Row[] {
  const file = new Database(join(dir, "data/berth.db"), { readonly: true });
  try {
    const sql = `SELECT id, kind, input_tokens AS input, output_tokens AS output, cost_micro_usd AS cost, estimated
      FROM usage ORDER BY id`;
    return file.query<Row, []>(sql).all();
  } finally {
    file.close();
  }
}
/** The daily sums behind reports and budgets, which must equal the ledger. */
function summedUp({ dir }: { dir: string }): { calls: number; cost: number } {
  const file = new Database(join(dir, "data/berth.db"), { readonly: true });
  try {
    const sql = "SELECT coalesce(sum(calls), 0) AS calls, coalesce(sum(cost_micro_usd), 0) AS cost FROM usage_days";
    return file.query<{ calls: number; cost: number }, []>(sql).get() ?? { calls: 0, cost: 0 };
  } finally {
    file.close();
  }
}
const sum = (numbers: readonly number[]) => numbers.reduce((total, one) => total + one, 0);
const costs = (rows: readonly Row[]) => sum(rows.map(({ cost }) => cost));

let upstream: Upstream;
beforeAll(async () => {
  upstream = await startUpstream({ models: [MODEL] });
});
afterAll(() => upstream.stop());
// Daily budgets start again at midnight.
beforeEach(() => avoidMidnight(15_000));
afterEach(() => upstream.reset());

const envOf = (more: Record<string, string> = {}) => ({
  PROVIDER_5_BASE_URL: upstream.url,
  PROVIDER_5_API_KEY: "sk-operator",
  MODEL_A: `provider_5:${MODEL}`,
  RATE_LIMITS: "off",
  ...more,
});

/** Gives every call a different number of tokens, so that rows can be identified; returns the upstream's own list of them. */
function countedBy(upstream: Upstream, first: number, step: number, delayMs: () => number = () => 0) {
  const used: number[] = [];
  upstream.script(() => {
    const completion = first + step * used.length;
    used.push(completion);
    return { text: "fine", usage: { prompt: 10, completion }, delayMs: delayMs() };
  });
  return used;
}

const ask = (berth: Berth, more: object = {}, headers: Record<string, string> = {}) =>
  fetch(`${berth.backend}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify({ model: MODEL, messages: [{ role: "user", content: "Hello" }], ...more }),
  });

describe("200 calls at once against a budget for 50", () => {
  /** A call costs 2,434 to 2,463 micro-USD, and a little more is reserved: after 50 calls the rest is too small for another. */
  const BUDGET = 0.1245;
  const countDown = () => countedBy(upstream, 4_095, -1);

  test.each([false, true])(
    "exactly 50 pass in public (streamed: %p), and the ledger has what the upstream counted",
    async (stream) => {
      await using berth = await startBerth({ env: envOf({ AI_PUBLIC_BUDGET_USD_PER_DAY: String(BUDGET) }) });
      const used = countDown();
      const answers = await Promise.all(
        Array.from({ length: 200 }, async () => {
          const response = await ask(berth, { stream });
          return { status: response.status, text: await response.text() };
        }),
      );
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(50);
      expect(answers.filter(({ status, text }) => status === 402 && text.includes("BUDGET_EXCEEDED"))).toHaveLength(
        150,
      );
      expect((await ask(berth)).status).toBe(402);
      expect(await berth.stop()).toBe(0);
      const rows = rowsOf(berth);
      expect(rows.map(({ output }) => output).sort()).toEqual([...used].sort());
      expect(rows.every(({ estimated, kind }) => estimated === 0 && kind === "public")).toBe(true);
      expect(costs(rows)).toBe(sum(used.map((completion) => costOf(10, completion))));
      expect(costs(rows)).toBeLessThanOrEqual(BUDGET * 1e6);
      expect(summedUp(berth)).toEqual({ calls: 50, cost: costs(rows) });
      // The day's budget is still used up after a restart.
      await berth.restart();
      expect((await ask(berth)).status).toBe(402);
    },
  );

  test("exactly 50 turns of an agent pass", async () => {
    await using berth = await startBerth({ env: envOf() });
    const owner = await member(berth, "enterprise");
    // The reservation for the prompt is an upper bound, so a call reserves some 60 micro-USD more than it costs.
    await provision(owner, "Crowded", { maxTokens: 4_096, budget: { usdPerDay: BUDGET } });
    const used = countDown();
    const statuses = await Promise.all(
      Array.from(
        { length: 200 },
        async (_, n) => (await owner.post("/api/chat", { message: "Hello", topic: `t${n}` })).status,
      ),
    );
    expect(statuses.filter((status) => status === 200)).toHaveLength(50);
    expect(statuses.filter((status) => status === 402)).toHaveLength(150);
    await berth.stop();
    expect(
      rowsOf(berth)
        .map(({ output }) => output)
        .sort(),
    ).toEqual([...used].sort());
    expect(costs(rowsOf(berth))).toBe(sum(used.map((completion) => costOf(10, completion))));
  });
});

test("accounts without a subscription share one ceiling, also after a restart; paying ones do not count", async () => {
  // Two calls of 2,410 micro-USD fit, and the reservation of the third does not.
  await using berth = await startBerth({ env: envOf({ AI_UNPAID_BUDGET_USD_PER_DAY: "0.006" }) });
  const keyOf = async (client: Client) => (await client.post<{ key: string }>("/api/keys", { name: "k" })).body.key;
  const [ada, ben, eve] = await Promise.all([1, 2, 3].map(() => newAccount(berth)));
  const payer = await member(berth, "starter");
  const keys = await Promise.all([ada, ben, eve, payer].map((client) => client && keyOf(client)));
  const used = countedBy(upstream, 4_000, 0);
  const askAs = (who: number) => ask(berth, {}, { authorization: `Bearer ${keys[who]}` });
  expect([(await askAs(3)).status, (await askAs(0)).status, (await askAs(1)).status]).toEqual([200, 200, 200]);
  const refusal = await askAs(2);
  expect(refusal.status).toBe(402);
  const body = await refusal.text();
  expect(body).toContain("BUDGET_EXCEEDED");
  expect(body).toContain("accounts without a paid subscription");
  expect((await askAs(3)).status).toBe(200);
  await berth.restart();
  expect([(await askAs(2)).status, (await askAs(0)).status, (await askAs(3)).status]).toEqual([402, 402, 200]);
  expect(used).toHaveLength(5);
  // Public use has a budget of its own.
  expect((await ask(berth)).status).toBe(200);
});

async function newAccount(berth: Berth): Promise<Client> {
  const client = createClient(berth);
  await client.join();
  return client;
}

describe("kill -9", () => {
  test("during 200 calls: each call is in the ledger once, answered ones with their exact cost", async () => {
    const random = seeded(Bun.env.BUDGETS_SEED === undefined ? undefined : Number(Bun.env.BUDGETS_SEED));
    console.log(`budgets test: BUDGETS_SEED=${random.seed}`);
    await using berth = await startBerth({ env: envOf({ AI_PUBLIC_BUDGET_USD_PER_DAY: "100" }) });
    let answered: number[] = [];
    let rows: Row[] = [];
    for (let round = 0; round < 3; round++) {
      const used = countedBy(upstream, 1_000 * round + 1, 1, () => random.integer(0, 150));
      const calls = Array.from({ length: 200 }, async () => {
        const response = await ask(berth);
        const body = (await response.json()) as { usage: { completion_tokens: number } };
        answered.push(body.usage.completion_tokens);
      });
      const ended = Promise.allSettled(calls);
      const until = answered.length + random.integer(20, 120);
      await eventually(() => answered.length >= until, { timeoutMs: 10_000 });
      await berth.kill();
      await ended;
      await berth.restart();
      await upstream.waitFor(({ open }) => open === 0);

      const before = rows.length;
      rows = rowsOf(berth);
      const now = rows.slice(before);
      const exact = now.filter(({ estimated }) => estimated === 0).map(({ output }) => output);
      // Every answered call is in the ledger, none twice, and none that the upstream has not counted.
      expect(answered.filter((completion) => !exact.includes(completion))).toEqual([]);
      expect(new Set(exact).size).toBe(exact.length);
      expect(exact.filter((completion) => !used.includes(completion))).toEqual([]);
      expect(costs(now.filter(({ estimated }) => estimated === 0))).toBe(sum(exact.map((n) => costOf(10, n))));
      // All others were cut off: they count with their reservation, which is at least their real cost.
      const cut = now.filter(({ estimated }) => estimated === 1);
      expect(now.length).toBeGreaterThanOrEqual(used.length);
      expect(cut.every(({ output, cost }) => output === 4_096 && cost >= costOf(10, 4_096))).toBe(true);
      expect(costs(now)).toBeGreaterThanOrEqual(sum(used.map((n) => costOf(10, n))));
      expect(summedUp(berth)).toEqual({ calls: rows.length, cost: costs(rows) });
      answered = [];
    }
    // Another start changes nothing.
    await berth.restart();
    expect(rowsOf(berth)).toEqual(rows);
  });

  test("reservations of a killed process do not block the budget, but count", async () => {
    await using berth = await startBerth({ env: envOf({ AI_PUBLIC_BUDGET_USD_PER_DAY: "0.0075" }) });
    upstream.script({ hang: true });
    const hanging = [ask(berth), ask(berth)].map((call) => call.catch(() => "gone"));
    await upstream.waitFor(({ chats }) => chats.length === 2);
    await berth.kill();
    await Promise.all(hanging);
    await berth.restart();
    countedBy(upstream, 4_000, 0);
    // Two of three calls are used up.
    expect((await ask(berth)).status).toBe(200);
    expect((await ask(berth)).status).toBe(402);
  });

  test("during turns: each message is answered once, and every model call has its row", async () => {
    await using berth = await startBerth({ env: envOf() });
    const owner = await member(berth, "enterprise");
    const { id } = await provision(owner, "Killed", { maxTokens: 4_096 });
    const used = countedBy(upstream, 1, 1, () => 40);
    const calls = Array.from({ length: 24 }, (_, n) =>
      owner.post("/api/chat", { message: `Hello ${n}`, topic: `t${n}` }).catch(() => undefined),
    );
    await upstream.waitFor(({ chats }) => chats.length >= 9);
    await berth.kill();
    await Promise.all(calls);
    await berth.restart();
    await eventually(async () => (await replies(owner, id)) === 24, { timeoutMs: 20_000 });
    await berth.stop();
    const rows = rowsOf(berth);
    const exact = rows.filter(({ estimated }) => estimated === 0).map(({ output }) => output);
    expect(new Set(exact).size).toBe(exact.length);
    expect(exact.length).toBeGreaterThanOrEqual(24);
    expect(exact.filter((completion) => !used.includes(completion))).toEqual([]);
    expect(rows.length).toBeGreaterThanOrEqual(used.length);
    expect(costs(rows)).toBeGreaterThanOrEqual(sum(used.map((completion) => costOf(10, completion))));
  });
});

const replies = async (owner: Client, id: string) => {
  const { body } = await owner.get<{ messages: { sender: string }[] }>(
    `/api/agents/${id}/messages?include=all&limit=100`,
  );
  return body.messages.filter(({ sender }) => sender === "agent").length;
};

test("two processes over a database server: reports on one, calls on the other, with a kill", async () => {
  const sqld = await startSqld();
  await using last = new AsyncDisposableStack();
  last.defer(() => sqld.stop());
  const shared = { DATABASE_URL: sqld.url, SECRET_KEY: "budgets-test-root-key-0123456789abcdef" };
  await using backend = await startBerth({ env: envOf({ ...shared, ROLE: "backend" }) });
  await using web = await startBerth({ env: { ...shared, ROLE: "web", BACKEND_URL: backend.backend } });
  const owner = await member(web, "starter");
  const { id } = await provision(owner, "Apart", { maxTokens: 4_096, budget: { usdPerDay: 0.006 } });
  countedBy(upstream, 4_000, 0);
  const say = async () => (await owner.post("/api/chat", { message: "Hello" })).status;
  expect([await say(), await say(), await say()]).toEqual([200, 200, 402]);
  const report = async () => (await owner.get<{ total: { calls: number }; plan: object }>("/api/usage")).body;
  const spent = (2 * costOf(10, 4_000)) / 1e6;
  expect(await report()).toMatchObject({
    total: { calls: 2, costUsd: spent, estimatedCalls: 0 },
    plan: { plan: "starter", spentUsd: spent },
  });
  expect((await owner.get(`/api/agents/${id}/usage`)).body).toMatchObject({
    budget: { day: { limitUsd: 0.006, spentUsd: spent } },
  });
  expect((await owner.put(`/api/agents/${id}/cache`, { enabled: true })).body).toMatchObject({ enabled: true });
  expect((await owner.get(`/api/agents/${id}/cache`)).body).toMatchObject({ enabled: true });

  await owner.put(`/api/agents/${id}/config`, { maxTokens: 4_096 });
  upstream.script({ hang: true });
  const hanging = say();
  await upstream.waitFor(({ open }) => open === 1);
  await backend.kill();
  expect(await hanging).toBe(502);
  countedBy(upstream, 4_000, 0);
  await backend.restart({ env: { BACKEND_PORT: new URL(backend.backend).port } });
  // The call that was cut off, and its repetition for the same message.
  await eventually(async () => (await report()).total.calls === 4, { timeoutMs: 15_000 });
  expect(await report()).toMatchObject({ total: { calls: 4, estimatedCalls: 1 } });
});
