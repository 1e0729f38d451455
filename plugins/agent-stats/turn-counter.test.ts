// Tests the turn counter: its initial history, the counting of ended turns, and the sliding hour.
import { expect, test } from "bun:test";
import { MINUTE } from "../../src/kernel/util/time.ts";
import { createTurnCounter } from "./turn-counter.ts";

const NONE = { total: 0, minutes: [], recent: [] };
const NOON = 30_000_000 * MINUTE;

test("has no mean and no rate before the first turn", () => {
  expect(createTurnCounter(NONE).snapshot()).toEqual({
    processed: 0,
    lastHour: 0,
    meanMs: undefined,
    successRate: undefined,
  });
});

test("takes the mean of the last 100 answers and the rate of the last 1,000 turns", () => {
  const counter = createTurnCounter(NONE);
  for (let n = 0; n < 2_000; n++) counter.add({ ok: n < 1_000 || n % 4 > 0, ms: n < 1_800 ? 5_000 : n, at: NOON });
  const answered = Array.from({ length: 2_000 }, (_, n) => n).filter((n) => n >= 1_000 && n % 4 > 0);
  const last = answered.slice(-100);
  expect(counter.snapshot(NOON)).toEqual({
    processed: 2_000,
    lastHour: 2_000,
    meanMs: last.reduce((sum, n) => sum + n, 0) / 100,
    successRate: 0.75,
  });
});

test("continues from the loaded history", () => {
  const minute = NOON / MINUTE;
  const recent = [
    { ok: true, ms: 10 },
    { ok: false, ms: 999 },
    { ok: true, ms: 30 },
  ];
  const counter = createTurnCounter({
    total: 500,
    minutes: [
      [minute - 59, 4],
      [minute, 3],
    ],
    recent,
  });
  expect(counter.snapshot(NOON)).toEqual({ processed: 500, lastHour: 7, meanMs: 20, successRate: 2 / 3 });
  counter.add({ ok: true, ms: 50, at: NOON + MINUTE });
  expect(counter.snapshot(NOON + MINUTE)).toEqual({ processed: 501, lastHour: 4, meanMs: 30, successRate: 0.75 });
});

test("an hour without turns resets the hourly count, and nothing else", () => {
  const counter = createTurnCounter(NONE);
  for (let n = 0; n < 90; n++) counter.add({ ok: true, ms: 1, at: NOON + n * MINUTE });
  expect(counter.snapshot(NOON + 89 * MINUTE).lastHour).toBe(60);
  expect(counter.snapshot(NOON + 100 * MINUTE).lastHour).toBe(49);
  expect(counter.snapshot(NOON + 200 * MINUTE)).toMatchObject({ processed: 90, lastHour: 0, successRate: 1 });
  // After the clock was set back, turns within the hour still count.
  counter.add({ ok: true, ms: 1, at: NOON + 190 * MINUTE });
  expect(counter.snapshot(NOON + 200 * MINUTE)).toMatchObject({ processed: 91, lastHour: 1 });
});
