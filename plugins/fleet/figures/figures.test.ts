// The recorder of figures: what of them survives the process, and when they are written.
import { afterAll, expect, test } from "bun:test";
import { createMetrics } from "../../../src/kernel/telemetry/metrics.ts";
import { DAY, MINUTE } from "../../../src/kernel/util/time.ts";
import { openServer } from "../../../tests/support/server.ts";
import { createFigureRecorder } from "./figures.ts";

const server = await openServer();
const { database, log } = server.kernel;
afterAll(() => server[Symbol.asyncDispose]());

const clock = { at: 28_000_000 * MINUTE };
const alive = { sql: "INSERT OR REPLACE INTO meta VALUES ('alive', ?)", args: ["x"] };

/** The recorder of a new process, with the counter of turns. */
function openRecorder() {
  const metrics = createMetrics();
  const turns = metrics.counter("berth_turns_total", "Turns.", ["outcome"]).labels({ outcome: "done" });
  const runs = { seenStatements: () => [alive], endStatements: () => [alive] };
  return { ...createFigureRecorder({ database, log, metrics, runs }, () => clock.at), turns };
}
const storedMinutes = async () =>
  (await database.read("SELECT minute FROM instance_figures ORDER BY minute")).rows.map(
    ({ minute }) => Number(minute) - 28_000_000,
  );
const next = (minutes = 1) => {
  clock.at += minutes * MINUTE;
};

test("an idle service writes every five minutes, a busy one each minute, both with its sign of life", async () => {
  const recorder = openRecorder();
  for (let n = 0; n < 4; n++, next()) await recorder.sample();
  expect(await storedMinutes()).toEqual([]);
  expect((await database.read("SELECT * FROM meta WHERE key = 'alive'")).rows).toHaveLength(0);
  await recorder.sample();
  expect(await storedMinutes()).toEqual([0, 1, 2, 3, 4]);
  expect((await database.read("SELECT * FROM meta WHERE key = 'alive'")).rows).toHaveLength(1);
  next();
  recorder.turns.inc();
  await recorder.sample();
  expect(await storedMinutes()).toEqual([0, 1, 2, 3, 4, 5]);
});

test("another process reads them back, with a gap for the time between, and keeps its own minutes", async () => {
  next(3);
  const recorder = openRecorder();
  recorder.turns.inc(4);
  await recorder.sample();
  await recorder.load();
  await recorder.load();
  expect(recorder.read(1, 10).figures.turns).toEqual([null, 0, 0, 0, 0, 0, 1, null, null, 4]);
});

test("two samples of a minute are added up", async () => {
  next();
  const recorder = openRecorder();
  recorder.turns.inc(2);
  await recorder.sample();
  recorder.turns.inc(3);
  await recorder.sample();
  expect(recorder.read(1, 1).figures.turns).toEqual([5]);
});

test("what is older than a day is deleted", async () => {
  clock.at = (28_000_000 + 5) * MINUTE + DAY;
  const recorder = openRecorder();
  recorder.turns.inc();
  await recorder.sample();
  expect(await storedMinutes()).toEqual([8, 9, 1445]);
});
