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
 * has the directory, stays, and so do those that are kept. Undefined if nothing is to move, or while a cell has no owner that is alive.
 */
export function nextMove(
  entries: ReadonlyMap<number, Pick<CellEntry, "owner">>,
  alive: readonly Pick<NodeState, "address" | "isDraining">[],
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
    .map(({ address }) => ({ address, cells: owned.get(address) ?? [] }))
    .toSorted((one, other) => other.cells.length - one.cells.length || (one.address < other.address ? -1 : 1));
  const [most, least] = [staying[0], staying.at(-1)];
  if (!most || !least || most.cells.length - least.cells.length < 2) return undefined;
  const cell = most.cells.find((one) => one !== 0 && !isKept(one));
  return cell === undefined ? undefined : { cell, to: least.address };
}
