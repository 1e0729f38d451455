// Says who takes a cell whose owner is gone, and who follows it. All nodes decide alike from what they see.
import type { CellEntry } from "./cell-table.ts";
import type { NodeState } from "./lease.ts";
import { type Place, placeCells } from "./placement.ts";

type Seen = Pick<NodeState, "address" | "isDraining">;

export interface Succession {
  cell: number;
  /** All cells of the cluster. */
  count: number;
  /** The address of this node. */
  self: string;
  /** The nodes that are alive, this one among them. */
  alive: readonly Seen[];
}

/**
 * Whether this node takes a cell whose owner is gone: the node that has a copy does, else the one on which it is placed.
 * @param isSettled whether this node was connected for so long that it has seen all others
 */
export function isHeir(entry: CellEntry | undefined, isSettled: boolean, succession: Succession): boolean {
  const { self, alive } = succession;
  // A process of this node owned it, and is gone for certain: this one has its ports and its file.
  if (entry?.owner.address === self) return true;
  // Also for a cell without an entry: the engine may have lost what the others are about to bring back.
  if (!isSettled) return false;
  if (entry === undefined) return placeOf(succession)?.owner === self;
  const hasStandby = alive.some(({ address }) => address === entry.standby);
  return (hasStandby ? entry.standby : placeOf(succession)?.owner) === self;
}

/** The node that follows a cell of this one: where it is to go, else the one that has it, else where it is placed. */
export function standbyOf(former: string | null, wanted: string | undefined, succession: Succession): string | null {
  const others = succession.alive.filter(({ address }) => address !== succession.self);
  const find = (address: string | null | undefined) => others.find((node) => node.address === address);
  const kept = find(former);
  const { owner, standby } = placeOf(succession) ?? {};
  const found = find(wanted) ?? (kept?.isDraining ? undefined : kept) ?? find(owner) ?? find(standby) ?? others[0];
  return found?.address ?? null;
}

const placeOf = ({ cell, count, alive }: Succession) => placesOf(count, alive)[cell];

/** The last places: they are asked for much more often than a node comes or goes, and take 50 ms for 1,600 cells and 100 nodes. */
let placed: { key: string; places: Place[] } | undefined;

/** Where each cell is placed. Nodes that are draining count only if there are no others. */
export function placesOf(count: number, alive: readonly Seen[]): readonly Place[] {
  const staying = alive.filter(({ isDraining }) => !isDraining);
  const nodes = (staying.length > 0 ? staying : alive).map(({ address }) => address).toSorted();
  const key = `${count} ${nodes.join(" ")}`;
  if (placed?.key !== key) placed = { key, places: placeCells(count, nodes) };
  return placed.places;
}
