// What may happen to a cluster with several cells: to the processes of single cells, and to where cells are.
import { addressOf, nameOf } from "../support/cluster.ts";
import { eventually } from "../support/eventually.ts";
import { type Fault, type FaultDeps, killNode, ownerOfSome, restart, STOPPED_MS, settled } from "./faults.ts";
import { processOf, signal, suspend } from "./processes.ts";

const someCell = ({ cells, random }: FaultDeps) => random.integer(1, cells - 1);

/** The process that owns a cell other than the first. */
async function ownersProcess(deps: FaultDeps): Promise<number> {
  const cell = someCell(deps);
  return processOf(await deps.cluster.owner(cell), cell);
}

export const CELL_FAULTS: readonly Fault[] = [
  {
    name: "kill the process of a cell alone",
    weight: 3,
    async run(deps) {
      const pid = await ownersProcess(deps);
      const ended = deps.interrupt();
      signal(pid, "SIGKILL");
      ended();
    },
  },
  {
    name: "kill the process of a cell that follows",
    weight: 1,
    async run(deps) {
      const cell = someCell(deps);
      const standby = (await deps.cluster.status()).cells[cell]?.standby;
      const node = deps.cluster.nodes.find((one) => addressOf(one) === standby);
      if (node) signal(await processOf(node, cell), "SIGKILL");
    },
  },
  {
    name: "stop the process of a cell and let it go on",
    weight: 3,
    async run(deps) {
      const pid = await ownersProcess(deps);
      const ended = deps.interrupt();
      await suspend(pid, deps.random.pick(STOPPED_MS));
      ended();
    },
  },
  {
    name: "stop a machine's first process, while those of its cells run, and let it go on",
    weight: 3,
    async run(deps) {
      const owner = await deps.cluster.owner(someCell(deps));
      const ended = deps.interrupt();
      await suspend(owner.pid, deps.random.pick([2_000, ...STOPPED_MS]));
      ended();
    },
  },
  {
    name: "kill the owner of cell 0 while accounts are made",
    weight: 3,
    async run(deps) {
      const owner = await deps.cluster.owner(0);
      const stop = deps.signUps();
      try {
        await Bun.sleep(deps.random.integer(0, 500));
        const ended = deps.interrupt();
        await killNode(owner, deps);
        ended();
        await Bun.sleep(deps.random.integer(0, 6_000));
        await restart(owner);
      } finally {
        await stop();
      }
    },
  },
  {
    name: "drain a machine and take it back",
    weight: 2,
    async run(deps) {
      const node = await ownerOfSome(deps);
      const name = nameOf(node);
      await node.command("cluster", "drain", name);
      await Bun.sleep(deps.random.integer(0, 3_000));
      await node.command("cluster", "undrain", name);
    },
  },
  {
    name: "add a machine, and stop it for good",
    weight: 2,
    async run(deps) {
      const { cluster, random } = deps;
      const node = await cluster.add();
      const name = nameOf(node);
      await settled(deps);
      if (random.chance(0.7)) await node.command("cluster", "move", String(random.integer(0, deps.cells - 1)), name);
      if (random.chance(0.5)) {
        // It gives its lease back, so there is nothing to forget.
        await node.stop();
        cluster.remove(node);
        return;
      }
      const ended = deps.interrupt();
      await killNode(node, deps);
      ended();
      cluster.remove(node);
      await eventually(async () => (await cluster.command("cluster", "forget", name)).exitCode === 0, {
        timeoutMs: 30_000,
        what: `${name} can be forgotten`,
      });
    },
  },
];
