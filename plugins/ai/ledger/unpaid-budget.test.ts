// Tests the one daily ceiling of what accounts that nobody pays for may use of the operator's keys together.
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { fileDatabase, silent, type TestDatabase } from "../../../tests/support/database.ts";
import { insertUser, subscriptionStatement } from "../../../tests/support/records.ts";
import { createPlanTable, DEFAULT_PLANS, type User } from "../../auth/index.ts";
import { createAccountBalances } from "./account-balances.ts";
import type { BudgetRefusal } from "./budgets.ts";
import { createJournal } from "./journal.ts";
import { createLedger, type LedgerCall } from "./ledger.ts";
import { allowanceOf } from "./plan-allowance.ts";

const NOW = Date.UTC(2026, 5, 15, 12);
const DAY = 86_400_000;
/** One output token costs one micro-USD. */
const pricing = { input: 0, output: 1_000_000 };
const refused = { status: 402, code: "BUDGET_EXCEEDED" };

let store: TestDatabase;
let time: number;
let refusals: BudgetRefusal[];
/** Accounts that somebody pays for. */
let paying: Set<string>;
/** Whole micro-USD of every plan. */
let plan: number;
beforeEach(async () => {
  store = await fileDatabase();
  time = NOW;
  refusals = [];
  paying = new Set();
  plan = 1_000;
});
afterEach(() => store.remove());

function open(microUsd = 100, adminEmails: string[] = [], journalFile?: string) {
  const now = () => time;
  const allowanceOf = (userId: string) => ({ microUsd: plan, isPaid: paying.has(userId) });
  const balances = createAccountBalances({ database: store.database, allowanceOf, now });
  return createLedger({
    database: store.database,
    log: silent,
    balances,
    unpaidBudget: { microUsd, adminEmails },
    onRefused: (refusal) => void refusals.push(refusal),
    now,
    ...(journalFile !== undefined && { journal: createJournal(journalFile, silent) }),
  });
}
type Opened = ReturnType<typeof open>;

const call = (userId: string | undefined, more: Partial<LedgerCall> = {}): LedgerCall => ({
  kind: "turn",
  agentId: `agent of ${userId}`,
  userId,
  provider: "provider_1",
  modelId: "m",
  pricing,
  ...more,
});
const reserve = async (ledger: Opened, micro: number, ...who: Parameters<typeof call>) =>
  ledger.reserve(call(...who), [], micro);
async function spend(ledger: Opened, micro: number, ...who: Parameters<typeof call>): Promise<void> {
  const reservation = await reserve(ledger, micro, ...who);
  await reservation.record({ inputTokens: 0, outputTokens: micro, estimated: false }, 1);
}

describe("accounts without a paid subscription", () => {
  test("share one ceiling a day, however many they are and however many calls run at once", async () => {
    const ledger = open(100);
    const calls = Array.from({ length: 50 }, (_, n) => reserve(ledger, 10, `user ${n}`));
    const ended = await Promise.allSettled(calls);
    expect(ended.filter(({ status }) => status === "fulfilled")).toHaveLength(10);
    const refusal = ended.find((one) => one.status === "rejected");
    expect(refusal?.reason).toMatchObject({
      ...refused,
      message: expect.stringMatching(/trials and accounts without a paid subscription.*own.*2026-06-16/s),
      extras: { budget: "unpaid", period: "day", limitUsd: 0.0001, resetsAt: "2026-06-16T00:00:00.000Z" },
    });
    expect(String(refusal?.reason.message)).not.toContain("AI_UNPAID");
    expect(refusals[0]).toMatchObject({ of: "unpaid", period: "day", limit: 100 });
    time += DAY;
    await spend(ledger, 100, "user 0");
  });

  test("get back what a call did not use, and what a refusal had reserved in their own plan", async () => {
    plan = 100;
    const ledger = open(100);
    const first = await reserve(ledger, 90, "ada");
    await expect(reserve(ledger, 20, "ben")).rejects.toMatchObject(refused);
    first.release();
    await spend(ledger, 100, "ben");
    await expect(reserve(ledger, 1, "ada")).rejects.toMatchObject({ ...refused, extras: { budget: "unpaid" } });
    await ledger.close();
  });

  test("are refused by their own plan first, which they can do something about", async () => {
    plan = 10;
    const ledger = open(5);
    await expect(reserve(ledger, 11, "ada")).rejects.toMatchObject({
      ...refused,
      message: expect.stringContaining("plan"),
    });
  });

  test("may use free models and keys of their own without a limit", async () => {
    const ledger = open(0);
    await spend(ledger, 0, "ada");
    await spend(ledger, 500, "ada", { ownKey: true });
    await expect(reserve(ledger, 1, "ada")).rejects.toMatchObject(refused);
    await ledger.close();
    expect(await open(100).spentMicroUsd({ of: "unpaid", period: "day" })).toBe(0);
  });
});

test.each([
  ["active", DAY, true],
  ["trialing", DAY, false],
  ["active", -DAY, false],
] as const)("a subscription that is %s and ends in %d ms is paid: %p", (status, msLeft, isPaid) => {
  const subscription = { plan: "pro", status, currentPeriodEnd: Date.now() + msLeft };
  const user = { subscription } as User;
  const plans = createPlanTable(DEFAULT_PLANS);
  const budgets = { free: 1, starter: 2, pro: 3, enterprise: 4 };
  expect(allowanceOf(user, { plans, budgets, isAdmin: () => false, rampOf: () => undefined })).toMatchObject({
    microUsd: msLeft > 0 ? 3 : 1,
    isPaid,
  });
  expect(allowanceOf(user, { plans, budgets, isAdmin: () => true, rampOf: () => undefined })).toMatchObject({
    isPaid: true,
  });
});

