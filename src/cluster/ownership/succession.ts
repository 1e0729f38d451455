// Says who takes a cell whose owner is gone, and who follows it. All nodes decide alike from what they see.
import type { CellEntry } from "./cell-table.ts";
import type { NodeState } from "./lease.ts";
import { firstOf, type Place, placeCells } from "./placement.ts";

type Seen = Pick<NodeState, "address" | "isDraining" | "copies">;

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

/**
 * The node that follows a cell of this one: where it is to go, else the one that has it, else where it is placed. One that can't
 * follow it, as an older version can't follow a newer one, does only if there is no other.
 */
export function standbyOf(former: string | null, wanted: string | undefined, succession: Succession): string | null {
  const others = succession.alive.filter(({ address }) => address !== succession.self);
  const find = (address: string | null | undefined) => others.find((node) => node.address === address);
  const { owner, standby } = placeOf(succession) ?? {};
  const kept = find(former);
  const ranked = [kept?.isDraining ? undefined : kept, find(owner), find(standby), ...others].filter(
    (node) => node !== undefined,
  );
  const isAble = ({ copies }: Seen) => copies[succession.cell] !== undefined;
  return (find(wanted) ?? ranked.find(isAble) ?? ranked[0])?.address ?? null;
}

/**
 * The node that is to have a copy of a cell beside its owner while one that should have it can't follow it; undefined if all can.
 */
export function spareOf(
  cell: number,
  owner: string | undefined,
  alive: readonly Pick<NodeState, "address" | "stuck">[],
): string | undefined {
  const isStuck = ({ stuck }: Pick<NodeState, "stuck">) => stuck?.includes(cell) ?? false;
  if (!alive.some(isStuck)) return undefined;
  const able = alive.filter((node) => !isStuck(node) && node.address !== owner);
  return firstOf(
    cell,
    able.map(({ address }) => address),
  );
}

const placeOf = ({ cell, count, alive }: Succession) => placesOf(count, alive)[cell];

/** The last places: they are asked for much more often than a node comes or goes, and take 50 ms for 1,600 cells and 100 nodes. */
let placed: { key: string; places: Place[] } | undefined;

/** Where each cell is placed. Nodes that are draining count only if there are no others. */
export function placesOf(count: number, alive: readonly Pick<Seen, "address" | "isDraining">[]): readonly Place[] {
  const staying = alive.filter(({ isDraining }) => !isDraining);
  const nodes = (staying.length > 0 ? staying : alive).map(({ address }) => address).toSorted();
  const key = `${count} ${nodes.join(" ")}`;
  if (placed?.key !== key) placed = { key, places: placeCells(count, nodes) };
  return placed.places;
}
