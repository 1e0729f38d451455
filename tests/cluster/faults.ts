// What may happen to a cluster: to its nodes, to NATS, and by its operators. Each fault ends by itself.
import type { Berth } from "../support/berth.ts";
import type { Cluster } from "../support/cluster.ts";
import { eventually, type seeded } from "../support/eventually.ts";

export interface Fault {
  name: string;
  /** How often it is chosen, beside the others. */
  weight: number;
  run(deps: FaultDeps): Promise<void>;
}

export interface FaultDeps {
  cluster: Cluster;
  random: ReturnType<typeof seeded>;
  /** Notes that processes may end or be cut off in the middle of a send from now on, until the result is called. */
  interrupt(): () => void;
}

const restart = (node: Berth) => (node.running ? Promise.resolve() : node.restart({ keepPorts: true }));

async function killAndRestart(nodes: readonly Berth[], { random, interrupt }: FaultDeps): Promise<void> {
  const ended = interrupt();
  await Promise.all(nodes.map((node) => node.kill()));
  ended();
  await Bun.sleep(random.integer(0, 6_000));
  await Promise.all(nodes.map(restart));
}

const standbysOf = async ({ cluster }: FaultDeps) => {
  const owner = await cluster.owner();
  return cluster.nodes.filter((node) => node !== owner);
};

export const FAULTS: readonly Fault[] = [
  {
    name: "kill the owner",
    weight: 5,
    run: async (deps) => killAndRestart([await deps.cluster.owner()], deps),
  },
  {
    name: "kill a node that does not own the cell",
    weight: 2,
    run: async (deps) => killAndRestart([deps.random.pick(await standbysOf(deps))], deps),
  },
  {
    name: "kill the owner and another node",
    weight: 1,
    run: async (deps) => killAndRestart([await deps.cluster.owner(), deps.random.pick(await standbysOf(deps))], deps),
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
      const first = await deps.cluster.owner();
      const ended = deps.interrupt();
      await first.kill();
      const second = await deps.cluster.owner();
      await second.kill();
      ended();
      await Promise.all([restart(first), restart(second)]);
    },
  },
  {
    name: "stop the owner's process and let it go on",
    weight: 3,
    async run({ cluster, random, interrupt }) {
      const owner = await cluster.owner();
      const ended = interrupt();
      process.kill(owner.pid, "SIGSTOP");
      await Bun.sleep(random.pick([1_000, 3_000, 4_000, 5_000, 9_000]));
      process.kill(owner.pid, "SIGCONT");
      ended();
    },
  },
  {
    name: "end the owner with SIGTERM and start it again",
    weight: 2,
    async run({ cluster }) {
      const owner = await cluster.owner();
      await owner.stop();
      await restart(owner);
    },
  },
  {
    name: "move the cell",
    weight: 2,
    async run(deps) {
      const target = deps.random.pick(await standbysOf(deps));
      await target.command("cluster", "move", "0", new URL(target.backend).host);
    },
  },
  {
    name: "kill a server of NATS",
    weight: 2,
    async run({ cluster, random, interrupt }) {
      const server = random.pick(cluster.nats.servers);
      const ended = interrupt();
      await server.kill();
      await Bun.sleep(random.integer(500, 8_000));
      await server.start();
      await cluster.owner();
      ended();
    },
  },
  {
    name: "kill all servers of NATS",
    weight: 1,
    async run({ cluster, random, interrupt }) {
      const ended = interrupt();
      await Promise.all(cluster.nats.servers.map((server) => server.kill()));
      await Bun.sleep(random.integer(500, 5_000));
      await Promise.all(cluster.nats.servers.map((server) => server.start()));
      await settled(cluster);
      ended();
    },
  },
  {
    name: "stop all servers of NATS, which are silent then, and let them go on",
    weight: 1,
    async run({ cluster, random, interrupt }) {
      const ended = interrupt();
      for (const server of cluster.nats.servers) server.signal("SIGSTOP");
      await Bun.sleep(random.pick([1_000, 4_000, 9_000]));
      for (const server of cluster.nats.servers) server.signal("SIGCONT");
      await settled(cluster);
      ended();
    },
  },
  {
    name: "kill all servers of NATS and erase their disks",
    weight: 1,
    async run({ cluster, interrupt }) {
      const ended = interrupt();
      await Promise.all(cluster.nats.servers.map((server) => server.kill()));
      for (const server of cluster.nats.servers) server.erase();
      await Promise.all(cluster.nats.servers.map((server) => server.start()));
      await settled(cluster);
      ended();
    },
  },
];

/** Until a node owns the cell and another one follows it. */
export const settled = async (cluster: Cluster) => {
  await cluster.owner();
  await eventually(async () => (await cluster.status()).cells.every(({ behind }) => behind !== null), {
    timeoutMs: 60_000,
    what: "a node follows",
  });
};
