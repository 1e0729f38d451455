// What operators see of a cluster: its nodes, its cells, and what is wrong with them.
import type { Engine, TableEntry } from "./engine.ts";
import type { CellEntry } from "./ownership/cell-table.ts";
import { LEASE_TIMES, type NodeState } from "./ownership/lease.ts";
import { drainKey, moveKey } from "./ownership/orders.ts";
import { createSnapshots } from "./snapshot/snapshots.ts";

export interface NodeStatus {
  address: string;
  version: string;
  owns: number[];
  follows: number[];
  agents: number;
  turnsPerSecond: number;
  lease: "ok" | "draining" | "lost";
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
  state: string;
}

export interface ClusterStatus {
  engine: string;
  nodes: NodeStatus[];
  cells: CellStatus[];
}

/** Looks at the nodes twice, a renewal apart: who is alive has renewed its lease between. */
export async function readStatus(engine: Engine): Promise<ClusterStatus> {
  const nodeTable = await engine.table("nodes");
  const before = revisions(await nodeTable.list());
  await Bun.sleep(LEASE_TIMES.renewMs * 1.5);
  const entries = await nodeTable.list();
  const alive = new Set(entries.flatMap(({ key, revision }) => (before.get(key) === revision ? [] : [key])));
  const orders = new Map((await (await engine.table("orders")).list()).map(({ key, value }) => [key, value]));
  const cells = (await (await engine.table("cells")).list()).flatMap(({ key, value }) =>
    /^\d+$/.test(key) && value !== undefined ? [{ cell: Number(key), entry: JSON.parse(value) as CellEntry }] : [],
  );
  const states = entries.flatMap(({ key, value }) =>
    value === undefined ? [] : [{ isAlive: alive.has(key), state: JSON.parse(value) as NodeState }],
  );
  const aliveAddresses = new Set(states.filter(({ isAlive }) => isAlive).map(({ state }) => state.address));
  return {
    engine: engine.describe(),
    nodes: states
      .map(({ state, isAlive }): NodeStatus => {
        const { address, version, load, at } = state;
        return {
          address,
          version,
          owns: cells.filter(({ entry }) => entry.owner.address === address).map(({ cell }) => cell),
          follows: cells.filter(({ entry }) => entry.standby === address).map(({ cell }) => cell),
          ...load,
          lease: isAlive ? (orders.has(drainKey(address)) ? "draining" : "ok") : "lost",
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
          const applied = states.find(({ state, isAlive }) => isAlive && state.address === standby)?.state.copies[cell];
          const target = orders.get(moveKey(cell));
          const isServed = aliveAddresses.has(owner.address);
          const isFollowed = standby !== null && aliveAddresses.has(standby);
          return {
            cell,
            owner: owner.address,
            standby,
            log: last,
            behind: applied === undefined ? null : Math.max(0, last - applied),
            snapshotAt: newest?.takenAt ?? null,
            state: !isServed
              ? "no owner"
              : target !== undefined && target !== owner.address
                ? `moving to ${target}`
                : isFollowed
                  ? "ok"
                  : "no standby",
          };
        }),
    ),
  };
}

const revisions = (entries: readonly TableEntry[]) => new Map(entries.map(({ key, revision }) => [key, revision]));
