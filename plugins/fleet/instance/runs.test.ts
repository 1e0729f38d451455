// The record of runs: which ends count as sudden, and what is known of them.
import { afterAll, beforeEach, expect, test } from "bun:test";
import { MINUTE } from "../../../src/kernel/util/time.ts";
import { openServer } from "../../../tests/support/server.ts";
import { createRuns } from "./runs.ts";

const server = await openServer();
const { database, log } = server.kernel;
afterAll(() => server[Symbol.asyncDispose]());
beforeEach(() => database.write([{ sql: "DELETE FROM instance_runs", args: [] }]));

const START = Date.now() - 60 * MINUTE;
/** A run that begins at this minute. */
const runAt = (minute: number, resumedTurns = 0, database_ = database) => {
  const clock = { at: START + minute * MINUTE };
  const runs = createRuns({
    database: database_,
    log,
    resumedTurns: () => resumedTurns,
    startedAt: clock.at,
    now: () => clock.at,
  });
  return { clock, ...runs };
};
const minutesOf = async ({ suddenEnds }: ReturnType<typeof runAt>) =>
  (await suddenEnds()).map(({ stoppedAt, backAt, resumedTurns }) => [
    (stoppedAt - START) / MINUTE,
    (backAt - START) / MINUTE,
    resumedTurns,
  ]);

test("a run that ended as it should is none; one that just ended is, with its last sign of life", async () => {
  const first = runAt(0);
  await first.open();
  first.clock.at += 2 * MINUTE;
  await database.write(first.endStatements());
  const second = runAt(10);
  await second.open();
  expect(await minutesOf(second)).toEqual([]);
  second.clock.at += 5 * MINUTE;
  await database.write(second.seenStatements());
  const third = runAt(20, 3);
  await third.open();
  expect(await minutesOf(third)).toEqual([[15, 20, 3]]);
  const fourth = runAt(21);
  await fourth.open();
  expect(await minutesOf(fourth)).toEqual([
    [20, 21, 0],
    [15, 20, 3],
  ]);
});

test("what the run wrote last is a sign of life, but not what this run has written", async () => {
  const first = runAt(0);
  await first.open();
  const event = (minute: number) => ({
    sql: "INSERT INTO events (id, type, data, created_at) VALUES (?, 'test', '{}', ?)",
    args: [Bun.randomUUIDv7(), START + minute * MINUTE],
  });
  await database.write([event(4), event(11)]);
  const second = runAt(10);
  await second.open();
  expect(await minutesOf(second)).toEqual([[4, 10, 0]]);
});

test("a copy of the database is no run that ended", async () => {
  const first = runAt(0);
  await first.open();
  await database.write([{ sql: "UPDATE instance_runs SET file = 'another'", args: [] }]);
  const second = runAt(10);
  await second.open();
  expect(await minutesOf(second)).toEqual([]);
});

test("before it is recorded, a run says nothing; at most 200 are kept", async () => {
  expect([...runAt(0).seenStatements(), ...runAt(0).endStatements()]).toEqual([]);
  await database.write(
    Array.from({ length: 300 }, (_, n) => ({
      sql: "INSERT INTO instance_runs (started_at, seen_at, ended_at) VALUES (?1, ?1, ?1)",
      args: [n],
    })),
  );
  await runAt(0).open();
  const { rows } = await database.read("SELECT count(*) AS count, min(started_at) AS oldest FROM instance_runs");
  expect(rows[0]).toMatchObject({ count: 200, oldest: 101 });
});
