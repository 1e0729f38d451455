// What may happen to a cluster: to its nodes, to NATS, and by its operators. Each fault ends by itself.
import type { Berth } from "../support/berth.ts";
import { type Cluster, nameOf } from "../support/cluster.ts";
import { eventually, type seeded } from "../support/eventually.ts";
import { losePower, suspend } from "./processes.ts";

export interface Fault {
  name: string;
  /** How often it is chosen, beside the others. */
  weight: number;
  run(deps: FaultDeps): Promise<void>;
}

export interface FaultDeps {
  cluster: Cluster;
  /** How many cells the cluster has. */
  cells: number;
  random: ReturnType<typeof seeded>;
  /** Notes that processes may end or be cut off in the middle of a send from now on, until the result is called. */
  interrupt(): () => void;
  /** Makes accounts, one after the other, until the result is called. */
  signUps(): () => Promise<void>;
}

/** Of the log of a cell, at least. The other logs and tables lose what they got meanwhile, too. */
const CUTS = [1, 100];
export const STOPPED_MS = [1_000, 3_000, 4_000, 5_000, 9_000];

export const restart = (node: Berth) => (node.running ? Promise.resolve() : node.restart({ keepPorts: true }));

/** Half of the time the first process alone is killed, with which the others end; else the whole machine is. */
export const killNode = (node: Berth, { random }: FaultDeps) => (random.chance(0.5) ? losePower(node) : node.kill());

async function killAndRestart(nodes: readonly Berth[], deps: FaultDeps): Promise<void> {
  const ended = deps.interrupt();
  await Promise.all(nodes.map((node) => killNode(node, deps)));
  ended();
  await Bun.sleep(deps.random.integer(0, 6_000));
  await Promise.all(nodes.map(restart));
}

export const ownerOfSome = ({ cluster, cells, random }: FaultDeps) => cluster.owner(random.integer(0, cells - 1));

const others = ({ cluster }: FaultDeps, owner: Berth) => cluster.nodes.filter((node) => node !== owner);

/** The node that claims the cell next: it has not opened the cell yet. */
function nextClaim(nodes: readonly Berth[], cell: number): Promise<Berth> {
  const before = new Map(nodes.map((node) => [node, node.output().stderr.length]));
  const claims = (line: string) => line.includes('"this node claims the cell"') && JSON.parse(line).cell === cell;
  const hasClaimed = (node: Berth) =>
    node.output().stderr.slice(before.get(node)).split("\n").slice(0, -1).some(claims);
  return eventually(() => nodes.find(hasClaimed), {
    timeoutMs: 30_000,
    everyMs: 5,
    what: `a node claims cell ${cell}`,
  });
}

