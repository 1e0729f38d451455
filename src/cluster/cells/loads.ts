// Chooses the cell for a new account: the one with the fewest accounts and agents, of those that have answered once.

/** What a cell has. */
export interface CellLoad {
  accounts: number;
  agents: number;
}

export interface Loads {
  report(cell: number, load: CellLoad): void;
  /** Of a cell, as it was last reported. */
  of(cell: number): CellLoad | undefined;
  next(): number;
  /** Gives a cell no new accounts for so many milliseconds. */
  spare(cell: number, ms: number): void;
}

export function createLoads(count: () => number): Loads {
  const reports = new Map<number, CellLoad>();
  /** Given to each cell since its last report, which did not count them yet. */
  const given = new Map<number, number>();
  /** Monotonic ms, by cell. */
  const spared = new Map<number, number>();
  const isSpared = (cell: number) => (spared.get(cell) ?? 0) > performance.now();
  const weightOf = (cell: number) => {
    const { accounts, agents } = reports.get(cell) ?? { accounts: 0, agents: 0 };
    return accounts + agents + (given.get(cell) ?? 0);
  };
  return {
    report(cell, load) {
      reports.set(cell, load);
      given.delete(cell);
    },
    of: (cell) => reports.get(cell),
    next() {
      let best = 0;
      for (let cell = 1; cell < count(); cell++)
        if (reports.has(cell) && !isSpared(cell) && weightOf(cell) < weightOf(best)) best = cell;
      given.set(best, (given.get(best) ?? 0) + 1);
      return best;
    },
    spare: (cell, ms) => void spared.set(cell, performance.now() + ms),
  };
}
