// Tests budgets under concurrency, across restarts and midnight, and the rows of calls.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { type Migration, migrations } from "../../../migrations/index.ts";
import type { Database } from "../../../src/kernel/database/database.ts";
import { openDatabase } from "../../../src/kernel/database/database.ts";
import { deleteInBatches } from "../../../src/kernel/retention/deletion.ts";
import { fileDatabase, silent, type TestDatabase } from "../../../tests/support/database.ts";
import { eventually } from "../../../tests/support/eventually.ts";
import { temporaryDir } from "../../../tests/support/process.ts";
import { type BudgetScope, createLedger, type LedgerCall } from "./ledger.ts";
import { usageKind } from "./retention.ts";

/** Deletes rows that are older than 400 days at this time. */
const prune = (database: Database, now: number) => {
  const { steps } = usageKind(database, 400 * 86_400_000);
  return deleteInBatches(steps, now - 400 * 86_400_000);
};

let store: TestDatabase;
beforeEach(async () => {
  store = await fileDatabase();
});
afterEach(() => store.remove());

const pricing = { input: 1_000_000, output: 2_000_000 };
const call: LedgerCall = { kind: "turn", agentId: "a", userId: "u", provider: "provider_1", modelId: "m", pricing };
const day = (limit: number, agentId = "a"): BudgetScope => ({ of: { agentId }, period: "day", limit });
const month = (limit: number): BudgetScope => ({ of: { agentId: "a" }, period: "month", limit });
/** Costs 10 micro-USD. */
const ten = { inputTokens: 4, outputTokens: 3, estimated: false };

const open = (now?: () => number) => createLedger({ database: store.database, log: silent, ...(now && { now }) });
const rows = async () => (await store.database.read("SELECT * FROM usage ORDER BY id")).rows;

describe("a budget", () => {
  test("admits the calls that fit, however many are concurrent", async () => {
    const ledger = open();
    const tries = Array.from({ length: 200 }, () => Promise.resolve().then(() => ledger.reserve(call, [day(500)], 10)));
    const ended = await Promise.allSettled(tries);
    expect(ended.filter(({ status }) => status === "fulfilled")).toHaveLength(50);
    const refused = ended.find((end) => end.status === "rejected");
    expect(refused?.reason).toMatchObject({ status: 402, code: "BUDGET_EXCEEDED" });
  });

  test("gets back the unused part once", async () => {
    const ledger = open();
    const first = await ledger.reserve(call, [day(100)], 100);
    expect(() => ledger.reserve(call, [day(100)], 1)).toThrow("budget");
    first.release();
    first.release();
    const second = await ledger.reserve(call, [day(100)], 100);
    await store.database.write([second.settleStatement(ten, 5)]);
    second.release();
    expect(await ledger.spentMicroUsd(day(0))).toBe(10);
    expect(() => ledger.reserve(call, [day(100)], 91)).toThrow("budget");
    (await ledger.reserve(call, [day(100)], 90)).release();
  });

  test("exists per agent and period, and nothing is held if one of them refuses", async () => {
    const ledger = open();
    await expect(Promise.resolve(ledger.reserve(call, [day(1_000), month(50)], 51))).rejects.toMatchObject({
      extras: { period: "month", limitUsd: 0.00005 },
    });
    expect(await ledger.spentMicroUsd(day(0))).toBe(0);
    await ledger.reserve({ ...call, agentId: "b" }, [day(51, "b")], 51);
    await ledger.reserve(call, [day(1_000), month(50)], 50);
  });

  test("is restored after a restart", async () => {
    const spending = await open().reserve(call, [day(100)], 60);
    await store.database.write([spending.settleStatement({ ...ten, inputTokens: 50 }, 1)]);
    const ledger = open();
    await expect(Promise.resolve(ledger.reserve(call, [day(100)], 45))).rejects.toMatchObject({ status: 402 });
    await ledger.reserve(call, [day(100)], 44);
  });

  test("is reset at midnight UTC for the day, not for the month", async () => {
    let at = Date.parse("2026-02-27T23:59:59.999Z");
    const ledger = open(() => at);
    const spending = await ledger.reserve(call, [day(100), month(150)], 100);
    at += 1;
    await store.database.write([spending.settleStatement({ ...ten, inputTokens: 94 }, 1)]);
    expect([await ledger.spentMicroUsd(day(0)), await ledger.spentMicroUsd(month(0))]).toEqual([0, 100]);
    (await ledger.reserve(call, [day(100), month(150)], 50)).release();
    expect(() => ledger.reserve(call, [day(100), month(150)], 51)).toThrow("month");
    at = Date.parse("2026-03-01T00:00:00.000Z");
    await ledger.reserve(call, [day(100), month(150)], 100);
  });

  test("never refuses a free call", async () => {
    const ledger = open();
    const spending = ledger.reserve({ ...call, pricing: { input: 0, output: 0 } }, [day(0)], 0);
    expect(spending).not.toBeInstanceOf(Promise);
  });
});

