// Tests charges to plans and credits, exact to the micro-dollar under concurrent calls.
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { fileDatabase, silent, type TestDatabase } from "../../../tests/support/database.ts";
import { insertUser } from "../../../tests/support/records.ts";
import { type BalanceRefusal, createAccountBalances } from "./account-balances.ts";
import { createLedger, type LedgerCall } from "./ledger.ts";

let store: TestDatabase;
beforeEach(async () => {
  store = await fileDatabase();
});
afterEach(() => store.remove());

/** One output token costs one micro-USD. */
const pricing = { input: 0, output: 1_000_000 };
const call: LedgerCall = { kind: "turn", agentId: "a", userId: "u", provider: "provider_1", modelId: "m", pricing };
const used = (outputTokens: number) => ({ inputTokens: 0, outputTokens, estimated: false });

async function account(credits: number): Promise<void> {
  await insertUser(store.database, { id: "u", credits });
}
const credits = async () => (await store.database.read("SELECT credits FROM users")).rows[0]?.[0];
const begun = async () => (await store.database.read("SELECT micro_usd FROM credit_use")).rows[0]?.[0];

function open(plan: number, now: () => number = Date.now) {
  const refusals: BalanceRefusal[] = [];
  const taken: string[] = [];
  const balances = createAccountBalances({
    database: store.database,
    allowanceOf: () => ({ microUsd: plan, isPaid: true }),
    onRefused: (refusal) => void refusals.push(refusal),
    onCreditsTaken: (userId) => void taken.push(userId),
    now,
  });
  const ledger = createLedger({ database: store.database, log: silent, balances, now });
  const spend = async (micro: number, most = micro) => {
    const spending = await ledger.reserve(call, [], most);
    await store.database.write([spending.settleStatement(used(micro), 1)]);
  };
  return { ledger, spend, refusals, taken };
}
const refused = { status: 402, code: "BUDGET_EXCEEDED" };

