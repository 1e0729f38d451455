// Tests that the parts of the ledger have each row and each sum once, however rows lie and however many an account has.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { type Connection, openReadOnly } from "../../../src/kernel/database/connection.ts";
import { DAY } from "../../../src/kernel/util/time.ts";
import { fileDatabase, type TestDatabase } from "../../../tests/support/database.ts";
import type { Read } from "./comparison.ts";
import { creditsByAccount, partsByAccount, partsByDay } from "./parts.ts";

let store: TestDatabase;
let connection: Connection;
const read: Read = (sql, args = []) => connection.run(sql, args).rows.map((row) => ({ ...row }));
const one = (sql: string, args: Parameters<Read>[1] = []) => Number(Object.values(read(sql, args)[0] ?? {})[0]);

const FIRST_DAY = 19_990;
/** A call of so many days after the first. Some were settled late, after a crash. */
const CALLS: [day: number, account: string][] = [0, 0, 3, 1, 1, 0, 40, 2, 3, 3, 3, 41, 0, 90].map((day, at) => [
  day,
  ["ada", "bea", "bea", "cleo"][at % 4] ?? "",
]);

beforeAll(async () => {
  store = await fileDatabase();
  await store.database.write(
    CALLS.flatMap(([day, account], at) => [
      {
        sql: `INSERT INTO usage (id, at, kind, user_id, agent_id, provider, model, input_tokens, output_tokens, cost_micro_usd, latency_ms, estimated, credit_micro_usd)
          VALUES (?1, ?2, 'turn', ?3, 'a', 'p', 'm', 1, 1, 5, 1, 0, 2)`,
        args: [`call-${at}`, (FIRST_DAY + day) * DAY + at, account],
      },
    ]),
  );
  const sums = "count(*), 0, 0, sum(input_tokens), sum(output_tokens), sum(cost_micro_usd), sum(credit_micro_usd)";
  await store.database.write([
    { sql: "DELETE FROM usage_days", args: [] },
    {
      sql: `INSERT INTO usage_days SELECT user_id, at / ${DAY} AS day, agent_id || (rowid % 3), provider, model, own_key, ${sums} FROM usage GROUP BY 1, 2, 3, 4, 5, 6`,
      args: [],
    },
  ]);
  connection = openReadOnly(join(store.dir, "berth.db"));
});
afterAll(() => {
  connection.close();
  return store.remove();
});

test.each([1, 2, 3, 5, 100])("parts by day of %d rows have each row and each sum once", (partRows) => {
  const parts = [...partsByDay(read, FIRST_DAY, 1e9, partRows)];
  const rows = parts.map(({ from, to, ranges }) =>
    one(
      `SELECT count(*) FROM json_each(?3) AS r CROSS JOIN usage ON usage.rowid BETWEEN r.value ->> 0 AND r.value ->> 1
        WHERE at >= ?1 * ${DAY} AND at < ?2 * ${DAY}`,
      [from, to, JSON.stringify(ranges)],
    ),
  );
  const sums = parts.map(({ from, to }) =>
    one("SELECT count(*) FROM usage_days WHERE day >= ?1 AND day < ?2", [from, to]),
  );
  const total = (numbers: number[]) => numbers.reduce((sum, number) => sum + number, 0);
  expect(total(rows)).toBe(CALLS.length);
  expect(total(sums)).toBe(one("SELECT count(*) FROM usage_days"));
  expect(parts.every(({ to }, at) => to <= (parts[at + 1]?.from ?? to))).toBe(true);
});

test("parts by day leave out what is older or not summed up yet", () => {
  expect([...partsByDay(read, FIRST_DAY + 42, 1e9)]).toEqual([
    { from: FIRST_DAY + 90, to: FIRST_DAY + 91, ranges: [[14, 14]] },
  ]);
  expect([...partsByDay(read, FIRST_DAY, 2)].map(({ ranges }) => ranges)).toEqual([[[1, 2]]]);
});

test.each([1, 2, 3, 5, 100])("parts by account of %d rows have each sum once, by day and by month", (partRows) => {
  const month = `CAST(strftime('%Y%m', day * 86400, 'unixepoch') AS INTEGER)`;
  const found = [...partsByAccount(read, partRows)].map(({ days, months, args, monthArgs }) => ({
    days: one(`SELECT count(*) FROM usage_days WHERE ${days}`, args),
    months: one(
      `SELECT count(*) FROM (SELECT user_id, ${month} AS month FROM usage_days) WHERE ${months} AND ?${args.length + monthArgs.length} IS NOT NULL`,
      [...args, ...monthArgs],
    ),
  }));
  const all = one("SELECT count(*) FROM usage_days");
  expect(found.reduce((sum, { days }) => sum + days, 0)).toBe(all);
  expect(found.reduce((sum, { months }) => sum + months, 0)).toBe(all);
  if (partRows === 1) expect(found.length).toBeGreaterThan(3);
});

test("what credits paid for is added up by account", () => {
  const sums = Object.fromEntries(JSON.parse(creditsByAccount(read)));
  const calls = (account: string) => CALLS.filter(([, one]) => one === account).length;
  expect(sums).toEqual({ ada: 2 * calls("ada"), bea: 2 * calls("bea"), cleo: 2 * calls("cleo") });
});
