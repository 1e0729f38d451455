// Tests that each row of the ledger is added to the sums once: in steps, by several processes, after a crash, and in a copy of the file.

import { afterEach, beforeEach, expect, test } from "bun:test";
import { join } from "node:path";
import { type Database, openDatabase } from "../../../src/kernel/database/database.ts";
import { deleteInBatches } from "../../../src/kernel/retention/deletion.ts";
import { fileDatabase, silent, type TestDatabase } from "../../../tests/support/database.ts";
import { temporaryDir } from "../../../tests/support/process.ts";
import { startSqld } from "../../../tests/support/sqld.ts";
import { createLedger, type LedgerCall } from "./ledger.ts";
import { insertStatements, type LedgerRow } from "./ledger-row.ts";
import { usageKind } from "./retention.ts";
import { createUsageSums } from "./usage-sums.ts";

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

const DAY = 86_400_000;
const NOW = Date.UTC(2026, 5, 15, 12);
let made = 0;
/** Calls of three accounts, two of their agents and two models over three days; one in seven has a key of its own. */
const row = (n: number, at = NOW - (n % 3) * DAY): LedgerRow => [
  ...([
    `row-${String(++made).padStart(6, "0")}`,
    at,
    "turn",
    `user-${n % 3}`,
    n % 5 === 0 ? null : `agent-${n % 2}`,
  ] as const),
  ...(["provider_1", `model-${n % 2}`, n, 1, n * 10, 5, 0, n % 7 === 0 ? 1 : 0, n % 4, n % 11 === 0 ? 1 : 0] as const),
];
const rowsOf = (count: number, at?: number) => Array.from({ length: count }, (_, n) => row(n, at));
const sumsOf = (database: Database) => createUsageSums({ database, others: [] });

const COLUMNS = `count(*) AS calls, sum(cached) AS cached, sum(estimated) AS estimated, sum(input_tokens) AS input_tokens,
  sum(output_tokens) AS output_tokens, sum(cost_micro_usd) AS cost_micro_usd, sum(credit_micro_usd) AS credit_micro_usd`;
const DAYS = `SELECT coalesce(user_id, '') AS user_id, at / ${DAY} AS day, coalesce(agent_id, '') AS agent_id, provider, model, own_key,
  ${COLUMNS} FROM usage GROUP BY 1, 2, 3, 4, 5, 6 ORDER BY 1, 2, 3, 4, 5, 6`;
const all = async (database: Database, sql: string) => (await database.read(sql, [])).rows.map((one) => ({ ...one }));
const storedDays = (database: Database) => all(database, "SELECT * FROM usage_days ORDER BY 1, 2, 3, 4, 5, 6");
const total = async (database: Database, table: string) =>
  (await database.read(`SELECT sum(calls), sum(cost_micro_usd) FROM ${table}`, [])).rows.map((one) => Array.from(one));

test("more rows than fit into one write are added by day, account and month, and none twice", async () => {
  const { database } = store;
  await database.write(insertStatements(rowsOf(1_207)));
  const sums = sumsOf(database);
  await Promise.all([sums.addUp(), sums.addUp(), sums.addUp()]);
  await sums.addUp();
  expect(await storedDays(database)).toEqual(await all(database, DAYS));
  const [expected] = await total(database, "usage_days");
  expect(expected?.[0]).toBe(1_207);
  expect(await total(database, "usage_account_days")).toEqual([expected ?? []]);
  expect(await total(database, "usage_agent_months")).toEqual([expected ?? []]);
  expect(await all(database, "SELECT * FROM usage_unsummed")).toEqual([]);
  expect(await all(database, "SELECT * FROM usage_step")).toEqual([]);
});

test("processes that add at the same time, over a libSQL server, share the rows", async () => {
  const dir = temporaryDir();
  const sqld = await startSqld();
  const open = () => openDatabase({ url: sqld.url, dataDir: dir.path, log: silent });
  const [database, other] = [await open(), await open()];
  await database.write(insertStatements(rowsOf(1_100)));
  await Promise.all([sumsOf(database).addUp(), sumsOf(other).addUp()]);
  expect(await storedDays(database)).toEqual(await all(database, DAYS));
  for (const one of [database, other]) await one.close();
  await sqld.stop();
  dir.remove();
});

test("rows of a process that ended before it added them count for budgets at once, and are added at the next start", async () => {
  const { database } = store;
  const now = Date.now();
  await database.write(insertStatements(rowsOf(3, now)));
  const ledger = createLedger({ database, log: silent });
  const today = { of: { agentId: "agent-1" }, period: "day" } as const;
  expect(await ledger.spentMicroUsd(today)).toBe(10);
  expect(await storedDays(database)).toEqual([]);
  await ledger.start();
  expect(await storedDays(database)).toEqual(await all(database, DAYS));
  expect(await createLedger({ database, log: silent }).spentMicroUsd(today)).toBe(10);
  await ledger.close();
});

test("a call is added within a second of its row, without a reader", async () => {
  const { database } = store;
  const added = Promise.withResolvers<void>();
  const sums = createUsageSums({
    database: {
      read: (...given) => database.read(...given),
      write: async (statements) => {
        const results = await database.write(statements);
        added.resolve();
        return results;
      },
    },
    others: [],
  });
  const call: LedgerCall = {
    ...{ kind: "turn", agentId: "a", userId: "u", provider: "provider_1", modelId: "m" },
    pricing: { input: 0, output: 1_000_000 },
  };
  const ledger = createLedger({ database, log: silent, sums });
  const spending = await ledger.reserve(call, [], 7);
  await database.write([spending.settleStatement({ inputTokens: 0, outputTokens: 7, estimated: false }, 1)]);
  await added.promise;
  expect(await total(database, "usage_days")).toEqual([[1, 7]]);
  await ledger.close();
});

test("a copy by VACUUM keeps the numbers of rows, by which the sums know what they hold", async () => {
  const { database, dir } = store;
  await database.write(insertStatements(rowsOf(40, NOW - 500 * DAY)));
  await database.write(insertStatements(rowsOf(20)));
  await sumsOf(database).addUp();
  expect(await prune(database, NOW)).toBe(40);
  await database.write(insertStatements(rowsOf(5)));
  const url = `file:${join(dir, "copy.db")}`;
  await database.read(`VACUUM INTO '${join(dir, "copy.db")}'`, []);
  const copy = await openDatabase({ url, dataDir: dir, log: silent });
  const numbers = "SELECT rowid AS row, id FROM usage ORDER BY rowid";
  expect(await all(copy, numbers)).toEqual(await all(database, numbers));
  await sumsOf(copy).addUp();
  expect(await total(copy, "usage_days")).toMatchObject([[65, expect.any(Number)]]);
  await copy.close();
});

test("rows that come after all others were deleted for their age are added, too", async () => {
  const { database } = store;
  await database.write(insertStatements(rowsOf(30, NOW - 500 * DAY)));
  const sums = sumsOf(database);
  await sums.addUp();
  expect(await prune(database, NOW)).toBe(30);
  await database.write(insertStatements(rowsOf(2)));
  await sums.addUp();
  expect(await total(database, "usage_days")).toMatchObject([[32, expect.any(Number)]]);
});
