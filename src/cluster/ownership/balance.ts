// Evens out how many cells each node owns, one cell at a time: a pure function, so that all nodes agree without talking.
import type { CellEntry } from "./cell-table.ts";
import type { NodeState } from "./lease.ts";

export interface Move {
  cell: number;
  /** The address of the node that is to own it. */
  to: string;
}

/**
 * The next cell that moves: from the node that owns most to the one that owns least, if that is at least two less. Cell 0, which
 * has the directory, stays, and so do those that are kept. A node that could not follow a cell a moment ago does not get it. Undefined
 * if nothing is to move, or while a cell has no owner that is alive.
 */
export function nextMove(
  entries: ReadonlyMap<number, Pick<CellEntry, "owner">>,
  alive: readonly Pick<NodeState, "address" | "isDraining" | "stuck">[],
  isKept: (cell: number) => boolean = () => false,
): Move | undefined {
  const owned = new Map<string, number[]>(alive.map(({ address }) => [address, []]));
  for (const [cell, { owner }] of [...entries].toSorted(([one], [other]) => one - other)) {
    const cells = owned.get(owner.address);
    if (!cells) return undefined;
    cells.push(cell);
  }
  const staying = alive
    .filter(({ isDraining }) => !isDraining)
    .map(({ address, stuck = [] }) => ({ address, stuck, cells: owned.get(address) ?? [] }))
    .toSorted((one, other) => other.cells.length - one.cells.length || (one.address < other.address ? -1 : 1));
  const most = staying[0]?.cells ?? [];
  for (const { address, stuck, cells } of staying.toReversed()) {
    if (most.length - cells.length < 2) return undefined;
    const cell = most.find((one) => one !== 0 && !isKept(one) && !stuck.includes(one));
    if (cell !== undefined) return { cell, to: address };
  }
  return undefined;
}
