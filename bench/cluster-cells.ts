// Measures a cluster of several cells on three machines, all on this one: a cell that moves, a machine that dies, and one more cell.

import { cellOfId } from "../src/kernel/cells/marks.ts";
import { cellProcesses, losePower } from "../tests/cluster/processes.ts";
import { type Cluster, startCluster } from "../tests/support/cluster.ts";
import { type Benchmark, type Figure, median, mib, ms } from "./support/figures.ts";
import { memoryOf } from "./support/process-usage.ts";
import { binary, type Owner, ownerOf, serviceEnv, startUpstream } from "./support/service.ts";

const CELLS = 3;
const AGENTS = 5;
/** Of each change. */
const TIMES = 10;
/** Accounts that may be made until there is one in each cell. */
const TRIES = 40;

export const clusterCells: Benchmark = {
  name: "cluster-cells",
  summary: "a cell that moves, a machine of several cells that dies, and what one more cell costs",
  isLong: true,
  async run() {
    await using upstream = await startUpstream();
    const { PORT: _, BACKEND_PORT: __, SECRET_KEY: ___, ...env } = serviceEnv(upstream.origin);
    await using cluster = await startCluster({ nodes: 3, natsServers: 3, env, binary });
    await cluster.command("cluster", "cells", String(CELLS));
    await served(cluster, CELLS);
    const owners = await ownersOf(cluster);
    return [await moves(cluster, owners), await kills(cluster, owners), ...(await growth(cluster))];
  },
};

async function served(cluster: Cluster, cells: number): Promise<void> {
  for (let cell = 0; cell < cells; cell++) await cluster.owner(cell);
  await cluster.followed();
}

/** An account with agents in each cell. */
async function ownersOf(cluster: Cluster): Promise<Map<number, Owner>> {
  const [node] = cluster.nodes;
  const owners = new Map<number, Owner>();
  for (let n = 0; node && owners.size < CELLS && n < TRIES; n++) {
    const owner = await ownerOf(node, AGENTS);
    const cell = cellOfId(owner.userId);
    if (!owners.has(cell)) owners.set(cell, owner);
  }
  if (owners.size < CELLS) throw new Error("Not every cell has an account.");
  return owners;
}

const reads = async ({ web }: Cluster, { headers }: Owner) =>
  (await fetch(`${web}/api/agents`, { headers, signal: AbortSignal.timeout(10_000) })).status === 200;

/** An agent has made a turn. */
async function answers({ web }: Cluster, { headers }: Owner, agentId: string): Promise<boolean> {
  const body = JSON.stringify({ message: "Hello", agentId });
  const response = await fetch(`${web}/api/chat`, {
    method: "POST",
    headers: { ...headers, "content-type": "application/json" },
    body,
    signal: AbortSignal.timeout(10_000),
  });
  await response.text();
  return response.status === 200;
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds().catch(() => false))) await Bun.sleep(5);
}

/** The longest wait of a read of the cell while it moves. */
async function moves(cluster: Cluster, owners: ReadonlyMap<number, Owner>): Promise<Figure> {
  const waits: number[] = [];
  for (let n = 0; n < TIMES; n++) {
    const cell = 1 + (n % (CELLS - 1));
    const owner = owners.get(cell);
    const standby = (await cluster.status()).cells[cell]?.standby;
    if (!owner || !standby) throw new Error(`Cell ${cell} can't move.`);
    let isOver = false;
    const moved = cluster.command("cluster", "move", String(cell), new URL(standby).host).finally(() => {
      isOver = true;
    });
    let longest = 0;
    while (!isOver) {
      const began = performance.now();
      await until(() => reads(cluster, owner));
      longest = Math.max(longest, performance.now() - began);
    }
    await moved;
    waits.push(longest);
    await served(cluster, CELLS);
  }
  return {
    what: `planned move of a cell: the longest wait of a read, median of ${TIMES} (longest ${ms(Math.max(...waits))})`,
    figure: ms(median(waits)),
    baseline: "",
    goal: "≤ 1.5 s",
    met: median(waits) <= 1_500,
  };
}

/** From the loss of a machine that owns a cell until each agent of each cell has made a turn. */
async function kills(cluster: Cluster, owners: ReadonlyMap<number, Owner>): Promise<Figure> {
  const waits: number[] = [];
  for (let n = 0; n < TIMES; n++) {
    const node = await cluster.owner(n % CELLS);
    const began = performance.now();
    await losePower(node);
    const agents = [...owners.values()].flatMap((owner) => owner.agentIds.map((id) => ({ owner, id })));
    await Promise.all(agents.map(({ owner, id }) => until(() => answers(cluster, owner, id))));
    waits.push(performance.now() - began);
    await node.restart({ keepPorts: true });
    await served(cluster, CELLS);
  }
  return {
    what: `kill -9 of a machine until all agents of all cells answer, median of ${TIMES} (longest ${ms(Math.max(...waits))})`,
    figure: ms(median(waits)),
    baseline: "",
    goal: "≤ 6 s",
    met: median(waits) <= 6_000,
  };
}

async function ownMemory(cluster: Cluster): Promise<number> {
  const pids = (
    await Promise.all(cluster.nodes.map(async (node) => [node.pid, ...(await cellProcesses(node)).values()]))
  ).flat();
  return pids.reduce((sum, pid) => sum + memoryOf(pid).own, 0);
}

/** One cell after the other is added: until it is served, and the memory of its two processes. */
async function growth(cluster: Cluster): Promise<Figure[]> {
  const before = await ownMemory(cluster);
  const times: number[] = [];
  for (let n = 0; n < TIMES; n++) {
    const cell = CELLS + n;
    const began = performance.now();
    const command = cluster.command("cluster", "cells", String(cell + 1));
    await cluster.owner(cell);
    times.push(performance.now() - began);
    await command;
    await cluster.followed();
  }
  const each = ((await ownMemory(cluster)) - before) / TIMES;
  return [
    {
      what: `one more cell, from the command until it is served, median of ${TIMES} (longest ${ms(Math.max(...times))})`,
      figure: ms(median(times)),
      baseline: "",
      goal: "",
    },
    { what: "one more cell: memory of its owner and its standby together", figure: mib(each), baseline: "", goal: "" },
  ];
}
