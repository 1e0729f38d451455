// Tests how often the adapter writes, with a clock that the test controls.
import { describe, expect, test } from "bun:test";
import { createSendLimiter, TELEGRAM_RATE_RULES } from "./send-limiter.ts";

const never = new AbortController().signal;

function paced(rules = TELEGRAM_RATE_RULES) {
  const clock = { ms: 1_000_000 };
  return { clock, pace: createSendLimiter(rules, () => clock.ms) };
}

/** The times of writes when every chat tries every 10 ms. */
function turnsIn(ms: number, chats: number[]): number {
  const { clock, pace } = paced();
  let turns = 0;
  for (const end = clock.ms + ms; clock.ms < end; clock.ms += 10)
    for (const chat of chats) if (pace.tryEdit("1", chat)) turns += 1;
  return turns;
}

describe("writes stay within Telegram's limits:", () => {
  test("20 a minute in a group, counted from the first", () => {
    expect(turnsIn(60_000, [-5])).toBeLessThanOrEqual(20);
    expect(turnsIn(60_000, [-5])).toBeGreaterThan(15);
  });

  test("one a second in a private chat", () => {
    expect(turnsIn(60_000, [5])).toBe(60);
  });

  test("30 a second for a bot, however many chats it has", () => {
    const chats = Array.from({ length: 100 }, (_, n) => n + 1);
    expect(turnsIn(1000, chats)).toBeLessThanOrEqual(30);
    expect(turnsIn(1000, chats)).toBeGreaterThan(20);
  });
});

test("a chat waits for its turn, and other bots and chats do not", async () => {
  const { pace, clock } = paced();
  await pace.acquire("1", 5, never);
  expect(pace.tryEdit("1", 5)).toBe(false);
  await pace.acquire("1", 6, never);
  await pace.acquire("2", 5, never);
  clock.ms += 1_000;
  await pace.acquire("1", 5, never);
});

test("the interval counts from the arrival of a message, however long that took", () => {
  const { pace, clock } = paced({ ...TELEGRAM_RATE_RULES, edit: { every: 0, burst: 1 } });
  expect(pace.tryEdit("1", 5)).toBe(true);
  clock.ms += 900;
  pace.recordSent("1", 5);
  clock.ms += 999;
  expect(pace.tryEdit("1", 5)).toBe(false);
  clock.ms += 1;
  expect(pace.tryEdit("1", 5)).toBe(true);
});

test("acquire fails at once if the wait is too long", async () => {
  const { pace, clock } = paced();
  for (let n = 0; n < 5; n += 1, clock.ms += 1_000) await pace.acquire("1", -5, never);
  pace.block("1", -5, 10_000);
  await expect(pace.acquire("1", -5, never)).rejects.toMatchObject({ kind: "busy", scope: "peer", retryAfter: 10_000 });
  clock.ms += 10_000;
  await pace.acquire("1", -5, never);
  expect(pace.tryEdit("1", -5)).toBe(false);
});

test("an aborted wait does not count as sent", async () => {
  const { pace } = paced();
  const stop = new AbortController();
  await pace.acquire("1", 5, never);
  const waiting = pace.acquire("1", 5, stop.signal);
  stop.abort();
  await expect(waiting).rejects.toMatchObject({ kind: "busy", retryAfter: 0 });
});

test("previews in a group leave the last turn to the reply", async () => {
  const { pace, clock } = paced({ ...TELEGRAM_RATE_RULES, groupEdit: { every: 0, burst: 1 } });
  const edits = Array.from({ length: 5 }, () => {
    clock.ms += 1_000;
    return pace.tryEdit("1", -5);
  });
  expect(edits).toEqual([true, true, true, true, true]);
  expect(Array.from({ length: 2 }, () => pace.tryEdit("1", -5))).toEqual([false, false]);
  clock.ms += 1_000;
  expect(pace.tryEdit("1", -5)).toBe(false);
  await pace.acquire("1", -5, never);
});

test("previews are updated at intervals, and not in a blocked chat", () => {
  const { pace, clock } = paced();
  expect([pace.tryDraft("1", 5), pace.tryDraft("1", 5), pace.tryDraft("1", 6)]).toEqual([true, false, true]);
  clock.ms += 400;
  expect(pace.tryDraft("1", 5)).toBe(true);
  pace.block("1", 5, 3000);
  clock.ms += 2999;
  expect([pace.tryDraft("1", 5), pace.tryEdit("1", 5)]).toEqual([false, false]);
  clock.ms += 1;
  expect(pace.tryDraft("1", 5)).toBe(true);
});

test("forget resets one bot only", () => {
  const { pace } = paced();
  pace.block("1", 5, 3000);
  pace.block("11", 5, 3000);
  pace.forget("1");
  expect([pace.tryEdit("1", 5), pace.tryEdit("11", 5)]).toEqual([true, false]);
});
