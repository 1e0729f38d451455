// Tests that the check of the ledger finds nothing where nothing is wrong, and each kind of tampering to the micro-dollar.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { openReadOnly } from "../../../src/kernel/database/connection.ts";
import { deleteInBatches } from "../../../src/kernel/retention/deletion.ts";
import { DAY } from "../../../src/kernel/util/time.ts";
import { fileDatabase, silent, type TestDatabase } from "../../../tests/support/database.ts";
import { insertUser } from "../../../tests/support/records.ts";
import { createAccountBalances } from "../ledger/account-balances.ts";
import { createJournal } from "../ledger/journal.ts";
import { createLedger, type LedgerCall } from "../ledger/ledger.ts";
import { usageKind } from "../ledger/retention.ts";
import { checkLedger } from "./ledger-check.ts";

let store: TestDatabase;
let journalFile: string;
beforeEach(async () => {
  store = await fileDatabase();
  journalFile = join(store.dir, "ledger.journal");
});
afterEach(() => store.remove());

/** One output token costs one micro-USD. */
const pricing = { input: 0, output: 1_000_000 };
const call: LedgerCall = { kind: "turn", agentId: "a", userId: "u", provider: "provider_1", modelId: "m", pricing };
const run = (sql: string) => store.database.write([{ sql, args: [] }]);
const used = (outputTokens: number) => ({ inputTokens: 0, outputTokens, estimated: false });

/** What a purchase writes. */
const buy = (id: string, userId: string, credits: number) =>
  store.database.write([
    {
      sql: "INSERT INTO payments (id, user_id, kind, amount, currency, credits, at) VALUES (?, ?, 'credits', 500, 'usd', ?, 1)",
      args: [id, userId, credits],
    },
    { sql: "INSERT INTO credit_cause VALUES (1, 'payment', ?)", args: [id] },
    { sql: "UPDATE users SET credits = credits + ? WHERE id = ?", args: [credits, userId] },
    { sql: "DELETE FROM credit_cause", args: [] },
  ]);

function open(now: () => number = Date.now) {
  const balances = createAccountBalances({
    database: store.database,
    allowanceOf: () => ({ microUsd: 10_000, isPaid: true }),
    now,
  });
  const ledger = createLedger({
    database: store.database,
    log: silent,
    balances,
    journal: createJournal(journalFile, silent),
    now,
  });
  const spend = async (micro: number, most = micro) => {
    const spending = await ledger.reserve(call, [], most);
    await store.database.write([spending.settleStatement(used(micro), 1)]);
  };
  return { ledger, spend };
}

function check(now = Date.now()) {
  const connection = openReadOnly(join(store.dir, "berth.db"));
  try {
    return checkLedger(connection, journalFile, now);
  } finally {
    connection.close();
  }
}
const differing = () => check().comparisons.filter((one) => one.differing > 0);

/** What a transfer of stablecoin writes that bought 2 credits and 5,000 micro-USD of use. */
const transferred = [
  `INSERT INTO stablecoin_transfers (id, hash, payer, micro_usd, block, state, user_id, worth_micro_usd, credits, at)
    VALUES ('chain:1:0x1', '0x1', '0x2', 50000, 1, 'credited', 'other', 25000, 2, 1)`,
  "INSERT INTO credit_rests VALUES ('other', 5000)",
  "INSERT INTO payments VALUES ('chain:1:0x1', 'other', 'credits', 50000, 'usdc', 2, 1)",
  "INSERT INTO credit_cause VALUES (1, 'payment', 'chain:1:0x1')",
  "UPDATE users SET credits = credits + 2 WHERE id = 'other'",
  "DELETE FROM credit_cause",
];

/** An account that began with 3 credits, bought 5, got 1, and used 25,000 micro-USD, of which credits paid 15,000. */
async function seed() {
  await insertUser(store.database, { id: "u", credits: 3 });
  await insertUser(store.database, { id: "other", credits: 7 });
  await buy("stripe:pi_1", "u", 5);
  await run("UPDATE users SET credits = credits + 1 WHERE id = 'u'");
  const { ledger, spend } = open();
  await spend(10_000);
  await spend(15_000);
  await ledger.addUp();
  return { ledger, spend };
}

describe("nothing differs", () => {
  test("in an empty database", () => {
    expect(check()).toMatchObject({ ok: true, totals: { paid: [], credits: 0, owedCredits: 0, usedMicroUsd: 0 } });
  });

  test("after payments, gifts and use, also of rows that are not added up yet", async () => {
    const { spend } = await seed();
    await spend(4_000);
    const report = check();
    expect(differing()).toEqual([]);
    expect(report).toMatchObject({
      ok: true,
      totals: { paid: [{ currency: "usd", amount: 500, payments: 1 }], credits: 15, usedMicroUsd: 25_000 },
    });
  });

  test("after credits were taken away while a call used them", async () => {
    await seed();
    const { ledger } = open();
    const held = await ledger.reserve(call, [], 40_000);
    await run("UPDATE users SET credits = 1 WHERE id = 'u'");
    await store.database.write([held.settleStatement(used(40_000), 1)]);
    await ledger.addUp();
    expect(differing()).toEqual([]);
  });

  test("after rows were deleted with their retention, and after the account was deleted", async () => {
    let at = Date.now() - 410 * DAY;
    await insertUser(store.database, { id: "u", credits: 9 });
    const { ledger, spend } = open(() => at);
    await spend(25_000);
    at = Date.now();
    await spend(30_000);
    await ledger.addUp();
    const { steps } = usageKind(store.database, 400 * DAY);
    expect(await deleteInBatches(steps, Date.now() - 400 * DAY)).toBe(1);
    expect(differing()).toEqual([]);
    await run("DELETE FROM users WHERE id = 'u'");
    expect(differing()).toEqual([]);
  });

  test("while a call is under way, which is said", async () => {
    await seed();
    await open().ledger.reserve(call, [], 7_000);
    expect(check()).toMatchObject({ ok: true, open: { calls: 1, microUsd: 7_000 } });
  });
});