export const FAULTS: readonly Fault[] = [
  {
    name: "kill the owner of a cell",
    weight: 5,
    run: async (deps) => killAndRestart([await ownerOfSome(deps)], deps),
  },
  {
    name: "kill a node that does not own the cell",
    weight: 2,
    run: async (deps) => killAndRestart([deps.random.pick(others(deps, await ownerOfSome(deps)))], deps),
  },
  {
    name: "kill the owner and another node",
    weight: 1,
    async run(deps) {
      const owner = await ownerOfSome(deps);
      await killAndRestart([owner, deps.random.pick(others(deps, owner))], deps);
    },
  },
  {
    name: "kill a machine every two seconds for half a minute, sooner than another one has taken over",
    weight: 1,
    async run(deps) {
      const { cluster, random } = deps;
      const restarts: Promise<void>[] = [];
      for (let times = 15; times > 0; times--) {
        const running = cluster.nodes.filter((node) => node.running);
        const node = running.length > 0 ? random.pick(running) : undefined;
        if (node) {
          const ended = deps.interrupt();
          await killNode(node, deps);
          ended();
          // One that is killed before it is ready is started again in the end.
          const again = Bun.sleep(random.integer(0, 4_000)).then(() => restart(node));
          restarts.push(again.catch(() => undefined));
        }
        await Bun.sleep(2_000);
      }
      await Promise.all(restarts);
      await Promise.all(cluster.nodes.map(restart));
    },
  },
  {
    name: "kill all nodes",
    weight: 1,
    run: (deps) => killAndRestart(deps.cluster.nodes, deps),
  },
  {
    name: "kill the owner again while another node takes over",
    weight: 1,
    async run(deps) {
      const cell = deps.random.integer(0, deps.cells - 1);
      const first = await deps.cluster.owner(cell);
      const ended = deps.interrupt();
      const claimed = nextClaim(others(deps, first), cell);
      await killNode(first, deps);
      const second = await claimed;
      await killNode(second, deps);
      ended();
      await Promise.all([restart(first), restart(second)]);
    },
  },
  {
    name: "stop the owner's first process and let it go on",
    weight: 3,
    async run(deps) {
      const owner = await ownerOfSome(deps);
      const ended = deps.interrupt();
      await suspend(owner.pid, deps.random.pick(STOPPED_MS));
      ended();
    },
  },
  {
    name: "stop the owner's first process for half a minute and let it go on",
    weight: 1,
    async run(deps) {
      const owner = await ownerOfSome(deps);
      const ended = deps.interrupt();
      await suspend(owner.pid, 30_000);
      ended();
    },
  },
  {
    name: "end the owner with SIGTERM and start it again",
    weight: 2,
    async run(deps) {
      const owner = await ownerOfSome(deps);
      await owner.stop();
      await restart(owner);
    },
  },
  {
    name: "move a cell",
    weight: 2,
    async run(deps) {
      const cell = deps.random.integer(0, deps.cells - 1);
      const target = deps.random.pick(others(deps, await deps.cluster.owner(cell)));
      await target.command("cluster", "move", String(cell), nameOf(target));
    },
  },
  {
    name: "kill a server of NATS",
    weight: 2,
    async run({ cluster, cells, random, interrupt }) {
      const server = random.pick(cluster.nats.servers);
      const ended = interrupt();
      await server.kill();
      await Bun.sleep(random.integer(500, 8_000));
      await server.start();
      for (let cell = 0; cell < cells; cell++) await cluster.owner(cell);
      ended();
    },
  },
  {
    name: "kill a server of NATS and erase its disk",
    weight: 1,
    async run({ cluster, cells, random, interrupt }) {
      const server = random.pick(cluster.nats.servers);
      const ended = interrupt();
      await server.kill();
      server.erase();
      await server.start();
      for (let cell = 0; cell < cells; cell++) await cluster.owner(cell);
      ended();
    },
  },
  ...(["flip", "cut"] as const).map((how) => ({
    name: `kill a server of NATS and ${how === "flip" ? "change bytes in its files" : "cut off the ends of its files"}`,
    weight: 1,
    async run({ cluster, cells, random, interrupt }: FaultDeps) {
      const server = random.pick(cluster.nats.servers);
      const ended = interrupt();
      await server.kill();
      if (server.damage(how) === 0) throw new Error("The server has no files of messages.");
      await server.start();
      for (let cell = 0; cell < cells; cell++) await cluster.owner(cell);
      ended();
    },
  })),
  {
    name: "kill all servers of NATS",
    weight: 1,
    async run(deps) {
      const { cluster, random, interrupt } = deps;
      const ended = interrupt();
      await Promise.all(cluster.nats.servers.map((server) => server.kill()));
      await Bun.sleep(random.integer(500, 5_000));
      await Promise.all(cluster.nats.servers.map((server) => server.start()));
      await settled(deps);
      ended();
    },
  },
  {
    name: "stop all servers of NATS, which are silent then, and let them go on",
    weight: 1,
    async run(deps) {
      const { cluster, random, interrupt } = deps;
      const ended = interrupt();
      for (const server of cluster.nats.servers) server.signal("SIGSTOP");
      await Bun.sleep(random.pick([1_000, 4_000, 9_000]));
      for (const server of cluster.nats.servers) server.signal("SIGCONT");
      await settled(deps);
      ended();
    },
  },
  {
    name: "kill all servers of NATS and erase their disks",
    weight: 1,
    async run(deps) {
      const { cluster, interrupt } = deps;
      const ended = interrupt();
      await Promise.all(cluster.nats.servers.map((server) => server.kill()));
      for (const server of cluster.nats.servers) server.erase();
      await Promise.all(cluster.nats.servers.map((server) => server.start()));
      await settled(deps);
      ended();
    },
  },
  ...CUTS.map((entries) => ({
    name: `put all servers of NATS back to an earlier state, at least ${entries === 1 ? "one entry" : `${entries} entries`} of a cell ago`,
    weight: 1,
    async run(deps: FaultDeps) {
      const { cluster, cells, random, interrupt } = deps;
      const { servers } = cluster.nats;
      const ended = interrupt();
      await Promise.all(servers.map((server) => server.kill()));
      for (const server of servers) server.keepData();
      await Promise.all(servers.map((server) => server.start()));
      await settled(deps);
      const log = await (await cluster.engine()).log(random.integer(0, cells - 1));
      const { last } = await log.bounds();
      await eventually(async () => (await log.bounds()).last >= last + entries, {
        timeoutMs: 60_000,
        everyMs: 5,
        what: "the log goes on",
      });
      await Promise.all(servers.map((server) => server.kill()));
      for (const server of servers) server.putDataBack();
      await Promise.all(servers.map((server) => server.start()));
      await settled(deps);
      ended();
    },
  })),
];

/** Until each cell has a node that owns it and another one that follows it. */
export async function settled({ cluster, cells }: Pick<FaultDeps, "cluster" | "cells">): Promise<void> {
  await eventually(
    async () => {
      const status = await cluster.status();
      return (
        status.cells.length === cells &&
        status.cells.every(({ state, behind }) => behind !== null && state !== "no owner")
      );
    },
    { timeoutMs: 60_000, what: "all cells are owned and followed" },
  );
  for (let cell = 0; cell < cells; cell++) await cluster.owner(cell);
}