describe("an account", () => {
  test("uses its plan first, and no credits", async () => {
    await account(3);
    const { spend, taken } = open(10_000);
    await spend(10_000);
    expect([await credits(), await begun(), taken]).toEqual([3, undefined, []]);
  });

  test("then its credits: one is taken when 10,000 micro-USD of it are used, and not before", async () => {
    await account(3);
    const { spend, taken } = open(10_000);
    await spend(15_000);
    expect([await credits(), await begun()]).toEqual([3, 5_000]);
    await spend(4_999);
    expect([await credits(), await begun()]).toEqual([3, 9_999]);
    await spend(1);
    expect([await credits(), await begun()]).toEqual([2, 0]);
    await spend(20_000);
    expect([await credits(), await begun()]).toEqual([0, 0]);
    expect(taken).toHaveLength(4);
    const { rows } = await store.database.read("SELECT cost_micro_usd, credit_micro_usd FROM usage ORDER BY id");
    expect(rows.map((row) => [row[0], row[1]])).toEqual([
      [15_000, 5_000],
      [4_999, 4_999],
      [1, 1],
      [20_000, 20_000],
    ]);
  });

  test("without plan and credits is refused with advice, and nothing is held", async () => {
    await account(1);
    const { ledger, spend, refusals } = open(5_000);
    await expect(Promise.resolve(ledger.reserve(call, [], 15_001))).rejects.toMatchObject({
      ...refused,
      message: expect.stringMatching(/larger plan, get credits, .*key of your own, or wait until \d{4}-\d\d-01/),
      extras: { period: "month", limitUsd: 0.005, spentUsd: 0, credits: 1 },
    });
    expect(refusals).toEqual([{ userId: "u", since: expect.any(Number), limit: 5_000, spent: 0 }]);
    await spend(15_000);
    await expect(Promise.resolve(ledger.reserve(call, [], 1))).rejects.toMatchObject(refused);
  });

  test("gets back the unused part of a hold", async () => {
    await account(1);
    const { ledger, spend } = open(0);
    const spending = await ledger.reserve(call, [], 10_000);
    await expect(Promise.resolve(ledger.reserve(call, [], 1))).rejects.toMatchObject(refused);
    spending.release();
    await spend(2_500, 10_000);
    await expect(Promise.resolve(ledger.reserve(call, [], 7_501))).rejects.toMatchObject(refused);
    await spend(7_500);
    expect(await credits()).toBe(0);
  });

  test("concurrent calls get exactly the balance", async () => {
    await account(2);
    const { ledger, spend } = open(30_000);
    const tries = Array.from({ length: 200 }, () => ledger.reserve(call, [], 1_000));
    const ended = await Promise.allSettled(tries);
    expect(ended.filter(({ status }) => status === "fulfilled")).toHaveLength(50);
    for (const end of ended) {
      if (end.status === "fulfilled") await store.database.write([end.value.settleStatement(used(1_000), 1)]);
    }
    expect([await credits(), await begun()]).toEqual([0, 0]);
    await expect(spend(1)).rejects.toMatchObject(refused);
  });

  test("new credits count at once", async () => {
    await account(0);
    const { ledger, spend } = open(0);
    await expect(Promise.resolve(ledger.reserve(call, [], 1))).rejects.toMatchObject(refused);
    await store.database.write([{ sql: "UPDATE users SET credits = credits + 1", args: [] }]);
    await spend(10_000);
    expect(await credits()).toBe(0);
  });

  test("never has negative credits, also if they are taken away, or a call costs more, while calls are held", async () => {
    await account(3);
    const { ledger } = open(0);
    const held = await Promise.all(Array.from({ length: 3 }, () => ledger.reserve(call, [], 10_000)));
    await store.database.write([{ sql: "UPDATE users SET credits = 1", args: [] }]);
    await expect(Promise.resolve(ledger.reserve(call, [], 1))).rejects.toMatchObject(refused);
    const dear = used(25_000);
    await Promise.all(held.map((spending) => store.database.write([spending.settleStatement(dear, 1)])));
    expect([await credits(), await begun()]).toEqual([0, 0]);
    await expect(Promise.resolve(ledger.reserve(call, [], 1))).rejects.toMatchObject(refused);
    await store.database.write([{ sql: "UPDATE users SET credits = credits + 1", args: [] }]);
    await expect(Promise.resolve(ledger.reserve(call, [], 10_001))).rejects.toMatchObject(refused);
  });

  test("begins a new month with its whole plan and its remaining credits", async () => {
    await account(1);
    let at = Date.parse("2026-02-28T23:59:59.999Z");
    const { spend } = open(1_000, () => at);
    await spend(1_500);
    at += 1;
    await spend(1_000);
    expect(await begun()).toBe(500);
    await spend(9_500);
    expect(await credits()).toBe(0);
  });

  test("is restored after a restart, without counting credits for the plan", async () => {
    await account(5);
    await open(1_000).spend(11_000);
    const { spend } = open(1_500);
    await spend(500);
    expect([await credits(), await begun()]).toEqual([4, 0]);
  });
});

describe("no plan pays for", () => {
  test.each([
    ["public use", { kind: "public" as const, userId: undefined }],
    ["a key of one's own", { ownKey: true }],
    ["what is free", { pricing: { input: 0, output: 0 } }],
  ])("%s", async (_, more) => {
    await account(0);
    const { ledger } = open(0);
    const micro = "pricing" in more ? 0 : 5_000;
    const spending = await ledger.reserve({ ...call, ...more }, [], micro);
    await store.database.write([spending.settleStatement(used(5_000), 1)]);
    const other = open(1_000);
    await other.spend(1_000);
  });
});

test("a call of an account that was deleted meanwhile is stored", async () => {
  await account(1);
  const { ledger } = open(0);
  const spending = await ledger.reserve(call, [], 5_000);
  await store.database.write([{ sql: "DELETE FROM users", args: [] }]);
  await store.database.write([spending.settleStatement(used(5_000), 1)]);
  expect((await store.database.read("SELECT * FROM usage")).rows).toHaveLength(1);
  expect((await store.database.read("SELECT * FROM credit_use")).rows).toHaveLength(0);
});
