// Tests that credits which were used before their changes were recorded stay used, and that the ledger then agrees.
import { expect, test } from "bun:test";
import { join } from "node:path";
import { migrations } from "../../../migrations/index.ts";
import { openReadOnly } from "../../../src/kernel/database/connection.ts";
import { openDatabase } from "../../../src/kernel/database/database.ts";
import { silent } from "../../../tests/support/database.ts";
import { temporaryDir } from "../../../tests/support/process.ts";
import { userStatement } from "../../../tests/support/records.ts";
import { checkLedger } from "./ledger-check.ts";

test("credits used before, also by rows and accounts that are gone, stay used", async () => {
  const dir = temporaryDir();
  const url = `file:${join(dir.path, "berth.db")}`;
  const open = (known = migrations) => openDatabase({ url, dataDir: dir.path, log: silent, migrations: known });
  const used = (id: string, userId: string, microUsd: number, at = Date.now()) => ({
    sql: `INSERT INTO usage (id, at, kind, user_id, provider, model, input_tokens, output_tokens, cost_micro_usd, latency_ms,
      estimated, credit_micro_usd) VALUES (?1, ?2, 'api', ?3, 'provider_1', 'm', 0, 0, ?4, 1, 0, ?4)`,
    args: [id, at, userId, microUsd],
  });
  const left = "SELECT id, credits FROM users ORDER BY id";
  const rest = "SELECT user_id, micro_usd FROM credit_use ORDER BY user_id";

  const before = await open(
    migrations.slice(
      0,
      migrations.findIndex(({ name }) => name === "0160_credit_entries"),
    ),
  );
  await before.write([
    ...["ada", "bea", "cleo", "gone"].map((id) => userStatement({ id, credits: 10 })),
    // In parts of a credit; all credits and more; and of a row that its retention has deleted.
    used("1", "ada", 25_000),
    used("2", "ada", 9_999),
    used("3", "bea", 140_000),
    used("4", "cleo", 33_000),
    used("5", "gone", 20_000),
    { sql: "DELETE FROM usage WHERE id = '4'", args: [] },
    { sql: "DELETE FROM users WHERE id = 'gone'", args: [] },
  ]);
  const read = async (database: typeof before, sql: string): Promise<unknown> =>
    (await database.read(sql)).rows.map((row) => ({ ...row }));
  const credits = await read(before, left);
  const parts = await read(before, rest);
  expect(credits).toEqual([
    { id: "ada", credits: 7 },
    { id: "bea", credits: 0 },
    { id: "cleo", credits: 7 },
  ]);
  await before.close();

  const after = await open();
  expect(await read(after, left)).toEqual(credits);
  expect(await read(after, "SELECT user_id, micro_usd FROM credit_use ORDER BY user_id")).toEqual(parts);
  // The part that is used already counts on: 4,999 + 5,001 are a credit.
  await after.write([used("6", "ada", 5_001)]);
  await after.write([{ sql: "DELETE FROM usage WHERE id = '1'", args: [] }]);
  expect(await read(after, left)).toContainEqual({ id: "ada", credits: 6 });
  await after.close();

  const connection = openReadOnly(join(dir.path, "berth.db"));
  try {
    const { comparisons } = checkLedger(connection, "/nowhere");
    const ofCredits = comparisons.filter(({ name }) => /credits|entries|payments|debts/.test(name));
    expect(ofCredits.filter(({ differing }) => differing > 0)).toEqual([]);
  } finally {
    connection.close();
    dir.remove();
  }
});
