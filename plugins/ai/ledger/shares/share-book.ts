// Keeps in cell 0 which part of a common budget each cell may spend. A part is stored before it is told, so that the sum of what
// the cells may spend is never above the limit, whichever of them is killed when.
import type { Database, Statement } from "../../../../src/kernel/database/database.ts";
import type { Log } from "../../../../src/kernel/telemetry/log.ts";
import type { SharedBudget, ShareWish, WholeShare } from "./budget-shares.ts";

const READ = "SELECT cell, micro_usd FROM budget_shares WHERE budget = ? AND since = ?";
const STORE = `INSERT INTO budget_shares (budget, since, cell, micro_usd) VALUES (?, ?, ?, ?)
  ON CONFLICT (budget, since, cell) DO UPDATE SET micro_usd = excluded.micro_usd`;
const FORGET = "DELETE FROM budget_shares WHERE budget = ? AND since < ?";
/** A cell gets more than it asks for, so that it rarely asks: of a whole budget, this part divided by the cells. */
const AHEAD = 1 / 4;

interface Deps {
  database: Pick<Database, "read" | "write">;
  /** How many cells there are. */
  count(): number;
  /** Asks a cell to give back what it does not use. Resolves with what it keeps; rejects if it does not answer. */
  giveBack(cell: number, budget: SharedBudget): Promise<number>;
  log: Pick<Log, "warn">;
}

export function createShareBook({ database, count, giveBack, log }: Deps) {
  /** One wish after the other. */
  let last: Promise<unknown> = Promise.resolve();

  const storeStatement = ({ budget, since }: SharedBudget, cell: number, microUsd: number): Statement => ({
    sql: STORE,
    args: [budget, since, cell, microUsd],
  });

  async function readShares({ budget, since }: SharedBudget): Promise<Map<number, number>> {
    const { rows } = await database.read(READ, [budget, since]);
    return new Map(rows.map((row) => [Number(row.cell), Number(row.micro_usd)]));
  }

  /** A cell that does not answer keeps its share. */
  async function collect(of: SharedBudget, shares: Map<number, number>, except: number): Promise<void> {
    const kept = await Promise.all(
      [...shares.keys()]
        .filter((cell) => cell !== except)
        .map(async (cell) => {
          try {
            return { cell, microUsd: await giveBack(cell, of) };
          } catch (error) {
            log.warn("a cell could not be asked for its share of a budget", { cell, budget: of.budget, error });
            return undefined;
          }
        }),
    );
    const changed = kept.filter((one) => one !== undefined);
    if (changed.length === 0) return;
    await database.write(changed.map(({ cell, microUsd }) => storeStatement(of, cell, microUsd)));
    for (const { cell, microUsd } of changed) shares.set(cell, microUsd);
  }

  const sumOfOthers = (shares: ReadonlyMap<number, number>, own: number) =>
    [...shares].reduce((sum, [cell, microUsd]) => (cell === own ? sum : sum + microUsd), 0);

  async function grant(cell: number, wish: ShareWish): Promise<WholeShare> {
    const shares = await readShares(wish);
    const own = shares.get(cell) ?? 0;
    if (wish.wanted > wish.limit - sumOfOthers(shares, cell)) await collect(wish, shares, cell);
    const elsewhere = sumOfOthers(shares, cell);
    const left = wish.limit - elsewhere - wish.wanted;
    if (left < 0) return { share: own, elsewhere };
    // The less is left, the smaller is what a cell has in store.
    const ahead = Math.floor(Math.min((wish.limit * AHEAD) / count(), left / 2));
    const share = Math.max(own, wish.wanted + ahead);
    if (share > own) {
      await database.write([storeStatement(wish, cell, share), { sql: FORGET, args: [wish.budget, wish.since] }]);
    }
    return { share, elsewhere };
  }

  return {
    /** The share that the cell has from now on: as large as it wants, or as it was. */
    grant(cell: number, wish: ShareWish): Promise<WholeShare> {
      const granted = last.then(() => grant(cell, wish));
      last = granted.catch(() => undefined);
      return granted;
    },
  };
}

export type ShareBook = ReturnType<typeof createShareBook>;
