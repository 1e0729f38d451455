// Joins the common budgets of the cells: cell 0 keeps the book, the others ask it.
import type { Cells } from "../../../../src/kernel/cells/cells.ts";
import type { Kernel } from "../../../../src/kernel/plugin.ts";
import { once } from "../../../../src/kernel/util/cache.ts";
import { SECOND } from "../../../../src/kernel/util/time.ts";
import type { BudgetShares, SharedBudget, ShareWish } from "./budget-shares.ts";

const GRANT = "ai.budget-share";
const GIVE_BACK = "ai.give-back-share";
/** A cell that starts has its share back then; the others don't wait for it. */
const GIVE_BACK_MS = SECOND;

interface Deps extends Pick<Kernel, "database" | "log"> {
  cells: Cells;
  /** What this cell keeps of a budget. */
  giveBack(budget: SharedBudget): Promise<number>;
}

export function createCellShares({ cells, database, log, giveBack }: Deps): BudgetShares {
  async function askToGiveBack(cell: number, budget: SharedBudget): Promise<number> {
    if (cell === cells.here) return giveBack(budget);
    const { promise: late, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(() => reject(new Error("There was no answer within a second.")), GIVE_BACK_MS);
    try {
      return Number(await Promise.race([cells.ask(cell, GIVE_BACK, JSON.stringify(budget)), late]));
    } finally {
      clearTimeout(timer);
    }
  }

  cells.answer(GIVE_BACK, async (text) => String(await giveBack(JSON.parse(text) as SharedBudget)));
  if (cells.here !== 0) {
    const ask = async (wish: ShareWish) =>
      JSON.parse(await cells.ask(0, GRANT, JSON.stringify({ ...wish, cell: cells.here })));
    return { ask };
  }
  const book = once(async () => {
    const { createShareBook } = await import("./share-book.ts");
    return createShareBook({ database, count: () => cells.others.length + 1, giveBack: askToGiveBack, log });
  });
  cells.answer(GRANT, async (text) => {
    const { cell, ...wish } = JSON.parse(text) as ShareWish & { cell: number };
    return JSON.stringify(await (await book()).grant(cell, wish));
  });
  return { ask: async (wish) => (await book()).grant(0, wish) };
}