describe("a row", () => {
  test("is written with its cause, or not at all", async () => {
    const spending = await open().reserve(call, [], 0);
    const settled = spending.settleStatement({ ...ten, estimated: true }, 12.6);
    const failing = store.database.write([settled, { sql: "INSERT INTO no_such_table VALUES (1)", args: [] }]);
    await expect(failing).rejects.toThrow();
    expect(await rows()).toHaveLength(0);
    await store.database.write([settled]);
    expect({ ...(await rows())[0] }).toMatchObject({
      kind: "turn",
      user_id: "u",
      agent_id: "a",
      provider: "provider_1",
      model: "m",
      input_tokens: 4,
      output_tokens: 3,
      cost_micro_usd: 10,
      latency_ms: 13,
      estimated: 1,
    });
  });

  test("of a call without another write is written soon, and at the latest when the ledger closes", async () => {
    const ledger = open();
    await (await ledger.reserve(call, [], 0)).record(ten, 1);
    await eventually(async () => (await rows()).length === 1);
    for (let n = 0; n < 450; n++) await (await ledger.reserve(call, [], 0)).record(ten, 1);
    await ledger.close();
    expect(await rows()).toHaveLength(451);
  });

  test("names the provider that served the call, at its price", async () => {
    const ledger = open();
    const spending = await ledger.reserve(call, [day(1_000)], 500);
    await spending.record(ten, 1, { provider: "provider_3", modelId: "n", pricing: { input: 0, output: 0 } });
    await ledger.close();
    expect({ ...(await rows())[0] }).toMatchObject({ provider: "provider_3", model: "n", cost_micro_usd: 0 });
    expect(await ledger.spentMicroUsd(day(0))).toBe(0);
  });

  test("is kept while the database can't be written", async () => {
    let broken = true;
    const write: TestDatabase["database"]["write"] = (statements) =>
      broken ? Promise.reject(new Error("disk full")) : store.database.write(statements);
    const ledger = createLedger({ database: { ...store.database, write }, log: silent });
    await (await ledger.reserve(call, [], 0)).record(ten, 1);
    await ledger.close();
    broken = false;
    await (await ledger.reserve(call, [], 0)).record(ten, 1);
    await ledger.close();
    expect(await rows()).toHaveLength(2);
  });
});

test("calls are kept for 400 days, and daily totals for ever", async () => {
  const day = 86_400_000;
  let at = Date.parse("2026-01-01T00:00:00Z");
  const ledger = open(() => at);
  for (let n = 0; n < 4_100; n++) {
    if (n === 4_090) at += 400 * day;
    await (await ledger.reserve(call, [], 0)).record(ten, 1);
  }
  await ledger.flush();
  // Not before they are in the totals.
  expect(await prune(store.database, at + day)).toBe(0);
  await ledger.addUp();
  await ledger.close();
  expect(await prune(store.database, at + day)).toBe(4_090);
  expect(await rows()).toHaveLength(10);
  const { rows: sums } = await store.database.read("SELECT sum(calls), sum(cost_micro_usd) FROM usage_days");
  expect([sums[0]?.[0], sums[0]?.[1]]).toEqual([4_100, 41_000]);
});

test("daily totals include calls from before they existed", async () => {
  const dir = temporaryDir();
  const open = (known?: readonly Migration[]) =>
    openDatabase({
      url: `file:${dir.path}/berth.db`,
      dataDir: dir.path,
      log: silent,
      ...(known && { migrations: known }),
    });
  const before = await open(
    migrations.slice(
      0,
      migrations.findIndex(({ name }) => name === "0016_ai"),
    ),
  );
  const sql = `INSERT INTO usage (id, at, kind, user_id, agent_id, provider, model, input_tokens, output_tokens,
    cost_micro_usd, latency_ms, estimated) VALUES (?, ?, ?, ?, ?, 'provider_1', 'm', 1, 2, 3, 4, 1)`;
  const today = Date.now();
  const calls = [
    ["1", today, "turn", "u", "a"],
    ["2", today, "turn", "u", "a"],
    ["3", today - 86_400_000, "api", "u", null],
    ["4", today, "public", null, null],
  ];
  await before.write(calls.map((args) => ({ sql, args })));
  await before.close();
  const after = await open();
  const { rows } = await after.read(
    "SELECT user_id, agent_id, calls, estimated, cost_micro_usd FROM usage_days ORDER BY user_id, agent_id",
  );
  expect(rows.map((row) => Array.from(row))).toEqual([
    ["", "", 1, 1, 3],
    ["u", "", 1, 1, 3],
    ["u", "a", 2, 2, 6],
  ]);
  await after.close();
  dir.remove();
});
