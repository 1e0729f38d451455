// The table of cells: who owns each, who follows it, and since which claim. All nodes watch it.
import type { Table, TableEntry } from "../engine.ts";
import { keepWatching } from "./keep-watching.ts";
import type { NodeState } from "./lease.ts";
import type { Place } from "./placement.ts";

/** A process of a node. */
export interface Holder {
  address: string;
  instance: string;
}

export interface CellEntry {
  /** The process that owns the cell; without an instance, any process of the node may take it. */
  owner: { address: string; instance: string | null };
  /** The node that holds a copy, and takes over. */
  standby: string | null;
  /** Grows with each claim. */
  epoch: number;
  /** The node that has given the cell to this owner because it could not open or write it, and when, in epoch ms of its own clock. */
  failed?: { address: string; at: number };
  /** Nodes whose copies have entries that the engine has lost, and the last of each: the owner goes on without them. */
  without?: Readonly<Record<string, number>>;
}

export interface CellTable {
  /** As this node has last seen it. */
  seen(cell: number): CellEntry | undefined;
  /** As the quorum knows it. */
  find(cell: number): Promise<CellEntry | undefined>;
  /** All entries as this node has last seen them, by cell. */
  all(): ReadonlyMap<number, CellEntry>;
  /** How many cells the cluster has. */
  count(): number;
  /** Writes the entry if it is still the one that `find` has returned last; whether it was. */
  swap(cell: number, entry: CellEntry): Promise<boolean>;
  /** The engine's data begin anew with a file of this cluster: it has this id, whatever a new node has called it meanwhile. */
  nameCluster(): Promise<void>;
  stop(): void;
}

/** The key of the cluster's id. */
export const CLUSTER_KEY = "cluster";
/** The key of the number of cells. Without it there is one. It never falls. */
export const COUNT_KEY = "count";
/** The key of the first cell that was removed; those after it were removed, too. Without it none was. */
export const CLOSED_KEY = "closed";

/** How many cells a cluster has. */
export async function readCount(table: Pick<Table, "find">): Promise<number> {
  const [count, closed] = await Promise.all([table.find(COUNT_KEY), table.find(CLOSED_KEY)]);
  return Math.min(Number(count?.value ?? 1), Number(closed?.value ?? Number.POSITIVE_INFINITY));
}

/** The number never falls, also if two raise it at once. */
async function raiseTo(table: Pick<Table, "find" | "swap">, count: number): Promise<void> {
  for (;;) {
    const found = await table.find(COUNT_KEY);
    if (Number(found?.value ?? 1) >= count) return;
    if ((await table.swap(COUNT_KEY, String(count), found?.revision ?? 0)) !== undefined) return;
  }
}

/** Gives a cluster more cells. Those that were removed are opened again first. */
export async function raiseCount(table: Pick<Table, "find" | "swap">, count: number): Promise<void> {
  await raiseTo(table, count);
  for (;;) {
    const closed = await table.find(CLOSED_KEY);
    // Nothing is closed here: another one may have raised the number further.
    if (closed?.value === undefined || Number(closed.value) >= count) return;
    if ((await table.swap(CLOSED_KEY, String(count), closed.revision)) !== undefined) return;
  }
}

/**
 * Says which nodes are to own and follow the new ones of `places`, so that their processes need not wait until they have seen all
 * nodes. A cell that had an owner before, as one that was removed, keeps that entry.
 */
export async function placeNewCells(
  table: Pick<Table, "swap">,
  places: readonly Place[],
  before: number,
): Promise<void> {
  for (let cell = before; cell < places.length; cell++) {
    const place = places[cell];
    if (!place) continue;
    const { owner, standby = null } = place;
    const entry: CellEntry = { owner: { address: owner, instance: null }, standby, epoch: 1 };
    await table.swap(String(cell), JSON.stringify(entry), 0);
  }
}

/** Takes the last cell out of service. */
export const closeCell = (table: Pick<Table, "put">, cell: number) => table.put(CLOSED_KEY, String(cell));

export interface CellTableDeps {
  table: Table;
  /** The id of the cluster. */
  cluster: string;
  /** How many cells there are at least, as this machine's files show. Default: one. */
  leastCount?: number;
  /** Called with a cell, or without one if their number has changed. */
  onChange(cell?: number): void;
  onError(error: unknown): void;
  retryMs?: number;
}

export function watchCells(deps: CellTableDeps): CellTable {
  const { table, cluster, leastCount = 1, onChange, onError, retryMs = 1_000 } = deps;
  const stopped = new AbortController();
  const known = new Map<string, { entry: CellEntry | undefined; revision: number }>();
  /** The revision that `find` has returned last, by key: what has come since was not looked at. */
  const foundAt = new Map<string, number>();
  let count = leastCount;
  let closed = Number.POSITIVE_INFINITY;

  function remember({ key, value, revision }: TableEntry): CellEntry | undefined {
    const former = known.get(key);
    const entry = value === undefined ? undefined : (JSON.parse(value) as CellEntry);
    if (former && former.revision >= revision) return former.entry;
    known.set(key, { entry, revision });
    onChange(Number(key));
    return entry;
  }

  void keepWatching({
    table,
    signal: stopped.signal,
    onEntry(entry) {
      if (/^\d+$/.test(entry.key)) remember(entry);
      if (entry.key === CLOSED_KEY) {
        closed = Number(entry.value ?? Number.POSITIVE_INFINITY);
        onChange();
      }
      if (entry.key !== COUNT_KEY || entry.value === undefined) return;
      // The number never falls; while the engine gets back what it has lost, it knows of fewer.
      count = Math.max(count, Number(entry.value));
      onChange();
    },
    // The engine may have lost the table: revisions begin anew.
    onRestart() {
      const cells = [...known.keys()].map(Number);
      known.clear();
      // Before a new node makes an id of its own.
      void requireCluster().catch(onError);
      for (const cell of cells) onChange(cell);
    },
    onError,
    retryMs,
  });

  const requireCluster = async () =>
    void ((await table.find(CLUSTER_KEY)) ?? (await table.swap(CLUSTER_KEY, cluster, 0)));

  return {
    seen: (cell) => known.get(String(cell))?.entry,
    all: () =>
      new Map(
        [...known].flatMap(([cell, { entry }]) => (entry && Number(cell) < closed ? [[Number(cell), entry]] : [])),
      ),
    count: () => Math.min(count, closed),
    async find(cell) {
      const key = String(cell);
      const found = await table.find(key);
      foundAt.set(key, found?.revision ?? 0);
      if (found && found.revision >= (known.get(key)?.revision ?? 0)) return remember(found);
      // The engine has lost it, or the whole table and counts anew.
      known.delete(key);
      return found && remember(found);
    },
    async swap(cell, entry) {
      const key = String(cell);
      const former = foundAt.get(key) ?? known.get(key)?.revision ?? 0;
      // The engine may have lost the number of cells; the claim of a cell that it does not know brings the number back.
      if (former === 0) await Promise.all([raiseTo(table, cell + 1), requireCluster()]);
      const revision = await table.swap(key, JSON.stringify(entry), former);
      if (revision === undefined) return false;
      foundAt.set(key, revision);
      remember({ key, value: JSON.stringify(entry), revision });
      return true;
    },
    nameCluster: () => table.put(CLUSTER_KEY, cluster),
    stop: () => stopped.abort(),
  };
}

export const isHolder = (
  { address, instance }: CellEntry["owner"],
  node: Pick<NodeState, "address" | "instance"> | undefined,
) => node?.address === address && (instance === null || node.instance === instance);
