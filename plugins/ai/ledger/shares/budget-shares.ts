// Limits a cell to its share of the budgets that all cells have together. It asks cell 0 for more when its share is used up, and
// gives back what it does not use when cell 0 asks for it.
import { SECOND } from "../../../../src/kernel/util/time.ts";

/** A budget of all cells, in the day that begins at `since` (epoch ms). */
export interface SharedBudget {
  budget: "public" | "unpaid";
  since: number;
}

/** Money is whole micro-USD. */
export interface ShareWish extends SharedBudget {
  /** Of all cells together. */
  limit: number;
  /** What the cell needs in all. */
  wanted: number;
}

export interface WholeShare {
  /** What the cell may spend in all. */
  share: number;
  /** What the others may spend. */
  elsewhere: number;
}

/** What a cell knows of its share. */
export interface CounterShare extends WholeShare {
  /** Grows with each return: an answer of cell 0 from before it does not count. */
  returns: number;
  /** The last wish that was refused, which is not asked again for a second. */
  refused?: { wanted: number; until: number } | undefined;
  asking: Promise<unknown>;
}

export interface BudgetShares {
  /** Asks cell 0. Throws 503 if it can't be reached. */
  ask(wish: ShareWish): Promise<WholeShare>;
}

const REFUSED_MS = SECOND;
/** A return comes between a question and its answer at most so often in a row. */
const ATTEMPTS = 5;

export const noShare = (): CounterShare => ({ share: 0, elsewhere: 0, returns: 0, asking: Promise.resolve() });

/**
 * Makes the share as large as `wanted` says when its turn comes, one wish after the other. Resolves with whether it is; it stays so
 * until the next await only.
 */
export function enlarge(
  shares: BudgetShares,
  counter: CounterShare,
  of: SharedBudget & { limit: number },
  wantedNow: () => number,
  now: () => number,
): Promise<boolean> {
  async function ask(): Promise<boolean> {
    for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
      const wanted = wantedNow();
      if (wanted <= counter.share) return true;
      if (counter.refused && wanted >= counter.refused.wanted && now() < counter.refused.until) return false;
      const { returns } = counter;
      const granted = await shares.ask({ ...of, wanted });
      if (returns !== counter.returns) continue;
      Object.assign(counter, granted);
      counter.refused = granted.share < wanted ? { wanted, until: now() + REFUSED_MS } : undefined;
      if (counter.refused) return false;
    }
    return wantedNow() <= counter.share;
  }
  const asked = counter.asking.then(ask);
  counter.asking = asked.catch(() => undefined);
  return asked;
}
