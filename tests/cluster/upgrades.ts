// The steps of an upgrade while the service is in use: one machine after the other, and one back.
import type { Berth } from "../support/berth.ts";
import { addressOf } from "../support/cluster.ts";
import { eventually } from "../support/eventually.ts";
import { type Fault, type FaultDeps, restart } from "./faults.ts";
import { losePower } from "./processes.ts";

const TOO_OLD = "was written by a newer version of Berth";

/** The machines that own no cell come first, as the guide has it; with several cells each may own one. */
async function byCells({ cluster }: FaultDeps): Promise<Berth[]> {
  const { cells } = await cluster.status();
  const owned = (node: Berth) => cells.filter(({ owner }) => owner === addressOf(node)).length;
  return cluster.nodes.toSorted((one, other) => owned(one) - owned(other));
}

/** The machine's version, as `berth cluster status` has it once the machine runs. */
const versionOf = async ({ cluster }: FaultDeps, node: Berth) =>
  (await cluster.status()).nodes.find(({ address }) => address === addressOf(node))?.version;

async function toVersion(node: Berth, binary: string): Promise<void> {
  await node.stop();
  await node.restart({ keepPorts: true, binary });
}

export interface Versions {
  /** Paths of the programs. */
  present: string;
  next: string;
  nextVersion: string;
}

/** Happens among others, for as long as the run takes: both programs must know the same migrations. */
export function exchangeVersions({ present, next }: Pick<Versions, "present" | "next">): Fault {
  const upgraded = new Set<Berth>();
  return {
    name: "start a machine with the other version, while the machines have both",
    weight: 6,
    async run({ cluster, random }) {
      const [some = [], rest = []] = [true, false].map((has) =>
        cluster.nodes.filter((node) => upgraded.has(node) === has),
      );
      // Always one machine at least of each.
      const node = random.pick(rest.length > 1 ? rest : some);
      await toVersion(node, upgraded.has(node) ? present : next);
      if (!upgraded.delete(node)) upgraded.add(node);
    },
  };
}

/** For at least three machines: one that is too old can't follow, and the others are an owner and its copy. */
export function upgradeSteps({ present, next, nextVersion }: Versions): readonly Fault[] {
  const upgraded = new Set<Berth>();
  const upgrade = (which: (nodes: readonly Berth[]) => Berth | undefined) => async (deps: FaultDeps) => {
    const node = which((await byCells(deps)).filter((one) => !upgraded.has(one)));
    if (!node) throw new Error("Every machine is upgraded.");
    await toVersion(node, next);
    upgraded.add(node);
    await eventually(async () => (await versionOf(deps, node)) === nextVersion, {
      timeoutMs: 30_000,
      what: "the machine has the next version",
    });
  };
  let back: Berth | undefined;
  return [
    { name: "upgrade the machine with the fewest cells", weight: 1, run: upgrade((nodes) => nodes[0]) },
    {
      name: "upgrade the machine with the most cells, so that others take them over and may change the schema",
      weight: 1,
      run: upgrade((nodes) => nodes.at(-1)),
    },
    { name: "upgrade the last machine", weight: 1, run: upgrade((nodes) => nodes[0]) },
    {
      name: "take a machine back to the old version, which owns and follows nothing then",
      weight: 1,
      async run(deps) {
        back = (await byCells(deps))[0];
        if (!back) throw new Error("There is no machine.");
        await toVersion(back, present);
      },
    },
    {
      name: "kill the machine with the most cells, so that the old one is asked to follow, which it can't",
      weight: 1,
      async run(deps) {
        const owner = (await byCells(deps)).findLast((node) => node !== back);
        if (!(owner && back)) throw new Error("There is no machine.");
        const old = back;
        const before = old.output().stderr.length;
        const ended = deps.interrupt();
        await losePower(owner);
        ended();
        await eventually(() => old.output().stderr.slice(before).includes(TOO_OLD), {
          timeoutMs: 30_000,
          what: "the machine says that it is too old",
        });
        await restart(owner);
      },
    },
    {
      name: "upgrade that machine again",
      weight: 1,
      async run(deps) {
        const old = back;
        if (!old) throw new Error("There is no machine.");
        await toVersion(old, next);
        await eventually(async () => (await versionOf(deps, old)) === nextVersion, {
          timeoutMs: 30_000,
          what: "the machine has the next version",
        });
      },
    },
  ];
}
