// Tests that cells together never spend more than a common budget, and can spend all of it.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { fileDatabase, silent, type TestDatabase } from "../../../../tests/support/database.ts";
import { seeded } from "../../../../tests/support/eventually.ts";
import { type BudgetHold, type BudgetScope, createBudgets } from "../budgets.ts";
import type { ShareWish, WholeShare } from "./budget-shares.ts";
import { createShareBook, type ShareBook } from "./share-book.ts";

const NOW = Date.UTC(2026, 5, 15, 12);
const DAY = 86_400_000;
const CELLS = 3;
const LIMIT = 1_000;
const scopes: BudgetScope[] = [{ of: "public", period: "day", limit: LIMIT }];
const refused = { status: 402, code: "BUDGET_EXCEEDED" };

let store: TestDatabase;
let time: number;
let book: ShareBook;
let questions: number;
/** By cell, what it has spent in each day: its database. */
let spent: Map<number, number>[];
let cells: ReturnType<typeof open>[];
let away: Set<number>;

function open(cell: number) {
  return createBudgets({
    loadSpent: async ({ since }) => spent[cell]?.get(since) ?? 0,
    now: () => time,
    shares: {
      ask: async (wish: ShareWish): Promise<WholeShare> => {
        questions++;
        return book.grant(cell, wish);
      },
    },
  });
}

const cellOf = (cell: number) => {
  const found = cells[cell];
  if (!found) throw new Error("There is no such cell.");
  return found;
};
const openBook = () =>
  createShareBook({
    database: store.database,
    count: () => CELLS,
    giveBack: async (cell, budget) => {
      if (away.has(cell)) throw new Error("It does not answer.");
      return cellOf(cell).giveBack(budget);
    },
    log: silent,
  });

beforeEach(async () => {
  store = await fileDatabase();
  time = NOW;
  questions = 0;
  away = new Set();
  spent = Array.from({ length: CELLS }, () => new Map());
  book = openBook();
  cells = Array.from({ length: CELLS }, (_, cell) => open(cell));
});
afterEach(() => store.remove());

const hold = async (cell: number, microUsd: number) => cellOf(cell).placeHold(scopes, microUsd);
function settle(cell: number, placed: BudgetHold, cost: number): void {
  const day = time - (time % DAY);
  spent[cell]?.set(day, (spent[cell]?.get(day) ?? 0) + cost);
  placed.capture(cost);
}
const spend = async (cell: number, microUsd: number) => settle(cell, await hold(cell, microUsd), microUsd);
const spentInAll = () => spent.reduce((sum, days) => sum + (days.get(time - (time % DAY)) ?? 0), 0);

test("many calls at once in all cells use the whole budget and no more", async () => {
  const calls = Array.from({ length: 300 }, (_, n) => spend(n % CELLS, 10));
  const ended = await Promise.allSettled(calls);
  expect(ended.filter(({ status }) => status === "fulfilled")).toHaveLength(LIMIT / 10);
  expect(spentInAll()).toBe(LIMIT);
  time += 1_000;
  await expect(hold(0, 1)).rejects.toMatchObject({
    ...refused,
    extras: { limitUsd: LIMIT / 1e6, spentUsd: LIMIT / 1e6 },
  });
});

test("few calls ask cell 0, and refused ones at most once a second", async () => {
  for (let n = 0; n < LIMIT; n++) await spend(n % CELLS, 1);
  expect(questions).toBeLessThan(60);
  const before = questions;
  for (let n = 0; n < 50; n++) await expect(hold(1, 1)).rejects.toMatchObject(refused);
  expect(questions - before).toBe(1);
  time += 1_000;
  await expect(hold(1, 1)).rejects.toMatchObject(refused);
  expect(questions - before).toBe(2);
});

test("what one cell does not use, another gets", async () => {
  await spend(1, 10);
  await spend(2, LIMIT - 10);
  await expect(hold(0, 1)).rejects.toMatchObject(refused);
});

test("what a call has held and not used is free for other cells", async () => {
  const placed = await hold(1, LIMIT);
  await expect(hold(2, 1)).rejects.toMatchObject(refused);
  settle(1, placed, 400);
  time += 1_000;
  await spend(2, 600);
  expect(spentInAll()).toBe(LIMIT);
});

test("a cell that does not answer keeps its share, and has it after a restart", async () => {
  await spend(1, 100);
  away.add(1);
  const others = await Promise.allSettled(Array.from({ length: LIMIT }, () => spend(2, 1)));
  const used = others.filter(({ status }) => status === "fulfilled").length;
  expect(used).toBeLessThan(LIMIT - 100);
  expect(used).toBeGreaterThan(LIMIT / 2);
  cells[1] = open(1);
  await spend(1, LIMIT - 100 - used);
  expect(spentInAll()).toBe(LIMIT);
});

test("the book is the same after a restart of cell 0", async () => {
  await spend(1, 300);
  book = openBook();
  cells[0] = open(0);
  await expect(hold(0, 701)).rejects.toMatchObject(refused);
  time += 1_000;
  await spend(0, 700);
  expect(spentInAll()).toBe(LIMIT);
});

test("a day has the whole budget again", async () => {
  await spend(1, LIMIT);
  time += DAY;
  await spend(2, LIMIT);
  expect(spentInAll()).toBe(LIMIT);
});

test("restarts, days and calls of any size in any order never spend more than the budget", async () => {
  const { integer } = seeded(17);
  const pick = (below: number) => integer(0, below - 1);
  for (let round = 0; round < 40; round++) {
    const calls = Array.from({ length: 20 }, async () => {
      const cell = pick(CELLS);
      const most = 1 + pick(60);
      const placed = await hold(cell, most);
      settle(cell, placed, pick(most + 1));
    });
    await Promise.allSettled(calls);
    expect(spentInAll()).toBeLessThanOrEqual(LIMIT);
    const restarted = pick(CELLS * 2);
    if (restarted < CELLS) cells[restarted] = open(restarted);
    time += pick(20) === 0 ? DAY : 400;
  }
});
