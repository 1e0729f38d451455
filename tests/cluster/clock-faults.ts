// What may happen to the clocks of machines: they are set while the machine runs, or wrong when it starts.
import { type Fault, type FaultDeps, killNode, ownerOfSome, restart } from "./faults.ts";

const HOUR_MS = 3_600_000;

const someOffset = ({ random }: FaultDeps) => random.pick([-HOUR_MS, -30_000, 30_000, HOUR_MS]);

export const CLOCK_FAULTS: readonly Fault[] = [
  {
    name: "set the clock of a cell's owner on or back, and right later",
    weight: 3,
    async run(deps) {
      const clock = deps.cluster.clockOf(await ownerOfSome(deps));
      const offset = someOffset(deps);
      await clock.forward(offset);
      await Bun.sleep(deps.random.integer(0, 8_000));
      await clock.forward(-offset);
    },
  },
  {
    name: "kill the owner of a cell while the clock of each other machine is wrong",
    weight: 2,
    async run(deps) {
      const owner = await ownerOfSome(deps);
      const clocks = deps.cluster.nodes.filter((node) => node !== owner).map(deps.cluster.clockOf);
      const offsets = clocks.map(() => someOffset(deps));
      await Promise.all(clocks.map((clock, n) => clock.forward(offsets[n] ?? 0)));
      const ended = deps.interrupt();
      await killNode(owner, deps);
      ended();
      await deps.cluster.owner();
      await restart(owner);
      await Promise.all(clocks.map((clock, n) => clock.forward(-(offsets[n] ?? 0))));
    },
  },
  {
    name: "start a machine whose clock is wrong, and set it right later",
    weight: 2,
    async run(deps) {
      const owner = await ownerOfSome(deps);
      const clock = deps.cluster.clockOf(owner);
      const offset = someOffset(deps);
      await owner.stop();
      await clock.forward(offset);
      await restart(owner);
      await Bun.sleep(deps.random.integer(0, 8_000));
      await clock.forward(-offset);
    },
  },
];
