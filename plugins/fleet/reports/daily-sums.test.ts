// Tests the sums of past days: the same report before and after they are written, and no change of days that are not over.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { DAY, HOUR } from "../../../src/kernel/util/time.ts";
import { fileDatabase, type TestDatabase } from "../../../tests/support/database.ts";
import { createDailySums } from "./daily-sums.ts";
import { createFleetUsage } from "./fleet-usage.ts";

const today = 20_000;
let files: TestDatabase;
beforeAll(async () => {
  files = await fileDatabase();
});
afterAll(() => files?.remove());

const spend = (day: number, agent: string, microUsd: number) =>
  files.database.write([
    {
      sql: "INSERT INTO usage_days VALUES ('u', ?, ?, 'provider_1', 'm', 0, 1, 0, 0, 2, 3, ?, 0)",
      args: [day, agent, microUsd],
    },
  ]);

test("past days are summed once; yesterday waits until its last rows are written", async () => {
  for (const [day, agent, cost] of [
    [today - 3, "a", 1_000_000],
    [today - 3, "b", 2_000_000],
    [today - 1, "a", 4_000_000],
    [today, "a", 8_000_000],
  ] as const) {
    await spend(day, agent, cost);
  }
  let now = today * DAY + HOUR / 2;
  const dailySums = createDailySums(files, () => now);
  const read = async () => {
    const report = await createFleetUsage({ ...files, dailySums })({ from: today - 5, to: today }, "day");
    return report.rows.map(({ costUsd }) => costUsd);
  };
  const summed = async () => (await files.database.read("SELECT day FROM summed_days")).rows.map(({ day }) => day);
  expect(await read()).toEqual([3, 4, 8]);
  expect(await summed()).toEqual([today - 5, today - 4, today - 3, today - 2]);
  now += HOUR;
  expect(await Promise.all([read(), read()])).toEqual([
    [3, 4, 8],
    [3, 4, 8],
  ]);
  expect(await summed()).toHaveLength(5);
  const { rows } = await files.database.read("SELECT calls, cost_micro_usd AS cost FROM usage_of_all ORDER BY day");
  expect(rows.map(({ calls, cost }) => [calls, cost])).toEqual([
    [2, 3_000_000],
    [1, 4_000_000],
  ]);
});
