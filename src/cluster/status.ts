// What operators see of a cluster: its nodes, its cells, and what is wrong with them.
import type { Engine, Table, TableEntry } from "./engine.ts";
import { type CellEntry, readCount } from "./ownership/cell-table.ts";
import { LEASE_TIMES, type NodeState } from "./ownership/lease.ts";
import { drainKey, keepKey, moveKey } from "./ownership/orders.ts";
import { createSnapshots } from "./snapshot/snapshots.ts";

export interface NodeStatus {
  address: string;
  version: string;
  owns: number[];
  follows: number[];
  agents: number;
  turnsPerSecond: number;
  lease: "ok" | "draining" | "unreachable" | "lost";
  /** Epoch ms of the last renewal, by the node's own clock. */
  seenAt: number;
}

export interface CellStatus {
  cell: number;
  owner: string;
  standby: string | null;
  /** The last entry of the log. */
  log: number;
  /** Entries that the standby has still to apply; null without a standby that follows. */
  behind: number | null;
  /** Epoch ms; null without a snapshot. */
  snapshotAt: number | null;
  /** Operators have put it where it is. */
  kept: boolean;
  state: string;
}

export interface ClusterStatus {
  engine: string;
  nodes: NodeStatus[];
  cells: CellStatus[];
}

/** What a process of a node has said of itself. */
interface Said {
  isAlive: boolean;
  state: NodeState;
}

/** Looks at leases twice, a renewal apart: who is alive has renewed its lease between. */
async function readLeases(tables: readonly Table[]): Promise<Said[][]> {
  const before = await Promise.all(tables.map(async (table) => revisions(await table.list())));
  await Bun.sleep(LEASE_TIMES.renewMs * 1.5);
  return Promise.all(
    tables.map(async (table, at) =>
      (await table.list()).flatMap(({ key, value, revision }) =>
        value === undefined
          ? []
          : [{ isAlive: before[at]?.get(key) !== revision, state: JSON.parse(value) as NodeState }],
      ),
    ),
  );
}

export async function readStatus(engine: Engine): Promise<ClusterStatus> {
  const [states = [], processes = []] = await readLeases([
    await engine.table("nodes"),
    await engine.table("processes"),
  ]);
  const living = [...states, ...processes].filter(({ isAlive }) => isAlive).map(({ state }) => state);
  const orders = new Map((await (await engine.table("orders")).list()).map(({ key, value }) => [key, value]));
  const cellTable = await engine.table("cells");
  const count = await readCount(cellTable);
  const cells = (await cellTable.list()).flatMap(({ key, value }) =>
    /^\d+$/.test(key) && Number(key) < count && value !== undefined
      ? [{ cell: Number(key), entry: JSON.parse(value) as CellEntry }]
      : [],
  );
  const aliveAddresses = new Set(states.filter(({ isAlive }) => isAlive).map(({ state }) => state.address));
  return {
    engine: engine.describe(),
    nodes: states
      .map(({ state, isAlive }): NodeStatus => {
        const { address, version, at, isDraining } = state;
        const loads = living.filter((one) => one.address === address).map(({ load }) => load);
        return {
          address,
          version,
          owns: cells.filter(({ entry }) => entry.owner.address === address).map(({ cell }) => cell),
          follows: cells.filter(({ entry }) => entry.standby === address).map(({ cell }) => cell),
          agents: loads.reduce((sum, { agents }) => sum + agents, 0),
          turnsPerSecond: loads.reduce((sum, { turnsPerSecond }) => sum + turnsPerSecond, 0),
          // Without an order, it gives its cells away because no other machine reaches it.
          lease: !isAlive ? "lost" : orders.has(drainKey(address)) ? "draining" : isDraining ? "unreachable" : "ok",
          seenAt: at,
        };
      })
      .sort((a, b) => a.address.localeCompare(b.address)),
    cells: await Promise.all(
      cells
        .sort((a, b) => a.cell - b.cell)
        .map(async ({ cell, entry }): Promise<CellStatus> => {
          const { last } = await (await engine.log(cell)).bounds();
          const snapshots = createSnapshots({ blobs: await engine.blobs("snapshots"), cell });
          const [newest] = await snapshots.list();
          const { owner, standby } = entry;
          const applied = living.find(({ address, copies }) => address === standby && copies[cell] !== undefined)
            ?.copies[cell];
          const target = orders.get(moveKey(cell));
          // By the process that has claimed it, once one has: another one of its machine may be alive.
          const isServed =
            owner.instance === null
              ? aliveAddresses.has(owner.address)
              : living.some((one) => one.address === owner.address && one.instance === owner.instance);
          const isFollowed = standby !== null && aliveAddresses.has(standby) && applied !== undefined;
          return {
            cell,
            owner: owner.address,
            standby,
            log: last,
            behind: applied === undefined ? null : Math.max(0, last - applied),
            snapshotAt: newest?.takenAt ?? null,
            kept: orders.has(keepKey(cell)),
            state: stateOf({
              isServed,
              target: target !== undefined && aliveAddresses.has(target) ? target : undefined,
              isNew: last === 0 && !living.some(({ copies }) => copies[cell]),
              isFollowed,
            }),
          };
        }),
    ),
  };
}

interface CellSigns {
  isServed: boolean;
  /** The living node to which it is to move. */
  target: string | undefined;
  /** Its owner has yet to make its database. */
  isNew: boolean;
  isFollowed: boolean;
}

function stateOf({ isServed, target, isNew, isFollowed }: CellSigns): string {
  if (!isServed) return "no owner";
  if (target !== undefined) return `moving to ${target}`;
  if (isNew) return "starting";
  return isFollowed ? "ok" : "no standby";
}

const revisions = (entries: readonly TableEntry[]) => new Map(entries.map(({ key, revision }) => [key, revision]));
