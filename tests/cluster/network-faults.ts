// What may happen to the network between machines, between them and NATS, and to the outside. Mostly nothing is closed: what was sent is late, and may come when another
// machine has taken over.
import type { Berth } from "../support/berth.ts";
import type { Gate } from "../support/gate.ts";
import { type Fault, type FaultDeps, killNode, ownerOfSome, restart, STOPPED_MS, settled } from "./faults.ts";

/** The settings by which machines reach what is outside of the cluster. */
export const PLATFORM = "CHANNEL_A_API_ROOT";
export const PROVIDER = "PROVIDER_5_BASE_URL";

/** Mostly a machine that owns a cell. */
const someMachine = (deps: FaultDeps): Promise<Berth> =>
  deps.random.chance(0.8) ? ownerOfSome(deps) : Promise.resolve(deps.random.pick(deps.cluster.nodes));

/** Holds what passes these gates for a while. */
async function hold(gates: readonly Gate[], what: "all" | "answers", ms: number): Promise<void> {
  for (const gate of gates) gate.hold(what);
  try {
    await Bun.sleep(ms);
  } finally {
    for (const gate of gates) gate.open();
  }
}

/** What NATS is asked through these gates, it does; what it answers within so many ms is lost. */
async function loseAnswers(gates: readonly Gate[], ms: number): Promise<void> {
  for (const gate of gates) gate.hold("answers");
  await Bun.sleep(ms);
  for (const gate of gates) {
    gate.reset();
    gate.open();
  }
}

/** Clients still reach each of them: the one that is alone can't answer, and who is connected to it has to find that out. */
const SPLIT: Fault = {
  name: "split the servers of NATS into one and the others",
  weight: 2,
  async run({ cluster, cells, random, interrupt }) {
    const alone = random.pick(cluster.nats.servers);
    const ended = interrupt();
    await hold(alone.routes, "all", random.integer(2_000, 20_000));
    for (let cell = 0; cell < cells; cell++) await cluster.owner(cell);
    ended();
  },
};

/** Another one is away while the new one gets its copies. */
const REPLACE: Fault = {
  name: "replace a server of NATS by a new one under another name, and kill another one meanwhile",
  weight: 1,
  async run(deps) {
    const { cluster, random, interrupt } = deps;
    const [former, other] = random.shuffle(cluster.nats.servers);
    const ended = interrupt();
    await former?.replace();
    if (other !== former) {
      await other?.kill();
      await Bun.sleep(random.integer(500, 8_000));
      await other?.start();
    }
    await settled(deps);
    await cluster.nats.copied();
    ended();
  },
};

/** As where each machine has a server of NATS, too: others may have been connected to that one. */
const LOSE_BOTH: Fault = {
  name: "lose a machine together with a server of NATS",
  weight: 2,
  async run(deps) {
    const { cluster, random, interrupt } = deps;
    const machine = await ownerOfSome(deps);
    const server = random.pick(cluster.nats.servers);
    const ended = interrupt();
    await Promise.all([killNode(machine, deps), server.kill()]);
    await Bun.sleep(random.integer(500, 12_000));
    await server.start();
    await restart(machine);
    await settled(deps);
    ended();
  },
};

/** Of several servers of NATS. */
export const SERVER_FAULTS: readonly Fault[] = [SPLIT, REPLACE, LOSE_BOTH];

export const NETWORK_FAULTS: readonly Fault[] = [
  {
    name: "cut a machine off from NATS for a while",
    weight: 3,
    async run(deps) {
      const gates = deps.cluster.gatesOf(await someMachine(deps));
      const ended = deps.interrupt();
      await hold(gates, "all", deps.random.pick(STOPPED_MS));
      ended();
    },
  },
  {
    name: "hold back what NATS answers to a machine, which still reaches it",
    weight: 3,
    async run(deps) {
      const gates = deps.cluster.gatesOf(await someMachine(deps));
      const ended = deps.interrupt();
      await hold(gates, "answers", deps.random.pick(STOPPED_MS));
      ended();
    },
  },
  {
    name: "lose what NATS has answered to a machine, again and again",
    weight: 2,
    async run(deps) {
      const { random } = deps;
      const gates = deps.cluster.gatesOf(await someMachine(deps));
      for (let times = random.integer(2, 8); times > 0; times--) {
        const ended = deps.interrupt();
        await loseAnswers(gates, random.integer(20, 900));
        ended();
        await Bun.sleep(random.integer(50, 1_500));
      }
    },
  },
  {
    // Others claim its cells some four seconds after it has died: the answers to leases, claims and first entries are lost.
    name: "kill the owner of a cell, and lose what NATS answers to the others while they take over",
    weight: 2,
    async run(deps) {
      const { cluster, random } = deps;
      const owner = await ownerOfSome(deps);
      const gates = cluster.nodes.filter((node) => node !== owner).flatMap(cluster.gatesOf);
      const ended = deps.interrupt();
      await killNode(owner, deps);
      ended();
      await Bun.sleep(random.integer(2_500, 3_500));
      for (let times = 8; times > 0; times--) {
        const lost = deps.interrupt();
        await loseAnswers(gates, random.integer(20, 400));
        lost();
        await Bun.sleep(random.integer(50, 400));
      }
      await restart(owner);
    },
  },
  {
    // The machine keeps its cells and its bots: what the others ask it is late, and so is what it answers them.
    name: "hold back what other machines send to the owner of a cell, or what it answers them",
    weight: 2,
    async run(deps) {
      const { cluster, random } = deps;
      const gate = cluster.peerGateOf(await ownerOfSome(deps));
      await hold([gate], random.pick(["all", "answers"] as const), random.pick(STOPPED_MS));
    },
  },
  {
    name: "cut a machine off from one server of NATS",
    weight: 1,
    async run(deps) {
      const gate = deps.random.pick(deps.cluster.gatesOf(await someMachine(deps)));
      const ended = deps.interrupt();
      await hold([gate], "all", deps.random.integer(1_000, 15_000));
      ended();
    },
  },
  ...[
    { what: "the messaging platform", variable: PLATFORM, longestMs: 15_000 },
    // A machine that can't reach the provider after ten seconds gives the call up and makes it again: no ledger knows of what the provider has done meanwhile.
    { what: "the provider of the model", variable: PROVIDER, longestMs: 9_000 },
  ].map(({ what, variable, longestMs }) => ({
    // It keeps its cells: what its agents do takes longer.
    name: `cut the owner of a cell off from ${what} alone`,
    weight: 1,
    async run(deps: FaultDeps) {
      const gate = deps.cluster.outsideGateOf(await ownerOfSome(deps), variable);
      const ended = deps.interrupt();
      await hold([gate], deps.random.pick(["all", "answers"] as const), deps.random.integer(1_000, longestMs));
      ended();
    },
  })),
  {
    name: "let the network between a machine and NATS come and go",
    weight: 1,
    async run(deps) {
      const { random } = deps;
      const gates = deps.cluster.gatesOf(await someMachine(deps));
      for (let times = random.integer(4, 10); times > 0; times--) {
        const ended = deps.interrupt();
        await hold(gates, random.pick(["all", "answers"] as const), random.integer(100, 2_000));
        ended();
        await Bun.sleep(random.integer(50, 800));
      }
    },
  },
];