describe("what credits pay for", () => {
  const spent = (ledger: Opened) => ledger.spentMicroUsd({ of: "unpaid", period: "day" });

  test("does not count, before and after a restart", async () => {
    plan = 30;
    await insertUser(store.database, { id: "ada", credits: 1 });
    const ledger = open(100);
    await spend(ledger, 1_000, "ada");
    expect(await spent(ledger)).toBe(30);
    await spend(ledger, 500, "ada");
    expect(await spent(ledger)).toBe(30);
    await ledger.close();
    expect(await spent(open(100))).toBe(30);
  });

  test("is not refused by the ceiling: credits pay at once when it is used up, and the plan is left", async () => {
    await insertUser(store.database, { id: "ada", credits: 1 });
    const ledger = open(100);
    await spend(ledger, 100, "ben");
    await spend(ledger, 400, "ada");
    await ledger.close();
    const { rows } = await store.database.read(
      "SELECT cost_micro_usd, credit_micro_usd FROM usage WHERE user_id = 'ada'",
    );
    expect(rows.map((row) => [...Object.values(row)].slice(0, 2))).toEqual([[400, 400]]);
    expect(refusals).toEqual([]);
    time += DAY;
    const next = open(1_000);
    await spend(next, 1_000, "ada");
    expect(await spent(next)).toBe(1_000);
  });

  test("is at most the credits: concurrent calls get exactly those, and nothing stays held", async () => {
    await insertUser(store.database, { id: "ada", credits: 1 });
    const ledger = open(0);
    const ended = await Promise.allSettled(Array.from({ length: 20 }, () => reserve(ledger, 1_000, "ada")));
    const held = ended.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
    expect(held).toHaveLength(10);
    expect(ended.find((one) => one.status === "rejected")?.reason).toMatchObject({ extras: { budget: "unpaid" } });
    expect(refusals[0]).toMatchObject({ of: "unpaid", limit: 0 });
    for (const one of held) one.release();
    (await reserve(ledger, 10_000, "ada")).release();
    await expect(reserve(ledger, 10_001, "ada")).rejects.toMatchObject({ extras: { budget: "unpaid" } });
    expect(await spent(ledger)).toBe(0);
  });
});

test("a call that can't be journaled holds nothing afterwards", async () => {
  const ledger = open(100, [], join(store.dir, "ledger.journal"));
  const unreadable = {
    get modelId(): string {
      throw new Error("no model");
    },
  };
  const failing = (userId: string | undefined) =>
    Object.defineProperties(call(userId), Object.getOwnPropertyDescriptors(unreadable));
  const scopes = [{ of: { agentId: "a" }, period: "day", limit: 100 }] as const;
  await expect((async () => ledger.reserve(failing("ada"), scopes, 90))()).rejects.toThrow("no model");
  await expect((async () => ledger.reserve(failing(undefined), scopes, 90))()).rejects.toThrow("no model");
  expect(await ledger.spentMicroUsd({ of: "unpaid", period: "day" })).toBe(0);
  expect(await ledger.spentMicroUsd({ of: { agentId: "a" }, period: "day" })).toBe(0);
  await ledger.close();
});

test("paying accounts and public calls neither count nor are refused", async () => {
  paying.add("payer");
  await insertUser(store.database, { id: "payer" });
  await store.database.write([subscriptionStatement("payer", "pro", NOW + DAY)]);
  const ledger = open(50);
  await spend(ledger, 500, "payer");
  await spend(ledger, 500, undefined, { kind: "public", agentId: undefined });
  await spend(ledger, 50, "ada");
  await expect(reserve(ledger, 1, "ada")).rejects.toMatchObject(refused);
  await spend(ledger, 100, "payer");
  await ledger.close();
});

test("after a restart the day's use of all accounts that nobody pays for still counts", async () => {
  const { database } = store;
  for (const id of ["free", "lapsed", "trial", "payer", "admin", "configured", "unverified"]) {
    const email = `${id}@example.com`;
    await insertUser(database, { id, email, isAdmin: id === "admin", emailVerified: id === "configured" });
  }
  await database.write([
    subscriptionStatement("payer", "pro", NOW + DAY),
    subscriptionStatement("trial", "pro", NOW + DAY, "trialing"),
    subscriptionStatement("lapsed", "pro", NOW - 1),
  ]);
  const ledger = open(1_000_000);
  for (const id of ["payer", "admin", "configured"]) await spend(ledger, 1_000, id);
  await spend(ledger, 1, "free");
  // A trial is nobody's money.
  await spend(ledger, 1_000, "trial");
  await spend(ledger, 20, "lapsed");
  await spend(ledger, 300, "unverified");
  // Nobody pays for an account that was deleted meanwhile.
  await spend(ledger, 400, "deleted");
  await spend(ledger, 900, "free", { ownKey: true });
  await spend(ledger, 900, undefined, { kind: "public", agentId: undefined });
  time -= DAY;
  await spend(ledger, 900, "free");
  time += DAY;
  await ledger.close();
  const restarted = open(1_722, ["configured@example.com", "unverified@example.com"]);
  expect(await restarted.spentMicroUsd({ of: "unpaid", period: "day" })).toBe(1_721);
  await expect(reserve(restarted, 2, "free")).rejects.toMatchObject(refused);
  (await reserve(restarted, 1, "free")).release();
});
