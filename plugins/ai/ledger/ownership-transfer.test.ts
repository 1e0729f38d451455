// Tests that an agent's usage moves to its new owner, in reports and in the spending of the month.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { fileDatabase, silent, type TestDatabase } from "../../../tests/support/database.ts";
import { insertAgent, insertUser } from "../../../tests/support/records.ts";
import { createAccountBalances } from "./account-balances.ts";
import { createLedger, type LedgerCall } from "./ledger.ts";
import { createOwnershipTransfer } from "./ownership-transfer.ts";
import { createUsageSums } from "./usage-sums.ts";

/** The middle of a month, so that no test runs over its end. */
const NOW = Date.UTC(2026, 5, 15, 12);
const MONTH_AGO = NOW - 31 * 86_400_000;
/** One output token costs one micro-USD. */
const pricing = { input: 0, output: 1_000_000 };

let store: TestDatabase;
beforeEach(async () => {
  store = await fileDatabase();
});
afterEach(() => store.remove());

function open(plan: number) {
  let time = NOW;
  const now = () => time;
  const balances = createAccountBalances({
    database: store.database,
    allowanceOf: (userId) => ({ microUsd: userId === "ada" ? plan : Number.POSITIVE_INFINITY, isPaid: true }),
    now,
  });
  const sums = createUsageSums({ database: store.database, others: [] });
  const { transferStatements, onPaid } = createOwnershipTransfer({ balances, sums, now });
  const ledger = createLedger({ database: store.database, log: silent, balances, sums, onPaid, now });
  const call = (userId: string, agentId: string, ownKey: boolean): LedgerCall => ({
    ...{ kind: "turn", provider: "provider_1", modelId: "m", pricing },
    ...{ userId, agentId, ownKey },
  });
  return {
    async spend(userId: string, micro: number, { agentId = "agent", ownKey = false, at = NOW } = {}) {
      time = at;
      const spending = await ledger.reserve(call(userId, agentId, ownKey), [], micro);
      await store.database.write([
        spending.settleStatement({ inputTokens: 0, outputTokens: micro, estimated: false }, 1),
      ]);
      time = NOW;
    },
    /** As a turn does: what it used is known, and written, at its end. */
    async begin(userId: string, micro: number, agentId: string) {
      const spending = await ledger.reserve(call(userId, agentId, false), [], micro);
      const used = { inputTokens: 0, outputTokens: micro, estimated: false };
      return {
        settle: () => store.database.write([spending.settleStatement(used, 1)]),
        record: async () => {
          await spending.record(used, 1);
          await ledger.close();
        },
      };
    },
    move: (agentId: string, from: string, to: string) =>
      store.database.write([
        { sql: "UPDATE agents SET user_id = ? WHERE id = ?", args: [to, agentId] },
        ...transferStatements(agentId, from, to),
      ]),
  };
}
const of = async (userId: string) => {
  await createUsageSums({ database: store.database, others: [] }).addUp();
  const sums = ["usage", "usage_days"].map(
    (table) => `(SELECT coalesce(sum(cost_micro_usd), 0) FROM ${table} WHERE user_id = ?1)`,
  );
  const { rows } = await store.database.read(`SELECT ${sums.join(", ")}`, [userId]);
  return [rows[0]?.[0], rows[0]?.[1]];
};
const refused = { status: 402, code: "BUDGET_EXCEEDED" };

test("the sums of the transferred agent's whole usage move, and no other; its single calls stay as they were", async () => {
  const { spend, move } = open(10_000);
  await spend("holder", 300);
  await spend("holder", 400, { at: MONTH_AGO });
  await spend("holder", 50, { agentId: "other" });
  await spend("ada", 7, { agentId: "hers" });
  await move("agent", "holder", "ada");
  expect([await of("holder"), await of("ada")]).toEqual([
    [750, 50],
    [7, 707],
  ]);
});

test.each([
  ["whose month is known", true],
  ["whose month is not", false],
])(
  "what it used this month counts for an owner %s, what it used before or with a key of its own does not",
  async (_, known) => {
    const { spend, move } = open(1_000);
    if (known) await spend("ada", 1, { agentId: "hers" });
    await spend("holder", 600);
    await spend("holder", 900, { at: MONTH_AGO });
    await spend("holder", 5_000, { ownKey: true });
    await move("agent", "holder", "ada");
    await expect(spend("ada", 401, { agentId: "hers" })).rejects.toMatchObject(refused);
    await spend("ada", 399, { agentId: "hers" });
  },
);

test.each(["settle", "record"] as const)(
  "what a turn under way used counts for the new owner, whose month is known: %s",
  async (end) => {
    for (const id of ["holder", "ada"]) await insertUser(store.database, { id });
    await insertAgent(store.database, { id: "agent", userId: "holder" });
    const { spend, begin, move } = open(1_000);
    await spend("ada", 1, { agentId: "hers" });
    const turn = await begin("holder", 600, "agent");
    await move("agent", "holder", "ada");
    await turn[end]();
    expect([await of("holder"), await of("ada")]).toEqual([
      [0, 0],
      [601, 601],
    ]);
    await expect(spend("ada", 400, { agentId: "hers" })).rejects.toMatchObject(refused);
    await spend("ada", 399, { agentId: "hers" });
  },
);