test.each([
  [
    "a row's cost",
    "UPDATE usage SET cost_micro_usd = cost_micro_usd + 1 WHERE cost_micro_usd = 10000",
    "rows-days.cost_micro_usd",
    -1,
  ],
  ["a row that is gone", "DELETE FROM usage WHERE cost_micro_usd = 10000", "rows-days.cost_micro_usd", 10_000],
  ["a sum by day", "UPDATE usage_days SET cost_micro_usd = cost_micro_usd - 7", "rows-days.cost_micro_usd", -7],
  ["the tokens of a day", "UPDATE usage_days SET output_tokens = output_tokens + 2", "rows-days.output_tokens", 2],
  [
    "a sum of an account",
    "UPDATE usage_account_days SET credit_micro_usd = 0",
    "days-accounts.credit_micro_usd",
    -15_000,
  ],
  ["the calls of an account", "UPDATE usage_account_days SET calls = 9", "days-accounts.calls", 7],
  ["a month", "UPDATE usage_agent_months SET cost_micro_usd = 24999", "days-months.cost_micro_usd", -1],
  ["a month that is gone", "DELETE FROM usage_agent_months", "days-months.cost_micro_usd", -25_000],
  ["credits without a change", "DELETE FROM credit_entries WHERE kind = 'granted'", "credits-entries", 1],
  ["a balance", "UPDATE credit_entries SET balance = 99 WHERE kind = 'payment'", "entries-balances", 91],
  ["use that took no credit", "UPDATE credit_use SET micro_usd = micro_usd - 5", "credits-usage", -5],
  [
    "a row's part of credits",
    "UPDATE usage SET credit_micro_usd = 14999 WHERE credit_micro_usd = 15000",
    "credits-usage",
    1,
  ],
  ["a payment that is gone", "DELETE FROM payments", "payments-credits", 5],
  [
    "a payment without credits",
    "INSERT INTO payments VALUES ('stripe:pi_2', 'u', 'credits', 900, 'usd', 9, 1)",
    "payments-credits",
    -9,
  ],
  ["a payment's credits", "UPDATE payments SET credits = 6", "payments-credits", -1],
  ["a payment's account", "UPDATE payments SET user_id = 'other'", "payments-accounts", -5],
])("%s that was changed is found", async (_, sql, name, off) => {
  await seed();
  await run(sql);
  const found = differing().find((one) => one.name === name);
  expect(found?.differences.map(({ expected, found }) => found - expected)).toContain(off);
  expect(check().ok).toBe(false);
});

describe("payments in stablecoin", () => {
  beforeEach(async () => {
    await seed();
    for (const sql of transferred) await run(sql);
  });

  test("agree with their transfers, credits and rests, also without the account", async () => {
    expect(differing()).toEqual([]);
    await run("DELETE FROM users WHERE id = 'other'");
    expect(differing()).toEqual([]);
  });

  test.each([
    ["a transfer's amount", "UPDATE stablecoin_transfers SET micro_usd = 50001", "transfers-payments", -1],
    ["a transfer that is gone", "DELETE FROM stablecoin_transfers", "transfers-payments", 50_000],
    ["a rest", "UPDATE credit_rests SET micro_usd = 5001", "transfers-credits", 1],
    ["what it bought", "UPDATE stablecoin_transfers SET worth_micro_usd = 24998", "transfers-credits", 2],
  ])("%s that was changed is found", async (_, sql, name, off) => {
    await run(sql);
    const found = differing().find((one) => one.name === name);
    expect(found?.differences.map(({ expected, found }) => found - expected)).toContain(off);
  });
});

test("a debt below 0, or without a payment that explains it, is found", async () => {
  await seed();
  await run("INSERT INTO credit_debts VALUES ('stripe:ch_1:1', 'u', -2)");
  expect(differing().map(({ name }) => name)).toEqual(["payments-credits", "debts"]);
});

test("a row that differs from the journal is found", async () => {
  await seed();
  await run(
    "UPDATE usage SET cost_micro_usd = cost_micro_usd + 3, output_tokens = output_tokens WHERE cost_micro_usd = 15000",
  );
  const found = differing().find(({ name }) => name === "journal-rows");
  expect(found?.differences).toEqual([
    { where: expect.stringContaining("call "), expected: 15_000, found: 15_003, unit: "micro-USD" },
  ]);
});
